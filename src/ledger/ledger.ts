/**
 * The ledger: appended to under its lock, read as a stream (contract, section 3). A reader takes no lock: it sees whole
 * lines and, at most, one torn last line, which is damaged and costs only itself.
 */
import { refuse } from "../ground/errors.ts";
import { appendRevocably, attempt, readChunks, removeTemporaries } from "../host/files.ts";
import { sortedBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { fileStatus, isFile, listFolder, nameExists } from "../host/folder.ts";
import { makeInside } from "../host/inside.ts";
import { ledgerLockPath, ledgerPath, statePath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { lockWait, withLock } from "../host/lock.ts";
import { entryOf, lineLimit } from "./events.ts";
import type { LedgerEntry } from "./events.ts";

/** How many bytes are read at once. */
export const chunkSize = 1 << 20;

/** Appends whole lines; gives what takes them away again, for an act that comes to nothing. It never throws. */
export type Append = (lines: string) => () => void;

/**
 * Runs an act under the ledger's lock; the state folder is made where it is missing. What killed acts left staged in it is
 * removed: nothing is staged there but under this lock.
 */
export function underLedger<Result>(layout: Pick<Layout, "root">, run: (append: Append) => Result, wait = lockWait): Result {
  makeInside(layout, statePath);
  return withLock(`${layout.root}/${ledgerLockPath}`, wait, () => {
    attempt(() => removeTemporaries(`${layout.root}/${statePath}`));
    return run((lines) => {
      if (lines === "") return () => undefined;
      return appendRevocably(`${layout.root}/${ledgerPath}`, Buffer.from(lines, "utf8"));
    });
  });
}

/** Gives each line's bytes, without its LF, and the byte where it begins; `false` ends the reading. Bytes live as long as the call. */
type TakeLine = (line: Buffer, offset: number) => boolean | void;

/**
 * Streams the lines of a ledger in order, from a byte on where a line begins. A line over the limit comes as a piece of
 * more than the limit, never whole. With needles, only lines that hold one of these bytes come.
 */
export function eachLine(path: string, take: TakeLine, needles: readonly string[] = [], from = 0): void {
  if (nameExists(path) && !isFile(path)) {
    throw refuse("could-not-write", `cannot read '${path}'`, "it is no regular file");
  }
  const wanted = needles.map((needle) => Buffer.from(needle, "latin1"));
  /** The beginning of a line whose end is in a later chunk; cut just over the limit. */
  let rest: Buffer = Buffer.alloc(0);
  let restOffset = from;
  let offset = from;
  const keep = (piece: Buffer, at: number) => {
    if (rest.length === 0) restOffset = at;
    if (rest.length <= lineLimit) rest = Buffer.concat([rest, piece.subarray(0, lineLimit + 1 - rest.length)]);
  };
  const takeRest = () => {
    const line = rest;
    rest = Buffer.alloc(0);
    return wanted.length === 0 || wanted.some((needle) => line.includes(needle)) ? take(line, restOffset) : undefined;
  };
  const ended = readChunks(
    path,
    chunkSize,
    (chunk) => {
      const at = offset;
      offset += chunk.length;
      const last = chunk.lastIndexOf(0x0a);
      if (last === -1) {
        keep(chunk, at);
        return true;
      }
      let start = 0;
      if (rest.length > 0) {
        start = chunk.indexOf(0x0a) + 1;
        keep(chunk.subarray(0, start - 1), at);
        if (takeRest() === false) return false;
      }
      const block = chunk.subarray(0, last + 1);
      const more = wanted.length === 0 ? takeAll(block, start, at, take) : takeWith(block, start, at, wanted, take);
      if (more && last + 1 < chunk.length) keep(chunk.subarray(last + 1), at + last + 1);
      return more;
    },
    from,
  );
  if (ended && rest.length > 0) takeRest();
}

/**
 * Gives the whole lines of a ledger in blocks of bytes, for a reader that looks at most lines only in passing: `eachLine`
 * would make a buffer of each. A last line without its LF comes by itself.
 */
export function eachBlock(path: string, takeBlock: (lines: ByteString) => void, takeLine: (line: Buffer) => void): void {
  let rest = "";
  readChunks(path, chunkSize, (chunk) => {
    const text = rest + chunk.toString("latin1");
    const end = text.lastIndexOf("\n") + 1;
    if (end > 0) takeBlock(text.slice(0, end));
    // Of a line over the limit no more is kept than shows that it is.
    rest = text.slice(end, end + lineLimit + 1);
  });
  if (rest !== "") takeLine(Buffer.from(rest, "latin1"));
}

/** Whether to go on. */
function takeAll(block: Buffer, from: number, offset: number, take: TakeLine): boolean {
  for (let start = from; start < block.length; ) {
    const end = block.indexOf(0x0a, start);
    if (take(block.subarray(start, end), offset + start) === false) return false;
    start = end + 1;
  }
  return true;
}

/** Searches the bytes and looks only at the lines around what it finds. */
function takeWith(block: Buffer, from: number, offset: number, needles: readonly Buffer[], take: TakeLine): boolean {
  const found = needles.map((needle) => block.indexOf(needle, from));
  for (;;) {
    let hit = -1;
    for (const at of found) if (at !== -1 && (hit === -1 || at < hit)) hit = at;
    if (hit === -1) return true;
    const start = Math.max(hit === 0 ? 0 : block.lastIndexOf(0x0a, hit - 1) + 1, from);
    const end = block.indexOf(0x0a, hit);
    if (take(block.subarray(start, end), offset + start) === false) return false;
    needles.forEach((needle, index) => {
      if ((found[index] as number) !== -1 && (found[index] as number) < end) found[index] = block.indexOf(needle, end);
    });
  }
}

/** Lines that were skipped as damaged: how many, and where the first begins. */
export interface Damage {
  count: number;
  firstOffset: number;
}

/**
 * Streams the entries of a ledger; damaged lines are skipped and counted. With needles, only the lines that hold one of
 * them are read, and so only damage among them is counted.
 */
export function eachEntry(
  path: string,
  take: (entry: LedgerEntry, line: Buffer, offset: number) => boolean | void,
  needles: readonly string[] = [],
): Damage {
  const damage: Damage = { count: 0, firstOffset: 0 };
  eachLine(
    path,
    (line, offset) => {
      const entry = entryOf(line);
      if (entry !== null) return take(entry, line, offset);
      if (damage.count === 0) damage.firstOffset = offset;
      damage.count += 1;
      return true;
    },
    needles,
  );
  return damage;
}

/**
 * What to search for to find every line that holds a text of ASCII letters, digits, `-` and `.`: the text itself, and
 * any escape that could spell one of its characters.
 */
export function needlesOf(...texts: readonly string[]): string[] {
  return [...texts, "\\u00"];
}

/** A place in a ledger where a line begins: what is appended later stands behind it. */
export interface LedgerMark {
  readonly file: number;
  readonly offset: number;
}

/** Marks the end of a ledger's whole lines as it is now. */
export function markLedger(path: string): LedgerMark {
  const status = fileStatus(path);
  if (status === null) return { file: 0, offset: 0 };
  // A line may be half there: then it counts as later.
  const from = Math.max(0, status.size - lineLimit);
  let offset = from;
  let at = from;
  readChunks(
    path,
    lineLimit,
    (chunk) => {
      const seen = chunk.subarray(0, status.size - at);
      const last = seen.lastIndexOf(0x0a);
      if (last !== -1) offset = at + last + 1;
      at += seen.length;
      return at < status.size;
    },
    from,
  );
  return { file: status.file, offset };
}

/** Streams the entries behind a mark as `eachEntry` does; `false` where the ledger was rotated since, and nothing was read. */
export function eachEntrySince(path: string, mark: LedgerMark, take: (entry: LedgerEntry) => boolean | void, needles: readonly string[]): boolean {
  const status = fileStatus(path);
  if (status !== null && mark.file !== 0 && (status.file !== mark.file || status.size < mark.offset)) return false;
  eachLine(
    path,
    (line) => {
      const entry = entryOf(line);
      return entry === null ? true : take(entry);
    },
    needles,
    mark.offset,
  );
  return true;
}

/** The number of the line that begins at a byte, counted from 1. */
export function lineNumberAt(path: string, offset: number): number {
  let number = 1;
  let read = 0;
  readChunks(path, chunkSize, (chunk) => {
    const end = Math.min(chunk.length, offset - read);
    for (let at = chunk.indexOf(0x0a); at !== -1 && at < end; at = chunk.indexOf(0x0a, at + 1)) number += 1;
    read += chunk.length;
    return read < offset;
  });
  return number;
}

/** The archives that rotations made, oldest first, as paths below the root. */
export function archivesOf(layout: Layout): string[] {
  const names = listFolder(`${layout.root}/${statePath}`)
    .filter((entry) => entry.kind === "file" && /^ledger\..*\.jsonl\.archived(?:-[0-9]+)?$/.test(entry.name))
    .map((entry) => entry.name);
  return sortedBytes(names).map((name) => `${statePath}/${name}`);
}
