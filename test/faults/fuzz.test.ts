// Seeded fuzz of each parser: nothing but a refusal is thrown, and nothing takes long. MAJORDOMUS_TEST_ROUNDS gives more rounds.
import { expect, test } from "vitest";
import { parseArguments } from "../../src/cli/args.ts";
import { frontMatterOf } from "../../src/format/front-matter.ts";
import { readYamlFile } from "../../src/format/yaml-read.ts";
import { Refusal } from "../../src/ground/errors.ts";
import { amended } from "../../src/knowledge/amend.ts";
import { readRecord } from "../../src/knowledge/candidates.ts";
import { evidenceOf } from "../../src/knowledge/evidence.ts";
import { matchesGlob } from "../../src/knowledge/route.ts";
import { entryOf } from "../../src/ledger/events.ts";
import { gatherObject, payloadOf } from "../../src/provider/payload.ts";
import { readDocument } from "../../src/scenario/document.ts";
import { compilePattern, matchesAny } from "../../src/scenario/pattern.ts";
import { randomFrom, seed } from "../support/random.ts";
import type { Random } from "../support/random.ts";

const rounds = Number(process.env["MAJORDOMUS_TEST_ROUNDS"] ?? 3_000);

/** Cuts, doubles, swaps and inserts pieces of a text: mostly well-formed, never quite. */
function mutated(random: Random, text: string, pieces: readonly string[]): string {
  let result = text;
  for (let count = random.below(6); count >= 0; count -= 1) {
    const at = random.below(result.length + 1);
    const to = Math.min(result.length, at + random.below(12));
    const piece = random.below(3) === 0 ? result.slice(at, to) : random.pick(pieces);
    result = random.below(3) === 0 ? result.slice(0, at) + result.slice(to) : result.slice(0, at) + piece.repeat(random.below(40) === 0 ? 2_000 : 1) + result.slice(at);
  }
  return result;
}

const yaml = 'schema: knowledge/v1\nid: s-20261009100000-1a2b-7581bba9d5e8\nstatus: candidate\ntitle: "a \\u00e9 b"\ntags:\n  - a\n  - b: c\nflow: [a, "b", \'c\']\nprovenance:\n  origin: extracted\n  derived_from:\n    - session:s-20261009100000-1a2b\n';
const yamlPieces = ["\n", "  ", "- ", ": ", ":", "#", " #", "'", '"', "[", "]", "{", "}", "&a ", "*a", "!t ", "|", ">", "\t", "\r", "\r\n", "---\n", "...\n", "\u0000", "\xc2\x85", "\xe2\x80\xa8", "\xef\xbb\xbf", "\\u0041", "\\x", "__proto__: x\n", "<<<<<<< a\n", "? ", "%A\n", ",", "\xff"];
const line = '{"ts":"2026-10-09T10:00:00Z","event":"observation.recorded","head":"NONE","branch":"main","by":"x","session":"s-20261009100000-1a2b","task_id":"none","kind":"defect","subject":"lib/a.sh","statement":"x","evidence":["file:a"]}';
const jsonPieces = ['"', "\\", "{", "}", "[", "]", ":", ",", "null", "1e999", "\\ud83d", "\\u0000", '"__proto__":{"event":"x"},', '"event":7,', "\u0000", "\xff", "\xef\xbb\xbf", " ", "true", "-"];
const scenario = 'setup: installed\ngiven: a layer\nsteps:\n  - id: a\n    run: ["knowledge", "candidates"]\n    expect:\n      exit: 0\n      stdout_contains: ["^a+$"]\n      files_contain:\n        - path: a\n          pattern: b\nthen: it holds\n';

const parsers: Readonly<Record<string, (random: Random) => void>> = {
  readYamlFile: (random) => void readYamlFile(mutated(random, yaml, yamlPieces)),
  frontMatterOf: (random) => void frontMatterOf(mutated(random, `---\n${yaml}---\nbody\n`, yamlPieces)),
  readRecord: (random) => void readRecord("a.md", Buffer.from(mutated(random, `---\n${yaml}---\nbody\n`, yamlPieces), "latin1")),
  amended: (random) => {
    const text = mutated(random, `---\n${yaml}---\nbody\n`, yamlPieces);
    const read = readRecord("a.md", Buffer.from(text, "latin1"));
    if (read === null || "reason" in read) return;
    amended(text, { fields: [["status", "verified"], ["date", "2026-10-09"]], derivedFrom: "session:s-20261009100000-1a2c", section: { heading: "Evidence", lines: ["seen"] } });
  },
  entryOf: (random) => {
    const entry = entryOf(Buffer.from(mutated(random, line, jsonPieces), "latin1"));
    if (entry !== null) evidenceOf(entry, "s-20261009100000-1a2b", () => "");
  },
  payloadOf: (random) => {
    const gathered = gatherObject();
    const bytes = Buffer.from(mutated(random, `{"session_id":"a","cwd":"/tmp","x":${line}}`, jsonPieces), "latin1");
    for (let at = 0; at < bytes.length; at += 1 + random.below(50)) if (gathered.take(bytes.subarray(at, at + 7))) break;
    payloadOf(gathered.bytes());
  },
  readDocument: (random) => {
    const text = mutated(random, scenario, [...yamlPieces, "(a+)+$", "[[:alpha:]", "exit: x", "```yaml\n"]);
    readDocument(random.below(2) === 0 ? "a.yaml" : "a.md", Buffer.from(random.below(2) === 0 ? text : `# A\n\n\`\`\`yaml\n${text}\`\`\`\n`, "latin1"));
  },
  compilePattern: (random) => {
    const source = mutated(random, "^a+(b|c)*[[:digit:]x-z]{2,3}\\.$", ["(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", ".", "[[:", ":]]", "{,", "{9999}", "a", "é"]);
    const compiled = compilePattern(source);
    if ("program" in compiled) matchesAny(compiled, ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "é"]);
  },
  matchesGlob: (random) => void matchesGlob(mutated(random, "src/**/[a-c]*.t?", ["*", "**", "?", "[", "]", "!", "/", "\\", "-", "^", "é"]), random.text(["a", "/", ".", "b", "*", "é"], random.below(60))),
  parseArguments: (random) => void parseArguments(Array.from({ length: random.below(8) }, () => random.pick(["knowledge", "observe", "--kind", "--kind=", "--", "-", "-h", "--help", "--repo", "--repo=x", "--json", "=", "", "--=", "--__proto__", "constructor", "session", "start", "--x=\n", "\u0000", "é"]))),
};

test.each(Object.entries(parsers))(`%s: nothing but a refusal, and soon, over mutated inputs (seed ${seed})`, (name, parse) => {
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    try {
      parse(randomFrom(seed + round));
    } catch (error) {
      if (!(error instanceof Refusal)) throw new Error(`${name}: seed ${seed + round}: ${String(error)}`);
    }
    expect([name, seed + round, performance.now() - started < 2_000]).toEqual([name, seed + round, true]);
  }
}, 120_000);

test(`a parser that throws anything else is caught (seed ${seed})`, () => {
  const faulty = (random: Random) => void JSON.parse(mutated(random, line, jsonPieces));
  let caught = 0;
  for (let round = 0; round < 50; round += 1) {
    try {
      faulty(randomFrom(seed + round));
    } catch (error) {
      if (!(error instanceof Refusal)) caught += 1;
    }
  }
  expect(caught).toBeGreaterThan(5);
});
