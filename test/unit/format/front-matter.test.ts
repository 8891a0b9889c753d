import { expect, test } from "vitest";
import { frontMatterOf } from "../../../src/format/front-matter.ts";
import { bytesOfText } from "../../../src/ground/bytes.ts";

const found: readonly (readonly [title: string, file: string, yaml: string, body: string])[] = [
  ["plain", "---\na: b\n---\nbody\n", "a: b\n", "body\n"],
  ["a byte order mark before it", "\ufeff---\na: b\n---\nbody", "a: b\n", "body"],
  ["CRLF", "---\r\na: b\r\n---\r\nbody\r\n", "a: b\r\n", "body\r\n"],
  ["blanks after the fences", "--- \t \na: b\n---\t\nbody\n", "a: b\n", "body\n"],
  ["blanks and one CR after the fences", "--- \r\na: b\n---  \r\nbody\n", "a: b\n", "body\n"],
  ["nothing between", "---\n---\n", "", ""],
  ["the closing fence is the last bytes", "---\na: b\n---", "a: b\n", ""],
  ["the closing fence and a blank are the last bytes", "---\na: b\n--- ", "a: b\n", ""],
  ["the closing fence and a CR are the last bytes", "---\na: b\n---\r", "a: b\n", ""],
  ["fences that are none stay inside", "---\n----\n--- text\n ---\na ---\n--\n---\nbody\n", "----\n--- text\n ---\na ---\n--\n", "body\n"],
  ["a third fence is body", "---\na: b\n---\n---\n", "a: b\n", "---\n"],
  ["a document marker with a comment is no fence", "---\n--- # c\n---\n", "--- # c\n", ""],
];

test.each(found)("frontMatterOf: %s", (_, file, yaml, body) => {
  const bytes = bytesOfText(file);
  const matter = frontMatterOf(bytes);
  if (typeof matter === "string") throw new Error(matter);
  expect(matter.yaml).toBe(bytesOfText(yaml));
  expect(bytes.slice(matter.start, matter.end)).toBe(matter.yaml);
  expect(bytes.slice(matter.bodyStart)).toBe(bytesOfText(body));
  expect(bytes.slice(0, matter.start).split("\n").length).toBe(matter.firstLine);
});

const missing: readonly (readonly [title: string, file: string, reason: "no-front-matter" | "endless"])[] = [
  ["an empty file", "", "no-front-matter"],
  ["a byte order mark alone", "\ufeff", "no-front-matter"],
  ["two byte order marks", "\ufeff\ufeff---\na: b\n---\n", "no-front-matter"],
  ["four dashes", "----\na: b\n---\n", "no-front-matter"],
  ["text after the dashes", "--- text\n---\n", "no-front-matter"],
  ["an indented fence", " ---\na: b\n---\n", "no-front-matter"],
  ["an empty line first", "\n---\na: b\n---\n", "no-front-matter"],
  ["two CRs after the dashes", "---\r\r\na: b\n---\n", "no-front-matter"],
  ["a blank after the CR", "---\r \na: b\n---\n", "no-front-matter"],
  ["a form feed after the dashes", "---\f\na: b\n---\n", "no-front-matter"],
  ["a no-break space after the dashes", "---\u00a0\na: b\n---\n", "no-front-matter"],
  ["only an opening fence", "---\n", "endless"],
  ["only an opening fence without its line feed", "---", "endless"],
  ["an indented closing fence", "---\na: b\n ---\n", "endless"],
  ["a closing fence of four dashes", "---\na: b\n----\n", "endless"],
  ["a closing fence behind CR alone", "---\na: b\r---\n", "endless"],
  ["a document end is no fence", "---\na: b\n...\n", "endless"],
];

test.each(missing)("frontMatterOf: %s has none", (_, file, reason) => {
  expect(frontMatterOf(bytesOfText(file))).toBe(reason);
});

test("frontMatterOf: a long file of dashes is read within a second", () => {
  const started = process.hrtime.bigint();
  expect(frontMatterOf(`---\n${"---- \n".repeat(500_000)}`)).toBe("endless");
  expect(frontMatterOf(`---${" ".repeat(3_000_000)}`)).toBe("endless");
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(1000);
});
