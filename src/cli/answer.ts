/** A call from its arguments to the bytes of its result: all of a run but the writing. */
import { showControls } from "../ground/bytes.ts";
import { Refusal } from "../ground/errors.ts";
import { version } from "../ground/version.ts";
import { parseArguments } from "./args.ts";
import type { ParsedCall, ParsedRequest } from "./args.ts";
import type { Answer, Outcome, Terminal } from "./call.ts";

/** Where a call is made. */
export interface Surroundings {
  /** The toolkit's folder. */
  readonly home: string;
  /** Tells the working directory, or refuses (12) where there is none. */
  readonly workingDirectory: () => string;
  readonly terminal: Terminal;
}

/** Answers one call. Refusals and faults are answers too; a reader of the terminal that has gone is thrown. */
export async function answer(surroundings: Surroundings, args: readonly string[]): Promise<Answer> {
  try {
    const parsed = parseArguments(args);
    const outcome = await outcomeOf(surroundings, parsed);
    const isJson = "values" in parsed && parsed.values.has("json");
    return { status: outcome.status ?? 0, output: resultOf(outcome, isJson), complaints: outcome.notes ?? [] };
  } catch (error) {
    if (isBrokenPipe(error)) throw error;
    return { ...refusalOf(error), output: Buffer.alloc(0) };
  }
}

/** What is said of an error, and the exit status that it gives. */
export function refusalOf(error: unknown): Pick<Answer, "status" | "complaints"> {
  if (error instanceof Refusal) return { status: error.status, complaints: [error.message] };
  const [words = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
  // Deno's own error for what its flags do not allow.
  const isDenied = error instanceof Error && error.name === "NotCapable";
  return { status: 13, complaints: [`${isDenied ? "a permission is denied" : "internal fault"}: ${words}`] };
}

async function outcomeOf(surroundings: Surroundings, parsed: ParsedCall | ParsedRequest): Promise<Outcome> {
  if ("request" in parsed) {
    if (parsed.request === "version") return { text: `majordomus ${version}\n` };
    return { text: (await import("./help.ts")).helpText(parsed.words) };
  }
  const run = await parsed.command.run();
  return run({
    home: surroundings.home,
    workingDirectory: surroundings.workingDirectory(),
    repository: parsed.values.get("repo")?.[0],
    json: parsed.values.has("json"),
    operands: parsed.operands,
    values: parsed.values,
    terminal: surroundings.terminal,
    answer: (others) => answer(surroundings, others),
  });
}

function resultOf(outcome: Outcome, json: boolean): Buffer {
  if (outcome.bytes !== undefined) return Buffer.from(outcome.bytes, "latin1");
  if (json && outcome.json !== undefined) return Buffer.from(`${JSON.stringify(outcome.json)}\n`, "utf8");
  return textBytes(outcome.text ?? "");
}

/** Text as it is printed: control characters but LF are shown as `\xNN`. */
export function textBytes(text: string): Buffer {
  return Buffer.from(text.split("\n").map(showControls).join("\n"), "utf8");
}

/** Whether the reader of an output has gone. */
export function isBrokenPipe(error: unknown): boolean {
  return codeOf(error) === "EPIPE";
}

export function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
