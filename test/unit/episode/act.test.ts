import { expect, test } from "vitest";
import { insistOneLine, insistRecordable, lineFault } from "../../../src/episode/act.ts";
import { insistNoSecret } from "../../../src/episode/secrets.ts";
import { cannotFail } from "../../../src/episode/verify.ts";

test("lineFault: every character that the contract refuses, and no other", () => {
  const refused: string[] = [];
  for (let unit = 0; unit <= 0xffff; unit += 1) if (lineFault(`a${String.fromCharCode(unit)}b`) !== null) refused.push(unit.toString(16));
  const expected: string[] = [];
  const range = (from: number, to: number) => {
    for (let unit = from; unit <= to; unit += 1) expected.push(unit.toString(16));
  };
  range(0, 0x1f);
  range(0x7f, 0x9f);
  range(0x2028, 0x2029);
  range(0xd800, 0xdfff);
  range(0xfeff, 0xfeff);
  range(0xfffd, 0xffff);
  expect(refused).toEqual(expected);
  expect(lineFault("a😀 \u{1f468}\u200d\u{1f469}\u200d\u{1f466} \u{1f1e9}\u{1f1ea} \u{10ffff}")).toBeNull();
});

test.each(["", " ", "\t", "\u00a0", "\u3000 "])("lineFault: '%s' is blank", (text) => {
  expect(lineFault(text)).toBe("it is blank");
});

test("insistOneLine and insistRecordable: a wrong call (2)", () => {
  expect(() => insistOneLine("the answer", "a\nb")).toThrowError(expect.objectContaining({ status: 2 }) as Error);
  expect(() => insistRecordable("the answer", "assistant: hi")).toThrowError(expect.objectContaining({ status: 2 }) as Error);
  insistOneLine("the answer", "a");
  insistRecordable("the answer", "Assistant: hi");
});

test("insistNoSecret: refused (10), the shape named, the value never repeated; allowed where it is said so", () => {
  const text = `password=${"hunter22"}`;
  const refused = (() => {
    try {
      insistNoSecret({ first: undefined, "the statement": text }, false);
      return null;
    } catch (error) {
      return error as { readonly status: number; readonly message: string };
    }
  })();
  expect(refused?.status).toBe(10);
  expect(refused?.message).toContain("cannot record the statement: it carries the shape of a password with its value");
  expect(refused?.message).not.toContain("hunter22");
  insistNoSecret({ "the statement": text }, true);
});

test.each(["true", ":", "exit 0", "exit", "echo ok", "printf 'ok\\n'", "true; true", "true && echo done", "npm test || true", "make || :", "false || exit 0", " ", "true\necho x", "true &"])(
  "cannotFail: '%s' proves nothing",
  (command) => {
    expect(cannotFail(command)).toBe(true);
  },
);

test.each(["npm test", "false", "exit 1", "make && echo ok", "echo ok && make", "truely", "echo $(make)", "test -f x", "true | false", "sh -c true-ish", "echo x > /no/such/dir", "[ -n x ]"])(
  "cannotFail: '%s' can fail",
  (command) => {
    expect(cannotFail(command)).toBe(false);
  },
);
