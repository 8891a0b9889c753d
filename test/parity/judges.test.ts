import { describe, expect, test } from "vitest";
import { scalar, quoted } from "../../src/format/yaml-emit.ts";
import { readYamlFile } from "../../src/format/yaml-read.ts";
import type { YamlLeaves } from "../../src/format/yaml-read.ts";
import { bytesOfText, textOfBytes } from "../../src/ground/bytes.ts";
import { knownAwks } from "../../src/host/readers.ts";
import { program } from "../needs.ts";
import { randomFrom } from "../support/random.ts";
import { acceptedYaml } from "../support/yaml-cases.ts";
import { fileCases } from "./cases/files.ts";
import { valueCases } from "./cases/values.ts";
import { documentsOf, flattenedBy, flattenedByAwk } from "./engine.ts";
import { record } from "./generate.ts";
import { judge11, judge12, judgedLeaves } from "./judges.ts";
import type { Judge } from "./judges.ts";
import { shellReader } from "./readers.ts";
import { bytesOf } from "./tree.ts";

/** What YAML gives a meaning to, and a letter. */
const alphabet = [..."-?:,[]{}#&*!|>'\"%@` a"];

/** What a processor might take for something else than a string. */
const awkward = [
  "no", "No", "NO", "yes", "on", "off", "y", "n", "true", "false", "null", "Null", "~", "", "1e3", "1E3", "1.", ".5", "1_000", "010", "0o7", "0x1F", "0b11", "00", "08", "018561471342", "083", "+1", "-1", "1.0", "-0",
  "12:30", "12:30:45", "190:20:30", "1:2", "10:00", "2026-10-09", "2026-1-8", "2026-10-08T09:52:53Z", "2026-10-08 09:52:53 -5", "2001-12-14t21:59:43.10-05:00", ".inf", "-.INF", ".nan", "<<", "=", "0", "9", "Infinity", "NaN", "nan",
  "---", "...", "--- a", "... a", "-", "--", "a: b", "a:", ": a", "a #b", "#a", "a#b", "Turn: the page", "ends with colon:", "- dash", "? q", "&a", "*b", "!bang", "|", ">", "[x", "{x", "]", ",x", "'", '"', "\\", "\\n", "\\x41", "a\\", "a'b", "an issue's fix: don't 'quote'",
  "%p", "@at", "`tick`", " lead", "trail ", "é", "日本語", "😀", "👩‍👩‍👧", "\u00a0x", "=======", "<<<<<<< HEAD", "__proto__", "key: [a, b]", "{}", "[]", "a\u00ad", "%YAML 1.2", "null ", "~a", "1e", "0x", "1,000", "1 2",
];

/** What stands only escaped in the subset. */
const controls = ["\t", "\n", "\r", "\u0000", "\u0001", "\u001b", "\u007f", "\u0085", "\u009f", "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff"].filter((text) => text !== "\u0000");

function stringsOf(letters: readonly string[], length: number): string[] {
  return length === 0 ? [""] : stringsOf(letters, length - 1).flatMap((text) => letters.map((letter) => text + letter));
}

const short = [1, 2, 3].flatMap((length) => stringsOf(alphabet, length));
const more = stringsOf([...alphabet, "\\", "~", "=", "<", ".", "0", "e", "é"], 2);
const strings = [...new Set([...short, ...more, ...awkward])];

/** The same awks read each list in one process. */
const awks = knownAwks.filter((awk) => program(awk.split(" ")[0] ?? "") !== null);

interface Accepted {
  readonly text: string;
  readonly leaves: YamlLeaves;
}

/** Those of these documents that are in the subset. */
function acceptedOf(texts: Iterable<string>): Accepted[] {
  return [...new Set(texts)].flatMap((text) => {
    const { leaves } = readYamlFile(bytesOf(text));
    return leaves === null ? [] : [{ text, leaves }];
  });
}

/** Where a judge reads something else than the readers, or nothing. */
function disagreements(judge: Judge, documents: readonly Accepted[]): { readonly text: string; readonly judged: unknown }[] {
  const said = judge(documents.map(({ text }) => text));
  return documents.flatMap(({ text, leaves }, index) =>
    JSON.stringify(said[index]) === JSON.stringify(judgedLeaves(leaves)) ? [] : [{ text, judged: said[index] }],
  );
}

/** Ways to stand in a document as it is, most of them refused for most strings. */
const places: readonly ((text: string) => string)[] = [
  (text) => `a: ${text}\n`,
  (text) => `a: [b, ${text}, c]\n`,
  (text) => `${text}: b\n`,
  (text) => `${text}\n`,
  (text) => `a:\n  ${text}\n`,
  (text) => `a: b\n${text}\n`,
  (text) => `a:\n- b\n- ${text}\n`,
  (text) => `a: "${text}"\n`,
  (text) => `a: '${text}'\n`,
];

const inPlaces = () => acceptedOf(places.flatMap((place) => strings.map(place)));

/** Documents of the cases and of the fuzzer: whole files, and the front matter of records. */
function documents(): Accepted[] {
  const texts = acceptedYaml.map(({ text }) => text);
  const front = (text: string) => /^\ufeff?---[ \t]*\r?\n([^]*?)^---[ \t]*\r?$/m.exec(text)?.[1];
  for (const { files } of [...fileCases, ...valueCases]) {
    for (const thing of Object.values(files)) if (typeof thing === "string" && thing.length < 30_000) texts.push(front(thing) ?? "");
  }
  for (const seed of [1, 2]) texts.push(...documentsOf(seed, 1500).map(textOfBytes));
  const random = randomFrom(5);
  for (let left = 500; left > 0; left -= 1) texts.push(front(textOfBytes(record(random))) ?? "");
  return acceptedOf(texts);
}

/** Documents of many values, each written by the emitter in one of its two ways. */
function emitted(): { readonly text: string; readonly values: readonly string[] }[] {
  const values = [
    ...strings.map((value) => [value, scalar(value)] as const),
    ...strings.map((value) => [value, quoted(value)] as const),
    ...[...controls, ...controls.flatMap((one) => [`a${one}`, `${one}a`, `a${one}b`, `${one}: `])].map((value) => [value, scalar(value)] as const),
  ];
  const size = 2000;
  return Array.from({ length: Math.ceil(values.length / size) }, (_, index) => {
    const part = values.slice(index * size, (index + 1) * size);
    // As a value, in a sequence, and with a comment behind it.
    const text = part.map(([, written], at) => `k${at}: ${written}\ns${at}:\n  - ${written} # c\n`).join("");
    return { text, values: part.flatMap(([value]) => [value, value]) };
  });
}

function demanded(judge: Judge | null): Judge | null {
  if (judge === null && process.env["MAJORDOMUS_NOTHING_SKIPPED"] !== undefined) throw new Error("a judge is not installed");
  return judge;
}

describe("the subset is a subset", () => {
  const modern = demanded(judge12());
  const old = demanded(judge11(true));
  const exact = demanded(judge11());

  test.skipIf(modern === null)("YAML 1.2: every document of the cases and the fuzzer gives the same strings in the same places", () => {
    const list = documents();
    expect(list.length).toBeGreaterThan(1500);
    expect(disagreements(modern as Judge, list)).toEqual([]);
  });

  test.skipIf(modern === null)("YAML 1.2: every short string, wherever it stands as it is and is accepted, is the same there", () => {
    const list = inPlaces();
    expect(list.length).toBeGreaterThan(15_000);
    expect(disagreements(modern as Judge, list)).toEqual([]);
  });

  // What YAML 1.1 lets stand in a flow sequence without a quote is a little less: a question mark ends a scalar there.
  test.skipIf(old === null || exact === null)("YAML 1.1: nothing is read otherwise, and nothing but a question mark in a flow sequence is refused", () => {
    const judged = [...disagreements(old as Judge, [...documents(), ...inPlaces()]), ...disagreements(exact as Judge, documents().slice(0, 1500))];
    const otherwise = judged.filter(({ text, judged: said }) => typeof said !== "string" || !/\[[^\]]*\?/.test(text));
    expect(otherwise).toEqual([]);
  }, 60_000);

  test("a judge that reads otherwise is noticed", () => {
    const list = acceptedOf(["a: no\n", "b: c\n"]);
    const wrong: Judge = (texts) => texts.map((text) => (text.startsWith("a") ? [["a", "false"]] : [["b", "c"]]));
    expect(disagreements(wrong, list)).toEqual([{ text: "a: no\n", judged: [["a", "false"]] }]);
  });
});

describe("every short string and every awkward word", () => {
  test("survives the emitter and the TypeScript reader", () => {
    for (const { text, values } of emitted()) {
      const { leaves, refusal } = readYamlFile(bytesOfText(text));
      expect(refusal).toBeNull();
      expect([...(leaves ?? [])].map(([, value]) => value)).toEqual(values.map(bytesOfText));
    }
  });

  test.each(awks)("survives the emitter and the shell reader: %s", (awk) => {
    const list = emitted().map(({ text }) => bytesOfText(text));
    expect(flattenedByAwk(awk, shellReader, list, false)).toEqual(list.map((text) => flattenedBy(text, false).said));
  }, 60_000);

  test("survives the emitter and the full processors", () => {
    for (const judge of [judge12(), judge11(true)]) {
      if (judge === null) continue;
      const list = emitted();
      const said = judge(list.map(({ text }) => text));
      for (const [index, { values }] of list.entries()) {
        const judged = said[index];
        expect(typeof judged === "string" ? judged : judged?.map(([, value]) => value)).toEqual(values);
      }
    }
  }, 60_000);

  test.each(awks)("as it stands is taken or refused alike by both readers: %s", (awk) => {
    const list = places.flatMap((place) => strings.map((text) => bytesOfText(place(text))));
    const shell = flattenedByAwk(awk, shellReader, list, false);
    const differing = list.filter((text, index) => flattenedBy(text, false).said !== shell[index]);
    expect(differing).toEqual([]);
  }, 60_000);
});
