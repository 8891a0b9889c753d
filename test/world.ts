/**
 * Freezes the world before each test file: the environment is made anew, so that no test, and no program that one
 * starts, sees the settings of whoever runs them. What the tests themselves read is kept: MAJORDOMUS_NOTHING_SKIPPED
 * and the names that begin with MAJORDOMUS_TEST_.
 */
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { delimiter, join, sep } from "node:path";
import { inject } from "vitest";
import { program } from "./needs.ts";

/** Vitest's own settings and the search path stay. */
const kept = /^(?:PATH|VITEST.*|NODE_ENV|TEST|PROD|DEV|SSR|MODE|BASE_URL|MAJORDOMUS_NOTHING_SKIPPED|MAJORDOMUS_TEST_.*)$/;

// Set and deleted one by one: process.env itself is vitest's.
for (const name of Object.keys(process.env)) if (!kept.test(name)) delete process.env[name];

const temporary = mkdtempSync(join(inject("temporary"), "file-"));
chmodSync(temporary, 0o755);
const empty = join(temporary, "home");
mkdirSync(empty);
const gitConfiguration = join(temporary, "gitconfig");
writeFileSync(gitConfiguration, "[init]\n\tdefaultBranch = main\n");

// npm puts its folders in front; a test must not find a program there that a user would not have.
const programs = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.split(sep).includes("node_modules"));

Object.assign(process.env, {
  PATH: programs.join(delimiter),
  HOME: empty,
  TMPDIR: temporary,
  LC_ALL: "C",
  TZ: "UTC",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: gitConfiguration,
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "A. Author",
  GIT_AUTHOR_EMAIL: "author@example.org",
  GIT_AUTHOR_DATE: "2026-01-02T03:04:05Z",
  GIT_COMMITTER_NAME: "A. Author",
  GIT_COMMITTER_EMAIL: "author@example.org",
  GIT_COMMITTER_DATE: "2026-01-02T03:04:05Z",
});

// The matrix of vitest.config.ts: everything that a test starts through the launcher runs under this runtime.
const runtime = process.env["MAJORDOMUS_TEST_RUNTIME"];
if (runtime !== undefined) {
  const path = program(runtime);
  if (path === null) throw new Error(`not installed: ${runtime}`);
  process.env["MAJORDOMUS_RUNTIME"] = path;
  // Deno and Bun keep what they have compiled; a test that looks at its HOME is not to find it there.
  process.env["DENO_DIR"] = join(temporary, "deno");
  process.env["BUN_RUNTIME_TRANSPILER_CACHE_PATH"] = join(temporary, "bun");
}
