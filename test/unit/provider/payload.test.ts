import { describe, expect, test } from "vitest";
import { gatherObject, isSession, payloadLimit, payloadOf } from "../../../src/provider/payload.ts";
import { randomFrom, seed } from "../../support/random.ts";

const gathered = (...pieces: (string | Buffer)[]) => {
  const gatherer = gatherObject();
  const wanted = pieces.map((piece) => gatherer.take(Buffer.from(piece)));
  return { wanted, text: gatherer.bytes().toString("utf8") };
};

describe("gatherObject", () => {
  test("wants no more as soon as one whole object is in, and leaves what is behind it", () => {
    expect(gathered('{"a":', '{"b":"}"}', '} {"c":1}')).toEqual({ wanted: [false, false, true], text: '{"a":{"b":"}"}}' });
  });

  test("a BOM and blanks before it are dropped, in any pieces", () => {
    const bytes = Buffer.from('\ufeff \r\n\t{"a":"\ufeff"}', "utf8");
    for (let cut = 0; cut <= bytes.length; cut += 1) expect(gathered(bytes.subarray(0, cut), bytes.subarray(cut)).text).toBe('{"a":"\ufeff"}');
  });

  test.each(["[1]", "42", "x", '"{}"', "\ufeff\ufeff{}", " \ufeff{}", "null"])("gives up at once on %j", (text) => {
    expect(gathered(text)).toEqual({ wanted: [true], text: "" });
  });

  test("quotes, escapes and brackets inside strings do not end it", () => {
    const object = JSON.stringify({ a: '\\"}{][\\', b: ["]", { c: "\\" }] });
    expect(gathered(object).text).toBe(object);
  });

  test("an object that does not end is none", () => {
    expect(gathered('{"a":"', "}}}")).toEqual({ wanted: [false, false], text: "" });
  });

  test("at most the limit is looked at", () => {
    const gatherer = gatherObject();
    expect(gatherer.take(Buffer.from('{"a":"'))).toBe(false);
    expect(gatherer.take(Buffer.alloc(payloadLimit, "x"))).toBe(true);
    expect(gatherer.bytes().length).toBe(0);
  });

  test(`cut anywhere it gives the same (seed ${seed})`, () => {
    const random = randomFrom(seed);
    for (let round = 0; round < 200; round += 1) {
      const text = `{"k":${JSON.stringify(random.text(["{", "}", "[", "]", '"', "\\", "é", "a", ","], 12))},"l":[{}]}`;
      const bytes = Buffer.from(`${text}tail`);
      const cut = random.below(bytes.length);
      expect(gathered(bytes.subarray(0, cut), bytes.subarray(cut)).text).toBe(text);
    }
  });
});

describe("payloadOf", () => {
  const of = (value: unknown) => payloadOf(Buffer.from(JSON.stringify(value)));

  test("each provider's spelling of the session, in order", () => {
    expect(of({ session_id: "a", sessionId: "b", conversation_id: "c" }).session).toBe("a");
    expect(of({ sessionId: "b", conversation_id: "c" }).session).toBe("b");
    expect(of({ session_id: 7, conversation_id: "c" }).session).toBe("c");
    expect(of({ session_id: "" }).session).toBeNull();
  });

  test("the directories: cwd, then the first workspace root; none that is relative or no string", () => {
    expect(of({ cwd: "/a", workspace_roots: ["/b", "/c"] }).directories).toEqual(["/a", "/b"]);
    expect(of({ cwd: "a", workspace_roots: [7] }).directories).toEqual([]);
    expect(of({ workspace_roots: "/b" }).directories).toEqual([]);
    expect(of({ cwd: "/a\0b" }).directories).toEqual([]);
  });

  test("what is no object, broken or hostile is as good as none", () => {
    const none = { session: null, directories: [], reason: "", name: "" };
    for (const text of ["", "[]", "42", '{"compact_summary":"s/[\\/\\.]/-/"}', '{"session_id":']) expect(payloadOf(Buffer.from(text))).toEqual(none);
    expect(payloadOf(Buffer.from('{"__proto__":{"session_id":"x"}}')).session).toBeNull();
    expect(of({ hook_event_name: "Stop", reason: "error" })).toEqual({ ...none, name: "Stop", reason: "error" });
  });

  test("isSession: one line, not blank, well-formed, at most 512 bytes", () => {
    for (const good of ["x", "a b/c", "ünïcode:id", "..", "x".repeat(512)]) expect(isSession(good)).toBe(true);
    for (const bad of ["", " ", "a\nb", "a\0", "\ud800", "x".repeat(513), "\u2028", "\ufffd"]) expect(isSession(bad)).toBe(false);
  });
});
