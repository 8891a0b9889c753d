/** Running the shell reader under a shell and an awk, to compare it with this one. */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { refuse } from "../ground/errors.ts";

/** The shells that the reader is proved under, by the words that start them. `ksh` and `sh` are others on each system. */
export const knownShells: readonly string[] = ["dash", "bash", "bash --posix", "busybox sh", "mksh", "ksh93", "yash", "zsh --emulate sh"];

/** The awks, likewise. `awk` is another on each system: installing gawk changes it. */
export const knownAwks: readonly string[] = ["mawk", "gawk", "gawk --posix", "busybox awk", "original-awk"];

/** What a program gave. */
export interface ReaderEnd {
  readonly status: number;
  readonly output: Buffer;
  readonly error: Buffer;
}

/** Whether the program that words begin with is there. */
export function isInstalled(words: string): boolean {
  const [name = ""] = words.split(" ");
  if (name.includes("/")) return isProgram(name);
  return name !== "" && (process.env["PATH"] ?? "").split(delimiter).some((folder) => isProgram(join(folder, name)));
}

function isProgram(path: string): boolean {
  try {
    // Not accessSync, for which Deno asks a permission more than reading.
    const status = statSync(path);
    return status.isFile() && (status.mode & 0o111) !== 0;
  } catch {
    return false;
  }
}

/**
 * Runs a script with a shell, both outputs kept whole. A shell that cannot be run: 13.
 * @param shell its words, split at spaces
 * @param awk the words of the awk that the script is to use
 */
export function runReader(shell: string, awk: string, script: string, args: readonly string[], directory: string): ReaderEnd {
  const [name = "", ...options] = shell.split(" ");
  const ended = spawnSync(name, [...options, script, ...args], {
    cwd: directory,
    env: { ...process.env, MAJORDOMUS_AWK: awk },
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: Number.MAX_SAFE_INTEGER,
  });
  // A runtime that refuses to run a program answers without a status and without an error.
  if (ended.error !== undefined || (typeof ended.status !== "number" && typeof ended.signal !== "string")) {
    throw refuse("could-not-write", `cannot run '${shell}'`, ended.error?.message ?? "it did not start");
  }
  return { status: ended.status ?? 128, output: ended.stdout, error: ended.stderr };
}
