// Builds dist/: what Node runs, and the library with its types. Run by `npm ci` (the "prepare" script) and before the tests.
//
// Node runs three CommonJS files. The first holds what every call needs and the whole of `knowledge candidates`; the
// second, the acts that leave one line; the third, all other commands. Each is read when a command of it is called: a
// start pays for each byte that it reads, and for each file. In all of them a module that only an `await import()`
// reaches is evaluated, with the built-ins that it requires, when it is asked for.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const home = fileURLToPath(new URL("../", import.meta.url));

/** The built file, from the project's root. It lies as deep as src/cli/, so `import.meta.dirname` + ../.. is the root in both. */
export const bundlePath = "dist/node/majordomus.cjs";
const morePath = "dist/node/more.cjs";
const libraryFolder = "dist/lib";

const entry = "src/cli/entry.ts";

/** The files but the last, with the commands whose start they make short. */
const parts = /** @type {const} */ ([
  [bundlePath, ["src/cli/run/candidates.ts"]],
  ["dist/node/act.cjs", ["src/cli/run/decision.ts", "src/cli/run/observe.ts", "src/cli/run/question.ts"]],
]);

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
 * The files of the program. They share modules, never copies of one: each gives its own to those after it.
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
  /** @param {import("esbuild").OnResolveArgs} args */
  const pathOf = (args) => join(args.resolveDir, args.path).slice(root.replace(/\/?$/, "/").length);
  /** @type {Map<string, string>} the file that a module lies in */
  const fileOf = new Map(parts.flatMap(([file, commands]) => commands.map((path) => [path, file])));
  /** @type {Set<string>} what runs the other commands: it lies in the last file */
  const others = new Set();
  /** @type {Map<string, string>} */
  const files = new Map();
  for (const [file, commands] of [...parts, /** @type {const} */ ([morePath, []])]) {
    const elsewhere = redirecting((args) => {
      const path = pathOf(args);
      const isOther = args.kind === "dynamic-import" && !fileOf.has(path);
      if (isOther) others.add(path);
      const place = fileOf.get(path) ?? (isOther ? morePath : file);
      return place === file ? null : `module.exports = require("./${basename(place)}").give(${JSON.stringify(path)});`;
    });
    const give = async (/** @type {Iterable<string>} */ modules) => {
      const start = file === bundlePath ? `import "./${entry}";\n` : "";
      return esbuild.build({
        ...options,
        stdin: { contents: start + givenBy(inOrder(modules)), resolveDir: root, loader: "js" },
        outfile: file,
        metafile: true,
        plugins: [elsewhere],
        ...(file === bundlePath ? { banner: { js: banner } } : {}),
      });
    };
    // Built once to learn which modules it takes in, and once more to give them all.
    const learnt = await give(file === morePath ? others : commands);
    const own = Object.keys(learnt.metafile?.inputs ?? {}).filter((path) => path.startsWith("src/") && path !== entry);
    for (const path of own) fileOf.set(path, file);
    files.set(file, (await give(own)).outputFiles?.[0]?.text ?? "");
  }
  return files;
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
 * @param {(args: import("esbuild").OnResolveArgs) => string | null} textOf the text, or null for a module that stays
 * @returns {import("esbuild").Plugin}
 */
function redirecting(textOf) {
  const namespace = "elsewhere";
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
export function inOrder(paths) {
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
