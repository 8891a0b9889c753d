import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";

test("SECURITY.md: each promise names a test that is there, and it says what deletes the local state", () => {
  const page = readFileSync(join(home, "SECURITY.md"), "utf8");
  const promised = page.slice(page.indexOf("## What is promised"), page.indexOf("## What is not promised"));
  const promises = promised.split(/\n(?=- )/).filter((part) => part.startsWith("- "));
  expect(promises.length).toBeGreaterThan(10);
  for (const promise of promises) {
    const tests = [...promise.matchAll(/`(test\/[^`]+)`/g)].map((match) => match[1] ?? "");
    expect(tests.length, promise).toBeGreaterThan(0);
    for (const path of tests) expect([path, existsSync(join(home, path))]).toEqual([path, true]);
  }
  expect(page).toContain("`git worktree remove` and `git clean -x`");
});
