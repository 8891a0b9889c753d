/**
 * Moving old lines of the ledger to an archive (contract, section 5). The archive is whole on disk before the ledger is
 * replaced, under the ledger's lock: killed in between, a line is in both and never in none.
 */
import { Buffer } from "node:buffer";
import { stageStream } from "../host/files.ts";
import { nameExists } from "../host/folder.ts";
import { ledgerPath, statePath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { entryOf, textField } from "./events.ts";
import type { LedgerEntry } from "./events.ts";
import { eachLine } from "./ledger.ts";

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
  const isKept = (line: Buffer, at: number) => {
    if (at > old) return true;
    const entry = entryOf(line);
    return entry !== null && episodesOf(entry).some((episode) => kept.has(episode));
  };
  const each = (wanted: boolean, take: (line: Buffer) => void) => {
    let at = 0;
    let count = 0;
    eachLine(path, (line) => {
      at += 1;
      if (isKept(line, at) !== wanted) return;
      count += 1;
      take(line);
    });
    return count;
  };
  const archive = freeArchive(layout, now);
  let archived = 0;
  const archiveFile = stageStream(`${layout.root}/${archive}`, (write) => {
    archived = each(false, (line) => {
      write(line);
      write(lineFeed);
    });
  });
  if (archived === 0) {
    archiveFile.discard();
    return null;
  }
  const rotation: Rotation = { archived, kept: lines - archived, archive };
  try {
    const ledger = stageStream(path, (write) => {
      each(true, (line) => {
        write(line);
        write(lineFeed);
      });
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

const lineFeed = Buffer.from("\n", "latin1");

function freeArchive(layout: Layout, now: string): string {
  const name = `${statePath}/ledger.${now.replace(/[-:]/g, "")}.jsonl.archived`;
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!nameExists(`${layout.root}/${free}`)) return free;
  }
}
