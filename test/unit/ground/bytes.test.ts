import { Buffer, isUtf8 } from "node:buffer";
import { expect, test } from "vitest";
import {
  byteLength,
  bytesOfText,
  cleaned,
  compareBytes,
  distinct,
  isWellFormed,
  showControlBytes,
  showControls,
  showIllFormed,
  sortedBytes,
  textOfBytes,
} from "../../../src/ground/bytes.ts";
import { randomFrom, seed } from "../../support/random.ts";

const characters = ["a", "b", "A", "\u0000", "\u007f", "\u0080", "é", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uff5e", "\uffff", "\u{10000}", "😀", "\u{10ffff}"];
const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

test(`compareBytes: the order of Buffer.compare on the UTF-8 bytes (seed ${seed})`, () => {
  const random = randomFrom(seed);
  for (let count = 0; count < 6000; count += 1) {
    const left = random.text(characters, random.below(5));
    const right = random.below(4) === 0 ? left + random.text(characters, random.below(2)) : random.text(characters, random.below(5));
    const expected = Buffer.compare(Buffer.from(left, "utf8"), Buffer.from(right, "utf8"));
    expect(Math.sign(compareBytes(left, right)), JSON.stringify([left, right])).toBe(expected);
  }
});

test(`compareBytes: right for byte strings too (seed ${seed})`, () => {
  const random = randomFrom(seed + 1);
  for (let count = 0; count < 5000; count += 1) {
    const [left, right] = [random.text(bytes, random.below(4)), random.text(bytes, random.below(4))];
    expect(Math.sign(compareBytes(left, right))).toBe(Buffer.compare(Buffer.from(left, "latin1"), Buffer.from(right, "latin1")));
  }
});

test("compareBytes: with surrogates it is a total order, antisymmetric and transitive", () => {
  const all = [...characters, "\ud83d", "\ude00", "\ud83da", "a\udc00"];
  for (const a of all) {
    for (const b of all) {
      expect(Math.sign(compareBytes(a, b)) + Math.sign(compareBytes(b, a)), JSON.stringify([a, b])).toBe(0);
      for (const c of all) if (compareBytes(a, b) < 0 && compareBytes(b, c) < 0) expect(compareBytes(a, c)).toBeLessThan(0);
    }
  }
});

test("sortedBytes: a new list in byte order, equal keys in their order", () => {
  const given = ["😀", "～", "b", "a", "B"];
  expect(sortedBytes(given)).toEqual(["B", "a", "b", "～", "😀"]);
  expect(given[0]).toBe("😀");
  expect(sortedBytes([["b", 1], ["a", 2], ["b", 0], ["a", 1]] as const, ([key]) => key)).toEqual([["a", 2], ["a", 1], ["b", 1], ["b", 0]]);
  expect(sortedBytes(new Set([10, 9]) as unknown as Iterable<string>)).toEqual([10, 9]);
});

test("distinct: the first of equal texts, in the order given", () => {
  expect(distinct(["b", "a", "b", "__proto__", "a"])).toEqual(["b", "a", "__proto__"]);
});

test(`bytesOfText and textOfBytes: one is the other's inverse, and lengths are bytes (seed ${seed})`, () => {
  const random = randomFrom(seed + 2);
  for (let count = 0; count < 2000; count += 1) {
    const text = random.text(characters, random.below(9));
    expect(textOfBytes(bytesOfText(text))).toBe(text);
    expect(bytesOfText(text)).toBe(Buffer.from(text, "utf8").toString("latin1"));
    expect(bytesOfText(text).length).toBe(byteLength(text));
  }
});

test("showControls: each control character as \\xNN, one per byte; nothing else changes", () => {
  expect(showControls("a\u0000\t\n\u001b[31m\u007f")).toBe("a\\x00\\x09\\x0a\\x1b[31m\\x7f");
  expect(showControls("\u0080\u0085\u009f")).toBe("\\xc2\\x80\\xc2\\x85\\xc2\\x9f");
  expect(showControls("é\u00a0\\x41😀\u2028")).toBe("é\u00a0\\x41😀\u2028");
  for (let unit = 0; unit < 0x100; unit += 1) {
    const isControl = unit < 0x20 || (unit >= 0x7f && unit < 0xa0);
    expect(showControls(String.fromCharCode(unit)).startsWith("\\x"), unit.toString(16)).toBe(isControl);
    expect(showControlBytes(bytesOfText(String.fromCharCode(unit)))).toBe(bytesOfText(showControls(String.fromCharCode(unit))));
  }
});

test("showControlBytes: the second byte of another character is no C1 control", () => {
  expect(showControlBytes(bytesOfText("Â€À\u0100"))).toBe(bytesOfText("Â€À\u0100"));
});

test(`isWellFormed and showIllFormed: as the runtime judges UTF-8, for every pair of bytes and at random (seed ${seed})`, () => {
  const judged = (text: string) => isUtf8(Buffer.from(text, "latin1"));
  const pairs = bytes.flatMap((first) => bytes.map((second) => first + second));
  expect(pairs.filter((pair) => isWellFormed(pair) !== judged(pair))).toEqual([]);
  const random = randomFrom(seed + 3);
  const edges = ["\x7f", "\x80", "\x8f", "\x90", "\x9f", "\xa0", "\xbf", "\xc0", "\xc1", "\xc2", "\xdf", "\xe0", "\xed", "\xef", "\xf0", "\xf4", "\xf5", "\xff", "a"];
  for (let count = 0; count < 6000; count += 1) {
    const text = random.text(edges, random.below(6));
    const shown = showIllFormed(text);
    expect(isWellFormed(text), JSON.stringify(text)).toBe(judged(text));
    expect(judged(shown), JSON.stringify(text)).toBe(true);
    expect(shown.replace(/\\x([0-9a-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))).toBe(text);
  }
});

test("showIllFormed: a good sequence beside a bad byte stays", () => {
  expect(showIllFormed(`${bytesOfText("é")}\xff${bytesOfText("😀")}\xe2\x82`)).toBe(`${bytesOfText("é")}\\xff${bytesOfText("😀")}\\xe2\\x82`);
});

test("cleaned: each of the contract's characters becomes one space, no other does", () => {
  const gone = new Set([0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff, 0x7f]);
  for (let unit = 0; unit < 0x20; unit += 1) gone.add(unit);
  for (let unit = 0x80; unit < 0xa0; unit += 1) gone.add(unit);
  const wrong: string[] = [];
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const expected = gone.has(unit) ? " " : String.fromCharCode(unit);
    if (cleaned(`a${String.fromCharCode(unit)}b`) !== `a${expected}b`) wrong.push(unit.toString(16));
  }
  expect(wrong).toEqual([]);
  expect(cleaned("\r\n\u0085😀")).toBe("   😀");
});
