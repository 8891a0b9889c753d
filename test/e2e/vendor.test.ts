// `majordomus vendor`: one folder that runs where it lies, replaced whole, and never over what is somebody's own.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { manifestText, readManifest } from "../../src/vendor/manifest.ts";
import { needing, program } from "../needs.ts";
import { bareRepository, freshFolder, launcher, run, runLater, snapshot } from "../support/repository.ts";
import type { RunOptions } from "../support/repository.ts";

/** A copy that tests read and do not change. */
let copy = "";

beforeAll(() => {
  copy = join(freshFolder(), "copy");
  expect(run(launcher, ["vendor", copy])).toMatchObject({ status: 0, stderr: "" });
});

/** The copy copies itself: what it gives does not depend on a source that somebody edits meanwhile. */
const vendor = (args: readonly string[], options: RunOptions = {}) => run(join(copy, "bin/majordomus"), ["vendor", ...args], options);

/** A copy of the copy, to change. */
function another(): string {
  const folder = join(freshFolder(), "copy");
  fs.cpSync(copy, folder, { recursive: true });
  return folder;
}

/** Changes a copy and its manifest with it: an older copy, as its own version would have written it. */
function makeOlder(folder: string): void {
  const sums = new Map(readManifest(fs.readFileSync(join(folder, "MANIFEST.sha256"), "utf8")) ?? []);
  const put = (path: string, text: string) => {
    fs.writeFileSync(join(folder, path), text);
    sums.set(path, run("sha256sum", [join(folder, path)]).stdout.slice(0, 64));
  };
  put("VERSION", "0.0.9\n");
  put("src/ground/gone.ts", "export {};\n");
  put("src/index.ts", "export {};\n");
  fs.rmSync(join(folder, "LICENSE"));
  sums.delete("LICENSE");
  fs.writeFileSync(join(folder, "MANIFEST.sha256"), manifestText(sums));
}

function expectRefused(folder: string, args: readonly string[], words: string): void {
  const before = snapshot(folder);
  expect(vendor(args)).toEqual({ status: 10, signal: null, stdout: "", stderr: expect.stringContaining(words) as string });
  expect(snapshot(folder)).toEqual(before);
}

describe("vendor: what it writes", () => {
  test("launcher, built files, source, shell reader, share, licence, version, ten lines of README, and their sums", () => {
    const paths = [...snapshot(copy).keys()];
    for (const path of ["bin/majordomus", "dist/node/majordomus.cjs", "dist/lib/index.d.ts", "src/cli/entry.ts", "shell/majordomus",
      "shell/awk/yaml.awk", "share/layer/.ai/manifest.yaml", "share/tables.tsv", "LICENSE", "VERSION", "package.json"]) {
      expect(paths).toContain(path);
    }
    expect(paths.filter((path) => /^(?:test|build|docs|node_modules|\.git\/|\.ci)/.test(path))).toEqual([]);
    const { version } = JSON.parse(fs.readFileSync(join(home, "package.json"), "utf8")) as { readonly version: string };
    expect(fs.readFileSync(join(copy, "VERSION"), "utf8")).toBe(`${version}\n`);
    expect(fs.readFileSync(join(copy, "README.md"), "utf8").split("\n")).toHaveLength(11);
    expect(run("sha256sum", ["--quiet", "--strict", "-c", "MANIFEST.sha256"], { cwd: copy })).toMatchObject({ status: 0, stdout: "" });
    const listed = fs.readFileSync(join(copy, "MANIFEST.sha256"), "utf8").split("\n").slice(0, -1).map((line) => line.slice(66));
    expect(listed).toEqual([...listed].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))));
    expect([...listed, "MANIFEST.sha256"].sort()).toEqual([...paths].sort());
  });

  test("the package.json says of the package what the project's does", () => {
    const theirs = JSON.parse(fs.readFileSync(join(copy, "package.json"), "utf8")) as Record<string, unknown>;
    const ours = JSON.parse(fs.readFileSync(join(home, "package.json"), "utf8")) as Record<string, unknown>;
    for (const [name, value] of Object.entries(theirs)) expect({ [name]: value }).toEqual({ [name]: ours[name] });
    expect(Object.keys(theirs)).not.toContain("scripts");
  });

  test("the same bytes and modes again, from another copy too, whatever the mask, the zone, the language and the working directory", () => {
    const folder = freshFolder();
    const mask = "umask 077 && exec \"$0\" vendor here";
    expect(run("sh", ["-c", mask, launcher], { cwd: folder, env: { TZ: "Asia/Tokyo", LC_ALL: "C.UTF-8" } })).toMatchObject({ status: 0 });
    expect(vendor([join(folder, "from a copy")])).toMatchObject({ status: 0 });
    expect(snapshot(join(folder, "here"))).toEqual(snapshot(copy));
    expect(snapshot(join(folder, "from a copy"))).toEqual(snapshot(copy));
    expect([...snapshot(copy)].filter(([, seen]) => seen.startsWith("755")).map(([path]) => path)).toEqual(["bin/majordomus", "shell/majordomus"]);
    expect(new Set([...snapshot(copy).values()].map((seen) => seen.slice(0, 3)))).toEqual(new Set(["755", "644"]));
    expect((fs.statSync(join(folder, "here/src/cli")).mode & 0o777).toString(8)).toBe("755");
  });

  test("names no place of the machine it was made on", () => {
    for (const path of snapshot(copy).keys()) {
      expect({ path, found: fs.readFileSync(join(copy, path)).includes(home.replace(/\/$/, "")) }).toEqual({ path, found: false });
    }
  });

  test("a second time it says so and writes nothing; --json", () => {
    const folder = another();
    const times = () => fs.statSync(folder).ino;
    const before = times();
    expect(vendor([folder]).stdout).toMatch(/ is this copy already: /);
    expect(times()).toBe(before);
    const json = JSON.parse(vendor([folder, "--json"]).stdout) as Record<string, unknown>;
    expect(json).toMatchObject({ schema: 1, directory: folder, from: json["to"], differences: [] });
  });

  test("git keeps every byte of it: ignored folders, turned line ends", () => {
    const repository = bareRepository();
    repository.write(".gitignore", "dist/\nlib/\n*.cjs\nbin\n");
    repository.git("config", "core.autocrlf", "true");
    expect(vendor(["tools/majordomus"], { cwd: repository.root })).toMatchObject({ status: 0 });
    repository.git("add", "--all");
    repository.git("commit", "-q", "-m", "vendored");
    const clone = join(freshFolder(), "clone");
    run("git", ["clone", "-q", "-c", "core.autocrlf=true", repository.root, clone]);
    expect(run(join(clone, "tools/majordomus/bin/majordomus"), ["vendor", "--check", "."], { cwd: join(clone, "tools/majordomus") })).toMatchObject({ status: 0, stderr: "" });
  });

  test("never built: refused (12), and nothing is made", () => {
    const folder = another();
    for (const path of ["MANIFEST.sha256", "dist/node/more.cjs"]) fs.rmSync(join(folder, path));
    fs.renameSync(join(folder, "dist/node/majordomus.cjs"), join(folder, "majordomus.cjs"));
    const target = join(freshFolder(), "x");
    const source = program("deno");
    const ended = run(join(folder, "bin/majordomus"), ["vendor", target], source === null ? {} : { env: { MAJORDOMUS_RUNTIME: source } });
    expect(ended).toMatchObject({ status: source === null ? 13 : 12, stdout: "" });
    expect(fs.existsSync(target)).toBe(false);
  });
});

describe("vendor: what it replaces", () => {
  test("an older copy, whole; --diff says it before and writes nothing", () => {
    const folder = another();
    makeOlder(folder);
    const before = snapshot(folder);
    const { version } = JSON.parse(fs.readFileSync(join(home, "package.json"), "utf8")) as { readonly version: string };
    const expected = `added LICENSE\nchanged VERSION\nremoved src/ground/gone.ts\nchanged src/index.ts\nvendor: 4 would change, 0.0.9 to ${version}\n`;
    expect(vendor(["--diff", folder])).toEqual({ status: 0, signal: null, stdout: expected, stderr: "" });
    expect(snapshot(folder)).toEqual(before);
    expect(vendor([folder])).toMatchObject({ status: 0, stderr: "" });
    expect(snapshot(folder)).toEqual(snapshot(copy));
    expect(fs.readdirSync(join(folder, ".."))).toEqual([basename(folder)]);
    expect(vendor(["--diff", folder]).stdout).toBe("vendor: nothing would change\n");
  });

  test("an empty directory, and folders on the way that are not there", () => {
    const folder = freshFolder();
    expect(vendor([`${folder}/`])).toMatchObject({ status: 0 });
    expect(vendor(["a/b/c"], { cwd: freshFolder() })).toMatchObject({ status: 0 });
    expect(snapshot(folder)).toEqual(snapshot(copy));
  });

  test("nothing else: somebody's folder, file or link", () => {
    const folder = freshFolder();
    fs.mkdirSync(join(folder, "mine"));
    fs.writeFileSync(join(folder, "mine/a"), "mine");
    fs.writeFileSync(join(folder, "file"), "mine");
    fs.symlinkSync("mine", join(folder, "link"));
    fs.mkdirSync(join(folder, "like"));
    fs.writeFileSync(join(folder, "like/MANIFEST.sha256"), `${"0".repeat(64)}  mine\n`);
    expectRefused(folder, [join(folder, "mine")], "it is not empty and no copy of Majordomus");
    expectRefused(folder, [join(folder, "like")], "it is not empty and no copy of Majordomus");
    expectRefused(folder, [join(folder, "file")], "it is no directory");
    expectRefused(folder, [join(folder, "link")], "it is a symbolic link");
  });

  test("no copy in which something was changed, added or taken away, the first named", () => {
    const changes: readonly (readonly [string, (folder: string) => void])[] = [
      ["'src/index.ts' is changed;", (folder) => fs.appendFileSync(join(folder, "src/index.ts"), "\n")],
      ["'mine.txt' is unknown;", (folder) => fs.writeFileSync(join(folder, "mine.txt"), "mine")],
      ["'LICENSE' is missing and 1 more;", (folder) => ["LICENSE", "VERSION"].forEach((path) => fs.rmSync(join(folder, path)))],
      ["'bin/majordomus' is not executable;", (folder) => fs.chmodSync(join(folder, "bin/majordomus"), 0o644)],
    ];
    for (const [words, change] of changes) {
      const folder = another();
      change(folder);
      expectRefused(folder, [folder], words);
      expectRefused(folder, ["--diff", folder], words);
    }
  });

  test("not itself, nor a folder in it or around it", () => {
    const folder = another();
    const own = (target: string, cwd = "/") => run(join(folder, "bin/majordomus"), ["vendor", target], { cwd });
    const before = snapshot(folder);
    for (const target of [folder, `${folder}/`, join(folder, "new"), join(folder, ".."), "/"]) {
      expect(own(target)).toMatchObject({ status: 10, stderr: expect.stringContaining("the toolkit's own folder") as string });
    }
    expect(own(".", folder)).toMatchObject({ status: 10 });
    expect(own("..", folder)).toMatchObject({ status: 10 });
    expect(snapshot(folder)).toEqual(before);
  });

  test("a copy that was changed is no source (11)", () => {
    const folder = another();
    fs.appendFileSync(join(folder, "share/tables.tsv"), "#\n");
    const target = join(freshFolder(), "x");
    const ended = run(join(folder, "bin/majordomus"), ["vendor", target]);
    expect(ended).toMatchObject({ status: 11, stdout: "", stderr: expect.stringContaining("'share/tables.tsv' is changed") as string });
    expect(fs.existsSync(target)).toBe(false);
  });

  test("killed at any moment: the old copy or the new one, and a second run ends it", async () => {
    for (const killAfter of [60, 90, 120, 160, 220]) {
      const folder = another();
      makeOlder(folder);
      const old = snapshot(folder);
      await runLater(join(copy, "bin/majordomus"), ["vendor", folder], { killAfter });
      if (fs.existsSync(folder)) expect([old, snapshot(copy)]).toContainEqual(snapshot(folder));
      expect(vendor([folder])).toMatchObject({ status: 0, stderr: "" });
      expect(snapshot(folder)).toEqual(snapshot(copy));
      expect(fs.readdirSync(join(folder, ".."))).toEqual([basename(folder)]);
    }
  });

  test("two at once: one whole copy is there, and no stage", async () => {
    const folder = another();
    makeOlder(folder);
    const ended = await Promise.all([1, 2, 3].map(() => runLater(join(copy, "bin/majordomus"), ["vendor", folder])));
    expect(ended.map((one) => one.status)).toContain(0);
    expect(snapshot(folder)).toEqual(snapshot(copy));
    expect(fs.readdirSync(join(folder, ".."))).toEqual([basename(folder)]);
  });

  test("a wrong call is refused (2)", () => {
    for (const args of [[], [""], ["a", "b"], ["--check"], ["--check", "--diff", copy]]) expect(vendor(args)).toMatchObject({ status: 2, stdout: "" });
  });
});

describe("vendor --check", () => {
  const check = (folder: string) => vendor(["--check", folder]);

  test("a copy is as it was written, from itself too", () => {
    expect(check(copy)).toMatchObject({ status: 0, stderr: "" });
    expect(run(join(copy, "bin/majordomus"), ["vendor", "--check", "."], { cwd: copy })).toMatchObject({ status: 0, stderr: "" });
  });

  test("one byte of any file: 11, and its name", () => {
    const folder = another();
    const paths = [...snapshot(folder).keys()].filter((path) => path !== "MANIFEST.sha256");
    const some = paths.filter((_, index) => index % 40 === 0);
    for (const path of some) {
      const bytes = fs.readFileSync(join(folder, path));
      const changed = Buffer.from(bytes);
      changed[0] = (changed[0] ?? 0) ^ 1;
      fs.writeFileSync(join(folder, path), changed);
      expect(check(folder)).toMatchObject({ status: 11, stdout: `changed ${path}\n` });
      fs.writeFileSync(join(folder, path), bytes);
    }
    expect(check(folder)).toMatchObject({ status: 0 });
  });

  test("changed, missing, unknown, not executable: each named in the order of bytes; --json", () => {
    const folder = another();
    fs.rmSync(join(folder, "LICENSE"));
    fs.chmodSync(join(folder, "bin/majordomus"), 0o644);
    fs.writeFileSync(join(folder, "share/é"), "");
    fs.rmSync(join(folder, "VERSION"));
    fs.symlinkSync("README.md", join(folder, "VERSION"));
    const ended = check(folder);
    expect(ended.status).toBe(11);
    expect(Buffer.from(ended.stdout, "latin1").toString("utf8")).toBe("missing LICENSE\nchanged VERSION\nnot executable bin/majordomus\nunknown share/é\n");
    expect(ended.stderr).toMatch(/^majordomus: '.*' differs from its manifest: 4 files\n$/);
    const json = JSON.parse(vendor(["--check", folder, "--json"]).stdout) as { readonly differences: unknown[] };
    expect(json.differences[0]).toEqual({ path: "LICENSE", what: "missing" });
  });

  test("a manifest that was changed: a sum, the form, the order, a path that leads out", () => {
    const folder = another();
    const path = join(folder, "MANIFEST.sha256");
    const text = fs.readFileSync(path, "utf8");
    fs.writeFileSync(path, text.replace(/^.{64}(?= {2}LICENSE$)/m, "0".repeat(64)));
    expect(check(folder)).toMatchObject({ status: 11, stdout: "changed LICENSE\n" });
    const [first = "", second = ""] = text.split("\n");
    const wrong = ["", "x", text.slice(0, -1), text.replace(first, second), `${text}${"0".repeat(64)}  ../x\n`, text.replaceAll("  ", " *")];
    for (const other of wrong) {
      fs.writeFileSync(path, other);
      expect(check(folder)).toMatchObject({ status: 11, stdout: "changed MANIFEST.sha256\n" });
    }
  });

  test("no directory, or no manifest in it: missing (12)", () => {
    expect(check("/nowhere/at/all")).toMatchObject({ status: 12, stdout: "" });
    expect(check(freshFolder())).toMatchObject({ status: 12, stdout: "" });
  });
});

describe("vendored: runs where it lies", () => {
  const runtimes = ["node20", "node22", "node24", "node26", "deno", "bun"];

  for (const name of runtimes) {
    needing(name)(`${name}: the main job in a fresh repository, its share/ routed to the platform`, () => {
      const repository = bareRepository();
      fs.cpSync(copy, repository.path("tools/majordomus"), { recursive: true });
      const env = { MAJORDOMUS_RUNTIME: program(name) ?? "" };
      const mj = (...args: readonly string[]) => {
        const ended = run(repository.path("tools/majordomus/bin/majordomus"), args, { cwd: repository.root, env });
        expect({ args, status: ended.status, stderr: ended.stderr.replace(/^majordomus: knowledge derived: .*\n$/, "") }).toEqual({ args, status: 0, stderr: "" });
        return ended.stdout;
      };
      mj("init");
      repository.git("add", "--all");
      repository.git("commit", "-q", "-m", "first");
      mj("session", "start");
      mj("knowledge", "observe", "--kind", "defect", "--subject", "tools/majordomus/share/tables.tsv", "a word is wrong");
      mj("session", "end");
      expect(mj("knowledge", "candidates")).toContain("about tools/majordomus/share/tables.tsv  route platform  awaiting 1");
      const read = run(repository.path("tools/majordomus/shell/majordomus"), ["knowledge", "candidates"], { cwd: repository.root });
      expect(read).toMatchObject({ status: 0, stderr: "", stdout: mj("knowledge", "candidates") });
      expect(mj("vendor", "--check", "tools/majordomus")).toContain("is as its manifest says");
    });
  }

  for (const name of runtimes) {
    needing(name)(`${name}: in a read-only folder, under node_modules/, through links, in a path with blanks, %, #, ? and accents`, () => {
      const around = join(freshFolder(), "a b%20é#1?", "node_modules");
      fs.mkdirSync(around, { recursive: true });
      fs.cpSync(copy, join(around, "majordomus"), { recursive: true });
      expect(spawnSync("chmod", ["-R", "a-w", around]).status).toBe(0);
      const links = freshFolder();
      fs.symlinkSync(join(around, "majordomus/bin/majordomus"), join(links, "mj"));
      const env = { MAJORDOMUS_RUNTIME: program(name) ?? "" };
      try {
        for (const path of [join(around, "majordomus/bin/majordomus"), join(links, "mj")]) {
          const file = join(home, "share/layer/.ai/manifest.yaml");
          const ended = run(path, ["yaml", "flatten", file], { cwd: links, env });
          expect(ended).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("schema=ai-repository/v1\n") as string });
          expect(run(path, ["--version"], { cwd: links, env })).toMatchObject({ status: 0, stderr: "" });
        }
      } finally {
        spawnSync("chmod", ["-R", "u+w", around]);
      }
    });
  }
});
