// Calls of majordomus in this process, on a repository in memory, with file operations that fail or a process that dies.
import { spawnSync } from "node:child_process";
import { createRequire, syncBuiltinESMExports } from "node:module";
import {
  accessSync,
  constants,
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { home } from "../../build/bundle.mjs";
import { answer } from "../../src/cli/answer.ts";
import { fileOperations } from "../../src/host/files.ts";
import { randomFrom } from "../support/random.ts";
import { systemError } from "../unit/host/faults.ts";

/** A folder of a file system in memory, where there is one: what is tried here ten thousand times wears no disk. */
export function memoryFolder(): string {
  return mkdtempSync(join(hasMemory() ? "/dev/shm" : tmpdir(), "majordomus-faults-"));
}

function hasMemory(): boolean {
  try {
    accessSync("/dev/shm", constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Everything below a folder but git's own: paths to modes and bytes. Empty directories are nothing. */
export type Tree = ReadonlyMap<string, string>;

export function treeOf(root: string): Tree {
  const found = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (path === ".git") continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isSymbolicLink()) found.set(path, `-> ${readlinkSync(join(root, path))}`);
      else found.set(path, `${(lstatSync(join(root, path)).mode & 0o777).toString(8)} ${readFileSync(join(root, path), "latin1")}`);
    }
  };
  walk("");
  return found;
}

/** Makes a folder hold exactly a tree again. */
export function restore(root: string, tree: Tree): void {
  for (const name of readdirSync(root)) if (name !== ".git") rmSync(join(root, name), { recursive: true, force: true });
  for (const [path, value] of tree) {
    const place = join(root, path);
    mkdirSync(dirname(place), { recursive: true });
    if (value.startsWith("-> ")) {
      symlinkSync(value.slice(3), place);
      continue;
    }
    const [mode = "644"] = value.split(" ", 1);
    writeFileSync(place, Buffer.from(value.slice(mode.length + 1), "latin1"));
    chmodSync(place, Number.parseInt(mode, 8));
  }
}

export interface Called {
  readonly status: number;
  readonly output: string;
  readonly complaints: readonly string[];
}

/** What goes wrong: nothing, one operation, every operation from one on, or the process at one. The first is number 1. */
export interface Fault {
  readonly kind: "none" | "once" | "from" | "kill";
  readonly at: number;
  readonly code: string;
}

export const noFault: Fault = { kind: "none", at: 0, code: "" };

export interface Faulted extends Called {
  /** How many operations there were. */
  readonly count: number;
  /** The operation that failed first. */
  readonly failed: string | undefined;
}

/** What a call reads on its standard input, and the seed of its chance. */
export interface Given {
  readonly root: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly seed: number;
}

type Call = (...values: unknown[]) => unknown;

/** What only looks: a disk that fills up, or is read only, still answers these. */
const looks = new Set(["fstatSync", "readSync", "readdirSync", "readlinkSync", "statSync", "closeSync"]);

/** Runs one call, its file operations counted, one or more of them failing. */
export async function call({ root, args, input, seed }: Given, fault: Fault): Promise<Faulted> {
  const table = fileOperations as unknown as Record<string, Call>;
  const kept = { ...table };
  const opened = new Set<number>();
  const given = Buffer.from(input ?? "", "utf8");
  let taken = 0;
  let count = 0;
  let failed: string | undefined;
  for (const [name, real] of Object.entries(kept)) {
    table[name] = (...values) => {
      if (values[0] === 0 && name === "fstatSync") return lstatSync(process.execPath);
      if (values[0] === 0 && name === "readSync") {
        const piece = given.subarray(taken, taken + 65_536);
        taken += piece.length;
        (values[1] as Buffer).set(piece, values[2] as number);
        return piece.length;
      }
      const opensToRead = name === "openSync" && typeof values[1] === "number" && (values[1] & (constants.O_WRONLY | constants.O_RDWR)) === 0;
      count += 1;
      const isHit =
        fault.kind === "once"
          ? count === fault.at
          : fault.kind === "kill"
            ? count >= fault.at
            : fault.kind === "from" && count >= fault.at && !looks.has(name) && !opensToRead;
      if (isHit) {
        failed ??= name;
        throw systemError(fault.kind === "kill" ? "EKILLED" : fault.code);
      }
      const result = real(...values);
      if (name === "openSync") opened.add(result as number);
      if (name === "closeSync") opened.delete(values[0] as number);
      return result;
    };
  }
  const chance = Math.random;
  const random = randomFrom(seed);
  Math.random = () => random.below(1_000_000_000) / 1_000_000_000;
  try {
    const terminal = { print: () => undefined, tell: () => undefined, progress: () => undefined };
    const ended = await answer({ home, workingDirectory: () => root, terminal }, args);
    return { status: ended.status, output: ended.output.toString("latin1"), complaints: ended.complaints, count, failed };
  } finally {
    Math.random = chance;
    Object.assign(table, kept);
    for (const file of opened) {
      try {
        closeSync(file);
      } catch {
        // Closed already.
      }
    }
    if (fault.kind === "kill" || fault.kind === "from") makeEnded(root);
  }
}

let endedProcess = 0;

/** Makes what this process left in locks another's, which has ended. */
function makeEnded(root: string): void {
  if (endedProcess === 0) endedProcess = spawnSync("true").pid;
  const state = join(root, ".ai/local/state");
  if (!existsSync(state)) return;
  const renamed = (name: string) => name.replace(`${process.pid}_`, `${endedProcess}_`);
  for (const folder of readdirSync(state).filter((name) => /^(?:ledger|knowledge)\.lock/.test(name))) {
    for (const entry of readdirSync(join(state, folder))) {
      if (entry !== renamed(entry)) renameSync(join(state, folder, entry), join(state, folder, renamed(entry)));
    }
    if (folder !== renamed(folder)) renameSync(join(state, folder), join(state, renamed(folder)));
  }
}

/**
 * Runs `action` with git asked each question once: nothing that is tried here changes what git says, and asking it takes
 * ten times as long as all the rest of a call.
 */
export async function rememberingGit<Result>(action: () => Promise<Result>): Promise<Result> {
  const childProcess = createRequire(import.meta.url)("node:child_process") as { spawnSync: typeof spawnSync };
  const real = childProcess.spawnSync as (...values: unknown[]) => unknown;
  const known = new Map<string, unknown>();
  childProcess.spawnSync = ((program: string, args: readonly string[], options: { readonly cwd?: string; readonly input?: unknown }) => {
    if (program !== "git") return real(program, args, options);
    const question = JSON.stringify([args, options.cwd, String(options.input)]);
    if (!known.has(question)) known.set(question, real(program, args, options));
    return known.get(question);
  }) as typeof spawnSync;
  syncBuiltinESMExports();
  try {
    return await action();
  } finally {
    childProcess.spawnSync = real as typeof spawnSync;
    syncBuiltinESMExports();
  }
}

/** What a call that is over leaves nowhere: staged files, held locks, directories beside a lock. */
export function leftOvers(root: string): string[] {
  const found: string[] = [];
  const walk = (folder: string) => {
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (path === ".git") continue;
      if (entry.name.startsWith(".tmp.") || /\.lock\./.test(path) || /\.lock\//.test(path) || /\.(?:closing|foreign-\d+)$/.test(path)) found.push(path);
      if (entry.isDirectory()) walk(path);
    }
  };
  walk("");
  return found;
}
