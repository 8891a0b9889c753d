import { expect, test } from "vitest";
import { insistObservation, observationKinds } from "../../../src/knowledge/observe.ts";

const good = { kind: "defect", subject: "lib/a.sh", statement: "a.sh prints the wrong word", evidence: [] as readonly string[] };
const accepts = (change: Partial<typeof good>) => insistObservation({ ...good, ...change }, false);
const fault = (change: Partial<typeof good>) => {
  try {
    accepts(change);
    return null;
  } catch (error) {
    return (error as { readonly status: number }).status;
  }
};

test("insistObservation: accepts every kind", () => {
  expect(observationKinds.map((kind) => fault({ kind }))).toEqual([null, null, null, null, null]);
  expect([...observationKinds].sort()).toEqual(["defect", "drift", "friction", "repetition", "workaround"]);
});

test.each(["a", "a b", "..a", "a..", ".a", "...", "a/.b", "日本/é.md", "-x", "a=b", "a\\b", "~", "#a", '"a"', "a\u00a0b", "a'b", "x".repeat(1024), "é".repeat(512)])("insistObservation: accepts the path '%s'", (subject) => {
  expect(fault({ subject })).toBeNull();
});

test.each(["capability:a", "rule:majordomus.x", "command:knowledge/observe", "gate:A@1-2_3"])("insistObservation: accepts the identifier '%s'", (subject) => {
  expect(fault({ subject })).toBeNull();
});

test.each(["/a", "a/", "a//b", "./a", "a/.", "a/..", "..", ".", "/", "a:b", ":", "gate:", "gate:.a", "gate:a:b", "gate:a b", "gates:a", " a", "a ", "\u00a0", "a\u0000", "x".repeat(1025)])("insistObservation: refuses the subject '%s' (2)", (subject) => {
  expect(fault({ subject })).toBe(2);
});

test.each(["transcripts: x", "Transcript: x", " transcript: x", "the assistant said", "response", "responses x", "messages-x", "x".repeat(4096), "é".repeat(2048), "😀 \u{1f468}\u200d\u{1f469}", "---", "# a", "a: b", '"', "\\n"])(
  "insistObservation: accepts the statement '%s'",
  (statement) => {
    expect(fault({ statement })).toBeNull();
  },
);

test.each(["", " ", "a\nb", "a\r", "a\tb", "transcript: x", "assistant x", "response:x", "é".repeat(2049), "\ud83d", "a\ufffeb"])("insistObservation: refuses the statement '%s' (2)", (statement) => {
  expect(fault({ statement })).toBe(2);
});

test.each(["file:a", "test:a/b::c", "commit:abcd", `commit:${"A".repeat(64)}`, "issue:I1", "claim:x:y", "file:/abs", "file:..", "issue:é"])("insistObservation: accepts the evidence '%s'", (reference) => {
  expect(fault({ evidence: ["issue:1", reference] })).toBeNull();
});

test.each(["", "a", "file:", "File:a", "files:a", "commit:abc", "commit:abcg", "commit:HEAD", "file:a b", "file: a", "issue:\u3000", "issue:a\nb", "url:http://x"])("insistObservation: refuses the evidence '%s' (2)", (reference) => {
  expect(fault({ evidence: ["issue:1", reference] })).toBe(2);
});

test("insistObservation: credentials are looked for in all three texts, after every wrong call", () => {
  const secret = `${"AKIA"}IOSFODNN7EXAMPLE`;
  expect([fault({ subject: secret }), fault({ statement: `x ${secret}` }), fault({ evidence: ["issue:1", `claim:${secret}`] })]).toEqual([10, 10, 10]);
  expect(fault({ subject: secret, evidence: ["x"] })).toBe(2);
});
