/** Help, made from the command table. Pure. */
import { refuse } from "../ground/errors.ts";
import { commands, commonOptions } from "./commands.ts";
import type { Command, Option } from "./commands.ts";

/** The help on a command, a group of commands, or all of them. Words that name none: a wrong call (2). */
export function helpText(words: string): string {
  const [first = ""] = words.split(" ");
  const exact = commands.find((command) => command.words === words) ?? commands.find((command) => command.words === first);
  if (exact !== undefined) return commandHelp(exact);
  const group = commands.filter((command) => first === "" || command.words.startsWith(`${first} `));
  if (group.length === 0) throw refuse("wrong-call", `unknown command '${words}'`, "run 'majordomus --help'");
  const usage = first === "" ? "majordomus <command> [options]" : `majordomus ${first} <command> [options]`;
  return `usage: ${usage}\n\n${columns(group.map((command) => [command.words, command.summary]))}\nOptions of every command:\n${optionLines(commonOptions)}  --version       print the version\n`;
}

function commandHelp(command: Command): string {
  const own = command.options ?? [];
  const about = `usage: ${usageOf(command)}\n\n${command.summary[0]?.toUpperCase() ?? ""}${command.summary.slice(1)}.\n`;
  return `${about}${own.length === 0 ? "" : `\n${optionLines(own)}`}\nOptions of every command:\n${optionLines(commonOptions)}`;
}

/** How a command is called, on one line. */
export function usageOf(command: Command): string {
  const options = (command.options ?? []).map((option) => {
    const shown = option.value === undefined ? `--${option.name}` : `--${option.name} ${option.value}`;
    const repeated = option.repeatable === true ? `${shown} …` : shown;
    return option.required === true ? repeated : `[${repeated}]`;
  });
  return ["majordomus", command.words, ...options, ...(command.operands === undefined ? [] : [command.operands])].join(" ");
}

function optionLines(options: readonly Option[]): string {
  return columns(
    options.map((option) => {
      const short = option.short === undefined ? "" : `-${option.short}, `;
      const value = option.value === undefined ? "" : ` ${option.value}`;
      return [`${short}--${option.name}${value}`, option.help];
    }),
  );
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length), 14);
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}\n`).join("");
}
