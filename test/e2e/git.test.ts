import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  answerHere,
  bareRepository,
  candidatesPath,
  freshFolder,
  installed,
  launcher,
  ledgerPath,
  openedIn,
  openPath,
  repositoryAt,
  run,
  sessionsPath,
  snapshot,
  withEpisode,
} from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

const observation = (subject: string, statement: string, ...more: readonly string[]) => ["knowledge", "observe", "--kind", "defect", "--subject", subject, ...more, "--", statement];

const records = (repository: Repository, folder = candidatesPath) => repository.names(folder).map((name) => repository.read(`${folder}/${name}`));

test("an unborn branch: head NONE, its name, no commits; the episode may see its first commit", () => {
  const repository = bareRepository();
  repository.done("init");
  expect(repository.done("session", "start")).toMatch(/ \(head NONE\)\n$/);
  repository.done(...observation("lib/a.sh", "first", "--evidence", "file:lib/a.sh"));
  repository.write("lib/a.sh", "echo\n");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "one");
  repository.done(...observation("lib/a.sh", "second", "--evidence", "file:lib/a.sh", "--evidence", `commit:${repository.git("rev-parse", "--short=8", "HEAD").trim()}`));
  const path = repository.done("session", "end").trim();
  const head = repository.git("rev-parse", "HEAD").trim();
  expect(path).toMatch(new RegExp(`--main--${head.slice(0, 7)}--`));
  expect(repository.ledger().map((line) => line["head"])).toEqual(["NONE", "NONE", head, head, head]);
  const [first, second] = [records(repository).find((text) => text.includes("# first")), records(repository).find((text) => text.includes("# second"))];
  expect(first).not.toContain("- file:lib/a.sh\n");
  expect(second).toContain(`    - file:lib/a.sh\n    - commit:${head}\n---\n`);
  expect(repository.read(path)).toContain("commits: []\n");
  expect(repository.read(path)).toContain("start_head: NONE\n");
});

test("an orphan branch, and a branch whose name is another type or holds what a file name may not", () => {
  const repository = installed();
  repository.git("checkout", "-q", "--orphan", "null");
  repository.done("session", "start");
  expect(repository.ledger()[0]).toMatchObject({ head: "NONE", branch: "null" });
  repository.git("commit", "-q", "--allow-empty", "-m", "o");
  repository.git("checkout", "-q", "-b", "feature/ü--x'y#1");
  repository.done(...observation("a", "s"));
  const path = repository.done("session", "end").trim();
  expect(path).toMatch(/--feature-----x-y-1--[0-9a-f]{7}--/);
  expect(Buffer.from(repository.read(path), "latin1").toString("utf8")).toContain("\nbranch: feature/ü--x'y#1\n");
  const listed = repository.done("knowledge", "candidates");
  expect(Buffer.from(listed, "latin1").toString("utf8")).toContain(" feature/ü--x'y#1");
});

test("a detached head, and one in the middle of a rebase: DETACHED", () => {
  const repository = installed();
  repository.git("checkout", "-q", "--detach");
  repository.done("session", "start");
  repository.done(...observation("a", "s"));
  expect(repository.done("session", "end")).toMatch(/--DETACHED--[0-9a-f]{7}--/);
  expect(repository.ledger()[0]).toMatchObject({ branch: "DETACHED", head: repository.git("rev-parse", "HEAD").trim() });
  repository.git("checkout", "-q", "main");
  repository.git("commit", "-q", "--allow-empty", "-m", "two");
  const rebase = run("git", ["rebase", "-q", "-i", "--root", "--exec", "false"], { cwd: repository.root, env: { GIT_SEQUENCE_EDITOR: "true", GIT_EDITOR: "true" } });
  expect(rebase.status).not.toBe(0);
  repository.done("session", "start");
  expect(repository.ledger().at(-1)).toMatchObject({ event: "session.started", branch: "DETACHED" });
});

test("two work trees: each its own episode, ledger and records; neither sees the other's", () => {
  const main = installed();
  const tree = repositoryAt(`${freshFolder()}/tree`);
  main.git("worktree", "add", "-q", "-b", "other", tree.root);
  expect(readFileSync(tree.path(".git"), "utf8")).toContain("gitdir:");
  const [one, two] = [openedIn(main.done("session", "start")), openedIn(tree.done("session", "start"))];
  main.done(...observation("a", "in main"));
  tree.done(...observation("b", "in tree"));
  expect(tree.mj(...observation("b", "in tree")).status).toBe(0);
  main.done("session", "end");
  expect(tree.ledger().some((line) => line["session"] === one)).toBe(false);
  expect(tree.done("session", "status")).toContain(two);
  tree.done("session", "end");
  expect(records(main).join("")).not.toContain("in tree");
  expect(records(tree)).toHaveLength(1);
  const ids = [main, tree].map((place) => /^worktree_id: (.*)$/m.exec(place.read(`${sessionsPath}/${place.names(sessionsPath)[0] ?? ""}`))?.[1]);
  expect(new Set(ids).size).toBe(2);
  const repositories = [main, tree].map((place) => /^repository_id: (.*)$/m.exec(place.read(`${sessionsPath}/${place.names(sessionsPath)[0] ?? ""}`))?.[1]);
  expect(new Set(repositories).size).toBe(1);
});

test("a copied repository: its open file is the other's, and is set aside by a start", () => {
  const original = withEpisode();
  const copy = repositoryAt(`${freshFolder()}/copy`);
  run("cp", ["-R", original.root, copy.root]);
  expect(copy.mj(...observation("a", "s")).status).toBe(10);
  const id = openedIn(copy.done("session", "start"));
  expect(copy.names(openPath)).toEqual(["hand.yaml", "hand.yaml.foreign-1"]);
  copy.done(...observation("a", "s"));
  expect(copy.ledger().at(-1)).toMatchObject({ session: id });
  expect(original.names(openPath)).toEqual(["hand.yaml"]);
});

test("a repository that was moved keeps its episode", () => {
  const original = withEpisode();
  const moved = repositoryAt(`${original.root}-moved`);
  run("mv", [original.root, moved.root]);
  moved.done(...observation("a", "s"));
  expect(moved.ledger().at(-1)).toMatchObject({ session: original.episode });
});

test("the start's commit is gone after a rebase and gc: the records are written, no commit is claimed, twice the same", () => {
  const repository = installed();
  repository.write(".ai/repo/rules/r.md", "a rule\n");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "to be rewritten");
  repository.done("session", "start");
  repository.done(...observation("a", "s"));
  const gone = repository.git("rev-parse", "HEAD").trim();
  repository.git("commit", "-q", "--amend", "-m", "rewritten");
  repository.git("reflog", "expire", "--expire=now", "--all");
  repository.git("gc", "-q", "--prune=now");
  expect(run("git", ["cat-file", "-e", gone], { cwd: repository.root }).status).not.toBe(0);
  const path = repository.done("session", "end").trim();
  expect(records(repository)).toHaveLength(1);
  expect(records(repository)[0]).not.toContain("commit:");
  expect(repository.read(path)).toContain("commits: []\n");
  expect(repository.done("knowledge", "derive", "--episode", String(repository.ledger()[0]?.["session"]))).toContain("0 written, 1 unchanged");
});

test("commits of the episode that touch rules or decision records join every record; a merge and what is no longer tracked do not", () => {
  const repository = installed();
  repository.write(".ai/repo/rules/old.md", "old\n");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "before");
  repository.done("session", "start");
  const commit = (path: string, message: string) => {
    repository.write(path, `${message}\n`);
    repository.git("add", "-A");
    repository.git("commit", "-q", "-m", message);
    return repository.git("rev-parse", "HEAD").trim();
  };
  const touched = [commit(".ai/repo/rules/b's \"é\".md", "one"), commit(".ai/repo/adrs/a b.md", "two")];
  commit("lib/a.sh", "elsewhere");
  touched.push(commit(".ai/repo/rules/new\nline.md", "three"));
  repository.git("mv", ".ai/repo/rules/old.md", ".ai/repo/rules/new.md");
  repository.git("commit", "-q", "-m", "moved");
  touched.push(repository.git("rev-parse", "HEAD").trim());
  repository.git("checkout", "-q", "-b", "side", "HEAD~1");
  touched.push(commit(".ai/repo/adrs/side.md", "side"));
  repository.git("checkout", "-q", "main");
  repository.git("merge", "-q", "--no-ff", "-m", "merge", "side");
  repository.done("decision", "add", "d", "--why", "w");
  repository.done(...observation("a", "s"));
  repository.done("session", "end");
  for (const text of records(repository)) {
    const from = [...text.matchAll(/^ {4}- commit:([0-9a-f]{40})$/gm)].map((found) => found[1]);
    expect([...from].sort()).toEqual([...touched].sort());
    expect(from.slice(0, 2)).toEqual(touched.slice(0, 2));
    expect(Buffer.from(text, "latin1").toString("utf8")).toContain(
      [".ai/repo/adrs/a b.md", ".ai/repo/adrs/side.md", ".ai/repo/rules/b's \"é\".md", ".ai/repo/rules/new.md"].reduce((all, path) => `${all}  - type: relates_to\n    target: file:${path}\n`, "relations:\n").concat("---\n"),
    );
  }
});

test("GIT_DIR and GIT_INDEX_FILE leaked by a hook: every fact is this repository's, the other is untouched", () => {
  const [repository, other] = [installed(), installed()];
  other.git("checkout", "-q", "-b", "elsewhere");
  const before = snapshot(other.root);
  const env = {
    GIT_DIR: other.path(".git"),
    GIT_WORK_TREE: other.root,
    GIT_INDEX_FILE: other.path(".git/index"),
    GIT_OBJECT_DIRECTORY: other.path(".git/objects"),
    GIT_COMMON_DIR: other.path(".git"),
    GIT_PREFIX: "lib/",
    GIT_NAMESPACE: "x",
    GIT_CONFIG_COUNT: "1",
    GIT_CONFIG_KEY_0: "core.worktree",
    GIT_CONFIG_VALUE_0: other.root,
  };
  for (const args of [["session", "start"], observation("lib/a.sh", "s", "--evidence", "file:lib/a.sh"), ["session", "end"]]) {
    expect(repository.mjWith({ env }, ...args)).toMatchObject({ status: 0 });
  }
  expect(repository.ledger().map((line) => line["branch"])).toEqual(["main", "main", "main", "main"]);
  expect(records(repository)[0]).toContain("    - file:lib/a.sh\n");
  expect(snapshot(other.root)).toEqual(before);
});

test("git's hooks: a commit hook that ends an episode leaves index and commit alone", () => {
  const repository = withEpisode();
  repository.done(...observation("a", "s"));
  mkdirSync(repository.path(".git/hooks"), { recursive: true });
  writeFileSync(repository.path(".git/hooks/pre-commit"), `#!/bin/sh\nexec ${launcher} session end >/dev/null 2>&1\n`, { mode: 0o755 });
  repository.write("lib/a.sh", "changed\n");
  repository.git("commit", "-q", "-am", "by hook");
  expect(repository.git("show", "--name-only", "--format=", "HEAD")).toBe("lib/a.sh\n");
  expect(repository.names(candidatesPath)).toHaveLength(1);
});

test("a dirty index, staged and unstaged changes: no act moves a bit of the index, nothing is staged", () => {
  const repository = installed();
  repository.write("lib/a.sh", "staged\n");
  repository.git("add", "lib/a.sh");
  repository.write("lib/a.sh", "unstaged\n");
  repository.write("new.txt", "untracked\n");
  const index = () => readFileSync(repository.path(".git/index")).toString("base64");
  const state = () => repository.git("--no-optional-locks", "status", "--porcelain", "--untracked-files=no");
  const before = [index(), state()];
  for (const args of [["session", "start"], ["start", "t", "--scope", "lib"], observation("lib/a.sh", "s"), ["finish", "--outcome", "completed"], ["session", "end"], ["knowledge", "candidates"]]) {
    repository.done(...args);
  }
  expect([index(), state()]).toEqual(before);
  expect(repository.read(`${sessionsPath}/${repository.names(sessionsPath)[0] ?? ""}`)).toContain("working_tree: dirty\nchanged_files:\n  - lib/a.sh\n");
});

const names = ["café.md", "日本.md", "a\"b'c.md", "-dash.md", "a=b.md", "sp ace.md", "back\\slash.md", "#hash.md", "a;b"];

test("names with quotes, spaces, non-ASCII letters, a dash, an equals sign: recorded, found, resolved, listed as they are", async () => {
  const repository = installed();
  for (const name of names) repository.write(name, "x\n");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "names");
  repository.done("session", "start");
  for (const name of names) {
    const reference = /\s/.test(name) ? "claim:x" : `file:${name}`;
    const seen = await answerHere(repository, ["knowledge", "observe", "--kind=defect", `--subject=${name}`, `--evidence=${reference}`, "--", `about ${name}`]);
    expect(seen).toMatchObject({ status: 0, stderr: "" });
  }
  repository.done("session", "end");
  const json = JSON.parse(Buffer.from(repository.done("knowledge", "candidates", "--json"), "latin1").toString("utf8")) as { readonly groups: readonly { readonly about: string }[] };
  expect(json.groups.map((group) => group.about)).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
  for (const name of names.filter((one) => !/\s/.test(one))) {
    const text = records(repository).map((record) => Buffer.from(record, "latin1").toString("utf8")).find((record) => record.includes(`# about ${name}\n`));
    expect(text, name).toContain("# Evidence\n");
    expect(text?.split("\n").filter((line) => line.startsWith("    - ") && line.includes("file:")).length, name).toBe(1);
  }
});

test("a changed file with a newline, a quote and a tab in its name has its real name in the session record", () => {
  const repository = installed();
  const odd = 'n\new"\tx.md';
  repository.write(odd, "x\n");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "odd");
  repository.done("session", "start");
  repository.write(odd, "y\n");
  const path = repository.done("session", "end").trim();
  expect(repository.done("yaml", "flatten", "--front", path)).toContain('\nchanged_files.0=n\\new"\\tx.md\n');
});

test("a layer in a sub-directory of a git work tree, its name with a newline: references resolve below it, attributes and commits too", () => {
  const outer = bareRepository();
  const inner = repositoryAt(outer.path("pack\nages/it's"));
  mkdirSync(inner.root, { recursive: true });
  inner.done("init", "--repo", ".");
  expect(outer.exists(".ai")).toBe(false);
  inner.write("lib/a.sh", "x\n");
  inner.write("CHANGELOG.md", "x\n");
  inner.write(".gitattributes", "CHANGELOG.md merge=derived\n");
  outer.git("add", "-A");
  outer.git("commit", "-q", "-m", "one");
  inner.done("session", "start");
  inner.write(".ai/repo/rules/r.md", "x\n");
  outer.write(".ai/repo/rules/outer.md", "x\n");
  outer.git("add", "-A");
  outer.git("commit", "-q", "-m", "rules");
  inner.done(...observation("CHANGELOG.md", "s", "--evidence", "file:lib/a.sh", "--evidence", "file:none"));
  run(launcher, observation("lib/a.sh", "from below"), { cwd: inner.path("lib") });
  inner.done("session", "end");
  const [first, second] = [records(inner).find((text) => text.includes("# s\n")), records(inner).find((text) => text.includes("# from below\n"))];
  expect(first).toContain("route: generator\n");
  expect(first).toContain("    - file:lib/a.sh\n");
  expect(first).not.toContain("    - file:none\n");
  expect(first).toContain("relations:\n  - type: relates_to\n    target: file:.ai/repo/rules/r.md\n---\n");
  expect(second).toContain("route: project\n");
});

test("git attributes: last match wins, a name at any depth, a quoted pattern with a space; as git says", async () => {
  const repository = installed();
  repository.write(".gitattributes", 'gen/ merge=derived\nout/** merge=derived\n*.lock merge=derived\nkeep.lock -merge\n"a b" merge=derived\nx\\ y merge=derived\n!z merge=derived\n');
  repository.done("session", "start");
  const routes: Readonly<Record<string, string>> = { "gen/a": "project", "out/x/y": "generator", "d/p.lock": "generator", "d/keep.lock": "project", "a b": "generator", "x y": "project", z: "project" };
  for (const subject of Object.keys(routes)) expect(await answerHere(repository, observation(subject, `about ${subject}`))).toMatchObject({ status: 0 });
  repository.done("session", "end");
  const json = JSON.parse(repository.done("knowledge", "candidates", "--json")) as { readonly groups: readonly { readonly about: string; readonly route: string }[] };
  expect(Object.fromEntries(json.groups.map(({ about, route }) => [about, route]))).toEqual(routes);
});

test("a subject that leads out of the work tree, written by somebody else, costs no other record", () => {
  const repository = withEpisode();
  const line = { ts: "2026-10-09T10:00:00Z", event: "observation.recorded", head: repository.git("rev-parse", "HEAD").trim(), branch: "main", by: "x", session: repository.episode, task_id: "none", kind: "defect" };
  const add = (subject: string, evidence: readonly string[]) => repository.write(ledgerPath, `${repository.read(ledgerPath)}${JSON.stringify({ ...line, subject, statement: `about ${subject}`, evidence })}\n`);
  for (const subject of ["../x", "/etc/passwd", "a/../../x", "a//b", "lib/a.sh", ".", "", "-x"]) add(subject, ["file:../../x", "file:/etc/passwd", "commit:--help", "commit:HEAD", "file:", "x", "file:lib/a.sh"]);
  const ended = repository.mj("session", "end");
  expect(ended.stderr).toContain("knowledge derived: 7 written, 0 unchanged, 0 skipped");
  for (const text of records(repository)) expect([...text.matchAll(/^ {4}- (?!session).*$/gm)].map((found) => found[0])).toEqual(["    - file:lib/a.sh"]);
});

test("CRLF checkouts and a byte order mark: derived again all is unchanged, and the listing has the same bytes", () => {
  const repository = withEpisode();
  repository.done(...observation("a", "s"));
  repository.done("decision", "add", "d", "--why", "w");
  repository.done("session", "end");
  const listed = repository.done("knowledge", "candidates");
  const [first = "", second = ""] = repository.names(candidatesPath);
  repository.write(`${candidatesPath}/${first}`, Buffer.from(repository.read(`${candidatesPath}/${first}`).replaceAll("\n", "\r\n"), "latin1"));
  repository.write(`${candidatesPath}/${second}`, Buffer.from(repository.read(`${candidatesPath}/${second}`).replaceAll("\n", "\r\n"), "latin1"));
  const before = snapshot(repository.path(candidatesPath));
  expect(repository.done("knowledge", "derive", "--episode", repository.episode)).toContain("0 written, 2 unchanged, 0 skipped");
  expect(snapshot(repository.path(candidatesPath))).toEqual(before);
  expect(repository.done("knowledge", "candidates")).toBe(listed);
  repository.write(`${candidatesPath}/${first}`, Buffer.concat([Buffer.from("\ufeff"), Buffer.from(repository.read(`${candidatesPath}/${first}`), "latin1")]));
  expect(repository.done("knowledge", "candidates")).toBe(listed);
});

test("core.autocrlf: a clone lists the same bytes, and its own derivation of the same episode writes no second file", () => {
  const repository = withEpisode();
  repository.done(...observation("a", "s"));
  repository.done("session", "end");
  const listed = repository.done("knowledge", "candidates");
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", "records");
  const clone = repositoryAt(`${freshFolder()}/clone`);
  run("git", ["-c", "core.autocrlf=true", "clone", "-q", repository.root, clone.root]);
  const name = clone.names(candidatesPath)[0] ?? "";
  expect(clone.read(`${candidatesPath}/${name}`)).toContain("\r\n");
  expect(clone.done("knowledge", "candidates")).toBe(listed);
  clone.write(ledgerPath, repository.read(ledgerPath));
  expect(clone.done("knowledge", "derive", "--episode", repository.episode)).toContain("0 written, 1 unchanged, 0 skipped");
  expect(clone.names(candidatesPath)).toEqual([name]);
});

test("dubious ownership: git's own words in one line where git is needed, never an empty answer; the queue is read", () => {
  const repository = withEpisode();
  const env = { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
  const before = snapshot(repository.root);
  for (const args of [["session", "start"], observation("a", "s"), ["session", "end"], ["init"]]) {
    const ended = repository.mjWith({ env }, ...args);
    expect(ended).toMatchObject({ status: 13, stdout: "", stderr: expect.stringMatching(/^majordomus: [^\n]*dubious ownership[^\n]*\n$/) as string });
  }
  expect(snapshot(repository.root)).toEqual(before);
  expect(repository.mjWith({ env }, "knowledge", "candidates").status).toBe(0);
});

test("the root: found from below, through a link, no further than the first .git, and by --repo", () => {
  const repository = withEpisode();
  const below = repository.path("lib");
  const link = `${freshFolder()}/link`;
  symlinkSync(repository.root, link);
  for (const [cwd, args] of [[below, []], [link, []], ["/", ["--repo", repository.root]], ["/", [`--repo=${link}`]], [freshFolder(), ["--repo", repository.root]]] as const) {
    expect(run(launcher, [...args, "session", "status"], { cwd }).stdout).toContain(repository.episode);
  }
  const nested = repositoryAt(repository.path("nested"));
  mkdirSync(nested.root);
  nested.git("init", "-q");
  expect(nested.mj("session", "status")).toMatchObject({ status: 12 });
});
