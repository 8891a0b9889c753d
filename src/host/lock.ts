/**
 * Locks between processes (contract, section 3). A lock is a directory that is held while it has an entry, whose name is its
 * owner. It is taken by renaming a directory of one's own, entry inside, onto it: the system refuses that where the
 * lock has an entry, and replaces it where it is empty, in one step. It is given back, or taken from an owner that has
 * ended, by removing that one entry by name, never the directory: a name is used once, so that a slow process can
 * remove no one else's lock.
 *
 * A lock is not taken twice by one process: the second call waits for the first, until its time is over.
 * An owner is judged as `owner.ts` says; what it does not cover, this does not either. Nor does it cover an owner that
 * is stopped and goes on (it is alive, and is waited for), a person who removes entries by hand, and a process whose
 * children go on writing after it was killed.
 */
import { basename, dirname, join } from "node:path";
import { chance, milliseconds, randomHex, sleep } from "../ground/clock.ts";
import { refuse } from "../ground/errors.ts";
import { attempt, errorCode, fileOperations, worldError } from "./files.ts";
import { canJudge, hasEnded, here, look, lookAtOnce, ownerName, ownerOf } from "./owner.ts";

/** How long an act waits for a lock, and how long a provider event does, in milliseconds. */
export const lockWait = 10_000;
export const lockWaitInEvent = 400;

/** How long is paused between two tries, for each who waits and at most, in milliseconds. */
const pauseForEach = 8;
const longestPause = 128;

export interface Lock {
  readonly path: string;
  /** Gives the lock back; once is enough. Never throws: a lock that stays is cleared when this process has ended. */
  release(): void;
}

/** Runs something under a lock and gives it back whatever happens. `run` is done when it returns: it is no promise. Refuses as `takeLock`. */
export function withLock<Result>(path: string, waitMilliseconds: number, run: () => Result): Result {
  const lock = takeLock(path, waitMilliseconds);
  try {
    const result = run();
    if (result instanceof Promise) throw new Error(`'${path}' would be given back before the work under it is done`);
    return result;
  } finally {
    lock.release();
  }
}

/**
 * Takes a lock, waiting at most so long. Refused: held until then ("locked", naming owner and path); the lock's folder
 * is missing or cannot be written, or something else is in the lock's place ("could-not-write"). Then nothing of it stays.
 */
export function takeLock(path: string, waitMilliseconds: number = lockWait): Lock {
  const name = ownerName({ ...here(), pid: process.pid, nonce: randomHex(8) });
  const own = `${path}.${name}`;
  let most = pauseForEach;
  attempt(() => {
    most = Math.min(pauseForEach * (1 + removeLeftOvers(path)), longestPause);
  });
  try {
    makeOwn(own, name);
    let before: readonly string[] = [];
    let started: number | undefined;
    while (!moveOnto(own, path)) {
      const owners = ownersOf(path);
      started ??= milliseconds();
      const left = waitMilliseconds - (milliseconds() - started);
      // Where many wait, who came late tries seldom, and who has waited for half of its time as often as where one does:
      // else somebody waits in vain, and all spend their time on trying.
      const pause = Math.max(pauseForEach, most * ((2 * left) / waitMilliseconds - 1));
      // An owner is judged once it was met twice, or at last: where many take turns, asking after each (a shell, in
      // places) would cost more than waiting for it.
      const lasting = left > 0 ? owners.filter((owner) => before.includes(owner)) : owners;
      if (clearEnded(path, lasting)) continue;
      if (left <= 0) throw held(path, owners, waitMilliseconds);
      before = owners;
      sleep(Math.min(left, 1 + chance(pause)));
    }
  } catch (error) {
    removeOwn(own, name);
    throw worldError(`cannot lock '${path}'`, error);
  }
  return { path, release: () => giveBack(join(path, name)) };
}

/** Tried twice: a lock that stays is cleared once this process has ended, and until then it would wait for itself. */
function giveBack(entry: string): void {
  try {
    fileOperations.unlinkSync(entry);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") attempt(() => fileOperations.unlinkSync(entry));
  }
}

/** Whether a lock stands taken by an owner that has ended: whoever held it last was killed under it. */
export function isAbandoned(path: string): boolean {
  try {
    return ownersOf(path).some((owner) => isEnded(owner));
  } catch {
    return false;
  }
}

function makeOwn(own: string, name: string): void {
  fileOperations.mkdirSync(own);
  fileOperations.closeSync(fileOperations.openSync(join(own, name), "wx"));
}

function removeOwn(own: string, name: string): void {
  attempt(() => fileOperations.unlinkSync(join(own, name)));
  attempt(() => fileOperations.rmdirSync(own));
}

/** Whether the lock was free. */
function moveOnto(own: string, path: string): boolean {
  try {
    fileOperations.renameSync(own, path);
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
}

function ownersOf(path: string): string[] {
  try {
    return fileOperations.readdirSync(path);
  } catch (error) {
    const code = errorCode(error);
    // Just given back and removed by hand, or another user's: in either case there is nobody to judge.
    if (code === "ENOENT" || code === "EACCES" || code === "EPERM") return [];
    throw error;
  }
}

/** Whether an owner that has ended was found. Its entry is then gone, by our hand or by another's. */
function clearEnded(path: string, owners: readonly string[]): boolean {
  let found = false;
  for (const name of owners.filter((owner) => isEnded(owner))) {
    found = true;
    try {
      fileOperations.unlinkSync(join(path, name));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
  return found;
}

function isEnded(name: string, by = look): boolean {
  const owner = ownerOf(name);
  return owner !== null && hasEnded(owner, here(), by);
}

function held(path: string, owners: readonly string[], waitMilliseconds: number): Error {
  const name = owners[0];
  const waited = `waited ${waitMilliseconds / 1000} s`;
  if (name === undefined) return refuse("locked", `cannot lock '${path}'`, `it is held; ${waited}`);
  const owner = ownerOf(name);
  const who = owner === null ? `'${name}'` : `process ${owner.pid} on host ${owner.host}`;
  const mend = owner !== null && canJudge(owner, here()) ? "" : `; once nobody there uses it, remove '${join(path, name)}'`;
  return refuse("locked", `cannot lock '${path}'`, `${who} holds it; ${waited}${mend}`);
}

/**
 * Removes the directories of owners that were killed before they could rename them, and counts those that stay: who waits
 * has one too. No shell is asked.
 */
function removeLeftOvers(path: string): number {
  let waiting = 0;
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const entry of fileOperations.readdirSync(folder)) {
    if (!entry.startsWith(prefix)) continue;
    const name = entry.slice(prefix.length);
    if (isEnded(name, lookAtOnce)) removeOwn(join(folder, entry), name);
    else waiting += 1;
  }
  return waiting;
}
