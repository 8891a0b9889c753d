// Builds what Node runs: one CommonJS file from src/cli/entry.ts. One file in this form starts fastest, and a module
// that only an `await import()` reaches is still evaluated, with the built-ins that it requires, when it is asked for.
// Run by `npm ci` (the "prepare" script) and before the tests.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const home = fileURLToPath(new URL("../", import.meta.url));

/** The built file, from the project's root. It lies as deep as src/cli/, so `import.meta.dirname` + ../.. is the root in both. */
export const bundlePath = "dist/node/majordomus.cjs";

// The syntax is lowered to node 12's, so that an old node gets as far as this line instead of a syntax error.
const banner = `"use strict";
if (parseInt(process.versions.node, 10) < 20) {
  process.stderr.write("majordomus: cannot start: node 20 or newer is needed, this is " + process.versions.node + "\\n");
  process.exit(13);
}`;

/**
 * The built files as they should be, by their paths from the project's root.
 * @param {string} [root] the folder that holds src/
 * @returns {Promise<Map<string, string>>}
 * @throws {Error} esbuild's, when the source does not build; one about node_modules when esbuild is not installed
 */
export async function built(root = home) {
  const esbuild = await import("esbuild").catch(() => {
    throw new Error("esbuild is not installed: run 'npm ci' with the development dependencies");
  });
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/cli/entry.ts"],
    outfile: bundlePath,
    bundle: true,
    write: false,
    platform: "node",
    target: "node12.22",
    format: "cjs",
    banner: { js: banner },
    define: { "import.meta.dirname": "__dirname" },
    // import.meta.url and the rest of import.meta are empty in this form.
    logOverride: { "empty-import-meta": "error" },
    logLevel: "silent",
    legalComments: "none",
    tsconfigRaw: {},
  });
  return new Map(result.outputFiles.map((file) => [bundlePath, file.text]));
}

/**
 * Brings dist/ up to date. A file that is right already keeps its time; another is replaced whole, for a command may
 * be starting from it.
 * @param {string} [root] the folder that holds src/
 */
export async function build(root = home) {
  for (const [path, text] of await built(root)) {
    const target = join(root, path);
    if (contentOf(target) === text) continue;
    mkdirSync(dirname(target), { recursive: true });
    const temporary = `${target}.${process.pid}`;
    try {
      writeFileSync(temporary, text);
      renameSync(temporary, target);
    } finally {
      rmSync(temporary, { force: true });
    }
  }
}

/** @param {string} path */
function contentOf(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
