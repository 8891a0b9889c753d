/** Symbolic links of the local state: made whole, never followed. */
import { dirname, join } from "node:path";
import { randomHex } from "../ground/clock.ts";
import { attempt, fileOperations, flushFolder, temporaryPrefix, worldError } from "./files.ts";

/** Makes `path` a link to `target`, in the place of whatever link or file stood there. Refused, "could-not-write". */
export function pointAt(path: string, target: string): void {
  const folder = dirname(path);
  const temporary = join(folder, `${temporaryPrefix}${randomHex(6)}`);
  try {
    fileOperations.symlinkSync(target, temporary);
    fileOperations.renameSync(temporary, path);
  } catch (error) {
    attempt(() => fileOperations.unlinkSync(temporary));
    throw worldError(`cannot write '${path}'`, error);
  }
  // Where a crash takes the pointer back, the next start makes it again: no reason to fail an act that is done.
  attempt(() => flushFolder(folder));
}
