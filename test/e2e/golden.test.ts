import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { candidatesPath, freshFolder, launcher, ledgerPath, repositoryAt, run } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

const golden = join(home, "test/golden");

function copied(name: string): Repository {
  const root = freshFolder("golden-");
  cpSync(join(golden, name, "repo"), root, { recursive: true, verbatimSymlinks: true });
  return repositoryAt(root);
}

const wanted = (name: string, file: string) => readFileSync(join(golden, name, file), "latin1");

const shell = join(home, "shell/majordomus");
const programs = [
  ["bin/majordomus", launcher],
  ["shell/majordomus", shell],
] as const;

for (const [title, program] of programs) {
  const have = existsSync(program);

  test.skipIf(!have).each(["candidates-empty", "candidates-order", "candidates-recurrence"])(`${title} knowledge candidates: %s, text and JSON, to the byte`, (name) => {
    const repository = copied(name);
    for (const [args, file] of [[[], "expected.txt"], [["--json"], "expected.json"]] as const) {
      const ended = run(program, ["knowledge", "candidates", ...args], { cwd: repository.root });
      expect(ended).toEqual({ status: 0, signal: null, stdout: wanted(name, file), stderr: "" });
    }
  });

  test.skipIf(!have)(`${title} knowledge candidates: candidates-unreadable: each bad file is named, with its line, and the good are listed`, () => {
    const name = "candidates-unreadable";
    const repository = copied(name);
    symlinkSync("s-20261008090000-77aa-7581bba9d5e8.md", repository.path(candidatesPath, "zz-link.md"));
    symlinkSync("nowhere.md", repository.path(candidatesPath, "zz-dangling.md"));
    const ended = run(program, ["knowledge", "candidates"], { cwd: repository.root });
    expect(ended.status).toBe(10);
    const reasons = new Map(wanted(name, "lines.txt").split("\n").filter((line) => line !== "").map((line) => line.split(": ") as [string, string]));
    expect(ended.stderr).toBe(`majordomus: cannot read every candidate: ${reasons.size + 2} unreadable\n`);
    const lines = ended.stdout.split("\n");
    const links = ["zz-dangling.md", "zz-link.md"].map((link) => `unreadable ${candidatesPath}/${link}`);
    expect(lines.map((line) => line.replace(/^(unreadable [^:]*): .*$/, "$1"))).toEqual([...wanted(name, "expected.txt").split("\n").slice(0, -1), ...links, ""]);
    for (const line of lines) {
      const found = /^unreadable ([^:]*): (.*)$/.exec(line);
      if (found === null || found[1]?.includes("zz-") === true) continue;
      const expected = reasons.get(found[1] ?? "");
      expect(/^line [0-9]+: ./.test(found[2] ?? "") ? found[2]?.replace(/: .*$/, "") : "no line", line).toBe(expected);
    }
    expect(lines.at(-2)).toBe(`unreadable ${candidatesPath}/zz-link.md: symbolic link`);
    const json = run(program, ["knowledge", "candidates", "--json"], { cwd: repository.root });
    const read = JSON.parse(json.stdout) as { readonly unreadable: readonly { readonly path: string; readonly reason: string }[] };
    expect(json.status).toBe(10);
    expect(read.unreadable.map(({ path, reason }) => `unreadable ${path}: ${reason}`)).toEqual(lines.filter((line) => line.startsWith("unreadable ")));
  });
}

const every = "derive-every-kind";
const episode = "s-20261009100000-1a2b";

test("knowledge derive: derive-every-kind: the expected records and no other, then all unchanged; every run leaves its line", () => {
  const repository = copied(every);
  repository.git("init", "-q");
  const first = repository.done("knowledge", "derive", "--episode", episode);
  expect(first.split("\n").at(-2)).toBe(`knowledge derive: 7 written, 0 unchanged, 1 skipped for episode ${episode}`);
  expect(first).toMatch(/^skipped \.ai\/repo\/knowledge\/candidates\/[^ ]+\.md \(transcript\)$/m);
  const names = repository.names(candidatesPath);
  expect(names).toHaveLength(7);
  for (const name of names) expect(repository.read(`${candidatesPath}/${name}`), name).toBe(wanted(every, `expected/${name}`));
  const second = repository.done("knowledge", "derive", "--episode", episode);
  expect(second.split("\n").at(-2)).toBe(`knowledge derive: 0 written, 7 unchanged, 1 skipped for episode ${episode}`);
  expect(repository.names(candidatesPath)).toEqual(names);
  const derived = repository.read(ledgerPath).split("\n").slice(-3, -1).map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(derived.map((line) => [line["event"], line["episode"], line["written"], line["unchanged"], line["skipped"]])).toEqual([
    ["knowledge.derived", episode, 7, 0, 1],
    ["knowledge.derived", episode, 0, 7, 1],
  ]);
  expect(String(derived[0]?.["paths"]).split(" ").sort()).toEqual(names.map((name) => `${candidatesPath}/${name}`));
});

test("knowledge derive --dry-run: says what it would write, and writes nothing at all", () => {
  const repository = copied(every);
  repository.git("init", "-q");
  const before = repository.read(ledgerPath);
  const text = repository.done("knowledge", "derive", "--episode", episode, "--dry-run");
  expect(text.match(/^would write \.ai\/repo\/knowledge\/candidates\/s-[^ ]+\.md$/gm)).toHaveLength(7);
  expect(text.split("\n").at(-2)).toBe(`knowledge derive: 7 written, 0 unchanged, 1 skipped for episode ${episode}`);
  const json = JSON.parse(repository.done("knowledge", "derive", "--episode", episode, "--dry-run", "--json")) as Record<string, unknown>;
  expect(Object.keys(json)).toEqual(["schema", "episode", "dry_run", "written", "unchanged", "skipped"]);
  expect(json).toMatchObject({ schema: 1, episode, dry_run: true, unchanged: [], skipped: [{ reason: "transcript" }] });
  expect(repository.read(ledgerPath)).toBe(before);
  expect(repository.names(candidatesPath)).toEqual([]);
});

test("knowledge derive: the same bytes in another place, time zone, language, home, user and file mode mask", () => {
  const repository = repositoryAt(join(freshFolder(), "a place with 'quotes' and ünïcode"));
  cpSync(join(golden, every, "repo"), repository.root, { recursive: true });
  repository.git("init", "-q");
  const env = { TZ: "Pacific/Auckland", LANG: "tr_TR.UTF-8", LC_ALL: "de_DE.UTF-8", HOME: freshFolder(), USER: "somebody", MAJORDOMUS_NOW: "2030-01-01T00:00:00Z" };
  const ended = run("sh", ["-c", `umask 077; exec "$0" knowledge derive --episode ${episode}`, launcher], { cwd: repository.root, env });
  expect(ended.status).toBe(0);
  for (const name of repository.names(candidatesPath)) {
    expect(repository.read(`${candidatesPath}/${name}`), name).toBe(wanted(every, `expected/${name}`));
    expect(run("stat", ["-c", "%a", repository.path(candidatesPath, name)]).stdout).toBe("644\n");
  }
  expect(repository.names(candidatesPath)).toHaveLength(7);
});
