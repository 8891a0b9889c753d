import { readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { filesBelow, importsOf } from "../source.ts";

/**
 * The folders of src/ from the ground up: each imports itself and what stands above it here. ARCHITECTURE.md says what
 * they are for, in this order. A file of src/ itself, such as src/index.ts, stands above all.
 */
const layers = ["ground", "format", "host", "ledger", "episode", "knowledge", "boundary", "provider", "scenario", "vendor", "cli"];

/** Node's modules that any folder may use: no effects. */
const pure = ["node:buffer", "node:path", "node:util"];

/** Node's modules with effects, or slow to load, and the only places that may import them. */
const reaches: Readonly<Record<string, readonly string[]>> = {
  "node:child_process": ["src/host/"],
  "node:crypto": ["src/ground/digest.ts"],
  "node:fs": ["src/host/", "src/cli/main.ts"],
  "node:module": ["src/host/folder.ts", "src/host/owner.ts"],
  "node:os": ["src/host/"],
  "node:tty": ["src/host/"],
};

/** Not to be loaded by a start of any command: 3 ms each. */
const slow = ["node:child_process", "node:crypto"];

/** What the shell reader mirrors: bytes in, bytes out, with nothing of `reaches` and no clock behind it. */
const mirrored = ["src/format/", "src/knowledge/candidates.ts", "src/knowledge/listing.ts"];

type Files = ReadonlyMap<string, string>;

/** The path of the file that an import of `from` names, or null where it names something of the runtime. */
function targetOf(from: string, specifier: string): string | null {
  return specifier.startsWith(".") ? posix.join(posix.dirname(from), specifier) : null;
}

function layerOf(path: string): number {
  const folder = path.split("/")[1] ?? "";
  return folder.endsWith(".ts") ? layers.length : layers.indexOf(folder);
}

/** Every import that the tables do not allow, in words. */
function wrongImports(files: Files): string[] {
  const wrong: string[] = [];
  for (const [path, text] of files) {
    if (layerOf(path) === -1) wrong.push(`${path}: its folder is not in the table of layers`);
    for (const { specifier } of importsOf(text)) {
      const target = targetOf(path, specifier);
      if (target !== null) {
        if (!files.has(target)) wrong.push(`${path}: imports '${specifier}', which is no file of src/`);
        else if (layerOf(target) > layerOf(path)) wrong.push(`${path}: imports upward, '${specifier}'`);
      } else if (!pure.includes(specifier) && !reaches[specifier]?.some((place) => path.startsWith(place))) {
        wrong.push(`${path}: may not import '${specifier}'`);
      }
    }
  }
  return wrong;
}

/** The first circle of imports that is found, as the files it goes through; of types and lazy ones too. */
function circle(files: Files): string[] | null {
  const done = new Set<string>();
  const trail: string[] = [];
  const visit = (path: string): string[] | null => {
    const start = trail.indexOf(path);
    if (start !== -1) return [...trail.slice(start), path];
    if (done.has(path)) return null;
    trail.push(path);
    for (const { specifier } of importsOf(files.get(path) ?? "")) {
      const target = targetOf(path, specifier);
      const found = target === null ? null : visit(target);
      if (found !== null) return found;
    }
    trail.pop();
    done.add(path);
    return null;
  };
  for (const path of files.keys()) {
    const found = visit(path);
    if (found !== null) return found;
  }
  return null;
}

/** What is loaded with a file before it runs: files, and modules of the runtime. */
function loadedWith(files: Files, first: string): Set<string> {
  const loaded = new Set<string>();
  const visit = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const { specifier, lazy, types } of importsOf(files.get(path) ?? "")) {
      if (!lazy && !types) visit(targetOf(path, specifier) ?? specifier);
    }
  };
  visit(first);
  return loaded;
}

const source = filesBelow(["src"]);

describe("layers", () => {
  test("every import stays in its folder, goes down, or is one that the tables allow", () => {
    expect(wrongImports(source)).toEqual([]);
  });

  test("no circle", () => {
    expect(circle(source)).toBeNull();
  });

  test("nothing slow is loaded at the start, nor with the list of candidates", () => {
    for (const first of ["src/cli/entry.ts", "src/cli/run/candidates.ts"]) {
      expect(source.has(first)).toBe(true);
      expect(slow.filter((name) => loadedWith(source, first).has(name))).toEqual([]);
    }
  });

  test("what the shell reader mirrors is pure", () => {
    const effects = [...Object.keys(reaches), "src/ground/clock.ts"];
    const paths = [...source.keys()].filter((path) => mirrored.some((place) => path.startsWith(place)));
    expect(mirrored.filter((place) => !paths.some((path) => path.startsWith(place)))).toEqual([]);
    for (const path of paths) {
      const loaded = loadedWith(source, path);
      expect({ path, effects: effects.filter((name) => loaded.has(name)) }).toEqual({ path, effects: [] });
    }
  });

  test("ARCHITECTURE.md names the same layers in the same order", () => {
    const page = readFileSync(join(home, "ARCHITECTURE.md"), "utf8");
    const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, folder]) => folder);
    expect(rows).toEqual(layers);
  });
});

describe("layers: what these tests catch", () => {
  const made = (files: Readonly<Record<string, string>>): Files => new Map(Object.entries(files));

  test("upward, past the tables, into a folder or a file that is not there", () => {
    const files = made({
      "src/ground/a.ts": 'import { b } from "../ledger/b.ts";\nimport { createHash } from "node:crypto";',
      "src/ledger/b.ts": 'import type { A } from "../ground/a.ts";\nexport { c } from "../cli/c.ts";\nimport * as fs from "node:fs";',
      "src/cli/c.ts": 'const b = await import("../index.ts");\nimport "left-pad";\nimport {\n  join,\n} from "node:path";',
      "src/host/d.ts": 'import fs from "node:fs";\nimport type { X } from "node:http";\nimport "./gone.ts";',
      "src/other/e.ts": "",
      "src/index.ts": 'export * from "./cli/c.ts";\n// import "node:net"\nconst text = `import "node:net"`;',
    });
    expect(wrongImports(files)).toEqual([
      "src/ground/a.ts: imports upward, '../ledger/b.ts'",
      "src/ground/a.ts: may not import 'node:crypto'",
      "src/ledger/b.ts: imports upward, '../cli/c.ts'",
      "src/ledger/b.ts: may not import 'node:fs'",
      "src/cli/c.ts: imports upward, '../index.ts'",
      "src/cli/c.ts: may not import 'left-pad'",
      "src/host/d.ts: may not import 'node:http'",
      "src/host/d.ts: imports './gone.ts', which is no file of src/",
      "src/other/e.ts: its folder is not in the table of layers",
    ]);
  });

  test("a circle, of types and through an import() too", () => {
    const files = made({
      "src/ground/a.ts": 'import "./b.ts";',
      "src/ground/b.ts": 'import type { C } from "./c.ts";',
      "src/ground/c.ts": 'const b = () => import("./b.ts");',
    });
    expect(circle(files)).toEqual(["src/ground/b.ts", "src/ground/c.ts", "src/ground/b.ts"]);
    expect(circle(made({ "src/ground/a.ts": 'import "./b.ts";', "src/ground/b.ts": "" }))).toBeNull();
  });

  test("what is loaded with a file, and not what waits for an import()", () => {
    const files = made({
      "src/cli/a.ts": 'import "./b.ts";\nimport type { C } from "./c.ts";\nconst c = () => import("./c.ts");',
      "src/cli/b.ts": 'import "node:crypto";',
      "src/cli/c.ts": 'import "node:child_process";',
    });
    expect([...loadedWith(files, "src/cli/a.ts")]).toEqual(["src/cli/a.ts", "src/cli/b.ts", "node:crypto"]);
  });
});
