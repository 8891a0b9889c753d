/**
 * Whole folders: listed, staged beside their place, and put into it by renaming.
 *
 * A folder is replaced in two renames, for no system call that a runtime offers exchanges two: the old one goes aside, the
 * new one comes. A kill between them leaves the place empty and both folders whole beside it; `clearStages` puts the old
 * one back. Until then the place is missing, never half full. Two writers of one place at once both end with a whole
 * folder there, one of the two.
 */
import { basename, dirname } from "node:path";
import { isWellFormed, sortedBytes, textOfBytes } from "../ground/bytes.ts";
import { randomHex } from "../ground/clock.ts";
import { attempt, errorCode, fileOperations, flushFolder, makeDirectory, stageFile, temporaryPrefix, worldError } from "./files.ts";
import { fileMode, listFolder, nameExists } from "./folder.ts";
import type { EntryKind } from "./folder.ts";
import { hasEnded, here, look, ownerName, ownerOf } from "./owner.ts";

/** What lies below a folder and is no directory. */
export interface TreeEntry {
  /** Its path from the folder. A name that is no UTF-8 is shown with U+FFFD, its kind is `other`, and it is not entered. */
  readonly path: string;
  readonly kind: Exclude<EntryKind, "directory">;
}

/** Everything below a folder, links not followed, in byte order; an empty directory is nothing. */
export function treeBelow(folder: string): TreeEntry[] {
  const found: TreeEntry[] = [];
  const walk = (prefix: string) => {
    for (const entry of listFolder(`${folder}/${prefix}`)) {
      const path = prefix + textOfBytes(entry.name);
      if (!isWellFormed(entry.name)) found.push({ path, kind: "other" });
      else if (entry.kind === "directory") walk(`${path}/`);
      else found.push({ path, kind: entry.kind });
    }
  };
  walk("");
  return sortedBytes(found, (entry) => entry.path);
}

/** Whether its owner may run a file. */
export function isExecutable(path: string): boolean {
  return ((fileMode(path) ?? 0) & 0o100) !== 0;
}

/** A file of a folder to be written, with its exact mode. */
export interface TreeFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode: number;
}

/** A folder written beside its place and flushed, not yet in it. */
export interface StagedFolder {
  /** Puts it into its place. What stands there goes aside first and is given to `recheck`; when that throws it goes back. */
  commit(recheck: (aside: string) => void): void;
  /** Takes it away; for one that is not committed. Never throws. */
  discard(): void;
}

const fresh = "new";
const aside = "old";

/** Stages a folder for `target`, an absolute path whose folder is made where it is missing. Refused, "could-not-write"; then nothing stays. */
export function stageFolder(target: string, files: readonly TreeFile[]): StagedFolder {
  const what = `cannot write '${target}'`;
  const parent = dirname(target);
  makeDirectory(parent);
  const stage = makeStage(what, parent);
  const discard = () => attempt(() => removeTree(stage));
  try {
    const folders = new Set([`${stage}/${fresh}`]);
    makeExact(`${stage}/${fresh}`);
    for (const file of files) {
      const path = `${stage}/${fresh}/${file.path}`;
      for (const folder of foldersTo(`${stage}/${fresh}`, file.path)) {
        if (!folders.has(folder)) makeExact(folder);
        folders.add(folder);
      }
      stageFile(path, file.bytes, file.mode).commit(false);
    }
    for (const folder of folders) flushFolder(folder, what);
    makeExact(`${stage}/${aside}`);
    flushFolder(stage, what);
  } catch (error) {
    discard();
    throw worldError(what, error);
  }
  const commit = (recheck: (folder: string) => void) => {
    const old = `${stage}/${aside}/${basename(target)}`;
    // Where even the way back fails, the old folder is all that is left of it: it stays for the next run.
    let isLost = false;
    try {
      if (nameExists(target)) {
        fileOperations.renameSync(target, old);
        isLost = true;
      }
      let isOurs = false;
      try {
        if (isLost) recheck(old);
        isOurs = true;
        fileOperations.renameSync(`${stage}/${fresh}`, target);
      } catch (error) {
        // Another writer may have put its own there: then ours goes, and what was somebody's, which the recheck found, stays.
        if (isLost && !(isOurs && nameExists(target))) fileOperations.renameSync(old, target);
        isLost = false;
        throw error;
      }
      isLost = false;
      flushFolder(parent, what);
    } catch (error) {
      throw worldError(what, error);
    } finally {
      if (!isLost) discard();
    }
  };
  return { commit, discard };
}

/** A stage is named by its owner, so that a later run can judge it. */
function makeStage(what: string, parent: string): string {
  for (;;) {
    const stage = `${parent}/${temporaryPrefix}${ownerName({ pid: process.pid, ...here(), nonce: randomHex(8) })}`;
    try {
      fileOperations.mkdirSync(stage, 0o700);
      return stage;
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw worldError(what, error);
    }
  }
}

function makeExact(folder: string): void {
  fileOperations.mkdirSync(folder);
  fileOperations.chmodSync(folder, 0o755);
}

/** The folders on the way to a file below a folder, outermost first. */
function foldersTo(folder: string, path: string): string[] {
  const segments = path.split("/").slice(0, -1);
  return segments.map((_, index) => `${folder}/${segments.slice(0, index + 1).join("/")}`);
}

/**
 * Clears the stages that ended processes left in a folder: an old folder whose place is empty goes back into it, the rest is
 * removed. A stage whose owner lives, or cannot be judged from here, stays.
 */
export function clearStages(parent: string): void {
  for (const entry of listFolder(parent)) {
    if (entry.kind !== "directory" || !entry.name.startsWith(temporaryPrefix)) continue;
    const owner = ownerOf(entry.name.slice(temporaryPrefix.length));
    if (owner === null || !hasEnded(owner, here(), look)) continue;
    const stage = `${parent}/${entry.name}`;
    const what = `cannot clear '${stage}'`;
    try {
      for (const old of listFolder(`${stage}/${aside}`)) {
        const name = textOfBytes(old.name);
        if (!nameExists(`${parent}/${name}`)) fileOperations.renameSync(`${stage}/${aside}/${name}`, `${parent}/${name}`);
      }
      removeTree(stage);
      flushFolder(parent, what);
    } catch (error) {
      throw worldError(what, error);
    }
  }
}

/** Removes a folder and what is below it; links are removed, not followed. */
function removeTree(folder: string): void {
  for (const entry of fileOperations.readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) removeTree(path);
    else fileOperations.unlinkSync(path);
  }
  fileOperations.rmdirSync(folder);
}
