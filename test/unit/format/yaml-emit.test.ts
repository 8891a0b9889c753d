import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../../build/bundle.mjs";
import { quoted, scalar } from "../../../src/format/yaml-emit.ts";
import { readYamlFile } from "../../../src/format/yaml-read.ts";
import { bytesOfText, cleaned, textOfBytes } from "../../../src/ground/bytes.ts";
import { randomFrom, seed } from "../../support/random.ts";

/** What our reader gives of an emitted scalar, in each place where one is emitted. */
function readBack(emitted: string): string[] {
  const { leaves, refusal } = readYamlFile(bytesOfText(`a: ${emitted}\nb:\n  - ${emitted}\nc:\n  - type: x\n    target: ${emitted}\n`));
  if (refusal !== null) return [`line ${refusal.line}: ${refusal.reason}`];
  return ["a", "b.0", "c.0.target"].map((path) => textOfBytes(leaves.get(path) ?? "(none)"));
}

const indicators = ["-", "?", ":", ",", "[", "]", "{", "}", "#", "&", "*", "!", "|", ">", "'", '"', "%", "@", "`", "\\", "~", "=", "<", ".", "+", "0", "a", " ", "/", "é"];

test("scalar: every string of up to three indicators comes back the same, from our reader", () => {
  const texts = ["", ...indicators];
  for (const one of indicators) for (const two of indicators) texts.push(one + two, ...indicators.map((three) => one + two + three));
  const wrong = texts.filter((text) => readBack(scalar(text)).some((found) => found !== text));
  expect(wrong).toEqual([]);
});

test("scalar: three-fold on golden scalars: emitted as written, read back, emitted again", () => {
  const golden: readonly (readonly [text: string, emitted: string])[] = [
    ["main", "main"],
    ["", '""'],
    ["session:s-20261009100000-1a2b", "session:s-20261009100000-1a2b"],
    ["file:lib/a.sh", "file:lib/a.sh"],
    ["file:a b", "file:a b"],
    ["file:a: b", '"file:a: b"'],
    ["file:a #b", '"file:a #b"'],
    ["file:a#b", "file:a#b"],
    ["file:a:", '"file:a:"'],
    ['file:a"b\\c', 'file:a"b\\c'],
    ['"a"', '"\\"a\\""'],
    [" a", '" a"'],
    ["a ", '"a "'],
    ["a\tb", '"a\\x09b"'],
    ["a\nb", '"a\\x0ab"'],
    ["\u0085", '"\\x85"'],
    ["a\u2028b", '"a\\u2028b"'],
    ["\ufeff", '"\\ufeff"'],
    ["é日本😀", "é日本😀"],
  ];
  for (const [text, emitted] of golden) {
    expect(scalar(text)).toBe(emitted);
    expect(readBack(emitted)).toEqual([text, text, text]);
    expect(scalar(readBack(emitted)[0] ?? "")).toBe(emitted);
  }
});

/** Words that some YAML processor takes for another type: every one from the field reports, and more. */
const words = [
  "null", "Null", "NULL", "~", "true", "False", "TRUE", "yes", "No", "ON", "off", "y", "N", "<<", "=",
  "0", "7", "-1", "+1", "083", "007", "018561471342", "0o7", "0x1F", "0XFF", "0b11", "00", "1_000", "1e3", "1E-3", "1.", "1.5", ".5", "-.5", "+.5e1",
  ".inf", "-.INF", "+.Inf", ".nan", ".NaN", "10:00", "22:22", "190:20:30", "1:2", "1:2.5", "-1:30",
  "2026-10-08", "2026-1-8", "2026-10-08T09:52:53Z", "2026-10-08 09:52:53 -5", "2026-10-08t09:52:53.1+02:00", "1234567", "1234e56", "12e34567",
];

test.each(words)("scalar: '%s' is quoted, so that it stays a string", (word) => {
  expect(scalar(word)).toBe(`"${word}"`);
  expect(readBack(scalar(word))).toEqual([word, word, word]);
});

const plain = ["main", "feature/x", "a1b2c3d", "v1.2", "1.2.3", "10:00am", "nullable", "yesterday", "on-call", "0xZZ", "e3", "NONE", "clean", "it's", "a, b", "a]b", "x-"];

test.each(plain)("scalar: '%s' stays plain", (word) => {
  expect(scalar(word)).toBe(word);
});

test(`quoted: whatever was cleaned comes back the same (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const pieces = [...indicators, "\u0001", "\n", "\r", "\t", "\u007f", "\u0085", "\u2028", "\ufeff", "\ufffe", "\uffff", "\ufffd", "\u00a0", "😀", "日", "\\n", '\\"', "# ", ": ", "transcript"];
  for (let count = 0; count < 3000; count += 1) {
    const raw = random.text(pieces, random.below(10));
    const text = cleaned(raw);
    expect(readBack(quoted(text)), JSON.stringify(text)).toEqual([text, text, text]);
    expect(readBack(scalar(raw)), JSON.stringify(raw)).toEqual([raw, raw, raw]);
    expect(quoted(text)).not.toContain("\n");
  }
});

const processor = join(home, "test/tools/node_modules/yaml/dist/index.js");
type Parse = (text: string, options?: object) => unknown;

test.skipIf(!existsSync(processor))(`scalar and quoted: YAML 1.2 and 1.1 processors give the same string, of string type (seed ${seed})`, () => {
  const { parse } = createRequire(import.meta.url)(processor) as { parse: Parse };
  const random = randomFrom(seed + 1);
  const pieces = [...indicators, "1", "e", "_", "x", "n", "T", "-", "inf", "\u0085", "\u2028", "\ufeff", "\t", "😀", ": ", " #"];
  const texts = [...words, ...plain, ...indicators, "\u0007\u001b", "\u0085", "\u2028a", "a\u2029", "\ufeffa", "a\ufffe", "a\uffff"];
  for (let count = 0; count < 3000; count += 1) texts.push(random.text(pieces, 1 + random.below(6)));
  for (const text of texts) {
    for (const version of ["1.1", "1.2"]) {
      const options = { version, logLevel: "error" };
      const found = parse(`a: ${scalar(text)}\n`, options) as { readonly a: unknown };
      // Of `.` and `e3` this processor makes a number that is none; others take them for strings.
      if (version === "1.2" || !Number.isNaN(found.a)) expect(found, `${version} ${JSON.stringify(text)}`).toEqual({ a: text });
      expect(parse(`a:\n  - ${quoted(cleaned(text))}\n`, options)).toEqual({ a: [cleaned(text)] });
    }
  }
});
