import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../../build/bundle.mjs";
import { generated } from "../../../build/tables.ts";
import { refusals, refuse } from "../../../src/ground/errors.ts";
import { commitPattern, episodePattern, opensLikeConversation, recordPattern, taskPattern } from "../../../src/ground/ids.ts";
import { version } from "../../../src/ground/version.ts";

test.each([...generated()])("generated: %s is what share/tables.tsv gives", (path, text) => {
  expect(readFileSync(join(home, path), "utf8")).toBe(text);
});

test("version: that of package.json", () => {
  const { version: declared } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { version: string };
  expect(version).toBe(declared);
});

test("refusals: every code has one of the contract's exit statuses", () => {
  const statuses = Object.values(refusals);
  expect([...new Set(statuses)].sort((a, b) => a - b)).toEqual([2, 10, 11, 12, 13, 15]);
});

test("refuse: the message is what failed, then why; no colon where there is no detail", () => {
  expect(refuse("missing", "no layer in 'x'", "run 'majordomus init'").message).toBe("no layer in 'x': run 'majordomus init'");
  expect(refuse("missing", "no layer").message).toBe("no layer");
});

test("episodePattern, taskPattern, recordPattern, commitPattern: the whole text, in one form", () => {
  const good = "s-20261009100000-1a2b";
  expect(episodePattern.test(good)).toBe(true);
  for (const bad of [`${good}\n`, `x${good}`, "s-20261009100000-1A2B", "s-2026100910000-1a2b", "t-20261009100000-1a2b", "s-20261009100000-1a2bc", ""]) {
    expect(episodePattern.test(bad), bad).toBe(false);
  }
  expect(taskPattern.test("t-20261009101500-0a1b")).toBe(true);
  expect(taskPattern.test("t-20261009101500-0a1b\n")).toBe(false);
  expect(recordPattern.test(`${good}-7581bba9d5e8`)).toBe(true);
  expect(recordPattern.test(`${good}-7581bba9d5e`)).toBe(false);
  expect(recordPattern.test(`../${good}-7581bba9d5e8`)).toBe(false);
  expect([40, 64, 39, 41, 63, 7].map((length) => commitPattern.test("a".repeat(length)))).toEqual([true, true, false, false, false, false]);
});

test("opensLikeConversation: the five words with a colon or a space, case and place as they are", () => {
  for (const word of ["transcript", "messages", "assistant", "completion", "response"]) {
    expect(opensLikeConversation(`${word}: x`)).toBe(true);
    expect(opensLikeConversation(`${word} x`)).toBe(true);
    for (const good of [word, `${word}s: x`, `${word.toUpperCase()}: x`, ` ${word}: x`, `the ${word}: x`, `${word}\t: x`, `${word}-x`]) {
      expect(opensLikeConversation(good), good).toBe(false);
    }
  }
});
