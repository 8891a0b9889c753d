import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { compilePattern, linesOf, matchesAny } from "../../../src/scenario/pattern.ts";
import type { Pattern } from "../../../src/scenario/pattern.ts";
import { needing } from "../../needs.ts";

function compiled(source: string): Pattern {
  const pattern = compilePattern(source);
  if ("fault" in pattern) throw new Error(`'${source}' does not compile: ${pattern.fault}`);
  return pattern;
}

function finds(source: string, ...lines: string[]): boolean {
  const verdict = matchesAny(compiled(source), lines);
  if (verdict === "too-long") throw new Error(`'${source}' takes too long`);
  return verdict === "yes";
}

const cases: readonly (readonly [source: string, matching: readonly string[], other: readonly string[]])[] = [
  ["abc", ["abc", "xabcx"], ["ab", "ABC", ""]],
  ["^abc$", ["abc"], ["abcd", "xabc", "abc "]],
  ["a.c", ["abc", "a\tc", "ač c".replace(" ", ""), "a😀c"], ["ac", "abbc"]],
  ["a*b", ["b", "aaab"], ["a", ""]],
  ["a+b", ["ab", "aab"], ["b"]],
  ["^a?b$", ["b", "ab"], ["aab"]],
  ["^(ab|cd)+$", ["ab", "abcd", "cdcd"], ["abc", ""]],
  ["^a{2}$", ["aa"], ["a", "aaa"]],
  ["^a{2,}$", ["aa", "aaaaa"], ["a"]],
  ["^a{1,3}$", ["a", "aaa"], ["", "aaaa"]],
  ["^a{0}b$", ["b"], ["ab"]],
  ["^a{255}$", ["a".repeat(255)], ["a".repeat(254), "a".repeat(256)]],
  ["^(a|b){2}$", ["ab", "ba"], ["a", "abc"]],
  ["^a**$", ["", "aaa"], ["b"]],
  ["^a.*?b$", ["ab", "axxb"], ["a"]],
  ["[abc]", ["xbx"], ["xyz"]],
  ["^[^abc]$", ["x", "č"], ["a", ""]],
  ["^[a-f0-9]+$", ["09af"], ["g"]],
  ["^[]a]+$", ["]a"], ["b"]],
  ["^[^]a]$", ["b"], ["]", "a"]],
  ["^[a-]+$", ["a-"], ["b"]],
  ["^[-a]+$", ["a-"], ["b"]],
  ["^[+--]+$", ["+,-"], ["."]],
  ["^[\\.]+$", ["\\."], ["a"]],
  ["^[[:digit:][:upper:]_]+$", ["A_1"], ["a", "-"]],
  ["^[^[:space:]]+$", ["ab"], ["a b", "\t"]],
  ["[[:punct:]]", ["a!"], ["ab"]],
  ["^[[:alpha:]]$", ["a", "Z"], ["č", "1"]],
  ["^[[.-.]a]+$", ["-a"], ["b"]],
  ["^[[=a=]b]$", ["a", "b"], ["="]],
  ["\\.\\*\\[\\]\\(\\)\\{\\}\\^\\$\\|\\?\\+\\\\\\/\\-\\\"", ['.*[](){}^$|?+\\/-"'], ["x"]],
  ["^written \\.ai/repo", ["written .ai/repo/knowledge"], ["written xai/repo", " written .ai/repo"]],
  ["0 written. 1 unchanged", ["knowledge derive: 0 written, 1 unchanged"], ["0 written 1 unchanged"]],
  ['^{"schema":1,', ['{"schema":1,"candidates":[]}'], ['x{"schema":1,']],
  ["a{", ["a{"], ["a"]],
  ["a{x}", ["a{x}"], ["ax"]],
  ["a{2", ["a{2"], ["aa"]],
  ["a]b}", ["a]b}"], ["ab"]],
  ["a$|^b", ["xa", "bx"], ["ax", "xb"]],
  ["^^a$$", ["a"], ["ba", "ab"]],
  ["a^b", [], ["a^b", "ab"]],
  ["(^a)b", ["ab"], ["xab"]],
  ["((a))", ["a"], ["b"]],
  ["čaj", ["zelený čaj"], ["caj"]],
  ["^$", [""], ["a"]],
];

for (const [source, matching, other] of cases) {
  test(`matchesAny '${source}'`, () => {
    for (const line of matching) expect([line, finds(source, line)]).toEqual([line, true]);
    for (const line of other) expect([line, finds(source, line)]).toEqual([line, false]);
  });
}

const faults: readonly (readonly [source: string, words: RegExp])[] = [
  ["", /empty pattern/],
  ["(", /empty alternative|not closed/],
  ["(a", /'\(' that is not closed/],
  ["a)", /closes nothing/],
  ["()", /empty alternative or group/],
  ["a|", /empty alternative/],
  ["|a", /empty alternative/],
  ["a||b", /empty alternative/],
  ["*a", /nothing to repeat/],
  ["(+a)", /nothing to repeat/],
  ["a|?b", /nothing to repeat/],
  ["{2}a", /nothing to repeat/],
  ["^*", /repeated anchor/],
  ["[", /not closed/],
  ["[]", /not closed/],
  ["[^]", /not closed/],
  ["[a", /not closed/],
  ["[b-a]", /turned round/],
  ["[a-[:digit:]]", /ends in a class/],
  ["[[:digit:]", /not closed/],
  ["[[:digits:]]", /unknown character class/],
  ["[:digit:]", /outside a bracket/],
  ["[[.ab.]]", /collating element/],
  ["[[.a]", /not closed/],
  ["a\\", /backslash at the end/],
  ["(a)\\1", /back-references/],
  ["\\d+", /no extended expression/],
  ["\\w", /no extended expression/],
  ["\\<a", /no extended expression/],
  ["\\n", /no extended expression/],
  ["\\č", /no extended expression/],
  ["a{3,2}", /turned round/],
  ["a{256}", /beyond 255/],
  ["a{1,256}", /beyond 255/],
  ["a{99999999999}", /beyond 255/],
  ["a{,3}", /lower bound/],
  ["(a{255}){255}", /too large/],
  ["((((a{0}){255}){255}){255}){255}", /too large/],
  [`${"(".repeat(200)}a${")".repeat(200)}`, /deep/],
  [`a${"*".repeat(100_000)}`, /repetitions/],
  [`${"(".repeat(100_000)}a`, /deep/],
];

for (const [source, words] of faults) {
  test(`compilePattern refuses '${source.slice(0, 40)}'`, () => {
    const pattern = compilePattern(source);
    expect("fault" in pattern ? pattern.fault : "it compiles").toMatch(words);
  });
}

test("matchesAny: what hangs a backtracking matcher is over at once", () => {
  const started = process.hrtime.bigint();
  const line = `${"a".repeat(40)}!`;
  expect(finds("(a+)+$", line)).toBe(false);
  expect(finds("^(a|aa)+$", line)).toBe(false);
  expect(finds("^(a?){100}a{100}$", "a".repeat(100))).toBe(true);
  expect(finds("(((a*)*)*)*b", "a".repeat(5000))).toBe(false);
  expect(Number(process.hrtime.bigint() - started) / 1e9).toBeLessThan(5);
});

test("matchesAny: a large pattern over a large output gives up, and never says that it found nothing", () => {
  const pattern = compiled("((a?){255}){9}b");
  expect(matchesAny(pattern, ["a".repeat(1_000_000)])).toBe("too-long");
});

test("matchesAny: a simple pattern reads an output of the largest size", () => {
  expect(finds("[^a]$", `${"a".repeat(8_000_000)}b`)).toBe(true);
});

/** Numbers that look drawn: the same for one seed. */
function drawer(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function drawnPattern(draw: (limit: number) => number, depth: number): string {
  const atoms = ["a", "b", ".", "[ab]", "[^a]", "[a-b]", "c", "\\."];
  const atom = () => (depth > 0 && draw(4) === 0 ? `(${drawnPattern(draw, depth - 1)})` : (atoms[draw(atoms.length)] as string));
  const repeats = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,1}", "{2,}"];
  const sequence = () => Array.from({ length: 1 + draw(3) }, () => atom() + (repeats[draw(repeats.length)] as string)).join("");
  const anchored = (text: string) => `${draw(4) === 0 ? "^" : ""}${text}${draw(4) === 0 ? "$" : ""}`;
  return Array.from({ length: 1 + draw(2) }, () => anchored(sequence())).join("|");
}

function drawnLine(draw: (limit: number) => number): string {
  return Array.from({ length: draw(7) }, () => "abc."[draw(4)] as string).join("");
}

const seed = Number(process.env["MAJORDOMUS_TEST_SEED"] ?? 20261009);

test(`matchesAny agrees with RegExp where both say the same (seed ${seed})`, () => {
  const draw = drawer(seed);
  for (let round = 0; round < 3000; round += 1) {
    const source = drawnPattern(draw, 2);
    const line = drawnLine(draw);
    expect([source, line, finds(source, line)]).toEqual([source, line, new RegExp(source).test(line)]);
  }
});

needing("grep")(`matchesAny agrees with grep -E (seed ${seed})`, () => {
  const draw = drawer(seed + 1);
  const lines = Array.from({ length: 200 }, () => drawnLine(draw));
  for (let round = 0; round < 60; round += 1) {
    const source = drawnPattern(draw, 3);
    const ran = spawnSync("grep", ["-nE", "-e", source], { input: lines.map((line) => `${line}\n`).join(""), encoding: "utf8" });
    const theirs = ran.stdout.split("\n").flatMap((line) => (line === "" ? [] : [Number(line.split(":")[0]) - 1]));
    const ours = lines.flatMap((line, index) => (finds(source, line) ? [index] : []));
    expect([source, ours]).toEqual([source, theirs]);
  }
});

test("linesOf: CRLF, colours and a missing last line feed are not seen", () => {
  expect(linesOf("a\r\nb\r\n")).toEqual(["a", "b"]);
  expect(linesOf("a\nb")).toEqual(["a", "b"]);
  expect(linesOf("")).toEqual([]);
  expect(linesOf("\n")).toEqual([""]);
  expect(linesOf("\x1b[1;31mred\x1b[0m\r\n")).toEqual(["red"]);
  expect(linesOf("red\r\x1b[0m\n")).toEqual(["red"]);
  expect(linesOf("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x07\x1b(B\n")).toEqual(["link"]);
  expect(linesOf("a\rb\n")).toEqual(["a\rb"]);
});

test("linesOf: codes that do not end cost no more than their length", () => {
  const started = process.hrtime.bigint();
  linesOf("\x1b[".repeat(500_000));
  linesOf(`\x1b[${"0".repeat(1_000_000)}`);
  linesOf("\x1b]a".repeat(300_000));
  expect(Number(process.hrtime.bigint() - started) / 1e9).toBeLessThan(5);
});
