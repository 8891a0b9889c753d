/**
 * Writes what both programs share from share/tables.tsv: src/ground/tables.ts for TypeScript, shell/awk/tables.awk
 * for the shell reader. Run it after the table changes; a test compares.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

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

/** The two generated files by their paths below the project's root. */
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
  ]);
}

if (process.argv.includes("--write")) {
  for (const [path, text] of generated()) writeFileSync(home + path, text);
}
