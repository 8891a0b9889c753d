/** Before all tests: dist/ is what the source builds, and one folder takes every temporary file of the run. */
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { build, bundlePath, home } from "../build/bundle.mjs";

declare module "vitest" {
  interface ProvidedContext {
    temporary: string;
  }
}

/** Each project of the matrix sets up; one build serves all. */
const built: { once?: Promise<void> } = ((globalThis as { majordomusBuilt?: object }).majordomusBuilt ??= {});

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    await (built.once ??= build());
  } catch (error) {
    // No test may run an older build; those that need none still run, and test/e2e/launcher.test.ts fails.
    rmSync(join(home, bundlePath), { force: true });
    process.stderr.write(`the bundle does not build: ${error instanceof Error ? error.message : String(error)}\n`);
  }
  const temporary = mkdtempSync(join(tmpdir(), "majordomus-test-"));
  chmodSync(temporary, 0o755); // some tests start a program as another user
  project.provide("temporary", temporary);
  // Not at once: while it lasted, the workers' last words would go unheard, and they would be taken for stuck.
  return () => rm(temporary, { recursive: true, force: true });
}
