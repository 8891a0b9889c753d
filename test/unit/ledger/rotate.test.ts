import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { layoutOf, ledgerPath, statePath } from "../../../src/host/layout.ts";
import type { Layout } from "../../../src/host/layout.ts";
import { rotateHeld } from "../../../src/ledger/rotate.ts";
import { failingAt } from "../host/faults.ts";

const now = "2026-10-09T10:00:00Z";
const last = '{"event":"ledger.rotated"}\n';

function layoutWith(lines: string): Layout {
  const root = mkdtempSync(join(tmpdir(), "rotate-"));
  mkdirSync(join(root, statePath), { recursive: true });
  writeFileSync(join(root, ".ai/manifest.yaml"), "schema: ai-repository/v1\n");
  writeFileSync(join(root, ledgerPath), lines, "latin1");
  return layoutOf(root);
}

const read = (layout: Layout, path: string) => readFileSync(join(layout.root, path), "latin1");
const ledgerOf = (layout: Layout) => read(layout, ledgerPath);
const own = (layout: Layout) => readdirSync(join(layout.root, statePath)).sort();
const of = (n: number, session?: string) => `${JSON.stringify({ n, ...(session === undefined ? {} : { session }) })}\n`;

test("rotateHeld: keeps the newest, archives the rest in order, and says so on the last line", () => {
  const layout = layoutWith(of(1) + of(2) + of(3) + of(4) + of(5));
  const rotation = rotateHeld(layout, now, 2, new Set(), () => last);
  expect(rotation).toEqual({ archived: 3, kept: 2, archive: `${statePath}/ledger.20261009T100000Z.jsonl.archived` });
  expect(ledgerOf(layout)).toBe(of(4) + of(5) + last);
  expect(read(layout, rotation?.archive ?? "")).toBe(of(1) + of(2) + of(3));
});

test("rotateHeld: keeps the lines of a bound episode, of one a newest line names, and of those alone: one pass", () => {
  const lines = [of(1, "A"), of(2, "B"), of(3, "C"), '{"n":4,"session":"C","episode":"D"}\n', of(5, "D"), of(6, "B"), of(7, "E")];
  const layout = layoutWith(lines.join(""));
  const rotation = rotateHeld(layout, now, 2, new Set(["A", "C"]), () => last);
  // B by the newest line 6, A and C as bound; D is named by a kept line, but not by one of the newest.
  expect(ledgerOf(layout)).toBe([of(1, "A"), of(2, "B"), of(3, "C"), lines[3], of(6, "B"), of(7, "E"), last].join(""));
  expect(read(layout, rotation?.archive ?? "")).toBe(of(5, "D"));
});

test("rotateHeld: nothing to archive touches nothing", () => {
  for (const [lines, retention, bound] of [[of(1) + of(2), 2, []], [of(1, "A") + of(2), 1, ["A"]], ["", 1, []]] as const) {
    const layout = layoutWith(lines);
    expect(rotateHeld(layout, now, retention, new Set(bound), () => last)).toBeNull();
    expect(ledgerOf(layout)).toBe(lines);
    expect(own(layout)).toEqual(["ledger.jsonl"]);
  }
});

test("rotateHeld: a name that is taken gets -2, then -3; no archive is overwritten", () => {
  const layout = layoutWith("");
  const archives = [1, 2, 3].map(() => {
    writeFileSync(join(layout.root, ledgerPath), of(1) + of(2));
    return rotateHeld(layout, now, 1, new Set(), () => last)?.archive;
  });
  const name = `${statePath}/ledger.20261009T100000Z.jsonl.archived`;
  expect(archives).toEqual([name, `${name}-2`, `${name}-3`]);
});

test("rotateHeld: damaged lines, long ones among them, are moved as they are, and no line is lost or cut", () => {
  const long = `${"x".repeat(3_000_000)}\n`;
  const damaged = [`{"torn\n`, "\n", "\xff\xfe\n", long, of(5), "[]\r\n", long, of(8)];
  const layout = layoutWith(damaged.join(""));
  const rotation = rotateHeld(layout, now, 3, new Set(), () => last);
  expect(ledgerOf(layout) === damaged.slice(5).join("") + last).toBe(true);
  expect(read(layout, rotation?.archive ?? "") === damaged.slice(0, 5).join("")).toBe(true);
});

test("rotateHeld: a torn last line is ended, so that it costs itself alone", () => {
  const layout = layoutWith(`${of(1)}${of(2)}{"torn`);
  rotateHeld(layout, now, 2, new Set(), () => last);
  expect(ledgerOf(layout)).toBe(`${of(2)}{"torn\n${last}`);
});

test("rotateHeld: whichever operation fails, no line is lost and nothing staged stays", () => {
  for (let n = 1; ; n += 1) {
    const layout = layoutWith(of(1) + of(2) + of(3));
    const { failed } = failingAt(n, "ENOSPC", () => rotateHeld(layout, now, 1, new Set(), () => last));
    if (failed === undefined) break;
    const kept = ledgerOf(layout);
    const archives = own(layout).filter((name) => name.includes("archived"));
    const all = kept + archives.map((name) => read(layout, `${statePath}/${name}`)).join("");
    for (const line of [of(1), of(2), of(3)]) expect(all, `operation ${n}, ${failed}`).toContain(line);
    expect([of(1) + of(2) + of(3), of(3) + last]).toContain(kept);
    if (failed !== "unlinkSync" && failed !== "closeSync") expect(own(layout).filter((name) => name.startsWith(".tmp")), `operation ${n}, ${failed}`).toEqual([]);
  }
});
