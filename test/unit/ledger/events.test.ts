import { expect, test } from "vitest";
import { entryOf, isEventName, isKnownEvent, isTimed, lineLimit, lineOf, textField } from "../../../src/ledger/events.ts";
import type { EventName, Payload } from "../../../src/ledger/events.ts";
import { Refusal } from "../../../src/ground/errors.ts";
import { version } from "../../../src/ground/version.ts";

const envelope = { ts: "2026-10-09T10:00:00Z", head: "NONE", branch: "main" };
const session = "s-20261009100000-1a2b";

/** Docs/contract.md, section 3, the table: payload keys in order, with a value for each, given here in reverse. */
const table: readonly (readonly [event: EventName, payload: Payload, json: string])[] = [
  ["session.started", { worker: "w", owner: "o" }, '"owner":"o","worker":"w"'],
  ["session.started", { owner: "o" }, '"owner":"o"'],
  ["session.closed", { session_path: "p", outcome: "closed" }, '"outcome":"closed","session_path":"p"'],
  [
    "task.started",
    { requires: "", scope: "a b", owner: "o", profile: "p", task_id: "t" },
    '"task_id":"t","profile":"p","owner":"o","scope":"a b","requires":""',
  ],
  [
    "task.finished",
    { checkpoints: 0, verify: null, contract: {}, outcome: "blocked", task_id: "t" },
    '"task_id":"t","outcome":"blocked","contract":{},"verify":null,"checkpoints":0',
  ],
  [
    "task.finished",
    { checkpoints: 2, verify: { command: "c", exit: 0, seconds: 1 }, contract: { a: 1 }, outcome: "completed", task_id: "t" },
    '"task_id":"t","outcome":"completed","contract":{"a":1},"verify":{"command":"c","exit":0,"seconds":1},"checkpoints":2',
  ],
  ["decision.recorded", { decision: "d", task_id: "none" }, '"task_id":"none","decision":"d"'],
  ["question.opened", { question: "q", task_id: "t" }, '"task_id":"t","question":"q"'],
  ["question.resolved", { answer: "a", question: "q", task_id: "t" }, '"task_id":"t","question":"q","answer":"a"'],
  [
    "observation.recorded",
    { evidence: ["file:a", "issue:1"], statement: "st", subject: "su", kind: "defect", task_id: "none" },
    '"task_id":"none","kind":"defect","subject":"su","statement":"st","evidence":["file:a","issue:1"]',
  ],
  [
    "knowledge.derived",
    { digests: "", paths: "", skipped: 0, unchanged: 0, written: 0, episode: session },
    `"episode":"${session}","written":0,"unchanged":0,"skipped":0,"paths":"","digests":""`,
  ],
  ["knowledge.promoted", { path: "p", id: "i" }, '"id":"i","path":"p"'],
  ["knowledge.rejected", { superseded_by: "b", reason: "r", id: "i" }, '"id":"i","reason":"r","superseded_by":"b"'],
  ["knowledge.rejected", { reason: "r", id: "i" }, '"id":"i","reason":"r"'],
  ["provider.event.received", { provider_session: "x", provider_event: "end", provider: "p" }, '"provider":"p","provider_event":"end","provider_session":"x"'],
  ["provider.event.failed", { reason: "r", provider_event: "end", provider: "p" }, '"provider":"p","provider_event":"end","reason":"r"'],
  ["ledger.rotated", { archive: "a", kept: 1, archived: 2 }, '"archived":2,"kept":1,"archive":"a"'],
];

test.each(table)("lineOf: %s has the envelope, then its payload in the contract's order", (event, payload, json) => {
  const begin = `{"ts":"2026-10-09T10:00:00Z","event":"${event}","head":"NONE","branch":"main","by":"majordomus-ts/${version}"`;
  expect(lineOf(event, envelope, payload)).toBe(`${begin},${json}}\n`);
  expect(lineOf(event, { ...envelope, session }, payload)).toBe(`${begin},"session":"${session}",${json}}\n`);
  expect(entryOf(Buffer.from(lineOf(event, envelope, payload).slice(0, -1)))).toMatchObject(payload);
});

test("lineOf: strings are escaped as JSON.stringify does", () => {
  const decision = 'é "q" \\ \u0001\t\u007f\u2028😀</x>';
  expect(lineOf("decision.recorded", envelope, { task_id: "none", decision })).toContain(`"decision":${JSON.stringify(decision)}}`);
});

test("lineOf: 65,536 bytes with the line feed are recorded, one more is a wrong call", () => {
  const size = (text: string) => lineOf("decision.recorded", envelope, { task_id: "none", decision: text });
  const room = lineLimit - Buffer.byteLength(size(""), "utf8");
  expect(Buffer.byteLength(size("x".repeat(room)), "utf8")).toBe(65_536);
  expect(Buffer.byteLength(size(`${"é".repeat(room / 2)}`), "utf8")).toBe(65_536 - (room % 2));
  for (const text of ["x".repeat(room + 1), `${"x".repeat(room - 1)}é`, "\u0001".repeat(room / 3)]) {
    expect(() => size(text)).toThrowError(Refusal);
    expect(() => size(text)).toThrowError(expect.objectContaining({ status: 2 }) as Error);
  }
});

const faults: readonly (readonly [title: string, event: string, payload: Payload])[] = [
  ["an event outside the table", "observation.recoded", { task_id: "none" }],
  ["an event of Object's own", "constructor", {}],
  ["a payload key of the envelope", "decision.recorded", { task_id: "none", decision: "d", session: "s" }],
  ["a payload key that is not in the table", "decision.recorded", { task_id: "none", decision: "d", note: "n" }],
  ["a missing field", "decision.recorded", { task_id: "none" }],
  ["a number for a string", "decision.recorded", { task_id: "none", decision: 1 }],
  ["a string for an integer", "ledger.rotated", { archived: "1", kept: 1, archive: "a" }],
  ["a fraction for an integer", "ledger.rotated", { archived: 1.5, kept: 1, archive: "a" }],
  ["evidence that is no list", "observation.recorded", { task_id: "none", kind: "k", subject: "s", statement: "t", evidence: "file:a" }],
  ["evidence with a number in it", "observation.recorded", { task_id: "none", kind: "k", subject: "s", statement: "t", evidence: [1] }],
  ["a verify that is a list", "task.finished", { task_id: "t", outcome: "completed", contract: {}, verify: [], checkpoints: 0 }],
  ["a contract that is null", "task.finished", { task_id: "t", outcome: "completed", contract: null, verify: null, checkpoints: 0 }],
];

test.each(faults)("lineOf: %s is a fault of the program, not a refusal", (_, event, payload) => {
  const write = () => lineOf(event as EventName, envelope, payload);
  expect(write).toThrow();
  expect(write).not.toThrowError(Refusal);
});

const read = (line: string | Buffer) => entryOf(typeof line === "string" ? Buffer.from(line, "utf8") : line);

const whole: readonly (readonly [title: string, line: string, entry: object])[] = [
  ["an empty object", "{}", {}],
  ["blanks around and a CR at the end", ' \t{"a": 1} \r', { a: 1 }],
  ["of a repeated key the last counts", '{"a":1,"a":2,"\\u0061":3}', { a: 3 }],
  ["separators of other line readers inside", '{"a":"b\u2028\u2029\u0085c"}', { a: "b\u2028\u2029\u0085c" }],
  ["a pair of surrogates by escapes", '{"a":"\\ud83d\\ude00"}', { a: "😀" }],
  ["an escaped backslash before u", '{"a":"\\\\ud83d"}', { a: "\\ud83d" }],
  ["a noncharacter", '{"a":"\\uffff\\ufeff"}', { a: "\uffff\ufeff" }],
  ["keys that look like numbers", '{"2":1,"1":2}', { 1: 2, 2: 1 }],
];

test.each(whole)("entryOf: whole: %s", (_, line, entry) => {
  expect(read(line)).toEqual(entry);
});

test("entryOf: __proto__ is a key like another and gives nothing to the fields that are absent", () => {
  const entry = read('{"__proto__":{"task_id":"t-20261009101500-0a1b","event":"x"},"a":1}');
  expect(entry).not.toBeNull();
  expect(textField(entry ?? {}, "event")).toBe("");
  expect(entry?.["task_id"]).toBeUndefined();
  expect(textField(entry ?? {}, "toString")).toBe("");
});

const damaged: readonly (readonly [title: string, line: string | Buffer])[] = [
  ["an empty line", ""],
  ["blanks", "   "],
  ["a number", "42"],
  ["null", "null"],
  ["true", "true"],
  ["a string", '"a"'],
  ["a list", "[]"],
  ["a torn line", '{"type":"observation.recorded","te'],
  ["no value", '{"type":}'],
  ["a comma too many", '{"a":1,}'],
  ["text behind", '{"a":1} x'],
  ["two objects", '{"a":1}{"b":2}'],
  ["a raw control character in a string", '{"a":"b\tc"}'],
  ["single quotes", "{'a':1}"],
  ["a leading zero", '{"a":01}'],
  ["a byte order mark", '\ufeff{"a":1}'],
  ["a no-break space around", '\u00a0{"a":1}'],
  ["a lone high surrogate", '{"a":"\\ud83d"}'],
  ["a lone low surrogate", '{"a":"\\uDE00"}'],
  ["surrogates the wrong way round", '{"a":"\\ude00\\ud83d"}'],
  ["a lone surrogate deep inside", '{"a":[[{"b":{"c":["\\uD800"]}}]]}'],
  ["a lone surrogate in a key", '{"a":{"\\udfff":1}}'],
  ["invalid UTF-8", Buffer.from('{"a":"\xff"}', "latin1")],
  ["UTF-8 of a surrogate", Buffer.from('{"a":"\xed\xa0\x80"}', "latin1")],
  ["an overlong slash", Buffer.from('{"a":"\xc0\xaf"}', "latin1")],
  ["NUL", '{"a":"\u0000"}'],
  ["over the limit", `{"a":"${"x".repeat(65_536)}"}`],
  ["one byte over the limit", `{"a":"${"x".repeat(65_536 - 8)}"}`],
];

test.each(damaged)("entryOf: damaged: %s", (_, line) => {
  expect(read(line)).toBeNull();
});

test("entryOf: the longest line is whole, and one that nests as deep as it can is judged without a fault", () => {
  expect(read(`{"a":"${"x".repeat(65_535 - 8)}"}`)).not.toBeNull();
  const deep = `{"a":${"[".repeat(5000)}"\\ud800"${"]".repeat(5000)}}`;
  expect(read(deep)).toBeNull();
  expect(read(deep.replace("\\ud800", "\\ud83d\\ude00"))).not.toBeNull();
});

test("textField: a string of its own, else nothing", () => {
  expect(textField({ a: "x" }, "a")).toBe("x");
  for (const value of [1, null, true, [], {}, undefined]) expect(textField({ a: value }, "a")).toBe("");
});

test("isTimed: the form alone counts, not the calendar", () => {
  for (const ts of ["2026-10-09T10:00:00Z", "9999-99-99T99:99:99Z"]) expect(isTimed({ ts }), ts).toBe(true);
  for (const ts of ["2026-10-09T10:00:00z", "2026-10-09 10:00:00Z", "2026-10-09T10:00:00+00:00", "2026-10-09T10:00:00.0Z", "2026-10-09T10:00:00Z\n", "", 1, null]) {
    expect(isTimed({ ts }), String(ts)).toBe(false);
  }
  expect(isTimed({})).toBe(false);
});

test("isEventName and isKnownEvent: ours, an older Majordomus's, and nothing that an object has by itself", () => {
  for (const [event] of table) expect(isEventName(event)).toBe(true);
  expect(isEventName("task.checkpoint")).toBe(false);
  for (const older of ["task.checkpoint", "task.refused", "task.gate"]) expect(isKnownEvent(older)).toBe(true);
  for (const none of ["", "toString", "__proto__", "observation.recoded"]) expect(isKnownEvent(none)).toBe(false);
});
