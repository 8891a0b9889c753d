/** The manual page, made from the command table. */
import { commands, commonOptions } from "../src/cli/commands.ts";
import type { Option } from "../src/cli/commands.ts";
import { usageOf } from "../src/cli/help.ts";
import { refusals } from "../src/ground/errors.ts";
import { version } from "../src/ground/version.ts";

/** share/man/majordomus.1, in the man macros that every system's `man` reads. */
export function manual(): string {
  const option = ({ name, value, help }: Option) =>
    `.TP\n\\fB${roff(`--${name}`)}\\fR${value === undefined ? "" : ` \\fI${roff(value)}\\fR`}\n${roff(help)}\n`;
  const own = commands.map((command) => {
    const options = (command.options ?? []).map(option).join("");
    return `.SS ${roff(command.words)}\n.nh\n\\fB${roff(usageOf(command))}\\fR\n.hy\n.PP\n${roff(sentence(command.summary))}\n${options}`;
  });
  return `.\\" Written by build/tables.ts from the command table: change it there.
.TH MAJORDOMUS 1 "" "Majordomus Knowledge ${version}"
.SH NAME
majordomus \\- keep what a repository's working sessions observe
.SH SYNOPSIS
\\fBmajordomus\\fR \\fIcommand\\fR [\\fIoptions\\fR]
.SH COMMANDS
${own.join("")}.SH OPTIONS OF EVERY COMMAND
${commonOptions.map(option).join("")}.SH EXIT STATUS
0 done; ${[...new Set(Object.values(refusals))].join(", ")} refused; what each means stands in docs/contract.md, section 2.
`;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** A text as roff prints it, none of it taken for a request. */
function roff(text: string): string {
  const escaped = text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll("…", "...");
  return /^[.']/.test(escaped) ? `\\&${escaped}` : escaped;
}
