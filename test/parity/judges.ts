/** Full YAML processors, to hold the subset to: whatever the readers accept, these read as the same strings in the same places. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { home } from "../../build/bundle.mjs";
import { textOfBytes } from "../../src/ground/bytes.ts";
import type { YamlLeaves } from "../../src/format/yaml-read.ts";

/** Paths to strings in the order of the document, `null` for an empty sequence; or why it is no document. */
export type Judged = readonly (readonly [path: string, value: string | null])[] | string;

/** Reads many documents at once. */
export type Judge = (texts: readonly string[]) => Judged[];

/** What the readers' leaves are to a judge. */
export function judgedLeaves(leaves: YamlLeaves): Judged {
  return [...leaves].map(([path, value]) => [path, value === null ? null : textOfBytes(value)]);
}

const tools = join(home, "test/tools/");

/** The npm package `yaml`, a YAML 1.2 processor; null where test/tools is not installed. */
export function judge12(): Judge | null {
  if (!existsSync(join(tools, "node_modules/yaml/package.json"))) return null;
  const yaml = createRequire(tools)("yaml") as Yaml;
  return (texts) => texts.map((text) => judged12(yaml, text));
}

/** What is used of the package: it is in no type check, for it is not installed with the project. */
interface Yaml {
  parseDocument(text: string, options: object): { readonly errors: readonly Error[]; readonly warnings: readonly Error[]; readonly contents: unknown };
  isMap(node: unknown): node is { readonly items: readonly { readonly key: unknown; readonly value: unknown }[] };
  isSeq(node: unknown): node is { readonly items: readonly unknown[] };
  isScalar(node: unknown): node is { readonly value: unknown };
}

function judged12(yaml: Yaml, text: string): Judged {
  const { errors, warnings, contents } = yaml.parseDocument(text, { version: "1.2", schema: "failsafe", strict: true, uniqueKeys: true, logLevel: "error" });
  const [fault] = [...errors, ...warnings];
  if (fault !== undefined) return fault.message.split("\n")[0] ?? "";
  const found: [string, string | null][] = [];
  const walk = (path: string, node: unknown): void => {
    if (yaml.isMap(node)) {
      for (const { key, value } of node.items) walk(path === "" ? scalar(key) : `${path}.${scalar(key)}`, value);
    } else if (yaml.isSeq(node)) {
      if (node.items.length === 0) found.push([path, null]);
      for (const [index, item] of node.items.entries()) walk(`${path}.${index}`, item);
    } else found.push([path, scalar(node)]);
  };
  const scalar = (node: unknown): string => {
    const value = yaml.isScalar(node) ? node.value : node;
    return value === null || value === undefined ? "" : typeof value === "string" ? value : `a ${typeof value}: ${String(value)}`;
  };
  if (contents !== null && !(yaml.isScalar(contents) && scalar(contents) === "")) walk("", contents);
  return found;
}

const python = "/usr/bin/python3";

/** PyYAML as Debian has it, a YAML 1.1 processor; null where it is not installed. `fast` uses the C library behind it. */
export function judge11(fast = false): Judge | null {
  if (!existsSync(python)) return null;
  try {
    execFileSync(python, ["-c", "import yaml"], { stdio: "ignore" });
  } catch {
    return null;
  }
  return (texts) => {
    const output = execFileSync(python, [join(import.meta.dirname, "judge.py"), ...(fast ? ["--fast"] : [])], {
      input: JSON.stringify(texts),
      env: { ...process.env, PYTHONIOENCODING: "utf-8" },
      maxBuffer: 1 << 30,
    });
    return JSON.parse(output.toString("utf8")) as Judged[];
  };
}
