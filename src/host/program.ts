/**
 * Running a program by argument list, never through a shell, bounded in time and output (contract, section 13). Nothing is
 * waited for but the program itself: what it leaves behind in its process group ends with it. A child that made a group of
 * its own is out of reach; it is not waited for either.
 */
import { spawn } from "node:child_process";
import { milliseconds } from "../ground/clock.ts";
import { withOnly } from "./environment.ts";
import { errorWords } from "./files.ts";

export interface ProgramCall {
  /** A path, or a name that is looked up in `environment`'s PATH. */
  readonly program: string;
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** What stands on its standard input; empty for none. */
  readonly input: string;
  /** How long it may run, in milliseconds. */
  readonly timeLimit: number;
  /** How many bytes it may print on both outputs together. */
  readonly outputLimit: number;
}

/** How a program ended: by itself with a status, by a signal, by one of the limits, or never started. */
export type ProgramFate =
  | { readonly kind: "exit"; readonly status: number }
  | { readonly kind: "signal"; readonly signal: string }
  | { readonly kind: "time" | "flood" }
  | { readonly kind: "unstartable"; readonly why: string };

export interface ProgramEnd {
  readonly fate: ProgramFate;
  readonly output: string;
  readonly error: string;
  readonly milliseconds: number;
}

/** How long output that was printed before the end is waited for where somebody still holds the pipe. */
const graceMilliseconds = 300;

const running = new Set<number>();

function endGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, "SIGKILL");
  } catch {
    // It has ended already.
  }
}

/** Ends every program that runs: for the end of our own process. */
export function endPrograms(): void {
  for (const leader of running) endGroup(leader);
}

/** Runs a program to its end. Never rejects for what the program does. */
export function runProgram(call: ProgramCall): Promise<ProgramEnd> {
  const started = milliseconds();
  const output: Buffer[] = [];
  const error: Buffer[] = [];
  return new Promise((resolve) => {
    let fate: ProgramFate | null = null;
    let printed = 0;
    const env = { ...call.environment };
    const child = withOnly(env, () =>
      spawn(call.program, [...call.args], {
        cwd: call.directory,
        env,
        detached: true,
        stdio: [call.input === "" ? "ignore" : "pipe", "pipe", "pipe"],
      }),
    );
    const leader = child.pid;
    if (leader !== undefined) running.add(leader);
    const stop = (kind: "time" | "flood") => {
      fate ??= { kind };
      endGroup(leader);
      // A program that even this does not end is not waited for.
      settleSoon();
    };
    let grace: NodeJS.Timeout | undefined;
    const settleSoon = () => {
      grace ??= setTimeout(settle, graceMilliseconds);
    };
    const limit = setTimeout(() => stop("time"), call.timeLimit);
    const settle = () => {
      clearTimeout(limit);
      clearTimeout(grace);
      if (leader !== undefined) running.delete(leader);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      resolve({
        fate: fate ?? { kind: "unstartable", why: "it has no end" },
        output: Buffer.concat(output).toString("utf8"),
        error: Buffer.concat(error).toString("utf8"),
        milliseconds: milliseconds() - started,
      });
    };
    const collect = (stream: NodeJS.ReadableStream | null, chunks: Buffer[]) => {
      stream?.on("data", (chunk: Buffer) => {
        const left = call.outputLimit - printed;
        printed += chunk.length;
        if (left > 0) chunks.push(chunk.subarray(0, left));
        if (printed > call.outputLimit) stop("flood");
      });
      stream?.on("error", () => {
        // It is closed: nothing more comes.
      });
    };
    collect(child.stdout, output);
    collect(child.stderr, error);
    child.stdin?.on("error", () => {
      // It does not read what it is given.
    });
    child.stdin?.end(call.input);
    child.on("error", (failure) => {
      if (leader !== undefined) return;
      fate = { kind: "unstartable", why: errorWords(failure) };
      settle();
    });
    child.on("exit", (status, signal) => {
      fate ??= status === null ? { kind: "signal", signal: signal ?? "an unknown one" } : { kind: "exit", status };
      endGroup(leader);
      settleSoon();
    });
    child.on("close", settle);
  });
}
