/** A call as it was typed, and what it comes to. */
import type { Layout } from "../host/layout.ts";
import { findRoot, layoutOf } from "../host/layout.ts";
import { refuse } from "../ground/errors.ts";
import type { ByteString } from "../ground/bytes.ts";

/** What a command that runs long says before it has come to its end. */
export interface Terminal {
  /** Prints a part of the result; control characters but LF are shown as `\xNN`. */
  readonly print: (text: string) => void;
  /** The same on standard error. */
  readonly tell: (text: string) => void;
  /** Shows one line that the next replaces, on a terminal and nowhere else; `""` takes it away. */
  readonly progress: (line: string) => void;
}

/** A call whose words, options and operands the command table allows. */
export interface Call {
  /** The toolkit's folder. */
  readonly home: string;
  readonly workingDirectory: string;
  /** What `--repo` says. */
  readonly repository: string | undefined;
  readonly json: boolean;
  readonly operands: readonly string[];
  /** The values given, by option, in order; a switch that is given has one empty value. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly terminal: Terminal;
  /** Answers another call here, as a process of its own would, and prints nothing. */
  readonly answer: (args: readonly string[]) => Promise<Answer>;
}

/** What a call gives: all of a run but the writing. */
export interface Answer {
  readonly status: number;
  /** The whole of standard output. */
  readonly output: Buffer;
  /** Lines for standard error, without the program's name. */
  readonly complaints: readonly string[];
}

/** What a command comes to. It prints nothing itself. */
export interface Outcome {
  /** The result as text; control characters but LF are shown as `\xNN` when it is printed. */
  readonly text?: string;
  /** The result as bytes, printed as they are. */
  readonly bytes?: ByteString;
  /** The result under `--json`. */
  readonly json?: unknown;
  readonly status?: number;
  /** Lines for standard error, without the program's name. */
  readonly notes?: readonly string[];
}

/** The value of an option that is given at most once. */
export function valueOf(call: Call, option: string): string | undefined {
  return call.values.get(option)?.[0];
}

/** Whether a switch is given. */
export function isGiven(call: Call, option: string): boolean {
  return call.values.has(option);
}

/** The value of an option that takes one of a few words; another is a wrong call (2). */
export function choiceOf<Choice extends string>(call: Call, option: string, choices: readonly Choice[], otherwise: Choice): Choice {
  const value = valueOf(call, option);
  if (value === undefined) return otherwise;
  const choice = choices.find((one) => one === value);
  if (choice === undefined) throw refuse("wrong-call", `cannot use --${option} '${value}'`, `one of ${choices.join(", ")}`);
  return choice;
}

/** The layout of the repository that a call means; none is missing (12). */
export function layoutFor(call: Call): Layout {
  return layoutOf(rootFor(call));
}

/** The root of the repository that a call means; none is missing (12). */
export function rootFor(call: Call): string {
  const root = findRoot(call.workingDirectory, call.repository);
  if (root === null) throw refuse("missing", `no layer in '${call.repository ?? call.workingDirectory}'`, "run 'majordomus init'");
  return root;
}

