// Builds dist/: what Node runs, and the library with its types. Run by `npm ci` (the "prepare" script) and before the tests.
//
// Node runs two CommonJS files. The first holds what every call needs and the whole of `knowledge candidates`; the
// second, all other commands, and is read when one of them is called: a start pays for each byte that it reads, and for
// each file more than for a byte. In both a module that only an `await import()` reaches is evaluated, with the
// built-ins that it requires, when it is asked for.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const home = fileURLToPath(new URL("../", import.meta.url));

/** The built file, from the project's root. It lies as deep as src/cli/, so `import.meta.dirname` + ../.. is the root in both. */
export const bundlePath = "dist/node/majordomus.cjs";
const morePath = "dist/node/more.cjs";
const libraryFolder = "dist/lib";

/** The command that the first file holds. */
const quickCommand = "src/cli/run/candidates.ts";

// The syntax is lowered to node 12's, so that an old node gets as far as this line instead of a syntax error.
const banner = `"use strict";
if (parseInt(process.versions.node, 10) < 20) {
  process.stderr.write("majordomus: cannot start: node 20 or newer is needed, this is " + process.versions.node + "\\n");
  process.exit(13);
}`;

/** @typedef {typeof import("esbuild")} Esbuild @typedef {import("esbuild").BuildOptions} BuildOptions */

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
  return new Map([...(await program(esbuild, root)), ...(await library(esbuild, root))]);
}

/**
 * The two files of the program. They share modules, never copies of one: the first gives its own to the second.
 * @param {Esbuild} esbuild
 * @param {string} root
 * @returns {Promise<Map<string, string>>}
 */
async function program(esbuild, root) {
  /** @type {BuildOptions} */
  const options = {
    absWorkingDir: root,
    bundle: true,
    write: false,
    platform: "node",
    target: "node12.22",
    format: "cjs",
    define: { "import.meta.dirname": "__dirname" },
    // A quarter fewer bytes to read; names stay as they are.
    minifyWhitespace: true,
    // import.meta.url and the rest of import.meta are empty in this form.
    logOverride: { "empty-import-meta": "error" },
    logLevel: "silent",
    legalComments: "none",
    tsconfigRaw: {},
  };
  /** @type {Set<string>} modules that other commands are made of, as the first file asks for them */
  const lazy = new Set();
  /** @param {import("esbuild").OnResolveArgs} args */
  const pathOf = (args) => join(args.resolveDir, args.path).slice(root.replace(/\/?$/, "/").length);
  /** @param {import("esbuild").OnResolveArgs} args */
  const isLazy = (args) => args.kind === "dynamic-import" && pathOf(args) !== quickCommand;

  const quick = await esbuild.build({
    ...options,
    entryPoints: ["src/cli/entry.ts"],
    metafile: true,
    plugins: [redirecting("survey", (args) => (isLazy(args) ? "// another file" : null))],
  });
  const shared = Object.keys(quick.metafile.inputs).filter((path) => path.startsWith("src/") && path !== "src/cli/entry.ts");

  const first = await esbuild.build({
    ...options,
    stdin: { contents: `import "./src/cli/entry.ts";\n${givenBy(shared)}`, resolveDir: root, loader: "js" },
    outfile: bundlePath,
    banner: { js: banner },
    plugins: [
      redirecting("more", (args) => {
        if (!isLazy(args)) return null;
        lazy.add(pathOf(args));
        return `module.exports = require("./more.cjs").give(${JSON.stringify(pathOf(args))});`;
      }),
    ],
  });
  const second = await esbuild.build({
    ...options,
    stdin: { contents: givenBy(inOrder(lazy)), resolveDir: root, loader: "js" },
    outfile: morePath,
    plugins: [
      redirecting("shared", (args) => {
        const path = pathOf(args);
        return shared.includes(path) ? `module.exports = require("./majordomus.cjs").give(${JSON.stringify(path)});` : null;
      }),
    ],
  });
  const text = (/** @type {import("esbuild").BuildResult} */ result) => result.outputFiles?.[0]?.text ?? "";
  return new Map([[bundlePath, text(first)], [morePath, text(second)]]);
}

/**
 * The source of `give(path)`, which evaluates and returns one of these modules.
 * @param {readonly string[]} paths
 */
function givenBy(paths) {
  const cases = paths.map((path) => `    case ${JSON.stringify(path)}: return require(${JSON.stringify(`./${path}`)});\n`);
  return `exports.give = (path) => {\n  switch (path) {\n${cases.join("")}  }\n};\n`;
}

/**
 * A plugin that puts a text in the place of a module.
 * @param {string} namespace
 * @param {(args: import("esbuild").OnResolveArgs) => string | null} textOf the text, or null for a module that stays
 * @returns {import("esbuild").Plugin}
 */
function redirecting(namespace, textOf) {
  return {
    name: namespace,
    setup(build) {
      build.onResolve({ filter: /^\.\.?\// }, (args) => {
        if (args.path.endsWith(".cjs")) return { path: args.path, external: true };
        const text = textOf(args);
        return text === null ? null : { path: args.path.replace(/^[./]*/, ""), namespace, pluginData: text };
      });
      build.onLoad({ filter: /.*/, namespace }, (args) => ({ contents: args.pluginData, loader: "js" }));
    },
  };
}

/**
 * The library as one module, and its types as tsc declares them. The types of a source that does not type-check are
 * built all the same: the tests tell.
 * @param {Esbuild} esbuild
 * @param {string} root
 * @returns {Promise<Map<string, string>>}
 */
async function library(esbuild, root) {
  const files = new Map();
  const result = await esbuild.build({
    absWorkingDir: root,
    entryPoints: ["src/index.ts"],
    outfile: `${libraryFolder}/index.js`,
    bundle: true,
    write: false,
    platform: "node",
    target: "es2022",
    format: "esm",
    logLevel: "silent",
    legalComments: "none",
    tsconfigRaw: {},
  });
  for (const file of result.outputFiles) files.set(`${libraryFolder}/index.js`, file.text);
  const folder = mkdtempSync(join(tmpdir(), "majordomus-types-"));
  try {
    const compiler = join(home, "node_modules/typescript/bin/tsc");
    const read = "--ignoreConfig --module nodenext --target es2022 --types node --strict --exactOptionalPropertyTypes";
    const write = "--allowImportingTsExtensions --skipLibCheck --declaration --emitDeclarationOnly --newLine lf";
    const options = [...`${read} ${write}`.split(" "), "--rootDir", "src", "--outDir", folder];
    const run = spawnSync(process.execPath, [compiler, ...options, "src/index.ts"], {
      cwd: root,
      encoding: "utf8",
    });
    const found = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".d.ts"));
    if (!found.includes("index.d.ts")) throw new Error(`no types were made: ${run.stdout}${run.stderr}`);
    for (const path of inOrder(found)) files.set(`${libraryFolder}/${path}`, readFileSync(join(folder, path), "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return files;
}

/**
 * Brings dist/ up to date. A file that is right already keeps its time; another is replaced whole, for a command may
 * be starting from it. What an earlier build left there goes.
 * @param {string} [root] the folder that holds src/
 */
export async function build(root = home) {
  const files = await built(root);
  for (const folder of [dirname(bundlePath), libraryFolder]) {
    for (const path of filesIn(join(root, folder))) if (!files.has(`${folder}/${path}`)) rmSync(join(root, folder, path));
  }
  for (const [path, text] of files) {
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

/** The same bytes on every machine need one order. @param {Iterable<string>} paths */
function inOrder(paths) {
  return [...paths].sort((left, right) => (left < right ? -1 : 1));
}

/** The files below a folder, none where there is no folder. @param {string} folder @returns {string[]} */
function filesIn(folder) {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    return [];
  }
}
