import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../../build/bundle.mjs";
import { flattened, leavesJson, readYaml, readYamlFile } from "../../../src/format/yaml-read.ts";
import { bytesOfText, textOfBytes } from "../../../src/ground/bytes.ts";
import { yamlWords } from "../../../src/ground/tables.ts";
import { randomFrom, seed } from "../../support/random.ts";
import { acceptedYaml, refusedYaml } from "../../support/yaml-cases.ts";

function read(text: string): unknown {
  const { leaves, refusal } = readYamlFile(bytesOfText(text));
  return refusal ?? [...leaves].map(([path, value]) => [path, value === null ? null : textOfBytes(value)]);
}

test.each(refusedYaml)("readYamlFile: refuses $text at line $line as $reason", ({ text, line, reason }) => {
  expect(read(text)).toEqual({ line, reason });
});

test.each(acceptedYaml)("readYamlFile: accepts $text", ({ text, leaves }) => {
  expect(read(text)).toEqual(leaves);
});

test("refusedYaml: every reason of the table has a case", () => {
  expect(Object.keys(yamlWords).filter((reason) => !refusedYaml.some((one) => one.reason === reason))).toEqual([]);
});

test("readYaml: a refusal inside front matter has its line in the file, and a marker there is a second document", () => {
  expect(readYaml("a: b\nc\n", 2, true).refusal).toEqual({ line: 3, reason: "no-key" });
  expect(readYaml("---\n", 2, true).refusal).toEqual({ line: 2, reason: "second-document" });
});

test("readYamlFile: an accepted document in CRLF, and without its last line feed, has the same leaves", () => {
  for (const { text, leaves } of acceptedYaml) {
    expect(read(text.replace(/\r?\n/g, "\r\n"))).toEqual(leaves);
    expect(read(text.replace(/\r?\n$/, ""))).toEqual(leaves);
  }
});

test("readYamlFile: long lines and many keys take time in proportion: five seconds are far more than enough", () => {
  const started = process.hrtime.bigint();
  const long = "é".repeat(200_000);
  expect(readYamlFile(bytesOfText(`a: "${long}"\n`)).leaves?.get("a")?.length).toBe(400_000);
  expect(readYamlFile(`a: ${" b".repeat(200_000)}\n`).leaves?.get("a")?.length).toBe(399_999);
  expect(readYamlFile(`a: "${"\\n".repeat(200_000)}"\n`).leaves?.get("a")?.length).toBe(200_000);
  expect(readYamlFile(Array.from({ length: 40_000 }, (_, at) => `k${at}: v\n`).join("")).leaves?.size).toBe(40_000);
  expect(readYamlFile(`a: [${"b, ".repeat(40_000)}b]\n`).leaves?.size).toBe(40_001);
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(5000);
});

test("flattened: paths and values in the order of the document, escaped as the contract says", () => {
  const shown = (text: string) => textOfBytes(flattened(readYamlFile(bytesOfText(text)).leaves ?? new Map()));
  expect(shown("tags:\n  - derived\nnone: []\nempty:\n")).toBe("tags.0=derived\nnone=[]\nempty=\n");
  expect(shown('a: "\\\\ \\b\\t\\n\\v\\f\\r\\e\\x7f\\x80\\N\\_é😀\\u2028\\uFEFF="\n')).toBe(
    "a=\\\\ \\b\\t\\n\\u000b\\f\\r\\u001b\\u007f\\u0080\\u0085\u00a0é😀\u2028\ufeff=\n",
  );
  expect(shown("z: 1\na: 2\n")).toBe("z=1\na=2\n");
});

test("leavesJson: one line that JSON reads back as the leaves", () => {
  const { leaves } = readYamlFile(bytesOfText('a: []\nb: "\\"\\n\\x80é"\n__proto__: c\n'));
  const json = textOfBytes(leavesJson(leaves ?? new Map()));
  expect(json.endsWith("\n") && !json.slice(0, -1).includes("\n")).toBe(true);
  expect(Object.entries(JSON.parse(json) as object)).toEqual([["a", []], ["b", '"\n\u0080é'], ["__proto__", "c"]]);
});

/** An independent YAML 1.2 processor, with every scalar a string. */
const processor = join(home, "test/tools/node_modules/yaml/dist/index.js");
type Parse = (text: string, options: object) => unknown;

function leavesOf(value: unknown, path: string, into: Map<string, string | null>): Map<string, string | null> {
  const below = path === "" ? "" : `${path}.`;
  if (Array.isArray(value)) {
    if (value.length === 0) into.set(path, null);
    value.forEach((item, index) => leavesOf(item, `${below}${index}`, into));
  } else if (value instanceof Map) {
    for (const [key, item] of value) leavesOf(item, `${below}${String(key)}`, into);
  } else if (path !== "") {
    into.set(path, String(value ?? ""));
  }
  return into;
}

test.skipIf(!existsSync(processor))(`readYamlFile: what it accepts, a YAML 1.2 processor reads as the same strings (seed ${seed})`, () => {
  const { parse } = createRequire(import.meta.url)(processor) as { parse: Parse };
  const random = randomFrom(seed);
  const pieces = [
    "a", "b", "c", "k", ":", ": ", ":\n", "- ", "-", "\n", "\n", "\n", "\n  ", "\n  ", "\n    ", "\n  - ", "\n- ", " ", "  ", "#", " # ", "'", '"', "''", "[", "]", ", ", ",", "[]",
    "?", "? ", "{", "}", "&", "*", "!", "|", ">", "%", "@", "`", "\\", "\\n", "\\x41", "\\u00e9", "é", "\t", "---", "...", "\r\n", "~", "=", "<<", "null", "0", "\ufeff", "\u00a0", "😀",
    "a: ", "b: ", "c:\n", "k: 'x'", '"y"', "a:\n  b: ", "k:\n  - ",
  ];
  let accepted = 0;
  for (let count = 0; count < 25_000; count += 1) {
    const text = (random.below(2) === 0 ? "a: " : "") + random.text(pieces, 1 + random.below(12));
    const { leaves } = readYamlFile(bytesOfText(text));
    if (leaves === null) continue;
    accepted += 1;
    const ours = [...leaves].map(([path, value]) => [path, value === null ? null : textOfBytes(value)]);
    let theirs: unknown;
    try {
      theirs = [...leavesOf(parse(text, { schema: "failsafe", version: "1.2", mapAsMap: true, logLevel: "error" }), "", new Map())];
    } catch (error) {
      theirs = String(error);
    }
    expect(ours, `seed ${seed}: ${JSON.stringify(text)}`).toEqual(theirs);
  }
  expect(accepted).toBeGreaterThan(1000);
});
