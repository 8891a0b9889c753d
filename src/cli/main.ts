/** The only writer of standard output and of the exit status. */
import { writeSync } from "node:fs";
import { showControls } from "../ground/bytes.ts";
import { sleep } from "../ground/clock.ts";
import { Refusal } from "../ground/errors.ts";
import { answer, codeOf, isBrokenPipe, refusalOf, textBytes } from "./answer.ts";
import { neverFails } from "./args.ts";
import type { Terminal } from "./call.ts";

/** Runs one call and sets the exit status. Never throws, never prints a stack. */
export async function main(home: string, args: readonly string[]): Promise<void> {
  try {
    const { status, output, complaints } = await answer({ home, workingDirectory, terminal }, args);
    for (const complaint of complaints) complain(complaint);
    process.exitCode = neverFails(args) ? 0 : status;
    write(1, output);
  } catch (error) {
    if (isBrokenPipe(error)) {
      // Whoever read us has gone: as silent as a program that the signal ends.
      process.exitCode = neverFails(args) ? 0 : 141;
      return;
    }
    const { status, complaints } = refusalOf(error);
    for (const complaint of complaints) complain(complaint);
    process.exitCode = neverFails(args) ? 0 : status;
  }
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Refusal("missing", "cannot find the working directory", "it was removed");
  }
}

const terminal: Terminal = {
  print: (text) => write(1, textBytes(text)),
  tell: (text) => write(2, textBytes(text)),
  progress: (line) => {
    if (process.stderr.isTTY) write(2, Buffer.from(`\r\x1b[K${showControls(line)}`, "utf8"));
  },
};

/** One line on standard error; a message never fails a call. */
function complain(message: string): void {
  try {
    write(2, Buffer.from(`majordomus: ${showControls(message)}\n`, "utf8"));
  } catch {
    // Standard error is closed: there is nobody to tell.
  }
}

function write(descriptor: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(descriptor, bytes, done, bytes.length - done);
    } catch (error) {
      // A pipe that is set not to block is full.
      if (codeOf(error) !== "EAGAIN") throw codeOf(error) === "EPIPE" ? error : unwritable(error);
      sleep(1);
    }
  }
}

function unwritable(error: unknown): Error {
  return new Refusal("could-not-write", "cannot write the result", error instanceof Error ? error.message : String(error));
}
