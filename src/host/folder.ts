/** Reading what is on disk: folders as lists of byte names, files as bytes. Nothing here writes. */
import { isUtf8 } from "node:buffer";
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
import { createRequire } from "node:module";
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
    const entries = readdirSync(path, { encoding: "latin1", withFileTypes: true });
    const isLossy = isDeno && entries.some(({ name }) => name.includes("\xef\xbf\xbd"));
    return (isLossy ? listByFind(path) : null) ?? entries.map((entry) => ({
      name: entry.name,
      kind: entry.isFile() ? "file" : entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "directory" : "other",
    }));
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw worldError(`cannot read '${path}'`, error);
  }
}

/** Deno gives U+FFFD for a byte of a name that is not UTF-8, and opens no such name: then a program is asked. */
const isDeno = "deno" in process.versions;

/** Loaded only where it is needed: a start of Node pays for it. */
function children(): typeof import("node:child_process") {
  return createRequire("/")("node:child_process") as typeof import("node:child_process");
}

/** The same as `find` tells it, with the names' own bytes; `null` where it fails. */
function listByFind(path: string): FolderEntry[] | null {
  const kinds: readonly EntryKind[] = ["file", "link", "directory", "other"];
  const told = kinds.flatMap((kind) => ["-o", ...(kind === "other" ? [] : ["-type", kind.charAt(0)]), "-exec", "printf", `${kind}/%s\\000`, "{}", "+"]);
  const { status, stdout } = children().spawnSync("find", [`${path}/.`, "!", "-name", ".", "-prune", "(", ...told.slice(1), ")"], {
    encoding: "latin1",
    maxBuffer: Number.MAX_SAFE_INTEGER,
  });
  if (status !== 0) return null;
  const entries = stdout.split("\0").slice(0, -1);
  return entries.map((entry) => ({ kind: entry.slice(0, entry.indexOf("/")) as EntryKind, name: entry.slice(entry.lastIndexOf("/") + 1) }));
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
    return isDeno && typeof path !== "string" && !isUtf8(path) ? readByCat(path) : null;
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

/** The bytes of a file as `cat` gives them, which is told the name on standard input; `null` where it fails. */
function readByCat(path: Buffer): Uint8Array | null {
  const script = 'path=$(cat; echo .); exec cat "${path%.}"';
  const { status, stdout } = children().spawnSync("sh", ["-c", script], { input: path, maxBuffer: Number.MAX_SAFE_INTEGER });
  return status === 0 ? stdout : null;
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
