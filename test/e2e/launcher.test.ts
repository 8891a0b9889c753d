import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { built, home } from "../../build/bundle.mjs";
import { needing, program } from "../needs.ts";

/** Stands for Majordomus: says what started it and from where, and ends with the status that STATUS tells. */
const standIn = `
const kind = "Deno" in globalThis ? "deno" : "Bun" in globalThis ? "bun" : "node";
process.stdout.write(JSON.stringify({ kind, here, args: process.argv.slice(2), process: process.pid, planted: process.env["PLANTED"] ?? null }));
process.exitCode = Number(process.env["STATUS"] ?? 0);
`;

interface Said {
  readonly kind: string;
  readonly here: string;
  readonly args: readonly string[];
  readonly process: number;
  readonly planted: string | null;
}

interface Result {
  readonly said: Said | null;
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly process: number;
}

function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "launcher-"));
}

/** A checkout that has the launcher, the built file and the source; the two are stand-ins. */
function checkout(at: string = join(temporaryFolder(), "checkout")): string {
  for (const folder of ["bin", "dist/node", "src/cli"]) mkdirSync(join(at, folder), { recursive: true });
  cpSync(join(home, "bin/majordomus"), join(at, "bin/majordomus"));
  writeFileSync(join(at, "package.json"), '{"type":"module"}');
  writeFileSync(join(at, "dist/node/majordomus.cjs"), `const here = __dirname;${standIn}`);
  writeFileSync(join(at, "src/cli/entry.ts"), `const here: string = import.meta.dirname;${standIn}export {};`);
  return at;
}

/** A folder for PATH with links to these programs only. */
function folderWith(programs: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  for (const [name, target] of Object.entries(programs)) symlinkSync(target, join(folder, name));
  return folder;
}

function script(text: string): string {
  const path = join(temporaryFolder(), "script");
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

const node = process.execPath;
const onlyNode = folderWith({ node });

/** A PATH with a node that only tells, and fast, what it was handed. */
const fakeNode = folderWith({ node: script("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), readlink: program("readlink") ?? "" });

function heard(result: Result): string[] {
  return result.stdout.split("\0").slice(0, -1);
}

interface Setting {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

function run(command: string, args: readonly string[], { cwd = "/", env = {} }: Setting = {}): Result {
  const { pid, status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    env: { PATH: onlyNode, HOME: tmpdir(), ...env },
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  return { said: stdout.startsWith("{") ? (JSON.parse(stdout) as Said) : null, status, stdout, stderr, process: pid };
}

function expectCannotStart(result: Result, words: string): void {
  expect(result).toMatchObject({ status: 13, stdout: "", stderr: `majordomus: cannot start: ${words}\n` });
}

const shells: readonly (readonly [program: string, ...options: string[]])[] = [
  ["dash"],
  ["bash", "--posix"],
  ["busybox", "sh"],
  ["ksh93"],
  ["mksh"],
  ["yash"],
  ["zsh", "--emulate", "sh"],
];

/** The path of the built file as node takes it: `name/..` is dropped as text, then links are followed. */
function asNode(cwd: string, path: string | undefined): string | null {
  return path === undefined ? null : realpathSync(resolve(cwd, path));
}

describe("launcher: in each shell", () => {
  for (const [name, ...options] of shells) {
    const inShell = needing(name);
    const shell = program(name) ?? name;

    inShell(`${name}: hands over the arguments, its process and the exit status`, () => {
      const at = checkout();
      const args = ["a", "b c", "", "-x", "$(exit 3)", "line\nfeed", "--", "*"];
      const result = run(shell, [...options, join(at, "bin/majordomus"), ...args], { env: { STATUS: "11" } });
      expect(result).toMatchObject({ status: 11, stderr: "", said: { kind: "node", here: join(at, "dist/node"), args } });
      expect(result.said?.process).toBe(result.process);
    });

    inShell(`${name}: finds its folder through links and from inside it`, () => {
      const at = checkout(join(temporaryFolder(), "-a 'b\n"));
      const links = temporaryFolder();
      mkdirSync(join(links, "deep"));
      symlinkSync(join(at, "bin/majordomus"), join(links, "first\n"));
      symlinkSync("../first\n", join(links, "deep/second"));
      symlinkSync(join(links, "deep"), join(links, "folder"));
      for (const [cwd, path] of [
        ["/", join(links, "folder/second")],
        [links, "deep/second"],
        [dirname(at), "-a 'b\n/bin/majordomus"],
        [join(at, "bin"), "majordomus"],
        [join(at, "bin"), "./majordomus"],
        [join(at, "src"), "../bin/majordomus"],
        [at, "bin/majordomus"],
      ] as const) {
        const result = run(shell, [...options, "-", path], { cwd, env: { PATH: fakeNode } });
        expect({ path, ...result }).toMatchObject({ status: 0, stderr: "" });
        expect(asNode(cwd, heard(result)[0])).toBe(join(at, "dist/node/majordomus.cjs"));
      }
    });

    inShell(`${name}: one line and exit 13 where nothing can run`, () => {
      const at = checkout();
      const words = "no runtime in PATH: node 20 or newer, deno or bun is needed";
      expectCannotStart(run(shell, [...options, join(at, "bin/majordomus")], { env: { PATH: temporaryFolder() } }), words);
    });
  }
});

describe("launcher: where it lies", () => {
  const names = [
    "plain",
    "with spaces ",
    "it's \"quoted\"",
    "line\nfeed",
    "ends in a line feed\n",
    "-dash",
    "--eval",
    "100%25",
    "a#b?c=d&e",
    "$HOME`x`\\n",
    "*[a]",
    "é～😀",
    "http:",
  ];
  for (const name of names) {
    test(`in a folder called ${JSON.stringify(name)}`, () => {
      const around = temporaryFolder();
      const at = checkout(join(around, name));
      for (const [cwd, path] of [["/", join(at, "bin/majordomus")], [around, `${name}/bin/majordomus`]] as const) {
        const result = run(path, ["x"], { cwd, env: { PATH: fakeNode } });
        expect(result).toMatchObject({ status: 0, stderr: "" });
        expect(heard(result)[0]).not.toMatch(/^-/);
        expect(asNode(cwd, heard(result)[0])).toBe(join(at, "dist/node/majordomus.cjs"));
        expect(heard(result).slice(1)).toEqual(["x"]);
      }
    });
  }

  for (const kind of ["node", "deno", "bun"]) {
    needing(kind === "node" ? "sh" : kind)(`${kind}: takes any of these names`, () => {
      const around = temporaryFolder();
      const name = `-${names.join("")}`;
      const at = checkout(join(around, name));
      const env = { PATH: folderWith({ [kind]: kind === "node" ? node : (program(kind) ?? "") }) };
      const said = { kind, here: join(at, "dist/node"), args: ["x"] };
      expect(run(join(at, "bin/majordomus"), ["x"], { env })).toMatchObject({ stderr: "", said });
      expect(run(`${name}/bin/majordomus`, ["x"], { cwd: around, env })).toMatchObject({ stderr: "", said });
    });
  }

  test("links: a chain of absolute and relative ones, one of bin/, one of the checkout", () => {
    const at = checkout();
    const around = temporaryFolder();
    mkdirSync(join(around, "a/b"), { recursive: true });
    symlinkSync(at, join(around, "checkout"));
    symlinkSync(join(at, "bin"), join(around, "a/programs"));
    symlinkSync("../checkout/bin/majordomus", join(around, "a/relative"));
    symlinkSync(join(around, "a/relative"), join(around, "a/b/absolute"));
    symlinkSync("b/absolute", join(around, "a/chain"));
    symlinkSync("programs/../bin/../bin/majordomus", join(around, "a/dots"));
    for (const path of ["checkout/bin/majordomus", "a/programs/majordomus", "a/relative", "a/b/absolute", "a/chain", "a/dots"]) {
      for (const [cwd, called] of [["/", join(around, path)], [around, `./${path}`], [around, path]] as const) {
        const result = run(called, [], { cwd, env: { PATH: fakeNode } });
        expect({ path, ...result }).toMatchObject({ status: 0, stderr: "" });
        expect(asNode(cwd, heard(result)[0])).toBe(join(at, "dist/node/majordomus.cjs"));
      }
    }
  });

  test("links: without readlink it says so", () => {
    const link = join(temporaryFolder(), "majordomus");
    symlinkSync(join(checkout(), "bin/majordomus"), link);
    const result = run(link, []);
    expect(result).toMatchObject({ status: 13, stdout: "" });
    expect(result.stderr).toBe("majordomus: cannot start: its symbolic link cannot be read with readlink\n");
  });

  test("PATH: found through it, by an absolute folder and by one of the working directory", () => {
    const at = checkout();
    for (const folder of [join(at, "bin"), "bin", ""]) {
      const cwd = folder === "" ? join(at, "bin") : at;
      const result = run("/bin/sh", ["-c", "majordomus x"], { cwd, env: { PATH: `${folder}:${fakeNode}` } });
      expect({ folder, ...result }).toMatchObject({ status: 0, stderr: "" });
      expect(asNode(cwd, heard(result)[0])).toBe(join(at, "dist/node/majordomus.cjs"));
    }
  });

  test("starts no other process when no link is in the way: a PATH with node alone is enough", () => {
    expect(run(join(checkout(), "bin/majordomus"), [])).toMatchObject({ status: 0, stderr: "", said: { kind: "node" } });
  });

  test("CDPATH and the names of a caller's variables change nothing", () => {
    const at = checkout();
    const cwd = join(at, "src");
    const names = ["home", "folder", "target", "program", "runtime", "kind", "bundle", "source", "main", "unusable"];
    const env = { PATH: fakeNode, CDPATH: "/tmp:/", IFS: "/", ...Object.fromEntries(names.map((name) => [name, "/x"])) };
    const result = run("../bin/majordomus", ["x"], { cwd, env });
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(asNode(cwd, heard(result)[0])).toBe(join(at, "dist/node/majordomus.cjs"));
  });
});

describe("launcher: what runs it", () => {
  const runtimes = { node24: "node", deno: "deno", bun: "bun" } as const;
  const notBuilt = "it is not built: run 'npm ci' in its folder, or put node 22.18 or newer, deno or bun in PATH";

  function notBuiltCheckout(): string {
    const at = checkout();
    rmSync(join(at, "dist"), { recursive: true });
    return at;
  }

  for (const [name, kind] of Object.entries(runtimes)) {
    const withRuntime = needing(name);
    const path = program(name) ?? name;

    withRuntime(`${name}: runs the source where there is no built file`, () => {
      const at = notBuiltCheckout();
      const expected = { status: 0, stderr: "", said: { kind, here: join(at, "src/cli"), args: ["x"] } };
      expect(run(join(at, "bin/majordomus"), ["x"], { env: { PATH: folderWith({ [kind]: path }) } })).toMatchObject(expected);
      expect(run(join(at, "bin/majordomus"), ["x"], { env: { MAJORDOMUS_RUNTIME: path } })).toMatchObject(expected);
    });

    withRuntime(`${name}: runs the built file where there is no source`, () => {
      const at = checkout();
      rmSync(join(at, "src"), { recursive: true });
      const env = { PATH: folderWith({ [kind]: path }) };
      expect(run(join(at, "bin/majordomus"), ["x"], { env })).toMatchObject({
        status: 0,
        stderr: "",
        said: { kind, here: join(at, "dist/node"), args: ["x"] },
      });
    });

    withRuntime(`${name}: MAJORDOMUS_RUNTIME by name goes before the usual order`, () => {
      const env = { PATH: folderWith({ node, deno: node, bun: node, [kind]: path }), MAJORDOMUS_RUNTIME: kind };
      expect(run(join(checkout(), "bin/majordomus"), [], { env })).toMatchObject({ stderr: "", said: { kind } });
    });

    withRuntime(`${name}: reads no settings of the working directory`, () => {
      const cwd = temporaryFolder();
      writeFileSync(join(cwd, ".env"), "PLANTED=yes\n");
      writeFileSync(join(cwd, "plant.ts"), 'process.env["PLANTED"] = "yes";');
      writeFileSync(join(cwd, "bunfig.toml"), 'preload = ["./plant.ts"]\n');
      writeFileSync(join(cwd, "deno.json"), '{"imports": {"node:process": "./plant.ts"}, "preload": ["./plant.ts"]}');
      writeFileSync(join(cwd, "package.json"), '{"imports": {"#x": "./plant.ts"}, "type": "commonjs"}');
      writeFileSync(join(cwd, "tsconfig.json"), '{"compilerOptions": {"paths": {"*": ["./plant.ts"]}}}');
      const result = run(join(checkout(), "bin/majordomus"), [], { cwd, env: { MAJORDOMUS_RUNTIME: path } });
      expect(result).toMatchObject({ status: 0, stderr: "", said: { kind, planted: null } });
    });
  }

  test("a node that strips no types is passed over for the source", () => {
    const at = notBuiltCheckout();
    const plain = script("#!/bin/sh\n[ \"$1\" = -p ] && echo false\nexit 0\n");
    expectCannotStart(run(join(at, "bin/majordomus"), [], { env: { PATH: folderWith({ node: plain }) } }), notBuilt);
  });

  needing("deno")("a node that strips no types is passed over for deno", () => {
    const at = notBuiltCheckout();
    const plain = script("#!/bin/sh\n[ \"$1\" = -p ] && echo false\nexit 0\n");
    const env = { PATH: folderWith({ node: plain, deno: program("deno") ?? "" }) };
    expect(run(join(at, "bin/majordomus"), [], { env })).toMatchObject({ stderr: "", said: { kind: "deno" } });
  });

  test("nothing to run: neither the built file nor the source", () => {
    const at = checkout();
    for (const folder of ["dist", "src"]) renameSync(join(at, folder), join(at, `${folder}.away`));
    const words = "neither dist/node/majordomus.cjs nor src/cli/entry.ts is in its folder: install it again";
    expectCannotStart(run(join(at, "bin/majordomus"), []), words);
    expectCannotStart(run(join(at, "bin/majordomus"), [], { env: { MAJORDOMUS_RUNTIME: node } }), words);
  });

  test("MAJORDOMUS_RUNTIME: what is no runtime is refused, and nothing else is tried", () => {
    const at = checkout();
    const plain = join(temporaryFolder(), "node");
    writeFileSync(plain, "");
    const wrong = ["python", "deno", "/", "/nowhere/node", tmpdir(), plain, "./node", "node -e 0", "sh", "/bin/sh", "node\nx", " "];
    for (const value of wrong) {
      const result = run(join(at, "bin/majordomus"), [], { env: { MAJORDOMUS_RUNTIME: value } });
      expectCannotStart(result, "MAJORDOMUS_RUNTIME is not node, deno or bun found in PATH, nor a path to one");
    }
    expect(run(join(at, "bin/majordomus"), [], { env: { MAJORDOMUS_RUNTIME: "" } })).toMatchObject({ said: { kind: "node" } });
  });
});

describe("bundle", () => {
  test("dist/ is what the source builds", async () => {
    // The source does not build, or dist/ was changed by hand.
    for (const [path, text] of await built()) expect(readFileSync(join(home, path), "utf8")).toBe(text);
  });

  test("an old node gets one line and exit 13", () => {
    const older = join(temporaryFolder(), "older.cjs");
    writeFileSync(older, 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });');
    const result = run(join(home, "bin/majordomus"), ["--version"], { env: { NODE_OPTIONS: `--require ${older}` } });
    expectCannotStart(result, "node 20 or newer is needed, this is 18.20.8");
  });

  test("starts without loading what is slow to load", () => {
    const tell = join(temporaryFolder(), "tell.cjs");
    writeFileSync(tell, 'process.on("exit", () => require("fs").writeSync(2, JSON.stringify(process.moduleLoadList)));');
    const result = run(join(home, "bin/majordomus"), ["--version"], { env: { NODE_OPTIONS: `--require ${tell}` } });
    const loaded = JSON.parse(result.stderr) as string[];
    expect(result.stdout).toMatch(/^majordomus \d+\.\d+\.\d+\n$/);
    expect(loaded).toContain("NativeModule fs");
    expect(loaded.filter((name) => /NativeModule (?:crypto|child_process|worker_threads|fs\/promises|https?|net)$/.test(name))).toEqual([]);
  });

  for (const name of ["node20", "node22", "node24", "node26", "deno", "bun"]) {
    needing(name)(`the launcher starts the real program under ${name}`, () => {
      const env = { MAJORDOMUS_RUNTIME: program(name) ?? "" };
      const result = run(join(home, "bin/majordomus"), ["--version"], { env });
      expect(result).toMatchObject({ status: 0, stderr: "" });
      expect(result.stdout).toBe(run(join(home, "bin/majordomus"), ["--version"]).stdout);
    });
  }
});
