import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entryOf, textField } from "../../../src/ledger/events.ts";
import { archivesOf, eachEntry, eachLine, lineNumberAt, needlesOf } from "../../../src/ledger/ledger.ts";
import { layoutOf, statePath } from "../../../src/host/layout.ts";
import { randomFrom, seed } from "../../support/random.ts";
import type { Random } from "../../support/random.ts";

const folder = mkdtempSync(join(tmpdir(), "ledger-"));
let files = 0;

function ledgerOf(bytes: string | Buffer): string {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, bytes);
  return path;
}

interface Line {
  readonly text: string;
  readonly offset: number;
}

function linesOf(path: string, needles: readonly string[] = [], from = 0): Line[] {
  const lines: Line[] = [];
  eachLine(path, (line, offset) => void lines.push({ text: line.toString("latin1"), offset }), needles, from);
  return lines;
}

/** The same by the simplest means: the whole file, cut at each line feed. */
function simpleLines(bytes: Buffer): Line[] {
  const lines: Line[] = [];
  let offset = 0;
  for (const text of bytes.toString("latin1").split("\n")) {
    lines.push({ text, offset });
    offset += text.length + 1;
  }
  if (lines.at(-1)?.text === "") lines.pop();
  return lines;
}

const chunk = 1 << 20;

test("eachLine: no file has no lines, an empty one none, one line feed one empty line", () => {
  expect(linesOf(join(folder, "none.jsonl"))).toEqual([]);
  expect(linesOf(join(folder, "no-folder", "x.jsonl"))).toEqual([]);
  expect(linesOf(ledgerOf(""))).toEqual([]);
  expect(linesOf(ledgerOf("\n"))).toEqual([{ text: "", offset: 0 }]);
  expect(linesOf(ledgerOf("a\n\nb"))).toEqual([{ text: "a", offset: 0 }, { text: "", offset: 2 }, { text: "b", offset: 3 }]);
});

test("eachLine: cuts at LF alone: not at CR, NEL, VT, FF, LS or PS", () => {
  const bytes = Buffer.from('{"a":"\u2028\u2029\u0085\u000b\u000c\r"}\r\n{"b":1}\r\n', "utf8");
  expect(linesOf(ledgerOf(bytes))).toEqual(simpleLines(bytes));
  expect(linesOf(ledgerOf(bytes))).toHaveLength(2);
});

test("eachLine: a line on each side of a chunk's end, and one over it, come whole with their place", () => {
  for (const before of [chunk - 3, chunk - 2, chunk - 1, chunk, chunk + 1]) {
    // Lines of a thousand bytes, then one that ends just there.
    const filler = `${"x".repeat(999)}\n`.repeat(Math.floor((before - 1) / 1000));
    const bytes = Buffer.from(`${filler}${"y".repeat(before - filler.length - 1)}\n{"a":1}\n{"b":2}\ntail`, "latin1");
    expect(linesOf(ledgerOf(bytes)).slice(-4)).toEqual(simpleLines(bytes).slice(-4));
    expect(linesOf(ledgerOf(bytes), ["a", "b"]).map((line) => line.text)).toEqual(['{"a":1}', '{"b":2}', "tail"]);
  }
});

test("eachLine: a line over the limit, longer than two chunks, comes once, over the limit, and its neighbours whole", () => {
  const bytes = Buffer.from(`{"a":1}\n${"x".repeat(3 * chunk)}\n{"b":2}\n`, "latin1");
  const lines = linesOf(ledgerOf(bytes));
  expect(lines.map((line) => line.offset)).toEqual([0, 8, 8 + 3 * chunk + 1]);
  expect(lines[1]?.text.length).toBeGreaterThan(65_536);
  expect(lines[2]?.text).toBe('{"b":2}');
  expect(entryOf(Buffer.from(lines[1]?.text ?? "", "latin1"))).toBeNull();
});

test("eachLine: from a byte on, and until told to stop", () => {
  const path = ledgerOf("a\nb\nc\nd\n");
  expect(linesOf(path, [], 4)).toEqual([{ text: "c", offset: 4 }, { text: "d", offset: 6 }]);
  expect(linesOf(path, ["b", "d"], 4)).toEqual([{ text: "d", offset: 6 }]);
  expect(linesOf(path, [], 8)).toEqual([]);
  const taken: string[] = [];
  eachLine(path, (line) => {
    taken.push(line.toString());
    return taken.length < 2;
  });
  expect(taken).toEqual(["a", "b"]);
});

test("eachLine: what is no regular file is refused (13): a folder, a link", () => {
  const directory = join(folder, "directory.jsonl");
  mkdirSync(directory);
  const link = join(folder, "link.jsonl");
  symlinkSync(ledgerOf("a\n"), link);
  for (const path of [directory, link]) expect(() => linesOf(path)).toThrowError(expect.objectContaining({ status: 13 }) as Error);
});

function randomLedger(random: Random, ids: readonly string[]): Buffer {
  const pieces: Buffer[] = [];
  for (let count = 0; count < 60; count += 1) {
    const id = random.pick(ids);
    const kind = random.below(14);
    const escaped = [...id].map((character) => (random.below(3) === 0 ? `\\u00${character.charCodeAt(0).toString(16)}` : character)).join("");
    if (kind < 6) pieces.push(Buffer.from(`{"session":"${id}","n":${count},"pad":"${"p".repeat(random.below(200))}"}\n`));
    else if (kind === 6) pieces.push(Buffer.from(`{"session":"${escaped}","n":${count}}\n`));
    else if (kind === 7) pieces.push(Buffer.from(`{"session":"${id}","te\n`));
    else if (kind === 8) pieces.push(Buffer.from(`{"session":"${id}","a":"\xff"}\n`, "latin1"));
    else if (kind === 9) pieces.push(Buffer.from(random.pick(["\n", "42\n", "null\r\n", "[]\n", "   \n"])));
    else if (kind === 10) pieces.push(Buffer.from(`{"session":"x","session":"${id}","é":"\u2028"}\r\n`));
    else if (kind === 11) pieces.push(Buffer.from(`{"note":"${id} ${random.pick(ids)}","session":"${id}","n":${count}}\n`));
    else if (kind === 12 && random.below(4) === 0) pieces.push(Buffer.from(`{"session":"${id}","pad":"${"q".repeat(70_000)}"}\n`));
    else pieces.push(Buffer.alloc(random.below(3) === 0 ? chunk - random.below(100) : random.below(100), "z"), Buffer.from("\n"));
  }
  if (random.below(2) === 0) pieces.push(Buffer.from(`{"session":"${random.pick(ids)}","last":true}`));
  return Buffer.concat(pieces);
}

test(`eachEntry: with needles it finds just what a full scan finds (seed ${seed})`, () => {
  const ids = ["s-20261009100000-1a2b", "s-20261009100000-1a2c", "s-20261009100001-1a2b"];
  for (let round = 0; round < 12; round += 1) {
    const random = randomFrom(seed + round);
    const bytes = randomLedger(random, ids);
    const path = ledgerOf(bytes);
    for (const id of ids) {
      const expected = simpleLines(bytes).flatMap(({ text, offset }) => {
        const entry = entryOf(Buffer.from(text, "latin1"));
        return entry !== null && textField(entry, "session") === id ? [{ text, offset }] : [];
      });
      for (const needles of [[], needlesOf(id)]) {
        const found: Line[] = [];
        eachEntry(
          path,
          (entry, line, offset) => {
            if (textField(entry, "session") === id) found.push({ text: line.toString("latin1"), offset });
          },
          needles,
        );
        expect(found, `seed ${seed + round}, needles ${needles.length}`).toEqual(expected);
      }
    }
  }
});

test(`eachEntry: counts every damaged line, and knows where the first is (seed ${seed})`, () => {
  for (let round = 0; round < 6; round += 1) {
    const bytes = randomLedger(randomFrom(seed + 100 + round), ["s-20261009100000-1a2b"]);
    const path = ledgerOf(bytes);
    const lines = simpleLines(bytes);
    const bad = lines.flatMap(({ text, offset }, index) => (entryOf(Buffer.from(text, "latin1")) === null ? [{ offset, number: index + 1 }] : []));
    const damage = eachEntry(path, () => true);
    expect(damage.count).toBe(bad.length);
    expect(damage.firstOffset).toBe(bad[0]?.offset ?? 0);
    if (bad[0] !== undefined) expect(lineNumberAt(path, damage.firstOffset)).toBe(bad[0].number);
  }
});

test("archivesOf: the archives of rotations alone, as paths, in byte order", () => {
  const root = mkdtempSync(join(tmpdir(), "archives-"));
  mkdirSync(join(root, statePath), { recursive: true });
  writeFileSync(join(root, ".ai/manifest.yaml"), "schema: ai-repository/v1\n");
  const name = "ledger.20261009T100000Z.jsonl.archived";
  for (const file of [`${name}-2`, name, "ledger.20251009T100000Z.jsonl.archived", "ledger.jsonl", "ledger.x.jsonl.archived.bak"]) {
    writeFileSync(join(root, statePath, file), "");
  }
  mkdirSync(join(root, statePath, "ledger.20271009T100000Z.jsonl.archived"));
  expect(archivesOf(layoutOf(root))).toEqual(["ledger.20251009T100000Z.jsonl.archived", name, `${name}-2`].map((file) => `${statePath}/${file}`));
});
