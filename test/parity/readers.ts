/** Both readers as functions: the TypeScript one in this process or through the launcher, the shell one under any shell and awk. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { home } from "../../build/bundle.mjs";
import { answer } from "../../src/cli/answer.ts";
import type { Terminal } from "../../src/cli/call.ts";
import { showControls } from "../../src/ground/bytes.ts";
import type { ByteString } from "../../src/ground/bytes.ts";
import { knownAwks, knownShells } from "../../src/host/readers.ts";
import { program } from "../needs.ts";

/** What a call gave, in bytes. */
export interface Said {
  readonly status: number | null;
  readonly stdout: ByteString;
  readonly stderr: ByteString;
}

/** A shell and an awk, each by the words that name it. */
export interface Pair {
  readonly shell: string;
  readonly awk: string;
}

export const shellReader = join(home, "shell/majordomus");
export const launcher = join(home, "bin/majordomus");

/** Every shell with every awk. */
export const everyPair: readonly Pair[] = knownShells.flatMap((shell) => knownAwks.map((awk) => ({ shell, awk })));

/** The words' programs that this machine lacks. */
export function missingPrograms(): string[] {
  return [...knownShells, ...knownAwks].filter((words) => program(words.split(" ")[0] ?? "") === null);
}

/** The pairs that this machine has. */
export function presentPairs(): Pair[] {
  const missing = missingPrograms();
  return everyPair.filter(({ shell, awk }) => !missing.includes(shell) && !missing.includes(awk));
}

/** Eight of the pairs, one for each shell, and others for the next number: five numbers go through all. */
export function somePairs(number: number): Pair[] {
  const present = presentPairs();
  return present.filter(({ shell, awk }) => (knownShells.indexOf(shell) + number) % knownAwks.length === knownAwks.indexOf(awk));
}

export function pairName({ shell, awk }: Pair): string {
  return `${shell} with ${awk}`;
}

const silent: Terminal = { print: () => undefined, tell: () => undefined, progress: () => undefined };

/** The TypeScript reader in this process. */
export async function toolkitSays(directory: string, args: readonly string[]): Promise<Said> {
  const { status, output, complaints } = await answer({ home, workingDirectory: () => directory, terminal: silent }, args);
  const stderr = complaints.map((line) => `majordomus: ${showControls(line)}\n`).join("");
  return { status, stdout: output.toString("latin1"), stderr: Buffer.from(stderr, "utf8").toString("latin1") };
}

/** The TypeScript reader as it is installed. */
export function launcherSays(directory: string, args: readonly ByteString[], user?: number): Promise<Said> {
  return says("sh", [launcher, ...args], directory, {}, user);
}

/** The shell reader; `reader` is another copy of it than the project's. */
export function readerSays(
  { shell, awk }: Pair,
  directory: string,
  args: readonly string[],
  { reader = shellReader, user }: { readonly reader?: string; readonly user?: number | undefined } = {},
): Promise<Said> {
  const [name = "", ...options] = shell.split(" ");
  return says(name, [...options, reader, ...args], directory, { MAJORDOMUS_AWK: awk }, user);
}

function says(
  name: string,
  args: readonly string[],
  cwd: string,
  added: Readonly<Record<string, string>>,
  user: number | undefined,
): Promise<Said> {
  return new Promise((resolve, reject) => {
    const env: Record<string, string> = { ...(process.env as Record<string, string>), ...added };
    delete env["NODE_EXTRA_CA_CERTS"];
    const identity = user === undefined ? {} : { uid: user, gid: user };
    const child = spawn(name, [...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"], ...identity });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (status) => {
      resolve({ status, stdout: Buffer.concat(stdout).toString("latin1"), stderr: Buffer.concat(stderr).toString("latin1") });
    });
  });
}
