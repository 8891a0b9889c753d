import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { answerHere, freshFolder, installed, ledgerPath, repositoryAt, run, launcher, snapshot, statePath, withEpisode } from "../support/repository.ts";
import type { Repository, Run, RunOptions } from "../support/repository.ts";

/** A refusal: its exit status, one line on standard error and nothing on standard output. */
function expectRefused(ended: Run, status: number, message: RegExp): void {
  expect({ status: ended.status, stdout: ended.stdout, stderr: ended.stderr }).toEqual({ status, stdout: "", stderr: expect.stringMatching(/^majordomus: [^\n]+\n$/) as string });
  expect(Buffer.from(ended.stderr, "latin1").toString("utf8")).toMatch(message);
}

/** The same, and every file is as it was. */
function expectUntouched(repository: Repository, status: number, message: RegExp, args: readonly string[], options: RunOptions = {}): void {
  const before = snapshot(repository.root);
  expectRefused(repository.mjWith(options, ...args), status, message);
  expect(snapshot(repository.root)).toEqual(before);
}

let open: Repository;
let closed: Repository;

beforeAll(() => {
  open = withEpisode();
  closed = installed();
  closed.write("note-without.md", "# Other\n");
});

interface Case {
  readonly args: readonly string[];
  readonly status: number;
  readonly message: RegExp;
  readonly env?: RunOptions["env"];
}

const observe = (kind: string, subject: string, statement: string, ...more: readonly string[]) => ["knowledge", "observe", "--kind", kind, "--subject", subject, ...more, statement];

/** Calls that are wrong whatever the repository holds. */
const wrongCalls: readonly Case[] = [
  { args: [], status: 2, message: /no command: run 'majordomus --help'/ },
  { args: ["frobnicate"], status: 2, message: /unknown command 'frobnicate'/ },
  { args: ["knowledge"], status: 2, message: /unknown command 'knowledge'/ },
  { args: ["knowledge", "frobnicate"], status: 2, message: /unknown command 'knowledge frobnicate'/ },
  { args: ["a\nb"], status: 2, message: /unknown command 'a\\x0ab'/ },
  { args: ["a\u001b[31m"], status: 2, message: /unknown command 'a\\x1b\[31m'/ },
  { args: ["--frobnicate"], status: 2, message: /unknown option '--frobnicate'/ },
  { args: ["session", "start", "--frobnicate"], status: 2, message: /unknown option '--frobnicate'/ },
  { args: ["session", "start", "--frobnicate=x"], status: 2, message: /unknown option '--frobnicate'/ },
  { args: ["session", "start", "-x"], status: 2, message: /unknown option '-x'/ },
  { args: ["session", "start", "--own", "o"], status: 2, message: /unknown option '--own'/ },
  { args: ["session", "start", "--owner"], status: 2, message: /missing value of '--owner'/ },
  { args: ["session", "start", "--owner", "a", "--owner", "b"], status: 2, message: /'--owner' is given twice/ },
  { args: ["session", "start", "--if-open", "ask"], status: 2, message: /cannot use --if-open 'ask'/ },
  { args: ["session", "start", "--provider", "skynet"], status: 2, message: /cannot use --provider 'skynet'/ },
  { args: ["session", "start", "--owner", "a\nb"], status: 2, message: /the owner/ },
  { args: ["session", "start", "extra"], status: 2, message: /unexpected argument 'extra'/ },
  { args: ["session", "end", "--outcome", "done"], status: 2, message: /cannot use --outcome 'done'/ },
  { args: ["session", "end", "--if-none", "ask"], status: 2, message: /cannot use --if-none 'ask'/ },
  { args: ["start", "task"], status: 2, message: /missing option '--scope'/ },
  { args: ["start", "--scope", "lib"], status: 2, message: /missing <task>/ },
  { args: ["start", "task", "--scope", "/lib"], status: 2, message: /relative to the root/ },
  { args: ["start", "task", "--scope", "a/../b"], status: 2, message: /'\.\.' segment/ },
  { args: ["start", "task", "--scope", "a b"], status: 2, message: /spaces/ },
  { args: ["start", "a\nb", "--scope", "lib"], status: 2, message: /more than one line/ },
  { args: ["finish"], status: 2, message: /missing option '--outcome'/ },
  { args: ["finish", "--outcome", "done"], status: 2, message: /cannot use --outcome 'done'/ },
  { args: ["finish", "--outcome", "failed", "--verify-command", "false"], status: 2, message: /cannot use --verify-command/ },
  { args: ["decision", "add", "d"], status: 2, message: /missing option '--why'/ },
  { args: ["decision", "add", "--why", "w"], status: 2, message: /missing <text>/ },
  { args: ["decision", "add", "d\ne", "--why", "w"], status: 2, message: /the decision: it has more than one line/ },
  { args: ["decision", "add", "d", "--why", "w\rx"], status: 2, message: /the reason: it has more than one line/ },
  { args: ["decision", "add", " ", "--why", "w"], status: 2, message: /blank/ },
  { args: ["decision", "add", "assistant: I will", "--why", "w"], status: 2, message: /opens like a conversation/ },
  { args: ["decision", "add", `password=${"hunter22"}`, "--why", "w"], status: 10, message: /carries the shape of a password with its value/ },
  { args: ["question", "resolve", "1"], status: 2, message: /missing option '--answer'/ },
  { args: ["question", "resolve", "1", "--answer", "response x"], status: 2, message: /opens like a conversation/ },
  { args: ["history", "--event", "observation.recoded"], status: 2, message: /unknown event 'observation\.recoded'/ },
  { args: ["history", "--since", "yesterday"], status: 2, message: /cannot use --since 'yesterday'/ },
  { args: ["history", "--limit", "0"], status: 2, message: /cannot use --limit '0'/ },
  { args: ["history", "--limit", "-1"], status: 2, message: /cannot use --limit '-1'/ },
  { args: ["history", "--limit", "1", "--all"], status: 2, message: /together/ },
  { args: ["history", "--rotate", "--validate"], status: 2, message: /together/ },
  { args: ["history", "--rotate", "--all"], status: 2, message: /together/ },
  { args: ["history", "--all=yes"], status: 2, message: /takes no value/ },
  { args: ["knowledge", "derive", "--episode", "../../x"], status: 2, message: /an episode's id is s-YYYYMMDDHHMMSS-xxxx/ },
  { args: ["knowledge", "derive", "--episode", "s-20261009100000-1A2B"], status: 2, message: /an episode's id/ },
  { args: ["yaml", "flatten"], status: 2, message: /missing <file>/ },
  { args: ["yaml", "flatten", "a", "b"], status: 2, message: /unexpected argument 'b'/ },
  // Section 6's table, row by row.
  { args: ["knowledge", "observe", "--subject", "a", "s"], status: 2, message: /missing option '--kind'/ },
  { args: ["knowledge", "observe", "--kind", "defect", "s"], status: 2, message: /missing option '--subject'/ },
  { args: ["knowledge", "observe", "--kind", "defect", "--subject", "a"], status: 2, message: /missing <statement>/ },
  { args: observe("bug", "a", "s"), status: 2, message: /unknown kind 'bug': one of friction, workaround, defect, drift, repetition/ },
  { args: observe("", "a", "s"), status: 2, message: /unknown kind ''/ },
  { args: observe("Defect", "a", "s"), status: 2, message: /unknown kind/ },
  { args: [...observe("defect", "a", "s"), "--kind", "drift"], status: 2, message: /given twice/ },
  { args: observe("defect", "capability:", "s"), status: 2, message: /after the colon/ },
  { args: observe("defect", "rule:-x", "s"), status: 2, message: /after the colon/ },
  { args: observe("defect", "gate:a b", "s"), status: 2, message: /after the colon/ },
  { args: observe("defect", "command:é", "s"), status: 2, message: /after the colon/ },
  { args: observe("defect", "/lib/a.sh", "s"), status: 2, message: /a path in its one form is 'lib\/a\.sh'/ },
  { args: observe("defect", "lib/", "s"), status: 2, message: /a path in its one form is 'lib'/ },
  { args: observe("defect", "./lib//a.sh", "s"), status: 2, message: /a path in its one form is 'lib\/a\.sh'/ },
  { args: observe("defect", "lib/../a.sh", "s"), status: 2, message: /no '\.\.' segment/ },
  { args: observe("defect", ".", "s"), status: 2, message: /a path has a name/ },
  { args: observe("defect", "/", "s"), status: 2, message: /a path has a name/ },
  { args: observe("defect", "", "s"), status: 2, message: /blank/ },
  { args: observe("defect", "issue:1", "s"), status: 2, message: /no ':'/ },
  { args: observe("defect", " a", "s"), status: 2, message: /no space at its ends/ },
  { args: observe("defect", "a ", "s"), status: 2, message: /no space at its ends/ },
  { args: observe("defect", "é".repeat(513), "s"), status: 2, message: /more than 1024 bytes/ },
  { args: observe("defect", "a\u0001b", "s"), status: 2, message: /control character/ },
  { args: observe("defect", "a", ""), status: 2, message: /blank/ },
  { args: observe("defect", "a", " \u00a0"), status: 2, message: /blank/ },
  { args: observe("defect", "a", "one\ntwo"), status: 2, message: /more than one line/ },
  { args: observe("defect", "a", "x".repeat(4097)), status: 2, message: /more than 4096 bytes/ },
  { args: observe("defect", "a", "transcript: x"), status: 2, message: /opens like a conversation/ },
  { args: observe("defect", "a", "messages x"), status: 2, message: /opens like a conversation/ },
  { args: observe("defect", "a", "a\u0085b"), status: 2, message: /control character/ },
  { args: observe("defect", "a", "a\u2028b"), status: 2, message: /separator/ },
  { args: observe("defect", "a", "a\ufeffb"), status: 2, message: /U\+FEFF/ },
  { args: observe("defect", "a", "a\ufffdb"), status: 2, message: /U\+FFFD/ },
  { args: [...observe("defect", "a", "one"), "two"], status: 2, message: /unexpected argument 'two'/ },
  { args: observe("defect", "a", "s", "--evidence", "lib/a.sh"), status: 2, message: /begins with file:/ },
  { args: observe("defect", "a", "s", "--evidence", "file:"), status: 2, message: /begins with file:/ },
  { args: observe("defect", "a", "s", "--evidence", "url:x"), status: 2, message: /begins with file:/ },
  { args: observe("defect", "a", "s", "--evidence", "file:a b"), status: 2, message: /white space/ },
  { args: observe("defect", "a", "s", "--evidence", "file:a\u00a0b"), status: 2, message: /white space/ },
  { args: observe("defect", "a", "s", "--evidence", "commit:xyz1"), status: 2, message: /4 to 64 hex digits/ },
  { args: observe("defect", "a", "s", "--evidence", "commit:abc"), status: 2, message: /4 to 64 hex digits/ },
  { args: observe("defect", "a", "s", "--evidence", `commit:${"a".repeat(65)}`), status: 2, message: /4 to 64 hex digits/ },
  { args: observe("defect", "a", "s", "--evidence", "file:a", "--evidence", ""), status: 2, message: /cannot use evidence ''/ },
  { args: observe("defect", "a", `token ${"ghp_"}${"a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"}`), status: 10, message: /the statement: it carries the shape of a GitHub token/ },
  { args: observe("defect", `a/${"AKIA"}IOSFODNN7EXAMPLE`, "s"), status: 10, message: /the subject: it carries the shape of an AWS access key id/ },
  { args: observe("defect", "a", "s", "--evidence", `claim:https://u:${"secretpw"}@h/x`), status: 10, message: /the evidence: it carries the shape of a password in a URL/ },
  // Where several things are wrong, the first of the table is named.
  { args: observe("bug", "/a", "", "--evidence", "x"), status: 2, message: /unknown kind/ },
  { args: observe("defect", "/a", "", "--evidence", "x"), status: 2, message: /cannot use subject/ },
  { args: observe("defect", "a", "", "--evidence", "x"), status: 2, message: /cannot use the statement/ },
  { args: ["session", "start", "--owner", "o"], status: 2, message: /cannot use MAJORDOMUS_NOW/, env: { MAJORDOMUS_NOW: "2026-10-09" } },
];

/** The same in this process, for the long tables; a few of each go through the launcher. */
async function expectUntouchedHere(repository: Repository, { args, status, message, env }: Case): Promise<void> {
  const before = snapshot(repository.root);
  expectRefused(await answerHere(repository, args, env), status, message);
  expect(snapshot(repository.root)).toEqual(before);
}

test.each(wrongCalls)("majordomus $args: exit $status, $message", (call) => expectUntouchedHere(open, call));

test("majordomus, through its launcher: one wrong call in eight", () => {
  for (const [index, { args, status, message, env }] of wrongCalls.entries()) {
    if (index % 8 === 3) expectUntouched(open, status, message, args, env === undefined ? {} : { env });
  }
});

test("knowledge observe: a secret's value is never repeated, and is recorded where the call allows it", () => {
  const repository = withEpisode();
  const secret = `password=${"hunter22"}`;
  expect(repository.mj(...observe("defect", "a", secret)).stderr).not.toContain("hunter22");
  expect(repository.mj(...observe("defect", "a", secret, "--allow-secret")).status).toBe(0);
});

test("knowledge observe: bytes that are no UTF-8 are refused (2)", () => {
  const before = snapshot(open.root);
  const script = `exec ${launcher} knowledge observe --kind defect --subject a "$(printf 'a\\377b')"`;
  expectRefused(run("sh", ["-c", script], { cwd: open.root }), 2, /U\+FFFD/);
  expect(snapshot(open.root)).toEqual(before);
});

/** Refusals of a repository in which no episode and no task is open. */
const closedCases: readonly Case[] = [
  { args: observe("defect", "a", "s"), status: 10, message: /no episode is open here; run 'majordomus session start'/ },
  {
    args: observe("defect", "a", "s"),
    status: 10,
    message: /run 'majordomus session start --provider claude-code --provider-session "\$CLAUDE_CODE_SESSION_ID"'/,
    env: { CLAUDE_CODE_SESSION_ID: "x" },
  },
  { args: ["session", "end"], status: 12, message: /no episode is open here; 'majordomus session start' opens one/ },
  { args: ["session", "close"], status: 12, message: /no episode is open here/ },
  { args: ["finish", "--outcome", "completed"], status: 12, message: /no task is active here/ },
  { args: ["finish", "--outcome", "failed"], status: 12, message: /no task is active here/ },
  { args: ["finish", "--outcome", "blocked", "--note", "note-without.md"], status: 12, message: /no task is active here/ },
  { args: ["question", "add", "Why?"], status: 12, message: /no task is active here; run 'majordomus start' first/ },
  { args: ["question", "resolve", "1", "--answer", "a"], status: 12, message: /no open question/ },
  { args: ["question", "resolve", "Why?", "--answer", "a"], status: 12, message: /no open question/ },
  { args: ["knowledge", "derive", "--episode", "s-20261009100000-1a2b"], status: 12, message: /no line of the ledger here is of this episode/ },
  { args: ["yaml", "flatten", "no-such-file"], status: 12, message: /cannot read 'no-such-file': no such file/ },
  { args: ["yaml", "flatten", "lib"], status: 13, message: /cannot read 'lib': is a directory/ },
  { args: ["--repo", "/no/such/directory", "session", "start"], status: 12, message: /no layer in '\/no\/such\/directory': run 'majordomus init'/ },
  { args: ["--repo", "lib", "knowledge", "candidates"], status: 12, message: /no layer in 'lib': run 'majordomus init'/ },
];

test.each(closedCases)("majordomus $args where nothing is open: exit $status, $message", (call) => expectUntouchedHere(closed, call));

test("majordomus where nothing is open, through its launcher: one refusal in five", () => {
  for (const [index, { args, status, message, env }] of closedCases.entries()) {
    if (index % 5 === 0) expectUntouched(closed, status, message, args, env === undefined ? {} : { env });
  }
});

test("session end --if-none ignore: silent, 0", () => {
  const before = snapshot(closed.root);
  expect(closed.mj("session", "end", "--if-none", "ignore")).toMatchObject({ status: 0, stdout: "", stderr: "" });
  expect(snapshot(closed.root)).toEqual(before);
});

test("knowledge derive without an episode: says so, 0, and leaves no line", () => {
  const before = snapshot(closed.root);
  expect(closed.done("knowledge", "derive")).toBe("knowledge derive: no episode to derive from; open one or pass --episode <id>\n");
  expect(snapshot(closed.root)).toEqual(before);
});

test("session start where one is open: exit 15 and nothing moves; --if-open keep: 0", () => {
  const repository = withEpisode();
  const before = snapshot(repository.root);
  expectRefused(repository.mj("session", "start"), 15, /s-[0-9]{14}-[0-9a-f]{4} is open here since/);
  expect(repository.done("session", "start", "--if-open", "keep")).toMatch(/^session s-[0-9]{14}-[0-9a-f]{4} already open here since [^ ]+; kept\n$/);
  expect(snapshot(repository.root)).toEqual(before);
});

test("an agent writes into no other agent's episode: exit 10, naming the keys", async () => {
  const repository = installed();
  for (const session of ["a", "b"]) repository.done("session", "start", "--provider", "codex", "--provider-session", session);
  const env = { CLAUDE_CODE_SESSION_ID: "c" };
  const message = /set MJ_SESSION_KEY to one of a, b, or run 'majordomus session start --provider claude-code/;
  for (const args of [observe("defect", "a", "s"), ["decision", "add", "d", "--why", "w"], ["start", "t", "--scope", "lib"], ["session", "end"]]) {
    await expectUntouchedHere(repository, { args, status: 10, message, env });
  }
});

test("start and finish: one task a checkout; the note's sections; a verify command that fails or cannot fail", async () => {
  const repository = withEpisode();
  expect(repository.done("start", "a task", "--scope", "lib", "--scope", "docs", "--profile", "fix")).toMatch(/^started t-[0-9]{14}-[0-9a-f]{4} {2}profile=fix {2}scope=lib,docs\n$/);
  repository.write("note.md", "# Other\nx\n");
  const cases: readonly (readonly [status: number, message: RegExp, args: readonly string[]])[] = [
    [15, /t-[0-9]{14}-[0-9a-f]{4} is active here; end it with 'majordomus finish'/, ["start", "b", "--scope", "lib"]],
    [10, /needs a section '# Reason'/, ["finish", "--outcome", "failed"]],
    [10, /needs a section '# Reason'/, ["finish", "--outcome", "no_match", "--note", "note.md"]],
    [10, /needs a section '# Next Action'/, ["finish", "--outcome", "blocked", "--note", "note.md"]],
    [10, /needs a section '# Next Action'/, ["finish", "--outcome", "partial"]],
    [12, /cannot read 'none\.md': no such file/, ["finish", "--outcome", "failed", "--note", "none.md"]],
    [10, /'true' cannot fail, and so proves nothing/, ["finish", "--outcome", "completed", "--verify-command", "true"]],
    [10, /the verify command ended with 3/, ["finish", "--outcome", "completed", "--verify-command", "test -d lib && exit 3"]],
    [10, /the verify command: it carries the shape/, ["finish", "--outcome", "completed", "--verify-command", `x --password=${"hunter22"}`]],
  ];
  for (const [status, message, args] of cases) await expectUntouchedHere(repository, { args, status, message });
  repository.write("secret.md", `# Reason\nthe log has password=${"hunter22"}\n`);
  expectUntouched(repository, 10, /the note's reason: it carries the shape/, ["finish", "--outcome", "failed", "--note", "secret.md"]);
  expect(repository.done("finish", "--outcome", "completed", "--verify-command", "test -d lib")).toMatch(/^finish: t-[0-9]{14}-[0-9a-f]{4} completed\n$/);
  expectUntouched(repository, 12, /no task is active here/, ["finish", "--outcome", "completed"]);
});

test("question resolve: several of one text are a wrong call (2), a number tells them apart", async () => {
  const repository = withEpisode();
  repository.done("start", "a", "--scope", "lib");
  for (const question of ["Which port?", "Which host?", "Which port?"]) await answerHere(repository, ["question", "add", question]);
  await expectUntouchedHere(repository, { args: ["question", "resolve", "Which port?", "--answer", "8080"], status: 2, message: /2 open questions have this text; give its number/ });
  await expectUntouchedHere(repository, { args: ["question", "resolve", "4", "--answer", "8080"], status: 12, message: /no open question/ });
  repository.done("question", "resolve", "3", "--answer", "8080");
  expect(repository.done("question", "list")).toBe("1. Which host?\n2. Which port?\n");
});

test("a ledger line of more than 65,536 bytes is refused (2)", () => {
  const repository = withEpisode();
  const text = "x".repeat(66_000);
  expectUntouched(repository, 2, /at most 65536 bytes/, ["decision", "add", text, "--why", "w"]);
});

/** Something of another kind where a file or a folder should be; the call that meets it. */
const inTheWay: readonly (readonly [title: string, place: (repository: Repository) => void, status: number, message: RegExp, args: readonly string[]])[] = [
  ["a directory for the ledger", (r) => swap(r, ledgerPath, "directory"), 13, /ledger\.jsonl/, observe("defect", "a", "s")],
  ["a directory for the ledger, read", (r) => swap(r, ledgerPath, "directory"), 13, /ledger\.jsonl/, ["history"]],
  ["a link for the ledger", (r) => swap(r, ledgerPath, "link"), 10, /ledger\.jsonl.*symbolic link/, ["decision", "add", "d", "--why", "w"]],
  ["a file for the ledger's lock", (r) => swap(r, `${statePath}/ledger.lock`, "file"), 13, /ledger\.lock/, observe("defect", "a", "s")],
  ["a file for the knowledge lock", (r) => swap(r, `${statePath}/knowledge.lock`, "file"), 13, /knowledge\.lock/, ["knowledge", "derive"]],
  ["a directory for the task", (r) => swap(r, `${statePath}/current.yaml`, "directory"), 13, /current\.yaml/, observe("defect", "a", "s")],
  ["a task's file that is no YAML", (r) => r.write(`${statePath}/current.yaml`, "x\n"), 10, /current\.yaml': line 1: no key/, observe("defect", "a", "s")],
  ["a directory for the decisions' store", (r) => swap(r, `${statePath}/decisions.md`, "directory"), 13, /decisions\.md/, ["decision", "add", "d", "--why", "w"]],
  ["a file for the candidates", (r) => swap(r, ".ai/repo/knowledge/candidates", "file"), 13, /candidates/, ["knowledge", "derive"]],
  ["a directory for the policy", (r) => swap(r, ".ai/repo/policy.yaml", "directory"), 10, /policy\.yaml/, ["session", "end"]],
  ["a policy that does not parse", (r) => r.write(".ai/repo/policy.yaml", "a: b: c\n"), 10, /cannot read '\.ai\/repo\/policy\.yaml': line 1/, ["session", "end"]],
  ["a scope that does not parse", (r) => r.write(".ai/repo/scope.yaml", "out: [\n"), 10, /cannot read '\.ai\/repo\/scope\.yaml': line 1/, ["knowledge", "derive"]],
  ["a manifest that does not parse", (r) => r.write(".ai/manifest.yaml", "\ta\n"), 10, /cannot read '\.ai\/manifest\.yaml': line 1: tab character/, ["session", "status"]],
  ["a directory for the manifest", (r) => swap(r, ".ai/manifest.yaml", "directory"), 10, /manifest/, ["knowledge", "candidates"]],
  ["a section that is absolute", (r) => r.write(".ai/manifest.yaml", "sections:\n  knowledge: /tmp\n"), 10, /sections\.knowledge/, ["knowledge", "candidates"]],
  ["a section with ..", (r) => r.write(".ai/manifest.yaml", "sections:\n  sessions: repo/../../x\n"), 10, /sections\.sessions.*'\.\.'/, ["session", "list"]],
  ["a section with a space", (r) => r.write(".ai/manifest.yaml", "sections:\n  knowledge: a b\n"), 10, /sections\.knowledge.*a space/, ["knowledge", "candidates"]],
  ["a section with a control character", (r) => r.write(".ai/manifest.yaml", 'sections:\n  knowledge: "a\\x01"\n'), 10, /control character/, ["knowledge", "candidates"]],
  ["a link for the candidates that leads out", (r) => swap(r, ".ai/repo/knowledge/candidates", "outside"), 10, /leads outside/, ["knowledge", "derive"]],
  ["a link for the sessions that leads out", (r) => swap(r, ".ai/repo/sessions", "outside"), 10, /leads outside/, ["session", "end"]],
  ["a link for the state that leads out", (r) => swap(r, statePath, "outside"), 10, /leads outside/, observe("defect", "a", "s")],
];

function swap(repository: Repository, path: string, kind: "directory" | "file" | "link" | "outside"): void {
  rmSync(repository.path(path), { recursive: true, force: true });
  if (kind === "directory") mkdirSync(repository.path(path));
  else if (kind === "file") repository.write(path, "x");
  else symlinkSync(kind === "link" ? "elsewhere" : freshFolder("outside-"), repository.path(path));
}

test.each(inTheWay)("%s: one line, every file as it was", async (_, place, status, message, args) => {
  const repository = withEpisode();
  await answerHere(repository, observe("defect", "a", "before"));
  place(repository);
  await expectUntouchedHere(repository, { args, status, message });
});

test("something in the way, through the launcher: one refusal in five", async () => {
  for (const [index, [, place, status, message, args]] of inTheWay.entries()) {
    if (index % 5 !== 0) continue;
    const repository = withEpisode();
    await answerHere(repository, observe("defect", "a", "before"));
    place(repository);
    expectUntouched(repository, status, message, args);
  }
});

test("a directory for the questions' store: exit 13, and the question is not asked", () => {
  const repository = withEpisode();
  repository.done("start", "t", "--scope", "lib");
  swap(repository, `${statePath}/open-questions.md`, "directory");
  expectUntouched(repository, 13, /open-questions\.md/, ["question", "add", "Why?"]);
});

test.each(["sessions-open", "session-current.yaml"])("a %s of another kind: exit 13, and no episode is opened", (name) => {
  const repository = installed();
  mkdirSync(repository.path(statePath), { recursive: true });
  swap(repository, `${statePath}/${name}`, name === "sessions-open" ? "file" : "directory");
  expectUntouched(repository, 13, new RegExp(name), ["session", "start"]);
});

test("an open file that is none: exit 10, and it stays", () => {
  const repository = installed();
  repository.write(`${statePath}/sessions-open/hand.yaml`, "not an episode\n");
  expectUntouched(repository, 10, /sessions-open\/hand\.yaml/, ["session", "start"]);
});

test("init: no git (12), a bare repository (12), a .gitignore that is a directory (13): nothing is made", () => {
  const none = repositoryAt(freshFolder());
  expectUntouched(none, 12, /no git work tree in .*: run 'git init' first/, ["init"]);
  const bare = repositoryAt(freshFolder());
  bare.git("init", "-q", "--bare");
  expectUntouched(bare, 12, /work tree/, ["init"]);
  const odd = repositoryAt(freshFolder());
  odd.git("init", "-q");
  mkdirSync(odd.path(".gitignore"));
  expectUntouched(odd, 13, /\.gitignore/, ["init"]);
  expectUntouched(none, 12, /no such directory/, ["init", "--repo", "none"]);
});

test("no layer: exit 12, naming init, outside a repository and inside one", () => {
  const plain = repositoryAt(freshFolder());
  expectUntouched(plain, 12, /no layer in '.*': run 'majordomus init'/, ["knowledge", "candidates"]);
  plain.git("init", "-q");
  for (const args of [["session", "start"], observe("defect", "a", "s"), ["history"], ["knowledge", "derive"]]) {
    expectUntouched(plain, 12, /run 'majordomus init'/, args);
  }
});

test("a layer outside a git work tree: acts are refused (12), the queue is read", () => {
  const repository = installed();
  repository.remove(".git");
  expectUntouched(repository, 12, /no git work tree in .*: run 'git init' first/, ["session", "start"]);
  expect(repository.done("knowledge", "candidates")).toBe("knowledge candidates: 0 awaiting review\n");
});

test("git is not there: acts are refused (12), the queue is read", () => {
  const repository = installed();
  const tools = freshFolder();
  for (const tool of ["sh", "readlink"]) symlinkSync(execFileSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).trim(), `${tools}/${tool}`);
  symlinkSync(process.execPath, `${tools}/node`);
  chmodSync(tools, 0o755);
  expectUntouched(repository, 12, /cannot run git: install it, or put it in PATH/, ["session", "start"], { env: { PATH: tools } });
  expect(repository.mjWith({ env: { PATH: tools } }, "knowledge", "candidates").status).toBe(0);
});
