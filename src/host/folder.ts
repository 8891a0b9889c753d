/** Reading what is on disk: folders as lists of byte names, files as bytes. Nothing here writes. */
import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import type { ByteString } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import { errorCode, worldError } from "./files.ts";

export type EntryKind = "file" | "link" | "directory" | "other";

export interface FolderEntry {
  /** The name's bytes. */
  readonly name: ByteString;
  readonly kind: EntryKind;
}

/**
 * The entries of a folder in no order; none where the folder is not there. One that cannot be listed, or what is in it not
 * looked at: refused (13).
 */
export function listFolder(path: string): FolderEntry[] {
  try {
    // Not accessSync, for which Deno asks a permission more than reading.
    statSync(`${path}/.`);
    return readdirSync(path, { encoding: "latin1", withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "directory" : "other",
    }));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw worldError(`cannot read '${path}'`, error);
  }
}

/** A path below a folder as the system takes it: names that are not ASCII go as their bytes. */
export function pathInFolder(folder: string, name: ByteString): string | Buffer {
  const path = `${folder}/${name}`;
  return /[^\x00-\x7f]/.test(name) ? Buffer.concat([Buffer.from(`${folder}/`, "utf8"), Buffer.from(name, "latin1")]) : path;
}

let shared = Buffer.allocUnsafeSlow(1 << 16);

/**
 * The bytes of a regular file, in a buffer that the next call overwrites; `null` where it cannot be read. One buffer for all,
 * because a queue of 10,000 records would else allocate as many.
 */
export function readShared(path: string | Buffer): Uint8Array | null {
  let descriptor: number;
  try {
    descriptor = openSync(path, "r");
  } catch {
    return null;
  }
  try {
    let length = 0;
    for (;;) {
      const read = readSync(descriptor, shared, length, shared.length - length, null);
      length += read;
      // A regular file gives fewer bytes than were asked for at its end alone.
      if (length < shared.length) return shared.subarray(0, length);
      const larger = Buffer.allocUnsafeSlow(shared.length * 2);
      shared.copy(larger);
      shared = larger;
    }
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

/** The bytes of a file; `null` where there is none or it cannot be read. */
export function readFileBytes(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}

export function pathExists(path: string): boolean {
  return existsSync(path);
}

/** A regular file itself, not a link to one. */
export function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The permissions of a file; `null` where there is none. */
export function fileMode(path: string): number | null {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  return mode === undefined ? null : mode & 0o777;
}

/** A file's number in its file system, its size in bytes and its mode, links followed; `null` where there is none. */
export function fileStatus(path: string): { readonly file: number; readonly size: number; readonly mode: number } | null {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? null : { file: status.ino, size: status.size, mode: status.mode & 0o777 };
}

/** A directory, or a link to one. */
export function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Whether anything has this name, a link that leads nowhere included. */
export function nameExists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The path without links; `null` where it leads nowhere. */
export function realPath(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/** What a symbolic link says; `null` where there is none. */
export function linkTarget(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

/**
 * The bytes of a file that a call names, at `path`. None is missing (12); one that cannot be read is refused (13). Both
 * name it as the call does.
 */
export function readNamed(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    const what = `cannot read '${name}'`;
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw refuse("missing", what, "no such file");
    throw worldError(what, error);
  }
}
