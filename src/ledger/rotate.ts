/**
 * Moving old lines of the ledger to an archive (contract, section 5). The archive is whole on disk before the ledger is
 * replaced, under the ledger's lock: killed in between, a line is in both and never in none.
 */
import { readChunks, stageStream } from "../host/files.ts";
import { nameExists } from "../host/folder.ts";
import { ledgerPath, statePath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { entryOf, textField } from "./events.ts";
import type { LedgerEntry } from "./events.ts";
import { chunkSize, eachLine } from "./ledger.ts";

/** Which episodes a line is about: the one that stamps it, and the one it was derived for. */
export function episodesOf(entry: LedgerEntry): string[] {
  return [textField(entry, "session"), textField(entry, "episode")].filter((id) => id !== "");
}

export interface Rotation {
  readonly archived: number;
  readonly kept: number;
  /** The archive's path below the root. */
  readonly archive: string;
}

/**
 * Rotates under the ledger's lock, which the caller holds. Keeps the newest `retention` lines, and every line of the
 * episodes in `bound` or that one of those newest lines names. `null`, and nothing is touched, where nothing is to be archived.
 * @param lastLine gives the new ledger's last line
 */
export function rotateHeld(
  layout: Layout,
  now: string,
  retention: number,
  bound: ReadonlySet<string>,
  lastLine: (rotation: Rotation) => string,
): Rotation | null {
  const path = `${layout.root}/${ledgerPath}`;
  let lines = 0;
  eachLine(path, () => {
    lines += 1;
  });
  const old = lines - retention;
  if (old <= 0) return null;
  const kept = new Set(bound);
  let number = 0;
  eachLine(path, (line) => {
    number += 1;
    const entry = number > old ? entryOf(line) : null;
    if (entry !== null) for (const episode of episodesOf(entry)) kept.add(episode);
  });
  // Bytes are copied as they stand, a damaged line of any length too: so the lines are told apart by where they begin.
  const runs: Run[] = [];
  let archived = 0;
  number = 0;
  eachLine(path, (line, offset) => {
    number += 1;
    const entry = number > old ? null : entryOf(line);
    const isKept = number > old || (entry !== null && episodesOf(entry).some((episode) => kept.has(episode)));
    if (!isKept) archived += 1;
    if (runs[runs.length - 1]?.kept !== isKept) runs.push({ kept: isKept, start: offset });
  });
  if (archived === 0) return null;
  const archive = freeArchive(layout, now);
  const archiveFile = stageStream(`${layout.root}/${archive}`, (write) => copyRuns(path, runs, false, write));
  const rotation: Rotation = { archived, kept: lines - archived, archive };
  try {
    const ledger = stageStream(path, (write) => {
      copyRuns(path, runs, true, write);
      write(Buffer.from(lastLine(rotation), "utf8"));
    });
    try {
      archiveFile.commit();
      ledger.commit();
    } finally {
      ledger.discard();
    }
  } finally {
    archiveFile.discard();
  }
  return rotation;
}

/** Lines one after another that go the same way. */
interface Run {
  readonly kept: boolean;
  readonly start: number;
}

/** Copies the bytes of the runs that go one way, in one pass; a torn last line is ended. */
function copyRuns(path: string, runs: readonly Run[], kept: boolean, write: (piece: Uint8Array) => void): void {
  let offset = 0;
  let index = 0;
  let ended = true;
  readChunks(path, chunkSize, (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      const next = runs[index + 1]?.start ?? Number.POSITIVE_INFINITY;
      const end = Math.min(next - offset, chunk.length);
      if (runs[index]?.kept === kept) {
        write(chunk.subarray(at, end));
        ended = chunk[end - 1] === 0x0a;
      }
      if (offset + end === next) index += 1;
      at = end;
    }
    offset += chunk.length;
  });
  if (!ended) write(Buffer.from("\n", "latin1"));
}

function freeArchive(layout: Layout, now: string): string {
  const name = `${statePath}/ledger.${now.replace(/[-:]/g, "")}.jsonl.archived`;
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!nameExists(`${layout.root}/${free}`)) return free;
  }
}
