/** From an argument list to a call that the command table allows. Pure: what is wrong is a wrong call (2). */
import { refuse } from "../ground/errors.ts";
import { commands, commonOptions } from "./commands.ts";
import type { Command, Option } from "./commands.ts";

export interface ParsedCall {
  readonly command: Command;
  readonly operands: readonly string[];
  readonly values: ReadonlyMap<string, readonly string[]>;
}

/** A request for help on what the words name, or for the version. */
export interface ParsedRequest {
  readonly request: "help" | "version";
  readonly words: string;
}

/** Reads an argument list. */
export function parseArguments(args: readonly string[]): ParsedCall | ParsedRequest {
  const words = leadingWords(args);
  const before = optionPart(args);
  if (before.includes("--help") || before.includes("-h")) return { request: "help", words: words.join(" ") };
  if (words.length === 0 && before.includes("--version")) return { request: "version", words: "" };
  const command = commandOf(words);
  if (command === null) {
    const given = words.slice(0, isGroup(words[0]) ? 2 : 1).join(" ");
    const unknownOption = words.length === 0 ? before.find((arg) => arg.startsWith("-") && !isCommon(arg)) : undefined;
    if (unknownOption !== undefined) throw unknown(unknownOption);
    if (given === "") throw refuse("wrong-call", "no command", "run 'majordomus --help'");
    throw refuse("wrong-call", `unknown command '${given}'`, `run 'majordomus ${isGroup(words[0]) ? `${words[0] ?? ""} ` : ""}--help'`);
  }
  return { command, ...readOptions(command, args) };
}

/** Whether these arguments name a command that ends with 0 whatever happens, and however wrong the rest of them is. */
export function neverFails(args: readonly string[]): boolean {
  return commandOf(leadingWords(args))?.neverFails === true;
}

/** The arguments up to `--`. */
function optionPart(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--");
  return end === -1 ? args : args.slice(0, end);
}

/** The first words that are no options, past the common ones and their values: enough to name a command. */
function leadingWords(args: readonly string[]): string[] {
  const words: string[] = [];
  for (let at = 0; at < args.length && words.length < 2; at += 1) {
    const arg = args[at] as string;
    if (arg === "--") break;
    if (!arg.startsWith("-") || arg === "-") words.push(arg);
    else if (arg === "--repo") at += 1;
    else if (words.length > 0 && !isCommon(arg)) break;
  }
  return words;
}

function isCommon(arg: string): boolean {
  return commonOptions.some(({ name }) => arg === `--${name}` || arg.startsWith(`--${name}=`));
}

function isGroup(word: string | undefined): boolean {
  return commands.some((command) => command.words.startsWith(`${word ?? ""} `));
}

function commandOf(words: readonly string[]): Command | null {
  const two = words.slice(0, 2).join(" ");
  return commands.find((command) => command.words === two) ?? commands.find((command) => command.words === words[0]) ?? null;
}

function unknown(option: string): Error {
  return refuse("wrong-call", `unknown option '${option.replace(/=.*$/s, "")}'`, "run 'majordomus --help'");
}

function readOptions(command: Command, args: readonly string[]): Omit<ParsedCall, "command"> {
  const allowed = [...commonOptions, ...(command.options ?? [])];
  const values = new Map<string, string[]>();
  const operands: string[] = [];
  let wordsLeft = command.words.split(" ").length;
  let ended = false;
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at] as string;
    if (ended || arg === "-" || !arg.startsWith("-")) {
      if (wordsLeft > 0) wordsLeft -= 1;
      else operands.push(arg);
    } else if (arg === "--") {
      ended = true;
    } else {
      at += readOption(command, allowed, values, arg, args[at + 1]) ? 1 : 0;
    }
  }
  const missing = command.options?.find((option) => option.required === true && !values.has(option.name));
  if (missing !== undefined) throw refuse("wrong-call", `missing option '--${missing.name}'`, `see 'majordomus ${command.words} --help'`);
  const [least, most] = command.arity ?? [0, 0];
  if (operands.length < least) {
    throw refuse("wrong-call", `missing ${command.operands ?? "operand"}`, `see 'majordomus ${command.words} --help'`);
  }
  if (operands.length > most) {
    throw refuse("wrong-call", `unexpected argument '${operands[most] ?? ""}'`, `see 'majordomus ${command.words} --help'`);
  }
  return { operands, values };
}

/** Reads one option; whether the argument after it is its value. */
function readOption(
  command: Command,
  allowed: readonly Option[],
  values: Map<string, string[]>,
  arg: string,
  next: string | undefined,
): boolean {
  const [, long, inline] = /^--([^=]*)(?:=(.*))?$/s.exec(arg) ?? [];
  const option = allowed.find((one) => (long === undefined ? `-${one.short ?? ""}` === arg : one.name === long));
  if (option === undefined) throw unknown(arg);
  const { name } = option;
  const see = `see 'majordomus ${command.words} --help'`;
  const takesValue = option.value !== undefined;
  if (!takesValue && inline !== undefined) throw refuse("wrong-call", `option '--${name}' takes no value`, see);
  if (takesValue && inline === undefined && next === undefined) throw refuse("wrong-call", `missing value of '--${name}'`, see);
  const given = values.get(name) ?? [];
  if (given.length > 0 && takesValue && option.repeatable !== true) throw refuse("wrong-call", `option '--${name}' is given twice`, see);
  values.set(name, [...given, takesValue ? (inline ?? next ?? "") : ""]);
  return takesValue && inline === undefined;
}
