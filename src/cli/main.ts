/** The only writer of standard output and of the exit status. */
import { writeSync } from "node:fs";
import { showControls } from "../ground/bytes.ts";
import { sleep } from "../ground/clock.ts";
import { Refusal } from "../ground/errors.ts";
import { version } from "../ground/version.ts";
import { parseArguments } from "./args.ts";
import type { Outcome } from "./call.ts";

/** Runs one call and sets the exit status. Never throws, never prints a stack. */
export async function main(home: string, args: readonly string[]): Promise<void> {
  try {
    const outcome = await outcomeOf(home, args);
    for (const note of outcome.notes ?? []) complain(note);
    process.exitCode = outcome.status ?? 0;
    write(1, resultOf(outcome, isJson(args)));
  } catch (error) {
    if (isBrokenPipe(error)) {
      // Whoever read us has gone: as silent as a program that the signal ends.
      process.exitCode = 141;
      return;
    }
    complain(error instanceof Refusal ? error.message : faultWords(error));
    process.exitCode = error instanceof Refusal ? error.status : 13;
  }
}

async function outcomeOf(home: string, args: readonly string[]): Promise<Outcome> {
  const parsed = parseArguments(args);
  if ("request" in parsed) {
    if (parsed.request === "version") return { text: `majordomus ${version}\n` };
    return { text: (await import("./help.ts")).helpText(parsed.words) };
  }
  const run = await parsed.command.run();
  return run({
    home,
    workingDirectory: workingDirectory(),
    repository: parsed.values.get("repo")?.[0],
    json: parsed.values.has("json"),
    operands: parsed.operands,
    values: parsed.values,
  });
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Refusal("missing", "cannot find the working directory", "it was removed");
  }
}

function isJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).includes("--json");
}

function resultOf(outcome: Outcome, json: boolean): Buffer {
  if (outcome.bytes !== undefined) return Buffer.from(outcome.bytes, "latin1");
  if (json && outcome.json !== undefined) return Buffer.from(`${JSON.stringify(outcome.json)}\n`, "utf8");
  const text = outcome.text ?? "";
  return Buffer.from(text.split("\n").map(showControls).join("\n"), "utf8");
}

/** One line on standard error; a message never fails a call. */
function complain(message: string): void {
  try {
    write(2, Buffer.from(`majordomus: ${showControls(message)}\n`, "utf8"));
  } catch {
    // Standard error is closed: there is nobody to tell.
  }
}

function faultWords(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  return `internal fault: ${words.split("\n")[0] ?? ""}`;
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

function isBrokenPipe(error: unknown): boolean {
  return codeOf(error) === "EPIPE";
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
