import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryPrefix } from "../../../src/host/files.ts";
import { here, ownerName } from "../../../src/host/owner.ts";
import { clearStages, stageFolder, treeBelow } from "../../../src/host/tree.ts";
import type { TreeFile } from "../../../src/host/tree.ts";
import { failingAt, systemError, withOperations } from "./faults.ts";

let parent = "";
let target = "";

beforeEach(() => {
  parent = fs.mkdtempSync(join(tmpdir(), "tree-"));
  target = join(parent, "the place");
});

const file = (path: string, text: string, mode = 0o644): TreeFile => ({ path, bytes: Buffer.from(text), mode });
const older = [file("a", "old"), file("gone/b", "old")];
const newer = [file("a", "new"), file("c/d/e", "new"), file("c/run", "new", 0o755)];

/** The files of a folder as `path mode text`; `null` where there is none. */
function seen(folder: string): string[] | null {
  if (!fs.existsSync(folder)) return null;
  const shown = ({ path }: { readonly path: string }) =>
    `${path} ${(fs.statSync(join(folder, path)).mode & 0o777).toString(8)} ${fs.readFileSync(join(folder, path), "utf8")}`;
  return treeBelow(folder).map(shown);
}

const write = (files: readonly TreeFile[]) => stageFolder(target, files).commit(() => undefined);
const stages = () => fs.readdirSync(parent).filter((name) => name.startsWith(temporaryPrefix));
const asOld = ["a 644 old", "gone/b 644 old"];
const asNew = ["a 644 new", "c/d/e 644 new", "c/run 755 new"];

describe("stageFolder", () => {
  test("makes a folder, and replaces one whole, with exact modes whatever the mask", () => {
    const mask = process.umask(0o077);
    try {
      write(older);
      expect(seen(target)).toEqual(asOld);
      write(newer);
      expect(seen(target)).toEqual(asNew);
      expect((fs.statSync(join(target, "c/d")).mode & 0o777).toString(8)).toBe("755");
      expect(fs.readdirSync(parent)).toEqual([basename(target)]);
    } finally {
      process.umask(mask);
    }
  });

  test("discard leaves nothing, and the place as it was", () => {
    write(older);
    stageFolder(target, newer).discard();
    expect(seen(target)).toEqual(asOld);
    expect(stages()).toEqual([]);
  });

  test("what the recheck throws goes on, and the old folder is back", () => {
    write(older);
    const staged = stageFolder(target, newer);
    expect(() => staged.commit((aside) => {
      expect(seen(aside)).toEqual(asOld);
      throw new Error("it was changed");
    })).toThrow("it was changed");
    expect(seen(target)).toEqual(asOld);
    expect(stages()).toEqual([]);
  });

  test("another writer's folder that came meanwhile stays whole, and no stage is left", () => {
    write(older);
    const staged = stageFolder(target, newer);
    expect(() => staged.commit(() => stageFolder(target, newer).commit(() => undefined))).toThrow("directory not empty");
    expect(seen(target)).toEqual(asNew);
    expect(stages()).toEqual([]);
  });

  test("the n-th call fails: the old folder or the new one is there, and no stage but one that could not be removed", () => {
    for (let n = 1; ; n += 1) {
      fs.rmSync(target, { recursive: true, force: true });
      write(older);
      const { failed, thrown } = failingAt(n, "EIO", () => write(newer));
      if (failed === undefined) {
        expect(n).toBeGreaterThan(30);
        break;
      }
      const now = seen(target);
      expect([asOld, asNew]).toContainEqual(now);
      if (thrown === undefined) expect({ n, failed, now }).toEqual({ n, failed, now: asNew });
      else expect(thrown).toMatchObject({ code: "could-not-write" });
      for (const stage of stages()) {
        expect(["unlinkSync", "rmdirSync", "readdirSync"]).toContain(failed);
        fs.rmSync(join(parent, stage), { recursive: true });
      }
    }
  });
});

describe("clearStages", () => {
  /** Makes a stage look like one of a process that has ended. */
  function orphan(stage: string): void {
    const ended = spawnSync("true").pid;
    fs.renameSync(join(parent, stage), join(parent, `${temporaryPrefix}${ownerName({ ...here(), pid: ended, nonce: "0a" })}`));
  }

  test("a kill before the n-th call: afterwards the old folder or the new one is there, and nothing else", () => {
    const outcomes = new Set<string>();
    for (let n = 1; ; n += 1) {
      fs.rmSync(target, { recursive: true, force: true });
      write(older);
      let count = 0;
      const names = ["chmodSync", "closeSync", "fchmodSync", "fsyncSync", "mkdirSync", "openSync", "readdirSync", "renameSync", "rmdirSync", "unlinkSync", "writeSync"] as const;
      const dying = Object.fromEntries(
        names.map((name) => [name, (real: (...values: unknown[]) => unknown, ...values: unknown[]) => {
          count += 1;
          if (count >= n) throw systemError("EIO");
          return real(...values);
        }]),
      );
      withOperations(dying, () => {
        try {
          write(newer);
        } catch {
          // It is dead.
        }
      });
      const left = stages();
      for (const stage of left) orphan(stage);
      outcomes.add(String(seen(target) === null ? "missing" : (seen(target) ?? [])[0]));
      clearStages(parent);
      expect([asOld, asNew]).toContainEqual(seen(target));
      expect(fs.readdirSync(parent)).toEqual([basename(target)]);
      if (count < n) break;
    }
    expect([...outcomes].sort()).toEqual(["a 644 new", "a 644 old", "missing"]);
  });

  test("a stage whose owner lives, and a folder of another name, stay", () => {
    const staged = stageFolder(target, newer);
    fs.mkdirSync(join(parent, `${temporaryPrefix}abcdef`));
    clearStages(parent);
    expect(stages()).toHaveLength(2);
    staged.commit(() => undefined);
    expect(seen(target)).toEqual(asNew);
  });
});
