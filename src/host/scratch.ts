/** Directories of our own outside any repository, which go when we do. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { attempt, worldError } from "./files.ts";
import { realPath } from "./folder.ts";
import { endPrograms } from "./program.ts";

const scratches = new Set<string>();
const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
let isWatching = false;

/** Makes an empty directory, its path without links. One that nobody kept is removed when this process ends or is interrupted. */
export function makeScratch(prefix: string): string {
  watch();
  try {
    const made = mkdtempSync(join(tmpdir(), prefix));
    const path = realPath(made) ?? made;
    scratches.add(path);
    return path;
  } catch (error) {
    throw worldError(`cannot make a directory in '${tmpdir()}'`, error);
  }
}

/** Leaves a scratch directory for somebody to look at. */
export function keepScratch(path: string): void {
  scratches.delete(path);
}

/** Removes a scratch directory with all it holds; links are removed and never followed. */
export function removeScratch(path: string): void {
  // What ran there may still write for a moment; what cannot be removed is the temporary directory's.
  attempt(() => rmSync(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 }));
  scratches.delete(path);
}

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  process.on("exit", () => {
    endPrograms();
    for (const path of scratches) removeScratch(path);
  });
  for (const name of Object.keys(signals) as (keyof typeof signals)[]) process.on(name, () => process.exit(128 + signals[name]));
}
