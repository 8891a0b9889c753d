import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { secondsOf } from "../../../src/ground/clock.ts";
import { damageWords, detailOf, readHistory, sinceOf, validateLedger } from "../../../src/ledger/history.ts";

const now = "2026-10-09T10:00:00Z";
const at = (text: string) => secondsOf(text) ?? Number.NaN;

test.each([
  ["30m", "2026-10-09T09:30:00Z"],
  ["0m", "2026-10-09T10:00:00Z"],
  ["2h", "2026-10-09T08:00:00Z"],
  ["7d", "2026-10-02T10:00:00Z"],
  ["007d", "2026-10-02T10:00:00Z"],
  ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
])("sinceOf: %s is since %s", (text, since) => {
  expect(sinceOf(text, now)).toBe(at(since));
});

test.each(["", "m", "30", "30s", "30 m", "-1h", "+1h", "1.5h", "1w", "30M", "2h ", "1d2h", "2026-01-01", "yesterday", "99999999999d", "2026-01-01T00:00:00z"])(
  "sinceOf: '%s' is a wrong call",
  (text) => {
    expect(() => sinceOf(text, now)).toThrowError(expect.objectContaining({ status: 2 }) as Error);
  },
);

function ledgerOf(lines: readonly string[]): string {
  const path = join(mkdtempSync(join(tmpdir(), "history-")), "ledger.jsonl");
  writeFileSync(path, lines.join("\n"));
  return path;
}

const line = (ts: string, event: string, more: object = {}) => JSON.stringify({ ts, event, head: "NONE", branch: "main", by: "x", ...more });

const path = ledgerOf([
  line("2026-10-09T08:00:00Z", "session.started", { session: "s-1", owner: "o" }),
  line("2026-10-09T08:00:01Z", "decision.recorded", { task_id: "t-1", decision: "d1" }),
  "torn",
  line("2026-10-09T09:00:00Z", "task.checkpoint", { task_id: "t-1" }),
  line("2026-10-09T09:00:01Z", "unknown.event", { task_id: "t-1" }),
  line("2026-10-09T09:30:00Z", "decision.recorded", { task_id: "t-2", decision: "d2" }),
  line("2026-10-09T10:00:00", "decision.recorded", { task_id: "t-2", decision: "no time" }),
]);

const events = (query: Parameters<typeof readHistory>[1]) => readHistory(path, query).lines.map(({ entry }) => entry["decision"] ?? entry["event"]);

test("readHistory: oldest first; filtered by task, event and time; the newest so many", () => {
  expect(events({})).toEqual(["session.started", "d1", "task.checkpoint", "d2", "no time"]);
  expect(events({ task: "t-1" })).toEqual(["d1", "task.checkpoint"]);
  expect(events({ event: "decision.recorded" })).toEqual(["d1", "d2", "no time"]);
  expect(events({ since: at("2026-10-09T09:00:00Z") })).toEqual(["task.checkpoint", "d2"]);
  expect(events({ limit: 2 })).toEqual(["d2", "no time"]);
  expect(events({ task: "t-2", limit: 1 })).toEqual(["no time"]);
});

test("readHistory: a line's text is its bytes in the ledger", () => {
  const odd = `{ "ts":"2026-10-09T08:00:00Z",  "event":"decision.recorded","decision":"\u2028\\u0041" }`;
  expect(readHistory(ledgerOf([odd, ""]), {}).lines[0]?.text).toBe(odd);
});

test("readHistory: the newest of a ledger far longer than what is asked for", () => {
  const long = ledgerOf(Array.from({ length: 5000 }, (_, n) => line("2026-10-09T08:00:00Z", "decision.recorded", { decision: String(n) })));
  expect(readHistory(long, { limit: 3 }).lines.map(({ entry }) => entry["decision"])).toEqual(["4997", "4998", "4999"]);
});

test("damageWords: how many lines were skipped, and the first one's number", () => {
  expect(damageWords(path, readHistory(path, {}).damage)).toBe("skipped 1 damaged line, the first is line 3");
  const bad = ledgerOf(["{}", "", "[]", "{}", "null", ""]);
  expect(damageWords(bad, readHistory(bad, {}).damage)).toBe("skipped 3 damaged lines, the first is line 2");
  expect(damageWords(bad, { count: 0, firstOffset: 0 })).toBeNull();
});

test("validateLedger: the first line that is no object or names an event that nobody has", () => {
  expect(validateLedger(path)).toEqual({ lines: 7, fault: "line 3: no whole JSON object" });
  expect(validateLedger(ledgerOf([line(now, "task.gate"), line(now, "observation.recoded")])).fault).toBe("line 2: unknown event 'observation.recoded'");
  expect(validateLedger(ledgerOf(["{}"])).fault).toBe("line 1: unknown event ''");
  expect(validateLedger(ledgerOf([line(now, "task.gate"), ""]))).toEqual({ lines: 1, fault: null });
  expect(validateLedger(join(tmpdir(), "no-such-ledger.jsonl"))).toEqual({ lines: 0, fault: null });
});

test("detailOf: a word for every event, and for fields of another shape nothing", () => {
  expect(detailOf({ event: "observation.recorded", kind: "defect", subject: "a", statement: "b" })).toBe("defect a — b");
  expect(detailOf({ event: "ledger.rotated", archived: 2, kept: 3, archive: "x" })).toBe("2 archived to x, 3 kept");
  expect(detailOf({ event: "provider.event.received", provider: "codex", provider_event: "end" })).toBe("codex end");
  expect(detailOf({ event: "decision.recorded", decision: 7 })).toBe("");
  expect(detailOf({ event: "task.gate" })).toBe("");
});
