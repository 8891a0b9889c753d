// The packed package: the files of a vendored copy with a manifest of its own, runnable where npm puts it, and nothing that runs at install time.
import * as fs from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { needing, program } from "../needs.ts";
import { freshFolder, launcher, run, snapshot } from "../support/repository.ts";

const npm = (args: readonly string[], cwd: string) =>
  run("npm", [...args, "--offline", "--no-audit", "--no-fund", "--no-update-notifier", "--foreground-scripts", "--loglevel=error"], { cwd });

describe("npm pack", () => {
  let tarball = "";
  let unpacked = "";

  beforeAll(() => {
    const folder = freshFolder();
    // Packed from a copy of the checkout: while it is packed, it has a manifest.
    const checkout = join(folder, "checkout");
    const left = [".git", "node_modules", "test"].map((name) => join(home, name));
    fs.cpSync(home, checkout, { recursive: true, filter: (path) => !left.includes(path) });
    fs.symlinkSync(join(home, "node_modules"), join(checkout, "node_modules"));
    const before = snapshot(checkout);
    const packed = npm(["pack", checkout, "--pack-destination", folder, "--silent"], folder);
    expect(packed).toMatchObject({ status: 0 });
    expect(snapshot(checkout)).toEqual(before);
    tarball = join(folder, packed.stdout.trim().split("\n").pop() ?? "");
    expect(run("tar", ["-xzf", tarball], { cwd: folder })).toMatchObject({ status: 0 });
    unpacked = join(folder, "package");
  }, 120_000);

  test("holds every file of a copy but its git files, and beside them documents only", () => {
    const copy = join(freshFolder(), "copy");
    expect(run(launcher, ["vendor", copy])).toMatchObject({ status: 0 });
    const ours = snapshot(unpacked);
    const its = snapshot(copy);
    const differing = [...its].filter(([path, seen]) => ours.get(path) !== seen).map(([path]) => path);
    expect(differing).toEqual([".gitattributes", ".gitignore", "MANIFEST.sha256", "README.md", "package.json"]);
    const more = [...ours.keys()].filter((path) => !its.has(path));
    expect(more.filter((path) => !/^(?:docs\/.*\.md|[A-Z]+\.md)$/.test(path))).toEqual([]);
  });

  test("is as its manifest says, and a file changed in it is told and not vendored", () => {
    expect(run(launcher, ["vendor", "--check", unpacked])).toMatchObject({ status: 0, stderr: "" });
    const changed = join(freshFolder(), "package");
    fs.cpSync(unpacked, changed, { recursive: true });
    fs.appendFileSync(join(changed, "src/index.ts"), "\n");
    expect(run(join(changed, "bin/majordomus"), ["vendor", "--check", changed])).toMatchObject({ status: 11, stdout: "changed src/index.ts\n" });
    expect(run(join(changed, "bin/majordomus"), ["vendor", join(freshFolder(), "copy")])).toMatchObject({ status: 11 });
  });

  test("vendors the same bytes as the checkout", () => {
    const folder = freshFolder();
    for (const [name, path] of [["a", launcher], ["b", join(unpacked, "bin/majordomus")]] as const) {
      expect(run(path, ["vendor", join(folder, name)])).toMatchObject({ status: 0 });
    }
    expect(snapshot(join(folder, "b"))).toEqual(snapshot(join(folder, "a")));
  });

  test("every path that its package.json names is in it", () => {
    const { bin, exports } = JSON.parse(fs.readFileSync(join(unpacked, "package.json"), "utf8")) as {
      readonly bin: Readonly<Record<string, string>>;
      readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
    };
    const paths = [bin, exports].flatMap((table) => Object.values(table).flatMap((value) => (typeof value === "string" ? [value] : Object.values(value))));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect({ path, found: fs.existsSync(join(unpacked, path)) }).toEqual({ path, found: true });
  });

  needing("npm")("npm installs it offline, runs nothing of it, and starts it", () => {
    const folder = freshFolder();
    fs.writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
    const ended = npm(["install", tarball], folder);
    expect({ status: ended.status, stderr: ended.stderr }).toEqual({ status: 0, stderr: "" });
    const scripts = ["preinstall", "install", "postinstall", "preuninstall", "uninstall", "postuninstall"];
    const { scripts: own } = JSON.parse(fs.readFileSync(join(unpacked, "package.json"), "utf8")) as { readonly scripts: Record<string, string> };
    expect(Object.keys(own).filter((name) => scripts.includes(name))).toEqual([]);
    expect(fs.readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["majordomus-knowledge"]);
    const bin = join(folder, "node_modules/.bin/majordomus");
    expect(run(bin, ["--version"], { cwd: folder })).toMatchObject({ status: 0, stderr: "", stdout: run(launcher, ["--version"]).stdout });
    expect(npm(["exec", "--", "majordomus", "--version"], folder)).toMatchObject({ status: 0, stdout: run(launcher, ["--version"]).stdout });
    for (const name of ["node22", "deno", "bun"]) {
      const path = program(name);
      if (path === null) continue;
      const env = { MAJORDOMUS_RUNTIME: path };
      expect({ name, ...run(bin, ["--help"], { cwd: folder, env }) }).toMatchObject({ name, status: 0, stderr: "" });
    }
  });
});
