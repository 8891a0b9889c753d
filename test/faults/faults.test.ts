// Every command that writes, with each of its file operations failing, and killed before each.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { prepared, writings } from "./commands.ts";
import { faultsOf, plain } from "./judge.ts";
import type { Fault } from "./machine.ts";
import { memoryFolder, rememberingGit } from "./machine.ts";

const folder = memoryFolder();
const kinds: readonly Fault["kind"][] = ["kill", "once", "from"];
const codes = ["ENOSPC", "EIO", "EACCES", "EROFS"] as const;

/** Each operation is tried in one of the three ways and with one of the codes; in all of them with MAJORDOMUS_TEST_FULL. */
function faultsAt(at: number): Fault[] {
  if (process.env["MAJORDOMUS_TEST_FULL"] === undefined) return [{ kind: kinds[at % 3] as Fault["kind"], at, code: codes[at % 4] as string }];
  return kinds.flatMap((kind) => (kind === "kill" ? ["EKILLED"] : codes).map((code) => ({ kind, at, code })));
}

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  delete process.env["MAJORDOMUS_NOW"];
});

test.each(writings.map((writing, index) => ({ title: writing.title, writing, index })))(
  "$title: the n-th file operation fails, or is never reached, for every n",
  async ({ writing, index }) => {
    await rememberingGit(async () => {
      const root = join(folder, `r${index}`);
      const plainly = await plain(root, writing, await prepared(root, writing));
      expect(plainly.count).toBeGreaterThan(5);
      const wrong: string[] = [];
      for (let at = 1; at <= plainly.count; at += 1) for (const fault of faultsAt(at)) wrong.push(...(await faultsOf(plainly, fault)));
      expect(wrong).toEqual([]);
    });
  },
  300_000,
);
