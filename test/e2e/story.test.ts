import { expect, test } from "vitest";
import { candidatesPath, installed, ledgerPath, openPath, openedIn, sessionsPath, statePath, withEpisode } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

const observe = (repository: Repository, now: string, kind: string, subject: string, statement: string, ...more: readonly string[]) =>
  repository.mjWith({ env: { MAJORDOMUS_NOW: now } }, "knowledge", "observe", "--kind", kind, `--subject=${subject}`, ...more, statement);

test("the four-episode story: what three episodes met of one subject is one group of three, and a rejection is remembered", () => {
  const repository = installed();
  const episode = (now: string, act: () => void) => {
    const env = { MAJORDOMUS_NOW: now };
    const started = repository.mjWith({ env }, "session", "start", "--owner", "ada", "--worker", "w");
    const id = openedIn(started.stdout);
    const head = repository.git("rev-parse", "HEAD").slice(0, 7);
    expect(started.stdout).toBe(`session ${id} opened at ${now} (head ${head})\n`);
    act();
    const ended = repository.mjWith({ env: { MAJORDOMUS_NOW: now.replace("00:00Z", "30:00Z") } }, "session", "end");
    expect(ended.status).toBe(0);
    expect(ended.stdout).toMatch(new RegExp(`^${sessionsPath}/${now.slice(0, 10).replaceAll("-", "")}T[0-9]{6}Z--${id}--main--${head}--[0-9a-f]{16}\\.md\n$`));
    return { id, ended };
  };
  const first = episode("2026-10-08T09:00:00Z", () => {
    const seen = observe(repository, "2026-10-08T09:05:00Z", "defect", "lib/a.sh", "a.sh prints the wrong word", "--evidence", "file:lib/a.sh", "--evidence", "issue:I1");
    expect(seen).toMatchObject({ status: 0, stdout: Buffer.from("observed: defect lib/a.sh — a.sh prints the wrong word\n").toString("latin1"), stderr: "" });
    expect(observe(repository, "2026-10-08T09:06:00Z", "friction", "docs/b.md", "b.md is out of date").stderr).toBe("majordomus: observed 'docs/b.md': no such path here\n");
  });
  expect(first.ended.stderr).toContain(`knowledge derived: 2 written, 0 unchanged, 0 skipped for episode ${first.id}`);
  const second = episode("2026-10-08T10:00:00Z", () => void observe(repository, "2026-10-08T10:05:00Z", "defect", "lib/a.sh", "a.sh prints the wrong word"));
  const rejected = repository.names(candidatesPath).find((name) => name.startsWith(second.id)) ?? "";
  const path = `${candidatesPath}/${rejected}`;
  repository.write(path, repository.read(path).replace("status: candidate", "status: superseded"));
  const third = episode("2026-10-08T11:00:00Z", () => void observe(repository, "2026-10-08T11:05:00Z", "workaround", "lib/a.sh", "call it twice"));
  const fourth = episode("2026-10-08T12:00:00Z", () => undefined);
  expect(fourth.ended.stderr).toContain("knowledge derived: 0 written, 0 unchanged, 0 skipped");
  expect(repository.names(candidatesPath)).toHaveLength(4);

  const listed = repository.done("knowledge", "candidates").split("\n");
  const group = listed.indexOf("about lib/a.sh  route project  awaiting 2  rejected 1  episodes 3");
  expect(listed).toContain("knowledge candidates: 3 awaiting review");
  expect(listed).toContain("about docs/b.md  route documentation  awaiting 1  rejected 0  episodes 1");
  expect(group).toBeGreaterThan(0);
  expect(listed.slice(group + 1, group + 5).map((line) => line.slice(0, 12))).toEqual([`  awaiting  `, `  rejected  `, `  awaiting  `, `  episodes  `]);
  expect(listed[group + 4]).toBe(`  episodes  ${first.id} ${second.id} ${third.id}`);
  const columns = listed.find((line) => line.endsWith("call it twice")) ?? "";
  expect(columns).toMatch(new RegExp(`^${third.id}-[0-9a-f]{12} {13}lesson     2026-10-08 main {21}call it twice$`));

  // A second derivation of an episode that is closed moves nothing and resurrects nothing.
  const again = repository.done("knowledge", "derive", "--episode", second.id);
  expect(again).toContain(`skipped ${path} (superseded)`);
  expect(repository.read(path)).toContain("status: superseded");
  expect(repository.git("status", "--porcelain", "--untracked-files=no")).toBe("");
});

test("the ledger of an episode: every line in the envelope's form, in order, spaces nowhere", () => {
  const repository = installed();
  const act = (now: string, ...args: readonly string[]) => expect(repository.mjWith({ env: { MAJORDOMUS_NOW: now } }, ...args)).toMatchObject({ status: 0 });
  act("2026-10-09T10:00:00Z", "decision", "add", "before any episode", "--why", "w");
  act("2026-10-09T10:00:01Z", "session", "start", "--owner", "o");
  act("2026-10-09T10:00:02Z", "start", "fix it", "--scope", "lib", "--scope", "docs", "--requires", "r");
  act("2026-10-09T10:00:03Z", "decision", "add", 'use "awk"', "--why", "w", "--rejected", "sed", "--evidence", "e", "--supersedes", "s");
  act("2026-10-09T10:00:04Z", "question", "add", "Which port?");
  act("2026-10-09T10:00:05Z", "question", "resolve", "Which port?", "--answer", "8080");
  act("2026-10-09T10:00:06Z", "knowledge", "observe", "--kind", "defect", "--subject", "lib/é.sh", "--evidence", "file:lib/a.sh", "a\u00a0b");
  repository.write("note.md", "# Reason\n\n  no disk  \n");
  act("2026-10-09T10:00:07Z", "finish", "--outcome", "failed", "--note", "note.md");
  act("2026-10-09T10:00:08Z", "session", "end");
  const lines = repository.read(ledgerPath).split("\n");
  expect(lines.pop()).toBe("");
  for (const line of lines) expect(line).toBe(Buffer.from(JSON.stringify(JSON.parse(Buffer.from(line, "latin1").toString("utf8"))), "utf8").toString("latin1"));
  const entries = repository.ledger();
  const session = entries[1]?.["session"];
  const task = entries[2]?.["task_id"];
  const head = repository.git("rev-parse", "HEAD").trim();
  const envelope = (second: number, event: string) => ({ ts: `2026-10-09T10:00:0${second}Z`, event, head, branch: "main", by: "majordomus-ts/0.1.0" });
  const stamped = (second: number, event: string) => ({ ...envelope(second, event), session });
  expect(entries.slice(0, 9)).toEqual([
    { ...envelope(0, "decision.recorded"), task_id: "none", decision: "before any episode" },
    { ...stamped(1, "session.started"), owner: "o" },
    { ...stamped(2, "task.started"), task_id: task, profile: "implementation", owner: expect.any(String) as string, scope: "lib docs", requires: "r" },
    { ...stamped(3, "decision.recorded"), task_id: task, decision: 'use "awk"' },
    { ...stamped(4, "question.opened"), task_id: task, question: "Which port?" },
    { ...stamped(5, "question.resolved"), task_id: task, question: "Which port?", answer: "8080" },
    { ...stamped(6, "observation.recorded"), task_id: task, kind: "defect", subject: "lib/é.sh", statement: "a\u00a0b", evidence: ["file:lib/a.sh"] },
    { ...stamped(7, "task.finished"), task_id: task, outcome: "failed", contract: {}, verify: null, checkpoints: 0 },
    { ...stamped(8, "knowledge.derived"), episode: session, written: 4, unchanged: 0, skipped: 0, paths: expect.any(String) as string, digests: expect.any(String) as string },
  ]);
  expect(entries[9]).toMatchObject({ event: "session.closed", session, outcome: "closed" });
  expect(entries).toHaveLength(10);
  expect(lines.map((line) => Object.keys(JSON.parse(line) as object).slice(0, 5).join())).toEqual(lines.map(() => "ts,event,head,branch,by"));
  expect(repository.names(candidatesPath).map((name) => repository.read(`${candidatesPath}/${name}`)).join("")).toContain(`title: "Task ${String(task)} ended failed: no disk"`);
  expect(repository.exists(`${statePath}/current.yaml`)).toBe(false);
  expect(repository.read(`${statePath}/completed/${String(task)}.md`)).toBe("# Reason\n\n  no disk  \n");
  expect(repository.done("history", "--all", "--json")).toBe(repository.read(ledgerPath));
  expect(repository.done("history", "--validate")).toContain("10 line(s)");
  expect(repository.done("decision", "list")).toBe('1. before any episode\n2. use "awk"\n');
});

test("the session record: its keys in the contract's order, no absolute path, and what ledger and git say", () => {
  const repository = withEpisode();
  repository.git("remote", "add", "origin", "https://user:token@example.org:8443/team/repo.git?x=y");
  repository.write("lib/a.sh", "echo b\n");
  repository.git("commit", "-q", "-am", "two");
  repository.write("lib/a.sh", "echo c\n");
  repository.done("start", "t", "--scope", "lib");
  repository.done("decision", "add", "yes", "--why", "w");
  repository.done("question", "add", "q: r?");
  repository.done("knowledge", "observe", "--kind", "drift", "--subject", "lib/a.sh", "--evidence", "issue:I7", "--evidence", "file:lib/a.sh", "s");
  const path = repository.done("session", "end", "--outcome", "interrupted").trim();
  const flat = repository.done("yaml", "flatten", "--front", path);
  const keys = [...new Set(flat.split("\n").filter((line) => line !== "").map((line) => line.replace(/[.=].*$/, "")))];
  expect(keys).toEqual([
    "schema", "kind", "created_at", "task_id", "profile", "repository_id", "worktree_id", "branch", "head", "working_tree", "changed_files", "session_id", "started_at", "closed_at", "outcome",
    "title", "start_head", "start_working_tree", "commits", "tasks", "issues", "milestones", "checkpoints", "handovers", "decisions", "questions", "evidence",
  ]);
  const head = repository.git("rev-parse", "HEAD").trim();
  for (const line of [
    "schema=session/v1", "kind=session", "repository_id=example.org/team/repo.git", "branch=main", `head=${head}`, "working_tree=dirty", "changed_files.0=lib/a.sh", "outcome=interrupted",
    `title=Session ${repository.episode} on main`, "start_working_tree=clean", `commits.0=${head.slice(0, 7)}`, "issues.0=I7", "milestones=[]", "checkpoints=[]", "handovers=[]", "decisions.0=yes",
    "questions.0=q: r?", "evidence.0=issue:I7", "evidence.1=file:lib/a.sh",
  ]) expect(flat.split("\n")).toContain(line);
  const record = repository.read(path);
  expect(record).not.toContain(repository.root);
  expect(record).not.toMatch(/token|user:/);
  expect(record).toContain('  - "yes"\n');
  expect(repository.ledger().at(-1)).toMatchObject({ event: "session.closed", outcome: "interrupted", session_path: path, session: repository.episode });
});

test("session end: the open file and the pointer are gone; a second end is missing (12) and adds nothing", () => {
  const repository = withEpisode();
  repository.done("session", "close");
  expect(repository.names(openPath)).toEqual([]);
  expect(repository.names(statePath)).not.toContain("session-current.yaml");
  const before = repository.read(ledgerPath);
  expect(repository.mj("session", "end").status).toBe(12);
  expect(repository.read(ledgerPath)).toBe(before);
  expect(repository.names(sessionsPath)).toHaveLength(1);
});

test("session end: a pointer at another's episode stays where it is", () => {
  const repository = installed();
  repository.done("session", "start", "--provider-session", "a");
  repository.done("session", "start", "--provider-session", "b");
  repository.done("session", "start", "--provider-session", "c");
  const end = repository.mjWith({ env: { MJ_SESSION_KEY: "b" } }, "session", "end");
  expect(end.status).toBe(0);
  expect(repository.names(openPath)).toEqual(["a.yaml", "c.yaml"]);
  expect(repository.names(statePath)).toContain("session-current.yaml");
  expect(repository.done("session", "status")).toMatch(/key a /);
});

test("session end: knowledge_on_end false derives nothing, closes, and says so", () => {
  const repository = withEpisode();
  repository.write(".ai/repo/policy.yaml", "session:\n  knowledge_on_end: false\n");
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "a", "s");
  const ended = repository.mj("session", "end");
  expect(ended).toMatchObject({ status: 0, stderr: "majordomus: knowledge not derived: session.knowledge_on_end is false\n" });
  expect(repository.ledger().filter((line) => line["event"] === "knowledge.derived")).toEqual([]);
  expect(repository.names(candidatesPath)).toEqual([]);
  // Neither the next start nor the next end derives it behind the person's back.
  repository.done("session", "start");
  expect(repository.names(candidatesPath)).toEqual([]);
});

test("session end: a derivation that fails never fails the close, and the next boundary derives", () => {
  const repository = withEpisode();
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "a", "s");
  const good = repository.read(".ai/repo/scope.yaml");
  repository.write(".ai/repo/scope.yaml", "out: [\n");
  const ended = repository.mj("session", "end");
  expect(ended.status).toBe(0);
  expect(ended.stderr).toMatch(/^majordomus: knowledge not derived: cannot read '\.ai\/repo\/scope\.yaml': [^\n]+\n$/);
  expect(repository.ledger().at(-1)).toMatchObject({ event: "session.closed" });
  repository.write(".ai/repo/scope.yaml", good);
  repository.done("session", "start");
  expect(repository.names(candidatesPath)).toHaveLength(1);
});

test("session end: a file where the candidates belong fails no close", () => {
  const repository = withEpisode();
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "a", "s");
  repository.remove(candidatesPath);
  repository.write(candidatesPath, "a file\n");
  const ended = repository.mj("session", "end");
  expect(ended).toMatchObject({ status: 0, stderr: expect.stringMatching(/^majordomus: knowledge not derived: [^\n]+\n$/) as string });
  expect(repository.read(candidatesPath)).toBe("a file\n");
});

test("session recover: closes the stranded as interrupted, or all", () => {
  const repository = installed();
  const env = (now: string) => ({ env: { MAJORDOMUS_NOW: now } });
  repository.mjWith(env("2026-10-09T00:00:00Z"), "session", "start", "--provider-session", "old");
  repository.mjWith(env("2026-10-09T20:00:00Z"), "session", "start", "--provider-session", "new");
  expect(repository.mjWith(env("2026-10-09T12:00:00Z"), "session", "recover").stdout).toBe("session recover: 0 closed\n");
  expect(repository.mjWith(env("2026-10-09T20:00:00Z"), "session", "recover").stdout).toMatch(/^recovered s-20261009000000-[0-9a-f]{4} {2}[^ ]+\.md\nsession recover: 1 closed\n$/);
  expect(repository.names(openPath)).toEqual(["new.yaml"]);
  expect(repository.mjWith(env("2026-10-09T20:00:00Z"), "session", "recover", "--all").stdout).toContain("session recover: 1 closed");
  expect(repository.ledger().filter((line) => line["event"] === "session.closed").map((line) => line["outcome"])).toEqual(["interrupted", "interrupted"]);
});

test("a task that another open episode started is not this process's", () => {
  const repository = installed();
  const as = (session: string, ...args: readonly string[]) => repository.mjWith({ env: { CLAUDE_CODE_SESSION_ID: session } }, ...args);
  for (const session of ["a", "b"]) expect(as(session, "session", "start").status).toBe(0);
  expect(as("a", "start", "t", "--scope", "lib").status).toBe(0);
  expect(as("b", "finish", "--outcome", "completed")).toMatchObject({ status: 12 });
  expect(as("b", "start", "u", "--scope", "lib")).toMatchObject({ status: 15 });
  expect(as("b", "decision", "add", "d", "--why", "w").status).toBe(0);
  expect(repository.ledger().at(-1)).toMatchObject({ event: "decision.recorded", task_id: "none" });
  expect(as("a", "session", "end").status).toBe(0);
  expect(as("b", "finish", "--outcome", "completed").status).toBe(0);
});
