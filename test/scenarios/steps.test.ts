/** What a step may do to a run, and what a run says of it: with programs made for it and documents of a few lines. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { newFolder, oneStep, scenario, script, written } from "./support.ts";

const bare = (expectations: string, options = {}) => written("one.yaml", oneStep(expectations, options));

/** Runs a document of one step with a program made of shell text. */
const withScript = (text: string, document: string, ...more: string[]) => scenario(["run", "--with", script(text), ...more, document]);

/** Each starts a few programs, and the machine may be busy with other tests. */
const slow = (title: string, run: () => Promise<void>) => test.concurrent(title, run, 60_000);

const last = (stdout: string) => stdout.trimEnd().split("\n").at(-1);

function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    // One that has ended and that nobody has asked after is no longer alive.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${id}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function waitFor(file: string): Promise<string> {
  for (let round = 0; round < 500; round += 1) {
    if (existsSync(file) && readFileSync(file, "utf8").endsWith("\n")) return readFileSync(file, "utf8").trim();
    await wait(20);
  }
  throw new Error(`${file} does not come`);
}

slow("a step that does not end is ended with its process group, and failed", async () => {
  const file = join(newFolder(), "id");
  const { stdout, status, seconds } = await withScript(`sleep 600 & echo $! > '${file}'\nsleep 600`, bare("exit: 0"), "--time-limit", "1");
  expect(status).toBe(10);
  expect(stdout).toContain("expected exit: 0; it did not end within 1 s and was ended");
  expect(seconds).toBeLessThan(15);
  expect(isAlive(Number(await waitFor(file)))).toBe(false);
});

slow("a step that ignores SIGTERM is ended all the same", async () => {
  const { status, seconds } = await withScript("trap '' TERM INT HUP\nwhile :; do sleep 1; done", bare("exit: 0"), "--time-limit", "1");
  expect(status).toBe(10);
  expect(seconds).toBeLessThan(15);
});

slow("a step that floods is ended, and its report stays short", async () => {
  const { stdout, status, seconds } = await withScript("yes 'the same line over and over again'", bare("exit: 0\nstdout_contains: ['same']"));
  expect(status).toBe(10);
  expect(stdout).toContain("printed more than 8 MiB and was ended");
  expect(stdout.split("\n").length).toBeLessThan(60);
  expect(seconds).toBeLessThan(20);
});

slow("a step that floods one endless line is ended, and the line is cut", async () => {
  const { stdout, status } = await withScript("yes | tr -d '\\n' >&2", bare("exit: 0"));
  expect(status).toBe(10);
  expect(stdout.length).toBeLessThan(5000);
});

slow("a child that a step leaves behind ends with it, and keeps nothing waiting", async () => {
  const file = join(newFolder(), "id");
  const { status, stdout, seconds } = await withScript(`sleep 600 & echo $! > '${file}'\necho done`, bare("exit: 0\nstdout_contains: ['^done$']"));
  expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
  expect(seconds).toBeLessThan(15);
  expect(isAlive(Number(await waitFor(file)))).toBe(false);
});

slow("a child in a group of its own that keeps the output open keeps nothing waiting", async () => {
  const file = join(newFolder(), "id");
  const { status, seconds } = await withScript(
    `setsid sh -c 'echo $$ > "${file}"; exec sleep 600' &\nwhile [ ! -s '${file}' ]; do sleep 0.05; done\necho done`,
    bare("exit: 0\nstdout_contains: ['^done$']"),
  );
  process.kill(Number(await waitFor(file)), "SIGKILL");
  expect(status).toBe(0);
  expect(seconds).toBeLessThan(15);
});

slow("a step that a signal ends is failed, whatever status is expected", async () => {
  for (const exit of [0, 137]) {
    const { stdout, status } = await withScript("kill -9 $$", bare(`exit: ${exit}`));
    expect(status).toBe(10);
    expect(stdout).toContain(`expected exit: ${exit}; it was ended by SIGKILL`);
  }
});

slow("a step that ends early leaves the later ones not run: the counts are the steps written", async () => {
  const step = (id: string, exit: number) => `  - id: ${id}\n    run: ['${id}']\n    expect:\n      exit: ${exit}\n`;
  const document = written("four.yaml", `setup: bare\nsteps:\n${step("a", 0)}${step("b", 0)}${step("c", 0)}${step("d", 0)}`);
  const { stdout, status } = await withScript('[ "$1" = b ] && exit 3\nexit 0', document);
  expect(status).toBe(10);
  expect(last(stdout)).toBe("scenario run: 1 scenario, 4 steps: 1 passed, 1 failed, 2 not run");
  expect(stdout).toContain("step 2 of 4, 'b': majordomus b\n      expected exit: 0; it ended with 3\n");
});

slow("arguments reach the program as they are written, and never a shell", async () => {
  const run = `['a b', '$HOME', '$(id)', '*', "two\\nlines", '', '-n', '''', 'č']`;
  const { status, stdout } = await withScript(
    'printf "<%s>\\n" "$@"',
    bare("exit: 0\nstdout_contains: ['^<a b>$', '^<\\$HOME>$', '^<\\$\\(id\\)>$', '^<\\*>$', '^<two$', '^lines>$', '^<>$', '^<-n>$', '^<č>$']", { run }),
  );
  expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
});

slow("standard input is what is given, and else empty", async () => {
  const given = await withScript("cat", bare("exit: 0\nstdout_contains: ['^one$', '^two č$']", { step: '    stdin: "one\\ntwo č\\n"\n' }));
  expect([given.status, given.status === 0 ? "" : given.stdout]).toEqual([0, ""]);
  const empty = await withScript("cat; [ ! -t 0 ]", bare("exit: 0\nstdout_not_contains: ['.']"));
  expect([empty.status, empty.status === 0 ? "" : empty.stdout]).toEqual([0, ""]);
  const unread = await withScript("exit 0", bare("exit: 0", { step: `    stdin: "${"x".repeat(300_000)}"\n` }));
  expect([unread.status, unread.status === 0 ? "" : unread.stdout]).toEqual([0, ""]);
});

slow("the world of a step is frozen: nothing of the caller's reaches it", async () => {
  const leaked = { GIT_DIR: "/nowhere", MJ_SESSION_KEY: "x", MAJORDOMUS_NOW: "2020-01-01T00:00:00Z", CLAUDE_CODE_SESSION_ID: "y", NODE_OPTIONS: "--no-warnings", LEAKED: "z" };
  const document = bare(
    [
      "exit: 0",
      "stdout_contains: ['^MAJORDOMUS_NOW=2026-10-09T10:00:00Z$', '^LC_ALL=C$', '^TZ=UTC$', '^PATH=.', '^GIT_AUTHOR_DATE=2026-10-09T10:00:00Z$', '^home is empty$']",
      "stdout_not_contains: ['^GIT_DIR=', '^MJ_', '^CLAUDE_', '^NODE_OPTIONS=', 'LEAKED', '2020']",
    ].join("\n"),
  );
  const program = script('env\n[ -z "$(ls -A "$HOME")" ] && echo "home is empty"');
  const { status, stdout } = await scenario(["run", "--with", program, document], leaked);
  expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
});

slow("output is seen without colours, CRLF and whatever ends it", async () => {
  const { status, stdout } = await withScript(
    "printf '\\033[1;32mgreen\\033[0m\\r\\nlast'; printf 'warning\\r\\n' >&2",
    bare("exit: 0\nstdout_contains: ['^green$', '^last$']\nstderr_contains: ['^warning$']"),
  );
  expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
});

slow("a pattern that hangs a backtracking matcher fails at once", async () => {
  const { status, seconds, stdout } = await withScript(`printf '%s\\n' '${"a".repeat(40)}!'`, bare("exit: 0\nstdout_contains: ['(a+)+$']"));
  expect(status).toBe(10);
  expect(stdout).toContain("a line of standard output that matches '(a+)+$'");
  expect(seconds).toBeLessThan(10);
});

/** Every kind of expectation that a step can have, met; and for each what to write instead, and what is said then. */
const met = [
  "exit: 3",
  "stdout_contains: ['^out one$', 'two']",
  "stdout_not_contains: ['three']",
  "stderr_contains: ['^err$']",
  "files_exist: ['made', 'sub']",
  "files_contain:",
  "  - path: 'made'",
  "    pattern: '^inside [0-9]$'",
].join("\n");

const does = "printf 'out one\\nout two\\n'; echo err >&2; echo 'inside 7' > made; mkdir sub; ln -s /etc/hostname outside; exit 3";

const turned: readonly (readonly [from: string, to: string, said: string])[] = [
  ["exit: 3", "exit: 0", "expected exit: 0; it ended with 3"],
  ["'^out one$'", "'^out 1$'", "expected stdout_contains: a line of standard output that matches '^out 1$'"],
  ["'two'", "'^two'", "expected stdout_contains: a line of standard output that matches '^two'"],
  ["'three'", "'[t]wo'", "expected stdout_not_contains: no line of standard output that matches '[t]wo'"],
  ["'^err$'", "'^out'", "expected stderr_contains: a line of standard error that matches '^out'"],
  ["'sub'", "'subs'", "expected files_exist: 'subs' to exist; it is not there"],
  ["['made'", "['outside'", "expected files_exist: 'outside' to exist; it leads outside the scenario's directory"],
  ["'^inside [0-9]$'", "'^inside [a-z]$'", "expected files_contain: a line of 'made' that matches '^inside [a-z]$'"],
  ["path: 'made'", "path: 'sub'", "expected files_contain: a line of 'sub' that matches '^inside [0-9]$'; it cannot be read"],
  ["path: 'made'", "path: 'gone'", "expected files_contain: a line of 'gone' that matches '^inside [0-9]$'; it is not there"],
];

slow("a step of which every kind of expectation is met passes", async () => {
  const { status, stdout } = await withScript(does, bare(met));
  expect([status, last(stdout)]).toEqual([0, "scenario run: 1 scenario, 1 step: 1 passed, 0 failed, 0 not run"]);
});

test.concurrent.each(turned)("a step with %s written as %s fails and says why", async (from, to, said) => {
  const wrong = met.replace(from, () => to);
  expect(wrong).not.toBe(met);
  const { status, stdout } = await withScript(does, bare(wrong));
  expect(status).toBe(10);
  expect(stdout).toContain(`${said}\n`);
  // One thing is wrong, and nothing else is blamed.
  expect(stdout.match(/^ +expected /gm)).toHaveLength(1);
}, 60_000);

slow("a failure shows the output that failed it, at most forty lines, from both ends", async () => {
  const { stdout } = await withScript("seq 1 500; seq 1001 1200 >&2; exit 1", bare("exit: 0"));
  const shown = stdout.split("\n").filter((line) => /^ +(?:\||…)/.test(line));
  expect(shown.filter((line) => line.includes("|")).length).toBeLessThanOrEqual(40);
  for (const line of ["| 1", "| 500", "| 1001", "| 1200"]) expect(shown.map((one) => one.trim())).toContain(line);
  expect(stdout).toContain("standard output, 500 lines:");
});

slow("control characters of a step's output are shown and do nothing", async () => {
  const { stdout } = await withScript("printf 'a\\007b\\033]0;title\\007\\033[2Jc\\001\\n'; exit 1", bare("exit: 0"));
  expect(stdout).toContain("| a\\x07bc\\x01");
});

const broken: readonly (readonly [name: string, text: string, said: string])[] = [
  ["no-steps.yaml", "setup: bare\nsteps: []\n", "line 2: no steps"],
  ["unknown-key.yaml", oneStep("exit: 0\nstdot: ['a']"), "line 7: unknown key 'stdot' in expect of step 'only'"],
  ["no-exit.yaml", oneStep("stdout_contains: ['a']"), "line 5: no exit in expect of step 'only'"],
  ["pattern.yaml", oneStep("exit: 0\nstdout_contains: ['(']"), "line 7: pattern '(' in stdout_contains of expect of step 'only' does not compile"],
  ["no-yaml.yaml", "setup: bare\n\tsteps: []\n", "line 2: tab character"],
  ["prose.md", "# A page\n\nProse alone.\n", "no fenced yaml block"],
];

test.concurrent.each(broken)("%s is an error of the document and never a pass", async (name, text, said) => {
  const path = written(name, text);
  for (const command of ["run", "check"]) {
    const { status, stdout, stderr } = await scenario([command, path]);
    expect([command, status]).toEqual([command, 2]);
    expect(stderr).toMatch(/^majordomus: cannot use '.*': .*\n$/);
    expect(stderr).toContain(said);
    expect(stdout).not.toMatch(/^(?:ok|OK)/m);
  }
}, 60_000);

slow("good documents are run beside a broken one, and the call is wrong all the same", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "b-good.yaml"), oneStep("exit: 0"));
  writeFileSync(join(folder, "c-failing.yaml"), oneStep("exit: 1"));
  writeFileSync(join(folder, "README.md"), "# Not a scenario\n");
  mkdirSync(join(folder, "below/.hidden"), { recursive: true });
  writeFileSync(join(folder, "below/.hidden/x.yaml"), "not: one\n");
  writeFileSync(join(folder, "below/a-broken.yaml"), "not: one\n");
  symlinkSync(folder, join(folder, "below/round"));
  const { status, stdout, stderr } = await scenario(["run", "--with", script("exit 0"), folder]);
  expect(status).toBe(2);
  expect(stderr).toBe(`majordomus: cannot use '${folder}/below/a-broken.yaml': line 1: unknown key 'not' in the scenario\n`);
  expect(stdout.match(/^(?:ok|FAIL|ERROR) +\S+/gm)?.map((line) => line.replace(/ .*\//, " "))).toEqual([
    "ok b-good.yaml",
    "ERROR a-broken.yaml",
    "FAIL c-failing.yaml",
  ]);
  expect(last(stdout)).toBe("scenario run: 2 scenarios, 2 steps: 1 passed, 1 failed, 0 not run; 1 document not a scenario");
});

slow("a path that is not there is missing, a program that is not there too", async () => {
  const path = await scenario(["run", "no/such.yaml"]);
  expect([path.status, path.stdout, path.stderr]).toEqual([12, "", "majordomus: cannot read 'no/such.yaml': no such file\n"]);
  for (const name of ["no/such-program", "no-such-program-anywhere"]) {
    const { status, stdout, stderr } = await scenario(["run", "--with", name, bare("exit: 0")]);
    expect([status, stdout]).toEqual([12, ""]);
    expect(stderr).toMatch(/^majordomus: cannot run '.*': no such program.*\n$/);
  }
  const nothing = await scenario(["run"]);
  expect(nothing.status).toBe(2);
});

slow("a program that cannot be started fails the step", async () => {
  const { status, stdout } = await scenario(["run", "--with", written("not-executable", "x"), bare("exit: 0")]);
  expect(status).toBe(10);
  expect(stdout).toMatch(/could not be started: permission denied/);
});

slow("--format tap: a point for every step, in order", async () => {
  const step = (id: string) => `  - id: ${id}\n    run: ['${id}']\n    expect:\n      exit: 0\n`;
  const document = written("three.yaml", `setup: bare\nsteps:\n${step("a")}${step("b#1")}${step("c")}`);
  const { stdout, status } = await scenario(["run", "--format", "tap", "--with", script('[ "$1" = a ]'), document, written("x.yaml", "")]);
  expect(status).toBe(2);
  const lines = stdout.split("\n").filter((line) => !line.startsWith("#"));
  expect(lines[0]).toBe("TAP version 13");
  expect(lines[1]).toMatch(/^ok 1 - .*three\.yaml: a$/);
  expect(lines[2]).toMatch(/^not ok 2 - .*three\.yaml: b\\#1$/);
  expect(lines[3]).toMatch(/^ok 3 - .*three\.yaml: c # SKIP not run$/);
  expect(lines[4]).toMatch(/^not ok 4 - .*x\.yaml: no setup/);
  expect(lines[5]).toBe("1..4");
  expect(stdout).toContain("# expected exit: 0; it ended with 1\n");
});

slow("--format junit: well-formed XML whatever a step prints", async () => {
  const { stdout, status } = await withScript("printf '<&\\001\\377]]>\"\\n'; exit 1", bare("exit: 0"), "--format", "junit");
  expect(status).toBe(10);
  expect(stdout).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites .*tests="1" failures="1" errors="0" skipped="0">/);
  expect(stdout).toContain("&lt;&amp;\\x01");
  expect(stdout).toContain("]]&gt;&quot;");
  expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
});

slow("--format json and --json: one object on one line that counts the steps", async () => {
  for (const option of [["--format", "json"], ["--json"]]) {
    const { stdout, status } = await withScript("echo out; exit 1", bare("exit: 0"), ...option);
    expect(status).toBe(10);
    expect(stdout.split("\n")).toHaveLength(2);
    const result = JSON.parse(stdout);
    expect(result.counts).toEqual({ scenarios: 1, steps: 1, passed: 0, failed: 1, not_run: 0, setups_failed: 0, documents_failed: 0 });
    expect(result.scenarios[0].steps[0]).toMatchObject({ id: "only", outcome: "failed", expected: [{ expectation: "exit", words: "0; it ended with 1" }] });
  }
  const { status, stderr } = await scenario(["run", "--json", "--format", "tap", bare("exit: 0")]);
  expect([status, stderr]).toEqual([2, "majordomus: cannot use --json and --format tap together\n"]);
});

slow("-v and --verbose show each step as it runs", async () => {
  for (const option of ["-v", "--verbose"]) {
    const { stdout } = await withScript("exit 0", bare("exit: 0", { run: "['say', 'two words']" }), option);
    expect(stdout).toMatch(/^ {2}ok {4}1\/1 only {2}[0-9.]+ s {2}majordomus say 'two words'\nok /);
  }
  const { stdout } = await withScript("exit 0", bare("exit: 0"));
  expect(stdout.split("\n")).toHaveLength(3);
});

slow("the directories go, and with --keep they stay and are named", async () => {
  const temporary = newFolder();
  const document = bare("exit: 0", { setup: "repository" });
  const program = script("echo x > made");
  await scenario(["run", "--with", program, document], { TMPDIR: temporary });
  expect(readdirSync(temporary)).toEqual([]);
  const { stdout } = await scenario(["run", "--keep", "--with", program, document], { TMPDIR: temporary });
  const kept = /^ +kept (.*)$/m.exec(stdout)?.[1] ?? "";
  expect(readdirSync(temporary)).toEqual([basename(kept)]);
  expect(readFileSync(join(kept, "repository/made"), "utf8")).toBe("x\n");
});

slow("a run that is interrupted ends its step and removes its directory", async () => {
  const temporary = newFolder();
  const file = join(newFolder(), "id");
  const program = script(`echo $$ > '${file}'\nexec sleep 600`);
  const child = spawn(join(home, "bin/majordomus"), ["scenario", "run", "--with", program, bare("exit: 0")], {
    env: { ...process.env, TMPDIR: temporary },
    stdio: "ignore",
  });
  const ended = new Promise((resolve) => child.on("exit", (status) => resolve(status)));
  const step = Number(await waitFor(file));
  child.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(readdirSync(temporary)).toEqual([]);
  expect(isAlive(step)).toBe(false);
});

slow("a step that removes its own directory fails the next one and not the run", async () => {
  const step = (id: string) => `  - id: ${id}\n    run: ['${id}']\n    expect:\n      exit: 0\n`;
  const { status, stdout } = await withScript('rm -rf "$PWD"', written("two.yaml", `setup: bare\nsteps:\n${step("a")}${step("b")}`));
  expect(status).toBe(10);
  expect(stdout).toContain("the scenario's directory, which is gone");
});

const setupsHold: readonly (readonly [setup: string, test: string])[] = [
  ["bare", '[ -z "$(ls -A)" ] && ! git rev-parse --git-dir 2>&-'],
  ["repository", '[ "$(git rev-list --count HEAD)" = 1 ] && [ -z "$(git status --porcelain)" ] && [ ! -e .ai ]'],
  ["installed", '[ -f .ai/manifest.yaml ] && [ -z "$(git status --porcelain)" ] && [ ! -e .ai/local/state/sessions-open/hand.yaml ]'],
  ["session-open", "grep -q '^session_id: s-20261009100000-1a2b$' .ai/local/state/sessions-open/hand.yaml && grep -q '\"session\":\"s-20261009100000-1a2b\"' .ai/local/state/ledger.jsonl"],
  ["task-active", "grep -q t-20261009100000-0a1b .ai/local/state/current.yaml && grep -q '\"task.started\".*\"session\":\"s-20261009100000-1a2b\",\"task_id\":\"t-20261009100000-0a1b\"' .ai/local/state/ledger.jsonl"],
];

test.concurrent.each(setupsHold)("the setup %s is what it says", async (setup, holds) => {
  const { status, stdout } = await withScript(holds, bare("exit: 0", { setup }));
  expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
}, 60_000);

slow("a setup that cannot be made runs no step and passes nothing", async () => {
  const empty = newFolder();
  for (const name of ["sh", "node", "readlink"]) {
    const found = (process.env["PATH"] ?? "").split(":").map((folder) => join(folder, name)).find(existsSync);
    if (found !== undefined) symlinkSync(found, join(empty, name));
  }
  const { status, stdout } = await scenario(["run", bare("exit: 0", { setup: "repository" })], { PATH: empty });
  expect(status).toBe(10);
  expect(stdout).toMatch(/setup repository: 'git init .*' could not be started: no such file/);
  expect(last(stdout)).toBe("scenario run: 1 scenario, 1 step: 0 passed, 0 failed, 1 not run; 1 setup could not be made");
});

slow("scenario list and check: the toolkit's own where no path is given", async () => {
  const folder = newFolder();
  const list = await scenario(["list"], {}, folder);
  expect(list.status).toBe(0);
  expect(list.stdout).toMatch(/scenarios\/keep-what-an-episode-learned\.md {2}session-open {2}5 steps {2}Keep what an episode learned$/m);
  const check = await scenario(["check"], {}, folder);
  expect(check.status).toBe(0);
  expect(last(check.stdout)).toMatch(/^scenario check: [0-9]+ document\(s\), 0 failing$/);
  const json = await scenario(["list", "--json", join(home, "scenarios/keep-what-an-episode-learned.md")], {}, folder);
  expect(JSON.parse(json.stdout).scenarios[0].steps).toHaveLength(5);
});
