// No text with a credential's shape reaches the ledger or a tracked file, by whichever command, and none is repeated.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { secretShape } from "../../src/ground/secrets.ts";
import { run } from "../support/repository.ts";
import { call, memoryFolder, noFault, rememberingGit, restore, treeOf } from "./machine.ts";
import type { Tree } from "./machine.ts";

const folder = memoryFolder();
const root = join(folder, "repository");
// In two parts, so that no scanner takes this file for a leak.
const value = ["ghp_", "Ab0Cd1Ef2Gh3Ij4Kl5Mn6Op7Qr8St9Uv0Wx1"].join("");
let base: Tree;
let candidate = "";

const mj = (args: readonly string[], input?: string) => call({ root, args, seed: 7, ...(input === undefined ? {} : { input }) }, noFault);

beforeAll(async () => {
  process.env["MAJORDOMUS_NOW"] = "2026-10-09T10:00:00Z";
  mkdirSync(root);
  run("git", ["init", "-q", "-b", "main"], { cwd: root });
  for (const args of [
    ["init"],
    ["session", "start", "--owner", "o"],
    ["start", "t", "--scope", "lib"],
    ["question", "add", "Which port?"],
    ["knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "a.sh prints the wrong word"],
    ["knowledge", "derive"],
  ]) await mj(args);
  candidate = readdirSync(join(root, ".ai/repo/knowledge/candidates")).find((name) => name.startsWith("s-"))?.slice(0, -3) ?? "";
  writeFileSync(join(root, "note.md"), `# Reason\n\nThe key was ${value}.\n`);
  base = treeOf(root);
}, 120_000);

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  delete process.env["MAJORDOMUS_NOW"];
});

/** Every text of the contract that can reach a tracked file. */
const texts: readonly (readonly [what: string, args: (text: string) => readonly string[], input?: (text: string) => string])[] = [
  ["a statement", (text) => ["knowledge", "observe", "--kind", "drift", "--subject", "lib/a.sh", text]],
  ["a subject", (text) => ["knowledge", "observe", "--kind", "drift", "--subject", `lib/${text}`, "x"]],
  ["an observation's evidence", (text) => ["knowledge", "observe", "--kind", "drift", "--subject", "lib", "--evidence", `issue:${text}`, "x"]],
  ["a decision", (text) => ["decision", "add", text, "--why", "w"]],
  ["a decision's why", (text) => ["decision", "add", "d", "--why", text]],
  ["a question", (text) => ["question", "add", text]],
  ["an answer", (text) => ["question", "resolve", "1", "--answer", text]],
  ["a task", (text) => ["start", text, "--scope", "lib"]],
  ["a task's owner", (text) => ["start", "t", "--scope", "lib", "--owner", text]],
  ["a worker", (text) => ["session", "start", "--worker", text]],
  ["an owner", (text) => ["session", "start", "--owner", text]],
  ["a provider's session", (text) => ["session", "start", "--provider-session", text]],
  ["a note's reason", () => ["finish", "--outcome", "failed", "--note", "note.md"]],
  ["a verify command", (text) => ["finish", "--outcome", "completed", "--verify-command", `false ${text}`]],
  ["a reason to reject", (text) => ["knowledge", "reject", "ID", "--reason", text]],
  ["a promotion's evidence", () => ["knowledge", "promote", "ID"], (text) => `seen\n${text}\n`],
];

test.each(texts.map(([what, args, input]) => ({ what, args, input })))("$what with a credential's shape: exit 10, the shape named, the value nowhere, every file as it was", async ({ args, input }) => {
  await rememberingGit(async () => {
    restore(root, base);
    const words = args(value).map((word) => (word === "ID" ? candidate : word));
    const ended = await mj(words, input?.(value));
    expect([ended.status, ended.output, ended.complaints.length]).toEqual([10, "", 1]);
    expect(ended.complaints[0]).toContain("a GitHub token");
    expect(ended.complaints[0]).not.toContain(value.slice(0, 12));
    expect(treeOf(root)).toEqual(base);
    const allowed = await mj([...words, "--allow-secret"], input?.(value));
    expect(allowed.complaints.join()).not.toContain("carries the shape");
  });
}, 60_000);

test("check finds a credential's shape in a record, and does not repeat it", async () => {
  restore(root, base);
  const path = join(root, `.ai/repo/knowledge/candidates/${candidate}.md`);
  writeFileSync(path, readFileSync(path, "utf8").replace("wrong word.\n", `wrong word ${value}.\n`) + `\n${value}\n`);
  for (const format of [[], ["--format", "github"], ["--format", "sarif"], ["--json"]]) {
    const ended = await mj(["knowledge", "check", ...format]);
    expect(`${ended.output}${ended.complaints.join()}`).toContain("a GitHub token");
    expect(`${ended.output}${ended.complaints.join()}`).not.toContain(value.slice(0, 12));
  }
});

test("secretShape: no false alarm in this project's own text, nor on hashes, ids and paths", () => {
  const alarms: string[] = [];
  const walk = (path: string) => {
    for (const entry of readdirSync(join(home, path), { withFileTypes: true })) {
      const below = path === "" ? entry.name : `${path}/${entry.name}`;
      // What is installed, built or git's; tests, and the scenario that shows a refusal, hold shapes on purpose.
      if (/^(?:node_modules|dist|\.git|test)$/.test(below) || below === "scenarios/refuse-a-conversation.md") continue;
      if (entry.isDirectory()) walk(below);
      else if (entry.isFile() && statSync(join(home, below)).size < 1 << 20) {
        for (const line of readFileSync(join(home, below), "utf8").split("\n")) {
          const shape = secretShape(line);
          if (shape !== null) alarms.push(`${below}: ${shape}: ${line.slice(0, 80)}`);
        }
      }
    }
  };
  walk("");
  expect(alarms).toEqual([]);
});

test("secretShape: a megabyte of what almost matches any shape takes time in proportion", () => {
  for (const piece of ["eyJ", "eyJaaaaaaaa.", "a://", "a+", "x://a:b", "password", "password=\"", "-----BEGIN A ", "AKIA", "sk-ant-", "ghp_a", "xoxb-", "api_key: ", "://:@"]) {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const started = performance.now();
    secretShape(text);
    expect([piece, performance.now() - started < 5_000]).toEqual([piece, true]);
  }
});
