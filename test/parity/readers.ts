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

/** Five of the pairs, one for each awk, and others for the next number: eight numbers go through all. */
export function somePairs(number: number): Pair[] {
  return presentPairs().filter(({ shell, awk }) => (knownAwks.indexOf(awk) + number) % knownShells.length === knownShells.indexOf(shell));
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
export function launcherSays(directory: string, args: readonly string[], user?: number): Promise<Said> {
  return says("sh", [launcher, ...args], "", directory, user);
}

/** One call of the shell reader. */
export interface ReaderCall {
  readonly pair: Pair;
  readonly directory: string;
  readonly args: readonly string[];
}

/**
 * What the shell reader says to each of these calls. One shell runs them all, which costs far less than a process of ours
 * for each would. `reader` is another copy of it than the project's; `user` somebody else than we are.
 */
export async function readersSay(
  calls: readonly ReaderCall[],
  { reader = shellReader, user }: { readonly reader?: string; readonly user?: number | undefined } = {},
): Promise<Said[]> {
  const mark = "\x02mark";
  const script = calls.map(({ directory, pair, args }) => {
    const command = [...pair.shell.split(" "), reader, ...args].map(shellQuoted).join(" ");
    // yash can hold no byte that its locale has no character for, in no argument and no variable.
    const locale = pair.shell.startsWith("yash") ? "LC_ALL=C.UTF-8 " : "";
    return (
      `cd ${shellQuoted(directory)} && ${locale}MAJORDOMUS_AWK=${shellQuoted(pair.awk)} ${command} </dev/null\n` +
      `printf '%s %s\\n' '${mark}' $?\nprintf '%s\\n' '${mark}' >&2\n`
    );
  });
  const ended = await says("sh", [], script.join(""), undefined, user);
  if (ended.status !== 0) throw new Error(`the driver failed: ${ended.stderr}`);
  const outputs = ended.stdout.split(mark);
  const errors = ended.stderr.split(`${mark}\n`);
  return calls.map((_, index) => ({
    stdout: (outputs[index] ?? "").replace(/^ \d+\n/, ""),
    status: Number(/^ (\d+)\n/.exec(outputs[index + 1] ?? "")?.[1]),
    stderr: errors[index] ?? "",
  }));
}

function shellQuoted(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}

function says(name: string, args: readonly string[], input: string, cwd: string | undefined, user: number | undefined): Promise<Said> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env };
    delete env["NODE_EXTRA_CA_CERTS"];
    const identity = user === undefined ? {} : { uid: user, gid: user };
    const child = spawn(name, [...args], { env, stdio: ["pipe", "pipe", "pipe"], ...(cwd === undefined ? {} : { cwd }), ...identity });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (status) => {
      resolve({ status, stdout: Buffer.concat(stdout).toString("latin1"), stderr: Buffer.concat(stderr).toString("latin1") });
    });
  });
}
