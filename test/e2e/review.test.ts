import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { candidatesPath, curatedPath, installed, launcher, ledgerPath, repositoryAt, run, snapshot, statePath } from "../support/repository.ts";
import type { Repository, Run } from "../support/repository.ts";
import { placed } from "../support/placed.ts";
import { randomFrom, seed } from "../support/random.ts";

/** Opens an episode, observes a defect of each subject, ends it; gives the ids of its candidates in that order. */
function observed(repository: Repository, ...subjects: readonly string[]): string[] {
  const before = new Set(repository.names(candidatesPath));
  repository.done("session", "start", "--owner", "o");
  for (const subject of subjects) repository.done("knowledge", "observe", "--kind", "defect", "--subject", subject, `${subject} is wrong`);
  repository.done("session", "end");
  const made = repository.names(candidatesPath).filter((name) => !before.has(name));
  return subjects.map((subject) => {
    const name = made.find((one) => repository.read(`${candidatesPath}/${one}`).includes(Buffer.from(`\nabout: "${subject}"\n`).toString("latin1")));
    if (name === undefined) throw new Error(`no candidate about ${subject}`);
    return name.replace(/\.md$/, "");
  });
}

function promote(repository: Repository, id: string, evidence: string, ...more: readonly string[]): Run {
  return repository.mjWith({ input: evidence }, "knowledge", "promote", id, ...more);
}

const now = { MAJORDOMUS_NOW: "2026-10-10T10:00:00Z" };

test("promote and reject print the path, as text and JSON, and refuse with one line and every byte as it was", () => {
  const repository = installed();
  const [first = "", second = "", third = ""] = placed(repository, "seen", "lib/a.sh", "lib/b.sh", "lib/c.sh");
  expect(promote(repository, first, "seen\n", "--class", "fact")).toMatchObject({ status: 0, stdout: `${curatedPath}/${first}.md\n`, stderr: "" });
  expect(promote(repository, second, "seen\n", "--json").stdout).toBe(`{"schema":1,"promoted":"${second}","path":"${curatedPath}/${second}.md"}\n`);
  const rejected = repository.mj("knowledge", "reject", third, "--reason", "meant so", "--by", first);
  expect(rejected).toMatchObject({ status: 0, stdout: `${candidatesPath}/${third}.md\n`, stderr: "" });
  expect(repository.read(`${candidatesPath}/${third}.md`)).toContain(`status: superseded\nsuperseded_by: ${first}\n`);

  const [fourth = ""] = placed(repository, "seen", "lib/d.sh");
  const token = `ghp_${"a1B2c3".repeat(6)}`;
  const before = snapshot(repository.root);
  const refusals: readonly (readonly [status: number, words: string, run: () => Run])[] = [
    [10, "unknown class", () => promote(repository, "nobody", "seen", "--class", "rumour")],
    [12, "no such candidate", () => promote(repository, "nobody", "seen")],
    [12, "promoted already", () => promote(repository, first, "seen")],
    [10, "its status is superseded", () => promote(repository, third, "seen")],
    [10, "no evidence", () => promote(repository, fourth, "")],
    [10, "opens like a conversation", () => promote(repository, fourth, "well\nassistant: yes\n")],
    [10, "the shape of a GitHub token", () => promote(repository, fourth, `it was ${token}`)],
    [2, "it is blank", () => repository.mj("knowledge", "reject", fourth, "--reason", " ")],
    [10, "the shape of a GitHub token", () => repository.mj("knowledge", "reject", fourth, "--reason", token)],
    [12, "no such candidate", () => repository.mj("knowledge", "reject", "../../policy", "--reason", "r")],
    [10, "stands rejected for this reason", () => repository.mj("knowledge", "reject", third, "--reason", "meant so")],
  ];
  for (const [status, words, act] of refusals) {
    const ended = act();
    expect(ended, words).toMatchObject({ status, stdout: "" });
    expect(ended.stderr).toMatch(/^majordomus: [^\n]+\n$/);
    expect(ended.stderr).toContain(words);
    expect(ended.stderr).not.toContain(token);
  }
  expect(snapshot(repository.root)).toEqual(before);
  expect(promote(repository, fourth, `it was ${token}`, "--allow-secret").status).toBe(0);
});

test("an act touches neither the index nor what a user has staged and changed", () => {
  const repository = installed();
  const [first = "", second = ""] = placed(repository, "seen", "lib/a.sh", "lib/b.sh");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "candidates");
  repository.write("staged.txt", "staged\n");
  repository.git("add", "staged.txt");
  repository.write("staged.txt", "staged, then changed\n");
  repository.write("lib/a.sh", "changed\n");
  const own = () => {
    const files = snapshot(repository.root);
    return [...files].filter(([path]) => !path.startsWith(".ai/repo/knowledge/") && !path.startsWith(".ai/local/"));
  };
  const before = own();
  expect(promote(repository, first, "seen").status).toBe(0);
  expect(repository.mj("knowledge", "reject", second, "--reason", "no").status).toBe(0);
  repository.done("knowledge", "check");
  repository.done("knowledge", "status");
  repository.done("knowledge", "candidates", "--all-refs");
  expect(own()).toEqual(before);
  expect(repository.git("status", "--porcelain").split("\n").sort()).toEqual(
    ["", ` D ${candidatesPath}/${first}.md`, ` M ${candidatesPath}/${second}.md`, " M lib/a.sh", `?? ${curatedPath}/${first}.md`, "AM staged.txt"].sort(),
  );
});

test("promote after a line of an open episode carries that episode, in the record and in the ledger", () => {
  const repository = installed();
  const [id = ""] = placed(repository, "seen", "lib/a.sh");
  repository.done("session", "start", "--owner", "o");
  const episode = String(repository.ledger().at(-1)?.["session"]);
  expect(promote(repository, id, "seen").status).toBe(0);
  expect(repository.read(`${curatedPath}/${id}.md`)).toContain(`    - session:${episode}\n---\n`);
  expect(repository.ledger().at(-1)).toMatchObject({ event: "knowledge.promoted", session: episode, id });
});

test(`promote and reject, killed at random, are finished by a second call with one line (seed ${seed})`, async () => {
  const repository = installed();
  const random = randomFrom(seed);
  const ids = placed(repository, "seen", ...Array.from({ length: 12 }, (_, index) => `lib/${index}.sh`));
  for (const [index, id] of ids.entries()) {
    const isPromotion = index % 3 !== 0;
    const first = isPromotion ? ["knowledge", "promote", id] : ["knowledge", "reject", id, "--reason", "so"];
    const killed = await repository.mjLater({ input: "first words\n", killAfter: 35 + random.below(50) }, ...first);
    const places = [`${candidatesPath}/${id}.md`, `${curatedPath}/${id}.md`].filter((path) => repository.exists(path));
    expect(places.length).toBeGreaterThan(0);
    const begun = repository.exists(`${curatedPath}/${id}.md`) ? repository.read(`${curatedPath}/${id}.md`) : null;
    if (killed.signal !== null) {
      const again = repository.mjWith({ input: "second words\n" }, ...first);
      const isDone = begun !== null && !places.includes(`${candidatesPath}/${id}.md`);
      // Killed when all was done and the lock given back: then there is nothing left to finish.
      if (again.status !== 0) expect([isDone || !isPromotion, again.status]).toEqual([true, isPromotion ? 12 : 10]);
    } else expect(killed.status).toBe(0);
    if (isPromotion) expect(repository.exists(`${candidatesPath}/${id}.md`)).toBe(false);
    if (begun !== null) expect(repository.read(`${curatedPath}/${id}.md`)).toBe(begun);
    expect(repository.ledger().filter((line) => line["id"] === id)).toHaveLength(1);
  }
  expect(repository.mj("knowledge", "check").status).toBe(0);
  expect(readdirSync(repository.path(candidatesPath)).filter((name) => name.startsWith(".tmp"))).toEqual([]);
});

test("reject by two processes at once leaves one line and one section", async () => {
  const repository = installed();
  const [id = ""] = placed(repository, "seen", "lib/a.sh");
  const ends = await Promise.all(["so", "so", "so"].map((reason) => repository.mjLater({}, "knowledge", "reject", id, "--reason", reason)));
  expect(ends.map((end) => end.status).sort()).toEqual([0, 10, 10]);
  expect(repository.ledger().filter((line) => line["event"] === "knowledge.rejected")).toHaveLength(1);
  expect(repository.read(`${candidatesPath}/${id}.md`).split("# Rejected")).toHaveLength(2);
});

test("a derivation after the review changes nothing, and a rotation keeps a second call from adding a line", () => {
  const repository = installed();
  const [first = "", second = ""] = observed(repository, "lib/a.sh", "lib/b.sh");
  promote(repository, first, "seen");
  repository.done("knowledge", "reject", second, "--reason", "no");
  const episode = first.slice(0, 21);
  const before = snapshot(repository.path(".ai/repo"));
  const derived = repository.done("knowledge", "derive", "--episode", episode).split("\n");
  expect(derived).toContain(`skipped ${candidatesPath}/${first}.md (promoted)`);
  expect(derived).toContain(`skipped ${candidatesPath}/${second}.md (superseded)`);
  expect(snapshot(repository.path(".ai/repo"))).toEqual(before);
  repository.write(".ai/repo/policy.yaml", "ledger:\n  retention_max_lines: 1\n");
  observed(repository);
  repository.done("history", "--rotate");
  expect(repository.read(ledgerPath)).not.toContain("knowledge.rejected");
  expect(repository.mj("knowledge", "reject", second, "--reason", "no").status).toBe(10);
});

test("check exits 10 with a count when a record fails, in every format, and 0 when none does", () => {
  const repository = installed();
  const [id = ""] = placed(repository, "seen", "lib/a.sh");
  expect(repository.mj("knowledge", "check")).toMatchObject({
    status: 0,
    stdout: Buffer.from(`OK   knowledge   ${candidatesPath}/${id}.md — candidate lesson\nknowledge check: 1 record(s), 0 failing\n`).toString("latin1"),
    stderr: "",
  });
  const path = `${candidatesPath}/${id}.md`;
  repository.write(path, repository.read(path).replace("class: lesson", "class: rumour"));
  const text = repository.mj("knowledge", "check");
  expect(text.status).toBe(10);
  expect(text.stdout).toContain("unknown class 'rumour'\nknowledge check: 1 record(s), 1 failing\n");
  expect(text.stderr).toBe("majordomus: knowledge check: 1 of 1 records fail\n");
  const json = repository.mj("knowledge", "check", "--json");
  expect(JSON.parse(json.stdout)).toMatchObject({ schema: 1, checked: 1, failing: 1, records: [{ id, failures: [{ rule: "class" }] }] });
  const github = repository.mj("knowledge", "check", "--format", "github");
  expect(github).toMatchObject({ status: 10 });
  expect(github.stdout.split("\n")).toEqual([
    `::error file=${path},line=1,title=knowledge class::unknown class 'rumour'`,
    `::notice file=lib/a.sh,line=1,title=knowledge candidate::awaits review: seen: lib/a.sh (${id})`,
    "",
  ]);
  const sarif = repository.mj("knowledge", "check", "--format", "sarif");
  expect(sarif.status).toBe(10);
  expect(JSON.parse(sarif.stdout)).toMatchObject({ version: "2.1.0" });
  expect(repository.mj("knowledge", "check", "--format", "xml").status).toBe(2);
  expect(repository.mj("knowledge", "check", "--format", "sarif", "--json").status).toBe(2);
});

test("check --format names paths from git's top level, where CI shows them", () => {
  const outer = repositoryAt(installed().root);
  outer.remove(".ai");
  outer.write("deep er/lib/a.sh", "");
  outer.git("add", "-A");
  outer.git("commit", "-q", "-m", "no layer at the top");
  const inner = repositoryAt(outer.path("deep er"));
  inner.done("init", "--repo", ".");
  placed(inner, "seen", "lib/a.sh");
  expect(inner.done("knowledge", "check", "--format", "github")).toContain("::notice file=deep er/lib/a.sh,line=1,");
  expect(inner.done("knowledge", "check", "--format", "sarif")).toContain('"uri":"deep%20er/lib/a.sh"');
});

test("status tells an overfull queue, old, unreadable and untracked candidates and a long ledger as warnings, and a stopped writer as 11", () => {
  const repository = installed();
  const quiet = repository.mjWith({ env: now }, "knowledge", "status");
  expect(quiet).toMatchObject({ status: 0, stdout: "knowledge status: 0 awaiting review, 0 warning(s)\n", stderr: "" });
  repository.write(
    ".ai/repo/policy.yaml",
    "knowledge:\n  candidates_max_files: 1\n  candidate_max_age_minutes: 60\nledger:\n  retention_max_lines: 3\n",
  );
  const [second = "", first = ""] = observed(repository, "lib/a.sh", "lib/b.sh");
  repository.git("add", `${candidatesPath}/${first}.md`);
  repository.write(`${candidatesPath}/x.md`, "no\n");
  const path = `${candidatesPath}/${second}.md`;
  repository.write(path, repository.read(path).replace(/^date: .*$/m, "date: 2026-10-08"));
  repository.write(`${candidatesPath}/${first}.md`, repository.read(`${candidatesPath}/${first}.md`).replace(/^date: .*$/m, "date: 2026-10-10"));
  const full = repository.mjWith({ env: now }, "knowledge", "status");
  expect(full).toMatchObject({ status: 0, stderr: "" });
  expect(full.stdout.split("\n")).toEqual([
    "warning overfull: 2 candidates await review, knowledge.candidates_max_files is 1",
    `warning old ${second}: awaits review since 2026-10-08, knowledge.candidate_max_age_minutes is 60, 1 more`,
    `warning unreadable ${candidatesPath}/x.md: no front matter`,
    `warning untracked ${candidatesPath}/${second}.md: git does not track it: add and commit it, or others never see it`,
    `warning untracked ${candidatesPath}/x.md: git does not track it: add and commit it, or others never see it`,
    `warning long-ledger ${ledgerPath}: 5 lines, ledger.retention_max_lines is 3: run 'majordomus history --rotate'`,
    "knowledge status: 2 awaiting review, the oldest of 2026-10-08, 6 warning(s)",
    "",
  ]);
  const episode = first.slice(0, 21);
  repository.write(ledgerPath, repository.read(ledgerPath).replace(/^.*knowledge\.derived.*\n/m, ""));
  const stopped = repository.mjWith({ env: now }, "knowledge", "status", "--json");
  expect(stopped.status).toBe(11);
  expect(stopped.stderr).toBe("majordomus: knowledge status: the writer has stopped\n");
  expect((JSON.parse(stopped.stdout) as { warnings: unknown[] }).warnings.at(-1)).toMatchObject({ kind: "stopped-writer", subject: episode });
  repository.write(".ai/repo/policy.yaml", "session:\n  knowledge_on_end: false\n");
  expect(repository.mjWith({ env: now }, "knowledge", "status").status).toBe(0);
  repository.write(".ai/repo/policy.yaml", "session: [\n");
  expect(repository.mjWith({ env: now }, "knowledge", "status").status).toBe(10);
});

test("filters keep records, groups of what is kept, and every unreadable file", () => {
  const repository = installed();
  const [a = "", b = ""] = placed(repository, "seen", "lib/a.sh", "docs/x.md");
  const [again = ""] = placed(repository, "seen", "lib/a.sh");
  const ids = (...filters: readonly string[]) =>
    [...repository.done("knowledge", "candidates", ...filters).matchAll(/^s-[^ ]+/gm)].map(([id]) => id).sort();
  expect(ids("--about", "lib/a.sh")).toEqual([a, again].sort());
  expect(ids("--about", "lib/A.sh")).toEqual([]);
  expect(ids("--route", "documentation")).toEqual([b]);
  expect(ids("--episode", again.slice(0, 21))).toEqual([again]);
  expect(ids("--min-episodes", "2")).toEqual([a, again].sort());
  expect(ids("--min-episodes", "1")).toEqual([a, b, again].sort());
  // The group of one episode's records is of one episode.
  expect(ids("--episode", again.slice(0, 21), "--min-episodes", "2")).toEqual([]);
  repository.done("knowledge", "reject", a, "--reason", "no");
  expect(repository.done("knowledge", "candidates", "--min-episodes=2")).toContain("knowledge candidates: 1 awaiting review\nabout lib/a.sh  route project  awaiting 1  rejected 1  episodes 2\n");
  repository.write(`${candidatesPath}/x.md`, "no\n");
  const unreadable = repository.mj("knowledge", "candidates", "--about", "nothing");
  expect(unreadable).toMatchObject({
    status: 10,
    stdout: `knowledge candidates: 0 awaiting review\nunreadable ${candidatesPath}/x.md: no front matter\n`,
  });
  for (const wrong of [["--route", "x"], ["--episode", "x"], ["--min-episodes", "0"]]) {
    expect(repository.mj("knowledge", "candidates", ...wrong), wrong.join(" ")).toMatchObject({ status: 2, stdout: "" });
  }
});

test("the shell reader filters by a subject that is not ASCII, as the toolkit does", () => {
  const repository = installed();
  observed(repository, "é/日本 \u{1f600}.md", "lib/a.sh");
  const call = ["knowledge", "candidates", "--about", "é/日本 \u{1f600}.md"];
  const reader = run("sh", [join(home, "shell/majordomus"), ...call], { cwd: repository.root });
  expect(reader).toEqual(repository.mj(...call));
  expect(reader.stdout).toContain("knowledge candidates: 1 awaiting review\n");
});

test("promote takes a terminal for no evidence", () => {
  const script = ["/usr/bin/script", "/bin/script"].find((path) => existsSync(path));
  if (script === undefined) return;
  const repository = installed();
  const [id = ""] = placed(repository, "seen", "lib/a.sh");
  const before = snapshot(repository.root);
  const ended = run(script, ["-qc", `"$MAJORDOMUS_TEST_LAUNCHER" knowledge promote ${id}`, "/dev/null"], {
    cwd: repository.root,
    env: { MAJORDOMUS_TEST_LAUNCHER: launcher, SHELL: "/bin/sh" },
  });
  const output = ended.stdout;
  expect(output).toContain("standard input is a terminal");
  expect([...snapshot(repository.root)].filter(([path]) => !path.startsWith(statePath))).toEqual(
    [...before].filter(([path]) => !path.startsWith(statePath)),
  );
});
