/** Runs the program and writes documents for the tests of scenarios. */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { home } from "../../build/bundle.mjs";

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
}

/** Runs `majordomus scenario` with these arguments. */
export function scenario(args: readonly string[], environment: Readonly<Record<string, string>> = {}, directory = home): Promise<Ran> {
  const started = process.hrtime.bigint();
  return new Promise((resolve, reject) => {
    const child = spawn(join(home, "bin/majordomus"), ["scenario", ...args], {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout, stderr, seconds: Number(process.hrtime.bigint() - started) / 1e9 }));
  });
}

export function newFolder(): string {
  return mkdtempSync(join(tmpdir(), "scenarios-"));
}

/** A file of a new folder. */
export function written(name: string, text: string): string {
  const path = join(newFolder(), name);
  writeFileSync(path, text);
  return path;
}

/** A program for `--with`. */
export function script(text: string): string {
  const path = written("program", `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A document of one step and its expectations, as lines of YAML. */
export function oneStep(expectations: string, { setup = "bare", run = "[]", step = "" } = {}): string {
  return `setup: ${setup}\nsteps:\n  - id: only\n    run: ${run}\n${step}    expect:\n${expectations.replace(/^(?=.)/gm, "      ")}\n`;
}
