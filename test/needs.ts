/**
 * Programs that some tests need and a machine may lack: shells, awks, other runtimes. A test that lacks one is skipped,
 * and fails where MAJORDOMUS_NOTHING_SKIPPED is set.
 */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "vitest";
import { home } from "../build/bundle.mjs";

const tools = join(home, "test/tools/node_modules");

/** What test/tools installs, by the names that tests use. */
const installed: Readonly<Record<string, string>> = {
  deno: join(tools, ".bin/deno"),
  bun: join(tools, ".bin/bun"),
  node22: join(tools, "node22/bin/node"),
  node24: join(tools, "node24/bin/node"),
  node26: join(tools, "node26/bin/node"),
};

/** The path of a program of test/tools or of PATH, or null. `node20` is the node that runs the tests, where it is one. */
export function program(name: string): string | null {
  if (name === "node20") return process.versions.node.startsWith("20.") ? process.execPath : null;
  const own = installed[name];
  if (own !== undefined) return isProgram(own) ? own : null;
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

/**
 * `test`, where every one of the programs is there.
 * @example needing("deno")("starts under deno", () => { … program("deno") … })
 */
export function needing(...names: readonly string[]): (title: string, run: () => void | Promise<void>) => void {
  const missing = names.filter((name) => program(name) === null);
  if (missing.length === 0) return (title, run) => test(title, run);
  if (process.env["MAJORDOMUS_NOTHING_SKIPPED"] === undefined) return (title, run) => test.skip(title, run);
  return (title) =>
    test(title, () => {
      throw new Error(`not installed: ${missing.join(", ")}`);
    });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
