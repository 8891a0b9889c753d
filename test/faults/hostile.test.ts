// Whatever lies in a repository or comes in: it is refused or passed over, quickly, and touches nothing outside.
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { run } from "../support/repository.ts";
import { call, memoryFolder, noFault, rememberingGit, restore, treeOf } from "./machine.ts";
import type { Called, Tree } from "./machine.ts";

const folder = memoryFolder();
const root = join(folder, "repository");
const outside = join(folder, "outside");
let base: Tree;

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  delete process.env["MAJORDOMUS_NOW"];
});

const mj = (...args: readonly string[]): Promise<Called> => call({ root, args, seed: 7 }, noFault);
const mjWith = (input: string, ...args: readonly string[]): Promise<Called> => call({ root, args, input, seed: 7 }, noFault);

function write(path: string, bytes: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), bytes);
}

const state = ".ai/local/state";
const ledger = `${state}/ledger.jsonl`;
const candidates = ".ai/repo/knowledge/candidates";

beforeAll(async () => {
  process.env["MAJORDOMUS_NOW"] = "2026-10-09T10:00:00Z";
  mkdirSync(root);
  run("git", ["init", "-q", "-b", "main"], { cwd: root });
  write("lib/a.sh", "echo a\n");
  await mj("init");
  run("git", ["add", "-A"], { cwd: root });
  run("git", ["commit", "-q", "-m", "layer"], { cwd: root });
  await mj("session", "start", "--owner", "o");
  await mj("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "a.sh prints the wrong word");
  await mj("knowledge", "derive");
  base = treeOf(root);
}, 120_000);

beforeEach(() => {
  restore(root, base);
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside);
});

/** Every command that reads or writes, as it is called here. */
const calls: readonly (readonly string[])[] = [
  ["knowledge", "candidates"],
  ["knowledge", "candidates", "--json"],
  ["knowledge", "check"],
  ["knowledge", "check", "--format", "github"],
  ["knowledge", "check", "--format", "sarif"],
  ["knowledge", "status"],
  ["history", "--all"],
  ["history", "--validate"],
  ["session", "status"],
  ["session", "list", "--all"],
  ["decision", "list"],
  ["question", "list"],
  ["knowledge", "observe", "--kind", "drift", "--subject", "lib/b.sh", "b.sh is gone"],
  ["decision", "add", "x", "--why", "y"],
  ["start", "t", "--scope", "lib"],
  ["question", "add", "q"],
  ["finish", "--outcome", "completed"],
  ["knowledge", "derive"],
  ["history", "--rotate"],
  ["capture", "install", "--provider", "claude-code"],
  ["session", "recover", "--all"],
  ["session", "start", "--owner", "o"],
  ["session", "end"],
  ["init"],
];

/** Milliseconds, on a machine that is busy. */
const limit = 20_000;

/** All of what there is to try takes minutes: each run tries a part, and all with MAJORDOMUS_TEST_FULL. */
const isFull = process.env["MAJORDOMUS_TEST_FULL"] !== undefined;
let turn = 0;

/** Runs commands on what `prepare` makes of the repository, one of `every` in turn; each must end soon, without a fault of ours. */
async function withstand(prepare: () => void, every = 1): Promise<Called[]> {
  return rememberingGit(async () => {
    const ends: Called[] = [];
    for (const args of calls) {
      turn += 1;
      if (!isFull && turn % every !== 0) continue;
      restore(root, base);
      prepare();
      const started = performance.now();
      const ended = await mj(...args);
      const took = performance.now() - started;
      const where = `${args.join(" ")}: ${JSON.stringify(ended.complaints)}`;
      expect(ended.complaints.join("\n"), where).not.toMatch(/internal fault/);
      expect([0, 2, 10, 11, 12, 13, 15], where).toContain(ended.status);
      if (!args.includes("--json")) expect(ended.output, where).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]/);
      expect(took, where).toBeLessThan(limit);
      ends.push(ended);
    }
    return ends;
  });
}

const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);
const envelope = '{"ts":"2026-10-09T10:00:00Z","event":"observation.recorded","head":"NONE","branch":"main","by":"x"';
const escape = "\u001b]0;owned\u0007\u001b[2J\u009b31m";

const damagedLedgers: Readonly<Record<string, string | Buffer>> = {
  "nothing but NUL": Buffer.alloc(100_000),
  "a line of 10 MB": `${"x".repeat(10_000_000)}\n`,
  "a line of 10 MB that does not end": `{"a":"${"x".repeat(10_000_000)}`,
  "100,000 nested brackets": `${deep("[", "]")}\n`,
  "30,000 nested objects": `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}\n`,
  "a million empty lines": "\n".repeat(1_000_000),
  "__proto__": `{"__proto__":{"event":"session.started","session":"s-20261009100000-1a2b","ts":"2026-10-09T10:00:00Z"}}\n{"constructor":{"prototype":{"x":1}},"ts":"2026-10-09T10:00:00Z"}\n`,
  "terminal controls": `${envelope},"session":"s-20261009100000-1a2b","task_id":"none","kind":${JSON.stringify(escape)},"subject":${JSON.stringify(escape)},"statement":${JSON.stringify(escape)},"evidence":[]}\n`,
  "fields of other shapes": `{"ts":7,"event":["session.started"],"session":{"a":1}}\n{"ts":"2026-10-09T10:00:00Z","event":"knowledge.derived","episode":[],"paths":7,"digests":{}}\n${envelope},"session":"s-20261009100000-1a2b","evidence":{"length":1e9}}\n`,
  "no JSON": "42\nnull\n[]\n\"x\"\n\n   \n{\"type\":}\n\ufeff{}\n{}\n",
  "invalid UTF-8": Buffer.from(`${envelope},"statement":"\xff\xfe"}\n`, "latin1"),
  "ids that are paths": `${envelope.replace("observation.recorded", "session.started")},"session":"../../../outside/x","owner":"o"}\n${envelope},"session":"../../x","task_id":"../../../../outside/note","kind":"defect","subject":"../x","statement":"x","evidence":["file:../../outside/x","commit:--help","test:-x"]}\n`,
};

test.each(Object.entries(damagedLedgers))("a ledger of %s: no command falls over it or hangs", async (_, bytes) => {
  await withstand(() => {
    write(ledger, typeof bytes === "string" ? bytes : Buffer.from(bytes));
  }, 3);
  expect(readdirSync(outside)).toEqual([]);
  expect(Object.hasOwn(Object.prototype, "event")).toBe(false);
}, 60_000);

const damagedFiles: Readonly<Record<string, string | Buffer>> = {
  "3 MB on one line": "x".repeat(3_000_000),
  "a value of 3 MB": `id: ${"x".repeat(3_000_000)}\n`,
  "deep YAML": Array.from({ length: 1_500 }, (_, level) => `${" ".repeat(level * 2)}k:`).join("\n"),
  "100,000 brackets": `a: ${deep("[", "]")}\n`,
  "100,000 quotes": `a: ${'"'.repeat(100_001)}\n`,
  "100,000 dashes": `${"- ".repeat(100_000)}x\n`,
  "anchors of anchors": `a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n`,
  "__proto__ keys": "__proto__:\n  polluted: yes\nconstructor: x\ntoString: y\nhasOwnProperty: z\nprovenance:\n  __proto__: x\n",
  "NUL and invalid UTF-8": Buffer.from("a: \x00\xff\n", "latin1"),
  "terminal controls": `a: "${escape}"\n`,
  "50,000 keys": Array.from({ length: 50_000 }, (_, index) => `k${index}: v`).join("\n"),
  "blanks without end": `a:${" ".repeat(3_000_000)}\n`,
  "nothing": "",
};

const places = [
  ".ai/manifest.yaml",
  ".ai/repo/policy.yaml",
  ".ai/repo/scope.yaml",
  `${state}/current.yaml`,
  `${state}/sessions-open/hand.yaml`,
  `${state}/sessions-open/x.yaml`,
  `${state}/sessions-open/x.yaml.closing`,
  `${state}/decisions.md`,
  `${state}/open-questions.md`,
  ".gitignore",
  ".claude/settings.json",
];

test.each(Object.entries(damagedFiles))("files of %s in every place: no command falls over them or hangs", async (_, bytes) => {
  for (const place of places) await withstand(() => write(place, typeof bytes === "string" ? bytes : Buffer.from(bytes)), 23);
  const fenced = (inner: string | Buffer) => Buffer.concat([Buffer.from("---\n"), Buffer.from(inner as string), Buffer.from("\n---\nbody\n")]);
  await withstand(() => {
    for (const name of ["a.md", "s-20261009100000-1a2b-7581bba9d5e8.md"]) write(`${candidates}/${name}`, fenced(bytes));
    write(".ai/repo/knowledge/curated/b.md", fenced(bytes));
    write(".ai/repo/sessions/c.md", fenced(bytes));
  }, 7);
  expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
}, 240_000);

/** Every part of the layout, as a link to a directory or a file outside. */
const links = [
  ".ai",
  ".ai/repo",
  ".ai/local",
  state,
  `${state}/sessions-open`,
  `${state}/completed`,
  `${state}/ledger.lock`,
  `${state}/knowledge.lock`,
  ledger,
  `${state}/current.yaml`,
  `${state}/decisions.md`,
  `${state}/open-questions.md`,
  `${state}/sessions-open/hand.yaml`,
  ".ai/repo/knowledge",
  candidates,
  `${candidates}/README.md`,
  ".ai/repo/knowledge/curated",
  ".ai/repo/sessions",
  ".ai/repo/policy.yaml",
  ".ai/repo/scope.yaml",
  ".ai/manifest.yaml",
  ".gitignore",
  ".claude",
  ".claude/settings.json",
];

function asText(folderPath: string): string[] {
  return [...treeOf(folderPath)].map(([path, value]) => `${path} ${value}`);
}

test("a link out of the repository is not written through by any one command", async () => {
  await rememberingGit(async () => {
    const wrong: string[] = [];
    for (const path of links) {
      for (const args of calls) {
        turn += 1;
        if (!isFull && turn % 3 !== 0) continue;
        restore(root, base);
        rmSync(outside, { recursive: true, force: true });
        mkdirSync(outside);
        const place = join(root, path);
        const target = join(outside, "target");
        const isFolder = existsSync(place) ? statSync(place).isDirectory() : !/\.(?:\w+)$/.test(path) || path === ".claude";
        if (isFolder) {
          mkdirSync(target);
          if (existsSync(place)) restore(target, treeOf(place));
        } else writeFileSync(target, existsSync(place) ? readFileSync(place) : "{}\n");
        rmSync(place, { recursive: true, force: true });
        mkdirSync(dirname(place), { recursive: true });
        symlinkSync(target, place);
        const seen = asText(outside);
        await mj(...args);
        const now = asText(outside);
        if (JSON.stringify(now) !== JSON.stringify(seen)) wrong.push(`${path}: ${args.join(" ")}: ${now.filter((line) => !seen.includes(line)).join("; ").slice(0, 200)}`);
      }
    }
    expect(wrong).toEqual([]);
  });
}, 120_000);

test("sections of the manifest that lead out are refused (10)", async () => {
  for (const path of ["../outside", "/tmp", "repo/../../outside", "a b", "a\\tb", ""]) {
    write(".ai/manifest.yaml", `schema: ai-repository/v1\nsections:\n  knowledge: "${path}"\n`);
    const ended = await mj("knowledge", "candidates");
    expect([path, ended.status]).toEqual([path, path === "" ? 0 : 10]);
  }
});

test("ids and references that are paths or options reach no file and no git option", async () => {
  for (const id of ["../../../outside/x", "/etc/passwd", "--help", "-", "s-20261009100000-1a2b-7581bba9d5e8/../x", "\u0000", "..", "*"]) {
    for (const args of [["knowledge", "promote", "--", id], ["knowledge", "reject", "--reason", "r", "--", id], ["knowledge", "derive", `--episode=${id}`]]) {
      const ended = await mjWith("seen\n", ...args);
      expect([id, args[1], [2, 10, 12].includes(ended.status)]).toEqual([id, args[1], true]);
    }
    for (const ref of [id, "--output=x", "-h", "HEAD:../x", "@{-1}", "refs/heads/main^{tree}"]) {
      const ended = await mj("knowledge", "candidates", `--ref=${ref}`);
      expect(ended.complaints.join(), ref).not.toMatch(/internal fault|usage: git/);
    }
  }
  expect(readdirSync(outside)).toEqual([]);
  expect(existsSync(join(root, "x"))).toBe(false);
});

test("what leaks from a git hook redirects nothing", async () => {
  const other = join(folder, "other");
  mkdirSync(other, { recursive: true });
  run("git", ["init", "-q", "-b", "elsewhere"], { cwd: other });
  const leaked = {
    GIT_DIR: join(other, ".git"),
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: join(other, ".git/index"),
    GIT_OBJECT_DIRECTORY: join(other, ".git/objects"),
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.worktree",
    GIT_CONFIG_VALUE_0: other,
    GIT_CONFIG_PARAMETERS: "'core.fsmonitor=touch'",
    GIT_CEILING_DIRECTORIES: folder,
  };
  const before = asText(other);
  Object.assign(process.env, leaked);
  try {
    const ended = await mj("knowledge", "observe", "--kind", "drift", "--subject", "lib/b.sh", "b.sh is gone");
    expect(ended.status).toBe(0);
  } finally {
    for (const name of Object.keys(leaked)) delete process.env[name];
  }
  expect(readFileSync(join(root, ledger), "utf8").trimEnd().split("\n").at(-1)).toContain('"branch":"main"');
  expect(asText(other)).toEqual(before);
});

test("modes: open files and the task are their owner's alone under any mask, no file is wider than asked", async () => {
  const mask = process.umask(0);
  try {
    rmSync(join(root, state), { recursive: true });
    await mj("session", "start", "--owner", "o");
    await mj("start", "t", "--scope", "lib");
    await mj("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "a.sh prints the wrong word");
    await mj("decision", "add", "x", "--why", "y");
    await mj("knowledge", "derive");
    const modes = new Map([...treeOf(root)].map(([path, value]) => [path, value.split(" ", 1)[0]]));
    expect(modes.get(`${state}/sessions-open/hand.yaml`)).toBe("600");
    expect(modes.get(`${state}/current.yaml`)).toBe("600");
    for (const [path, mode] of modes) if (mode !== "->") expect([path, Number.parseInt(mode ?? "", 8) & 0o022]).toEqual([path, 0]);
  } finally {
    process.umask(mask);
  }
});

test("annotations and SARIF carry text as text: no command of a workflow, no markup that runs", async () => {
  const title = "x%0A::error file=y,line=1::owned\\n<script>alert(1)</script>";
  write(`${candidates}/s-20261009100000-1a2b-000000000000.md`, `---\nid: "::set-env name=A::b"\nstatus: candidate\ntitle: "${title}"\nabout: lib/a.sh\n"\n---\n`);
  write(`${candidates}/::error::x.md`, "---\nid: x\n---\n");
  const github = await mj("knowledge", "check", "--format", "github");
  for (const line of github.output.split("\n")) expect(line).not.toMatch(/^::(?!error |warning |notice |error::|warning::|notice::)/);
  expect(github.output).not.toMatch(/^::set-env/m);
  const sarif = await mj("knowledge", "check", "--format", "sarif");
  expect(() => JSON.parse(Buffer.from(sarif.output, "latin1").toString("utf8")) as unknown).not.toThrow();
});

test("a line feed in a name or a text makes no line of its own, in no text", async () => {
  const name = "x\nOK   forged.md";
  write(`${candidates}/${name}`, "---\nid: x\n---\n");
  write(`${candidates}/y.md`, '---\nid: y\nstatus: candidate\ntitle: "a\\nOK   forged"\nabout: "b\\nOK   forged"\nclass: "c\\nOK   forged"\n---\n');
  write(`${state}/sessions-open/z.yaml`, 'session_id: "s-20261009100000-1a2c"\nbranch: "b\\nOK   forged"\nowner: "o\\nOK   forged"\n');
  write("scenarios/a\nOK   forged.md", '---\ntype: scenario\ntitle: "t\\nOK   forged"\n---\n');
  await mj("vendor", join(root, "copy"));
  write("copy/x\nOK   forged.md", "");
  const listings = [
    ["knowledge", "candidates"], ["knowledge", "check"], ["knowledge", "status"], ["session", "status"], ["session", "list"],
    ["scenario", "list", "scenarios"], ["scenario", "check", "scenarios"], ["vendor", "--check", "copy"], ["history", "--all"],
  ] as const;
  for (const args of listings) {
    const { output, complaints } = await mj(...args);
    expect({ args, forged: output.split("\n").filter((line) => line.startsWith("OK   forged")) }).toEqual({ args, forged: [] });
    if (["candidates", "check", "--check"].includes(args[1])) expect({ args, output, complaints }).toMatchObject({ output: expect.stringContaining("\\x0aOK   forged") as unknown });
  }
  const refused = await mj("vendor", join(root, "copy"));
  expect(refused.complaints.join()).toContain("'x\nOK   forged.md'");
});

test("payloads of a provider: each is taken for what it is, nothing is made, exit 0", async () => {
  const hostile = [
    "",
    "x",
    "{",
    "[]",
    "null",
    "\ufeff{}",
    `${"[".repeat(100_000)}`,
    `{"session_id":"${"a".repeat(900_000)}"}`,
    '{"session_id":"../../../outside/x","cwd":"/"}',
    '{"session_id":{"a":1},"cwd":["/"],"workspace_roots":"x"}',
    '{"__proto__":{"session_id":"p"},"session_id":"\\u0000\\u001b"}',
    '{"session_id":"x","cwd":"/proc/self/root"}',
    `{"session_id":"a","cwd":${JSON.stringify(outside)},"transcript_path":"/etc/passwd"}`,
    '{"session_id":"\\ud800"}',
    `{"session_id":"b"}{"session_id":"c"}`,
  ];
  for (const input of hostile) {
    for (const event of ["start", "end", "compact"]) {
      const ended = await mjWith(input, "capture", "session", "--provider", "claude-code", "--event", event);
      expect([input.slice(0, 40), event, ended.status, ended.complaints.join().includes("internal fault")]).toEqual([input.slice(0, 40), event, 0, false]);
    }
  }
  expect(readdirSync(outside)).toEqual([]);
  for (const name of readdirSync(join(root, state, "sessions-open"))) expect(name).toMatch(/^[A-Za-z0-9._-]+$/);
  expect(lstatSync(join(root, ledger)).isFile()).toBe(true);
}, 60_000);

test("scenario files: hostile ones are faults of the file, quickly", async () => {
  const dir = mkdtempSync(join(folder, "scenarios-"));
  for (const [index, bytes] of Object.values(damagedFiles).entries()) {
    writeFileSync(join(dir, `s${index}.yaml`), bytes);
    writeFileSync(join(dir, `s${index}.md`), Buffer.concat([Buffer.from("# x\n```yaml\n"), Buffer.from(bytes as string), Buffer.from("\n```\n")]));
  }
  chmodSync(dir, 0o755);
  const started = performance.now();
  const ended = await mj("scenario", "check", dir);
  expect(ended.complaints.join()).not.toMatch(/internal fault/);
  expect(performance.now() - started).toBeLessThan(40_000);
}, 60_000);
