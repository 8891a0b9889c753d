import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { chance, milliseconds, now, randomHex, secondsOf, sleep, timestampPattern } from "../../../src/ground/clock.ts";
import { Refusal } from "../../../src/ground/errors.ts";

let inherited: string | undefined;
beforeEach(() => {
  inherited = process.env["MAJORDOMUS_NOW"];
  delete process.env["MAJORDOMUS_NOW"];
});
afterEach(() => {
  delete process.env["MAJORDOMUS_NOW"];
  if (inherited !== undefined) process.env["MAJORDOMUS_NOW"] = inherited;
});

describe("now", () => {
  test("without MAJORDOMUS_NOW: this second, in UTC", () => {
    const before = Math.floor(Date.now() / 1000);
    const seconds = secondsOf(now()) ?? 0;
    expect(seconds).toBeGreaterThanOrEqual(before);
    expect(seconds).toBeLessThanOrEqual(before + 5);
  });

  test.each(["2026-10-09T10:15:00Z", "2026-02-31T25:61:61Z", "0000-00-00T00:00:00Z"])("MAJORDOMUS_NOW=%s is used as it is", (given) => {
    process.env["MAJORDOMUS_NOW"] = given;
    expect(now()).toBe(given);
  });

  test.each(["", " ", "2026-10-09", "2026-10-09T10:15:00", "2026-10-09T10:15:00.000Z", "2026-10-09T10:15:00+00:00", "2026-10-09t10:15:00z",
    "2026-10-09T10:15:00Z\n", " 2026-10-09T10:15:00Z", "1790000000", "２026-10-09T10:15:00Z"])("MAJORDOMUS_NOW=%j is refused with 2", (given) => {
    process.env["MAJORDOMUS_NOW"] = given;
    expect(now).toThrow(Refusal);
    expect(now).toThrow(expect.objectContaining({ code: "wrong-call", status: 2 }));
    expect(now).toThrow("MAJORDOMUS_NOW");
  });
});

test.each([
  ["1970-01-01T00:00:00Z", 0],
  ["2026-10-09T10:15:00Z", 1_791_540_900],
  ["2024-02-29T23:59:59Z", 1_709_251_199],
  ["1969-12-31T23:59:59Z", -1],
  ["0099-01-01T00:00:00Z", -59_042_995_200],
  ["2026-02-30T00:00:00Z", 1_772_409_600],
  ["2026-01-01T24:00:60Z", 1_767_312_060],
  ["2026-1-1T00:00:00Z", null],
  ["yesterday", null],
])("secondsOf: %s is %s", (timestamp, seconds) => {
  expect(secondsOf(timestamp)).toBe(seconds);
});

test("timestampPattern: the whole text", () => {
  expect(timestampPattern.test("2026-10-09T10:15:00Z")).toBe(true);
  expect(timestampPattern.test("x2026-10-09T10:15:00Z")).toBe(false);
  expect(timestampPattern.test("2026-10-09T10:15:00Z\n")).toBe(false);
});

test("sleep stops for so long by milliseconds, and not at all for 0 and less", () => {
  const started = milliseconds();
  sleep(30);
  const woken = milliseconds();
  expect(woken - started).toBeGreaterThanOrEqual(29);
  sleep(0);
  sleep(-1_000);
  expect(milliseconds() - woken).toBeLessThan(500);
});

test("chance: every number below the limit comes, none else", () => {
  const seen = new Set(Array.from({ length: 2_000 }, () => chance(8)));
  expect(seen).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
});

test("randomHex: so many lower hex digits, each digit in each place, hardly two alike", () => {
  expect(randomHex(0)).toBe("");
  const drawn = Array.from({ length: 2_000 }, () => randomHex(8));
  for (const text of drawn) expect(text).toMatch(/^[0-9a-f]{8}$/);
  for (let place = 0; place < 8; place += 1) expect(new Set(drawn.map((text) => text[place])).size).toBe(16);
  expect(new Set(drawn).size).toBeGreaterThan(1_990);
});
