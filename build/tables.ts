/**
 * `npm run tables`: writes what is made from tables. From share/tables.tsv, src/ground/tables.ts for TypeScript and
 * shell/awk/tables.awk for the shell reader; from the command table, the README's reference and the manual page. A test compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { commands } from "../src/cli/commands.ts";
import { usageOf } from "../src/cli/help.ts";
import { manual } from "./manual.ts";

const home = fileURLToPath(new URL("../", import.meta.url));

interface Row {
  readonly table: string;
  readonly name: string;
  readonly words: string;
}

function rowsOf(text: string): Row[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [table, name, words, ...rest] = line.split("\t");
      if (table === undefined || name === undefined || words === undefined || rest.length > 0) {
        throw new Error(`share/tables.tsv: not three columns: ${line}`);
      }
      return { table, name, words };
    });
}

function tablesOf(rows: Row[]): Map<string, Row[]> {
  const tables = new Map<string, Row[]>();
  for (const row of rows) {
    const table = tables.get(row.table) ?? [];
    table.push(row);
    tables.set(row.table, table);
  }
  return tables;
}

/** `older-event` → `olderEventWords`. */
function constantOf(table: string): string {
  return `${table.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())}Words`;
}

const referenceStart = "<!-- commands: written by `npm run tables` from the command table -->\n";
const referenceEnd = "<!-- commands end -->";

/** The README with its reference made anew: each command's usage and what it does. */
function readme(): string {
  const text = readFileSync(`${home}README.md`, "utf8");
  const start = text.indexOf(referenceStart) + referenceStart.length;
  const reference = commands.map((command) => `- \`${usageOf(command)}\`<br>${command.summary}\n`).join("");
  return text.slice(0, start) + reference + text.slice(text.indexOf(referenceEnd, start));
}

/** The generated files by their paths below the project's root. */
export function generated(): Map<string, string> {
  const tables = tablesOf(rowsOf(readFileSync(`${home}share/tables.tsv`, "utf8")));
  let source = "// Written by build/tables.ts from share/tables.tsv: change it there.\n";
  let awk = "# Written by build/tables.ts from share/tables.tsv: change it there.\n";
  awk += "# Shared closed tables: TABLE[\"<table>\", \"<name>\"] gives the words.\n";
  awk += "function tables_load() {\n";
  for (const [table, rows] of tables) {
    source += `\nexport const ${constantOf(table)} = {\n`;
    for (const row of rows) {
      source += `  ${JSON.stringify(row.name)}: ${JSON.stringify(row.words)},\n`;
      awk += `\tTABLE[${JSON.stringify(table)}, ${JSON.stringify(row.name)}] = ${JSON.stringify(row.words)}\n`;
    }
    source += `} as const;\n`;
  }
  awk += "}\n";
  return new Map([
    ["src/ground/tables.ts", source],
    ["shell/awk/tables.awk", awk],
    ["README.md", readme()],
    ["share/man/majordomus.1", manual()],
  ]);
}

if (process.argv.includes("--write")) {
  for (const [path, text] of generated()) writeFileSync(home + path, text);
}
