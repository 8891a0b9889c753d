/**
 * Reading and writing files: whole replacement, durable append. Synchronous; the only writer of files beside the lock.
 *
 * A replacement is a temporary file in the same folder, flushed, then renamed, the folder flushed after it: a reader
 * sees the old file or the new one, without any lock. Two writers of one file are not kept apart here (the last
 * rename stays): the locks do that. An append is meant to run under the ledger's lock.
 *
 * Not covered: a folder on the way that somebody turns into a symbolic link meanwhile; a disk that
 * says it has written and has not.
 */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { randomHex } from "../ground/clock.ts";
import { refuse, Refusal } from "../ground/errors.ts";

/** Every call that touches a file goes through here, so that a test can make the n-th one fail. */
export const fileOperations = {
  chmodSync: fs.chmodSync,
  closeSync: fs.closeSync,
  fchmodSync: fs.fchmodSync,
  fstatSync: fs.fstatSync,
  fsyncSync: fs.fsyncSync,
  ftruncateSync: fs.ftruncateSync,
  mkdirSync: fs.mkdirSync,
  openSync: fs.openSync,
  readSync: fs.readSync,
  readdirSync: fs.readdirSync,
  readlinkSync: fs.readlinkSync,
  renameSync: fs.renameSync,
  rmdirSync: fs.rmdirSync,
  statSync: fs.statSync,
  symlinkSync: fs.symlinkSync,
  unlinkSync: fs.unlinkSync,
  writeSync: fs.writeSync,
};

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = fs.constants;

/** What staged files are called before they are renamed: this, then six characters (contract, section 7). */
export const temporaryPrefix = ".tmp.mj";

const words: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EBUSY: "busy",
  EDQUOT: "disk quota exceeded",
  EEXIST: "already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument",
  EIO: "input or output error",
  EISDIR: "is a directory",
  ELOOP: "too many symbolic links",
  EMFILE: "too many open files",
  EMLINK: "too many links",
  ENAMETOOLONG: "name too long",
  ENFILE: "too many open files in the system",
  ENODEV: "no such device",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  ENXIO: "no such device or address",
  EPERM: "permission denied",
  EROFS: "read-only file system",
  ESTALE: "stale file handle",
  ETXTBSY: "file busy",
  EXDEV: "on another file system",
};

/** The system's own name of an error, as `ENOENT`; `undefined` where the system did not raise it. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof Refusal) return undefined;
  const code: unknown = Reflect.get(error, "code");
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** An error of the system in plain words: `no space left on device`; its code where there are none. */
export function errorWords(error: unknown): string {
  const code = errorCode(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  return words[code] ?? code;
}

/**
 * What to throw for an error met while doing `what`: a refusal "could-not-write" for an error of the world.
 * A fault of our own, and a permission the runtime denies (Deno names those by no code), stay as they are.
 */
export function worldError(what: string, error: unknown): unknown {
  return errorCode(error) === undefined ? error : refuse("could-not-write", what, errorWords(error));
}

/** Runs what may fail without harm: the clean-up after an error that is thrown anyway. */
export function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // The first error is the one to tell.
  }
}

let scratch: Buffer | undefined;
const scratchSize = 65_536;

/**
 * The whole file; `null` where there is none (nor its folder). With `regular`, anything but a regular file, links followed,
 * is refused and never waited for (a named pipe). Refused, "could-not-write": what cannot be read.
 */
export function readBytes(path: string, { regular = false }: { readonly regular?: boolean } = {}): Buffer | null {
  const chunks: Buffer[] = [];
  scratch ??= Buffer.allocUnsafe(scratchSize);
  const found = readThrough(path, scratch, 0, regular, (chunk) => {
    chunks.push(Buffer.from(chunk));
  });
  if (!found) return null;
  return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
}

/**
 * Gives a regular file to `take` in pieces of at most `size` bytes, from byte `start` on. A piece is valid during its call
 * only: one buffer serves all. `take` ends the reading with `false`. Returns whether the file is there; refuses as `readBytes`.
 */
export function readChunks(path: string, size: number, take: (chunk: Buffer) => boolean | void, start = 0): boolean {
  return readThrough(path, Buffer.allocUnsafe(size), start, true, take);
}

function readThrough(
  path: string,
  buffer: Buffer,
  start: number,
  regular: boolean,
  take: (chunk: Buffer) => boolean | void,
): boolean {
  const what = `cannot read '${path}'`;
  let file: number;
  try {
    file = fileOperations.openSync(path, regular ? O_RDONLY | O_NONBLOCK : O_RDONLY);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw worldError(what, error);
  }
  try {
    if (regular && !isRegular(what, file)) throw refuse("could-not-write", what, "not a regular file");
    // Without a start the position stays the system's, so that a pipe can be read too.
    let position = regular ? start : null;
    for (;;) {
      const count = read(what, file, buffer, position);
      if (count === 0) return true;
      if (take(buffer.subarray(0, count)) === false) return true;
      if (position !== null) position += count;
    }
  } finally {
    attempt(() => fileOperations.closeSync(file));
  }
}

function isRegular(what: string, file: number): boolean {
  try {
    return fileOperations.fstatSync(file).isFile();
  } catch (error) {
    throw worldError(what, error);
  }
}

function read(what: string, file: number, buffer: Buffer, position: number | null): number {
  try {
    return fileOperations.readSync(file, buffer, 0, buffer.length, position);
  } catch (error) {
    throw worldError(what, error);
  }
}

/** A file written beside its target and flushed, not yet renamed onto it. */
export interface StagedFile {
  readonly temporary: string;
  readonly target: string;
  /**
   * Renames it onto the target and flushes the folder, unless told that the caller does (`flushFolder`). Where that fails it
   * is still staged, or is the target: the caller discards it, or leaves it to whoever holds the lock next.
   */
  commit(flush?: boolean): void;
  /** Takes it away; nothing after a commit. Never throws. */
  discard(): void;
}

/** Stages a file with exactly this mode. Refused, "could-not-write": `cannot write '<target>': <why>`; then nothing stays. */
export function stageFile(target: string, bytes: Uint8Array, mode = 0o644): StagedFile {
  return stage(target, mode, (write) => {
    write(bytes);
  });
}

/**
 * The same for a file too long to hold: `produce` writes it piece by piece, as small as it likes; a piece may be a buffer
 * that it uses again. What it throws goes on, and nothing stays.
 */
export function stageStream(target: string, produce: (write: Write) => void, mode = 0o644): StagedFile {
  return stage(target, mode, (write) => {
    const pending = Buffer.allocUnsafe(scratchSize);
    let filled = 0;
    const flush = () => {
      write(pending.subarray(0, filled));
      filled = 0;
    };
    produce((piece) => {
      if (filled + piece.length > pending.length) flush();
      if (piece.length > pending.length) return write(piece);
      pending.set(piece, filled);
      filled += piece.length;
    });
    flush();
  });
}

export type Write = (piece: Uint8Array) => void;

function stage(target: string, mode: number, produce: (write: Write) => void): StagedFile {
  const what = `cannot write '${target}'`;
  const folder = dirname(target);
  const [temporary, file] = openTemporary(what, folder);
  let open = true;
  let there = true;
  const discard = () => {
    if (open) attempt(() => fileOperations.closeSync(file));
    if (there) attempt(() => fileOperations.unlinkSync(temporary));
    open = there = false;
  };
  const orDiscard = (action: () => void) => {
    try {
      action();
    } catch (error) {
      discard();
      throw worldError(what, error);
    }
  };
  orDiscard(() => {
    fileOperations.fchmodSync(file, mode);
    produce((piece) => writeAll(what, file, piece));
    fileOperations.fsyncSync(file);
    open = false;
    fileOperations.closeSync(file);
  });
  const commit = (flush = true) => {
    try {
      fileOperations.renameSync(temporary, target);
    } catch (error) {
      throw worldError(what, error);
    }
    there = false;
    if (flush) flushFolder(folder, what);
  };
  return { temporary, target, commit, discard };
}

/** Replaces a file, or makes it, whole: who reads sees the old bytes or the new. A symbolic link is replaced, not followed. */
export function replaceFile(path: string, bytes: Uint8Array, { mode = 0o644 }: { readonly mode?: number } = {}): void {
  const staged = stageFile(path, bytes, mode);
  try {
    staged.commit();
  } finally {
    staged.discard();
  }
}

function openTemporary(what: string, folder: string): [string, number] {
  for (;;) {
    const temporary = join(folder, `${temporaryPrefix}${randomHex(6)}`);
    try {
      return [temporary, fileOperations.openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)];
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw worldError(what, error);
    }
  }
}

function writeAll(what: string, file: number, bytes: Uint8Array): void {
  let done = 0;
  while (done < bytes.length) {
    const count = fileOperations.writeSync(file, bytes, done, bytes.length - done);
    if (count === 0) throw refuse("could-not-write", what, "nothing more could be written");
    done += count;
  }
}

const lineFeed = 0x0a;

/**
 * Appends whole lines, in one write, to a file that is made where it is missing; on disk when it returns. A torn last line is ended
 * first. Call it under the file's lock. Returns the byte where the first of these lines begins.
 * Refused: a symbolic link ("refused"); anything else, "could-not-write", and the file is then cut back to what it was
 * (unless a writer that knows no lock added to it in this moment).
 */
export function appendDurably(path: string, lines: Uint8Array): number {
  return appended(path, lines).start;
}

/** As `appendDurably`; gives what takes the lines away again while the lock is held, unless somebody added to them. Never throws. */
export function appendRevocably(path: string, lines: Uint8Array): () => void {
  const { before, after, made } = appended(path, lines);
  return () => {
    attempt(() => {
      const file = fileOperations.openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
      try {
        if (fileOperations.fstatSync(file).size !== after) return;
        if (made && before === 0) fileOperations.unlinkSync(path);
        else cutBack(file, before);
      } finally {
        attempt(() => fileOperations.closeSync(file));
      }
    });
  };
}

/** What an append did: the sizes before and after it, where its first line begins, and whether it made the file. */
interface Appended {
  readonly before: number;
  readonly after: number;
  readonly start: number;
  readonly made: boolean;
}

function appended(path: string, lines: Uint8Array): Appended {
  const what = `cannot write '${path}'`;
  if (lines.at(-1) !== lineFeed) throw new Error(`${what}: the last line does not end`);
  const [file, made] = openForAppend(what, path);
  let before = 0;
  let written = 0;
  try {
    const status = fileOperations.fstatSync(file);
    if (!status.isFile()) throw refuse("could-not-write", what, "not a regular file");
    before = status.size;
    const torn = before > 0 && !endsInLineFeed(file, before);
    const bytes = torn ? Buffer.concat([Buffer.of(lineFeed), lines]) : lines;
    written = fileOperations.writeSync(file, bytes, 0, bytes.length);
    if (written < bytes.length) {
      throw refuse("could-not-write", what, `only ${written} of ${bytes.length} bytes could be written`);
    }
    fileOperations.fsyncSync(file);
    // Also after a writer that made the file and was killed before it could flush the folder.
    if (before === 0) flushFolder(dirname(path), what);
    return { before, after: before + written, start: before + (torn ? 1 : 0), made };
  } catch (error) {
    attempt(() => {
      if (fileOperations.fstatSync(file).size !== before + written) return;
      if (made && before === 0) fileOperations.unlinkSync(path);
      else if (written > 0) cutBack(file, before);
    });
    throw worldError(what, error);
  } finally {
    attempt(() => fileOperations.closeSync(file));
  }
}

/** The open file, and whether there was none. */
function openForAppend(what: string, path: string, create = 0): [number, boolean] {
  try {
    return [fileOperations.openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | create, 0o644), create !== 0];
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" && create === 0) return openForAppend(what, path, O_CREAT);
    // EMLINK is what FreeBSD says of a link that is not to be followed.
    if (code === "ELOOP" || code === "EMLINK") throw refuse("refused", what, "it is a symbolic link");
    throw worldError(what, error);
  }
}

function endsInLineFeed(file: number, size: number): boolean {
  const last = Buffer.alloc(1);
  return fileOperations.readSync(file, last, 0, 1, size - 1) === 1 && last[0] === lineFeed;
}

function cutBack(file: number, size: number): void {
  fileOperations.ftruncateSync(file, size);
  fileOperations.fsyncSync(file);
}

/** Puts a folder's entries on disk: what was made, renamed or removed in it. */
export function flushFolder(folder: string, what = `cannot write '${folder}'`): void {
  try {
    const file = fileOperations.openSync(folder, O_RDONLY);
    try {
      fileOperations.fsyncSync(file);
    } finally {
      attempt(() => fileOperations.closeSync(file));
    }
  } catch (error) {
    // Some file systems (over a network, in user space) flush no folder at all: nothing more can be done there.
    if (errorCode(error) !== "EINVAL") throw worldError(what, error);
  }
}

/**
 * Makes a folder and those above it. Returns whether it was made here. `mode` is exact and is the last folder's; without
 * one the user's mask holds. Refused, "could-not-write".
 */
export function makeDirectory(path: string, mode?: number): boolean {
  try {
    fileOperations.mkdirSync(path);
    if (mode !== undefined) fileOperations.chmodSync(path, mode);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST" && isDirectory(path)) return false;
    const what = `cannot make '${path}'`;
    if (code === "EEXIST") throw refuse("could-not-write", what, "it is there and no directory");
    const above = dirname(path);
    if (code !== "ENOENT" || above === path) throw worldError(what, error);
    makeDirectory(above);
    return makeDirectory(path, mode);
  }
  flushFolder(dirname(path));
  return true;
}

function isDirectory(path: string): boolean {
  try {
    return fileOperations.statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Gives a file another name in its own folder, on disk when it returns; what had that name is gone. Refused, "could-not-write". */
export function moveFile(from: string, to: string): void {
  const what = `cannot rename '${from}'`;
  try {
    fileOperations.renameSync(from, to);
  } catch (error) {
    throw worldError(what, error);
  }
  flushFolder(dirname(to), what);
}

/** Removes a file or a link; returns whether there was one. Refused, "could-not-write". */
export function removeFile(path: string): boolean {
  try {
    fileOperations.unlinkSync(path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return false;
    throw worldError(`cannot remove '${path}'`, error);
  }
}

/** Removes a folder in which nothing is; returns whether it did. */
export function removeEmptyFolder(path: string): boolean {
  try {
    fileOperations.rmdirSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Removes what killed writers left staged in a folder. For the holder of the lock over it: it tells nobody's file from another's. */
export function removeTemporaries(folder: string): void {
  for (const entry of entriesOf(folder)) {
    if (entry.name.startsWith(temporaryPrefix) && !entry.isDirectory()) removeFile(join(folder, entry.name));
  }
}

/** Whether a folder has what a writer staged. */
export function hasTemporaries(folder: string): boolean {
  return entriesOf(folder).some((entry) => entry.name.startsWith(temporaryPrefix));
}

function entriesOf(folder: string): fs.Dirent[] {
  try {
    return fileOperations.readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw worldError(`cannot read '${folder}'`, error);
  }
}
