import { expect, test } from "vitest";
import { evidenceOf, hasSection, reasonIn } from "../../../src/knowledge/evidence.ts";
import { recordId, evidenceById } from "../../../src/knowledge/record.ts";
import type { LedgerEntry } from "../../../src/ledger/events.ts";

const sid = "s-20261009100000-1a2b";
const tid = "t-20261009101500-0a1b";
const noReason = () => "";

const line = (event: string, more: object): LedgerEntry => ({ ts: "2026-10-09T23:59:59Z", event, head: "NONE", branch: "main", session: sid, ...more });
const of = (event: string, more: object, reasonOf: (task: string) => string = noReason) => evidenceOf(line(event, more), sid, reasonOf);

const decision = { task_id: tid, decision: "Tests run in disposable repositories" };
const question = { task_id: tid, question: "Which port?", answer: "8080" };
const observation = { task_id: tid, kind: "defect", subject: "lib/a.sh", statement: "a.sh prints the wrong word", evidence: ["file:lib/a.sh"] };
const finished = (outcome: string, verify: unknown = null) => ({ task_id: tid, outcome, contract: {}, verify, checkpoints: 0 });
const verify = { command: "npm test", exit: 0, seconds: 3 };

test.each([
  ["decision", "decision.recorded", decision, "342b6b34f17b"],
  ["question", "question.resolved", question, "5d556201c1c8"],
  ["task", "task.finished", finished("blocked"), "7aef6de016d8"],
  ["observation", "observation.recorded", observation, "7581bba9d5e8"],
])("recordId: %s: the contract's own digest", (_, event, payload, digest) => {
  expect(recordId(sid, of(event, payload)?.identity ?? [])).toBe(`${sid}-${digest}`);
});

test.each([
  ["decision.recorded", decision, [decision.decision, `Recorded as a decision under task ${tid} in episode ${sid}.`, "convention", "decided", "decision"]],
  ["decision.recorded", { ...decision, task_id: "none" }, [decision.decision, `Recorded as a decision outside a task in episode ${sid}.`, "convention", "decided", "decision"]],
  ["decision.recorded", { decision: "d" }, ["d", `Recorded as a decision outside a task in episode ${sid}.`, "convention", "decided", "decision"]],
  ["question.resolved", question, ["8080", `Answers the question "Which port?" resolved under task ${tid} in episode ${sid}.`, "fact", "observed", "question"]],
  ["question.resolved", { ...question, task_id: "none" }, ["8080", `Answers the question "Which port?" resolved under task none in episode ${sid}.`, "fact", "observed", "question"]],
  ["task.finished", finished("blocked"), [`Task ${tid} ended blocked`, `The task reached the outcome blocked in episode ${sid}.`, "lesson", "inferred", "task"]],
  ["task.finished", finished("no_match", verify), [`Task ${tid} ended no_match`, `The task reached the outcome no_match in episode ${sid}.`, "lesson", "inferred", "task"]],
  [
    "task.finished",
    finished("completed", verify),
    [`Task ${tid} completed; verified by: npm test (exit 0)`, `The verification command passed when the task finished in episode ${sid}.`, "fact", "observed", "task"],
  ],
  ["observation.recorded", observation, ["a.sh prints the wrong word", `Observed as defect about lib/a.sh in episode ${sid}.`, "lesson", "observed", "observation"]],
])("evidenceOf: the closed table: %s %o", (event, payload, expected) => {
  const found = of(event, payload);
  expect([found?.title, found?.description, found?.class, found?.epistemics, found?.tag]).toEqual(expected);
  expect(found?.date).toBe("2026-10-09");
});

test("evidenceOf: a task's reason joins its title, cleaned and cut", () => {
  expect(of("task.finished", finished("failed"), () => "no disk")?.title).toBe(`Task ${tid} ended failed: no disk`);
  expect(of("task.finished", finished("failed"), () => "\u0007no\tdisk\u2028")?.title).toBe(`Task ${tid} ended failed: no disk`);
  expect(of("task.finished", finished("failed"), () => "\u0007\u2028")?.title).toBe(`Task ${tid} ended failed`);
});

const none: readonly (readonly [title: string, event: string, payload: object])[] = [
  ["an event outside the table", "question.opened", question],
  ["a start", "session.started", { owner: "o" }],
  ["a checkpoint", "task.checkpoint", finished("blocked")],
  ["a task that completed without proof", "task.finished", finished("completed")],
  ["a task that ended partial", "task.finished", finished("partial", verify)],
  ["a task outcome outside the table", "task.finished", finished("cancelled", verify)],
  ["no outcome", "task.finished", { ...finished("blocked"), outcome: undefined }],
  ["a verify that is a list", "task.finished", finished("completed", [verify])],
  ["a verify that is a string", "task.finished", finished("completed", "npm test")],
  ["a verify without its command", "task.finished", finished("completed", { exit: 0 })],
  ["a verify with an empty command", "task.finished", finished("completed", { ...verify, command: "" })],
  ["a verify without its exit", "task.finished", finished("completed", { command: "c" })],
  ["a verify exit that is a string", "task.finished", finished("completed", { ...verify, exit: "0" })],
  ["a verify exit that is a fraction", "task.finished", finished("completed", { ...verify, exit: 0.5 })],
  ["a verify exit that is null", "task.finished", finished("completed", { ...verify, exit: null })],
  ["a task.finished outside a task", "task.finished", { ...finished("blocked"), task_id: "none" }],
  ["a task.finished without its task", "task.finished", { ...finished("blocked"), task_id: undefined }],
  ["another form of task id", "decision.recorded", { ...decision, task_id: "t-1" }],
  ["a task id that goes on", "decision.recorded", { ...decision, task_id: `${tid}\n` }],
  ["a task id that is null", "decision.recorded", { ...decision, task_id: null }],
  ["an empty task id", "decision.recorded", { ...decision, task_id: "" }],
  ["a number for a task id", "decision.recorded", { ...decision, task_id: 1 }],
  ["no decision", "decision.recorded", { task_id: tid }],
  ["an empty decision", "decision.recorded", { ...decision, decision: "" }],
  ["a decision that is no string", "decision.recorded", { ...decision, decision: ["d"] }],
  ["no question", "question.resolved", { ...question, question: undefined }],
  ["an empty question", "question.resolved", { ...question, question: "" }],
  ["no answer", "question.resolved", { ...question, answer: undefined }],
  ["a number for an answer", "question.resolved", { ...question, answer: 8080 }],
  ["no kind", "observation.recorded", { ...observation, kind: undefined }],
  ["an empty subject", "observation.recorded", { ...observation, subject: "" }],
  ["an empty statement", "observation.recorded", { ...observation, statement: "" }],
  ["evidence that is null", "observation.recorded", { ...observation, evidence: null }],
  ["evidence that is a string", "observation.recorded", { ...observation, evidence: "file:a" }],
  ["evidence that is an object", "observation.recorded", { ...observation, evidence: {} }],
  ["evidence with a number in it", "observation.recorded", { ...observation, evidence: ["file:a", 1] }],
  ["no ts", "decision.recorded", { ...decision, ts: undefined }],
  ["a ts with a fraction", "decision.recorded", { ...decision, ts: "2026-10-09T10:00:00.0Z" }],
  ["a ts with an offset", "decision.recorded", { ...decision, ts: "2026-10-09T10:00:00+00:00" }],
  ["a ts that goes on", "decision.recorded", { ...decision, ts: "2026-10-09T10:00:00Z\n" }],
];

test.each(none)("evidenceOf: no evidence: %s", (_, event, payload) => {
  expect(of(event, payload)).toBeNull();
});

test("evidenceOf: of ts the form counts, not the calendar; a missing evidence is an empty list; an exit that is not 0 is said", () => {
  expect(of("decision.recorded", { ...decision, ts: "2026-02-31T25:61:61Z" })?.date).toBe("2026-02-31");
  expect(of("observation.recorded", { ...observation, evidence: undefined })?.references).toEqual([]);
  expect(of("task.finished", finished("completed", { command: "c", exit: -1 }))?.title).toBe(`Task ${tid} completed; verified by: c (exit -1)`);
});

test("evidenceOf: every string is cleaned before it is used and digested", () => {
  const dirty = of("observation.recorded", { ...observation, subject: "lib/\u2028a.sh", statement: "a.sh\nprints\u0085x\ufeff", evidence: ["file:a\tb"] });
  const clean = of("observation.recorded", { ...observation, subject: "lib/ a.sh", statement: "a.sh prints x ", evidence: ["file:a b"] });
  expect(dirty).toEqual(clean);
  expect(dirty?.title).toBe("a.sh prints x ");
});

test("evidenceById: lines of one id are one record: the first line's day and task, every line's references in order", () => {
  const first = of("observation.recorded", { ...observation, ts: "2026-10-08T10:00:00Z", task_id: "none" });
  const second = of("observation.recorded", { ...observation, evidence: ["issue:1", "file:lib/a.sh"] });
  const other = of("observation.recorded", { ...observation, statement: "b" });
  if (first === null || second === null || other === null) throw new Error("no evidence");
  const records = [...evidenceById(sid, [first, other, second]).values()];
  expect(records.map((record) => [record.title, record.date, record.task])).toEqual([
    ["a.sh prints the wrong word", "2026-10-08", "none"],
    ["b", "2026-10-09", tid],
  ]);
  expect(records[0]?.references.map(({ reference }) => reference)).toEqual(["file:lib/a.sh", "issue:1", "file:lib/a.sh"]);
});

test.each([
  ["", ""],
  ["# Reason\n\nno disk\n", "no disk"],
  ["# Reason", ""],
  ["# Reason\n\n  \t\n   no disk  \nmore\n", "no disk"],
  ["# Reason  \r\n\r\n\tno disk\r\n", "no disk"],
  ["text\n# Reason\n# Next Action\nx\n", ""],
  ["# Reason\n## Sub\nno disk\n", "## Sub"],
  ["# Next Action\nx\n# Reason\nno disk\n# Reason\nother\n", "no disk"],
  ["## Reason\nno disk\n", ""],
  ["# Reasons\nno disk\n", ""],
  [" # Reason\nno disk\n", ""],
  ["#Reason\nno disk\n", ""],
  ["# reason\nno disk\n", ""],
  ["# Reason\n#no heading\n", "#no heading"],
])("reasonIn: %j gives '%s'", (note, reason) => {
  expect(reasonIn(note)).toBe(reason);
});

test("reasonIn: a line of what cleaning blanks out is blank", () => {
  expect(of("task.finished", finished("failed"), () => reasonIn("# Reason\n\u0085\u0007\nno disk\n"))?.title).toBe(`Task ${tid} ended failed: no disk`);
});

test("hasSection: the heading alone on its line", () => {
  expect(hasSection("x\n# Next Action\r\ny", "Next Action")).toBe(true);
  for (const note of ["", "# Next Action plan", "## Next Action", "text # Next Action", "# Next  Action"]) expect(hasSection(note, "Next Action")).toBe(false);
});
