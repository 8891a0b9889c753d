/**
 * `npm run bench`: ratios measured in one run, each command against a bare program in turn. Data is built from a seed. A ratio
 * holds when the machine's speed drifts; the times are there to see whether it did. `npm run bench -- WORD` runs the rows whose name has WORD.
 */
import { spawnSync } from "node:child_process";
import { closeSync, cpSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const home = fileURLToPath(new URL("../", import.meta.url));
const program = join(home, "bin/majordomus");
const reader = join(home, "shell/majordomus");
const bundle = join(home, "dist/node/majordomus.cjs");
const scratch = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "majordomus-bench-"));
/** Deno asks for all permissions below /dev: what it starts in lies elsewhere. */
const plain = mkdtempSync(join(tmpdir(), "majordomus-bench-"));
const seed = 20_261_130;

const environment: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: scratch,
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "bench",
  GIT_AUTHOR_EMAIL: "bench@example.org",
  GIT_COMMITTER_NAME: "bench",
  GIT_COMMITTER_EMAIL: "bench@example.org",
};

/** A generator of whole numbers below a limit: the same from the same seed. */
function numbersFrom(start: number): (limit: number) => number {
  let state = start;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

type Argv = readonly [string, ...string[]];

interface Row {
  readonly name: string;
  /** What is measured, and what it is held against; both run in `directory`. */
  readonly command: Argv;
  readonly against: Argv;
  readonly directory: string;
  readonly runs: number;
  /** The ratio that the median is not to pass; none where it is only told. */
  readonly limit?: number;
  /** What the command's environment has beside the common one. */
  readonly environment?: NodeJS.ProcessEnv;
  /** Prepares each run of the command. */
  readonly before?: () => void;
}

function timeOf(command: Argv, directory: string, added: NodeJS.ProcessEnv = {}): number {
  const [file, ...args] = command;
  const env = { ...environment, ...added };
  const begin = process.hrtime.bigint();
  const run = spawnSync(file, args, { cwd: directory, env, stdio: ["ignore", "ignore", "pipe"] });
  const end = process.hrtime.bigint();
  if (run.status !== 0) throw new Error(`${command.join(" ")}: ${run.error?.message ?? run.stderr.toString()}`);
  return Number(end - begin) / 1e6;
}

function median(values: readonly number[]): number {
  const ordered = [...values].sort((left, right) => left - right);
  return ordered[Math.floor(ordered.length / 2)] ?? Number.NaN;
}

function measure(row: Row): void {
  const own: number[] = [];
  const other: number[] = [];
  for (let run = -1; run < row.runs; run += 1) {
    row.before?.();
    const a = timeOf(row.command, row.directory, row.environment);
    const b = timeOf(row.against, row.directory);
    if (run < 0) continue;
    own.push(a);
    other.push(b);
  }
  const ratio = median(own.map((time, index) => time / (other[index] as number)));
  const limit = row.limit === undefined ? "" : `  limit ${row.limit}${ratio <= row.limit ? "" : "  OVER"}`;
  const times = `${median(own).toFixed(1).padStart(8)} ms / ${median(other).toFixed(1).padStart(7)} ms`;
  print(`${row.name.padEnd(58)} ${ratio.toFixed(2).padStart(6)} x  ${times}${limit}\n`);
}

function print(text: string): void {
  process.stdout.write(text);
}

function git(directory: string, ...args: readonly string[]): void {
  const run = spawnSync("git", args, { cwd: directory, env: environment });
  if (run.status !== 0) throw new Error(`git ${args.join(" ")}: ${run.stderr.toString()}`);
}

function majordomus(directory: string, ...args: readonly string[]): void {
  timeOf([program, ...args], directory);
}

/** A repository with a layer, one commit, and so many records. */
function repositoryOf(name: string, records: number, above = scratch): string {
  const directory = join(above, name);
  mkdirSync(directory);
  git(directory, "init", "--quiet", "--initial-branch=main");
  majordomus(directory, "init");
  git(directory, "add", "--all");
  git(directory, "commit", "--quiet", "--message", "layer");
  const number = numbersFrom(seed);
  for (let index = 0; index < records; index += 1) {
    const day = String(1 + number(28)).padStart(2, "0");
    const episode = `s-202610${day}100000-${number(65_536).toString(16).padStart(4, "0")}`;
    const id = `${episode}-${index.toString(16).padStart(12, "0")}`;
    writeFileSync(join(directory, `.ai/repo/knowledge/candidates/${id}.md`), recordOf(id, episode, day, number(records / 10 + 1), index));
  }
  return directory;
}

function recordOf(id: string, episode: string, day: string, subject: number, index: number): string {
  const title = `a.sh prints the wrong word, number ${index}`;
  const description = `Observed as defect about lib/a${subject}.sh in episode ${episode}.`;
  return `---
schema: knowledge/v1
id: ${id}
kind: knowledge
class: lesson
title: "${title}"
description: "${description}"
status: candidate
epistemics: observed
date: 2026-10-${day}
tags:
  - derived
  - observation
about: "lib/a${subject}.sh"
route: project
provenance:
  origin: extracted
  derived_from:
    - session:${episode}
---

# ${title}

${description}
`;
}

/** Appends so many observations of other episodes to a repository's ledger, and some of one. */
function fillLedger(directory: string, lines: number, own: string, ownLines: number): void {
  mkdirSync(join(directory, ".ai/local/state"), { recursive: true });
  const file = openSync(join(directory, ".ai/local/state/ledger.jsonl"), "a");
  const number = numbersFrom(seed);
  const every = Math.floor(lines / ownLines);
  let pending = "";
  for (let index = 0; index < lines; index += 1) {
    const session = index % every === 0 ? own : `s-20261001100000-${number(200).toString(16).padStart(4, "0")}`;
    pending += `{"ts":"2026-10-09T10:00:00Z","event":"observation.recorded","head":"NONE","branch":"main","by":"majordomus-ts/0.1.0","session":"${session}","task_id":"none","kind":"defect","subject":"lib/a${number(100)}.sh","statement":"a.sh prints the wrong word, number ${index}, and more","evidence":["issue:I${index}"]}\n`;
    if (pending.length > 1 << 20) {
      writeSync(file, pending);
      pending = "";
    }
  }
  writeSync(file, pending);
  closeSync(file);
}

const readEach = `const fs=require("fs"),d=".ai/repo/knowledge/candidates/";for(const n of fs.readdirSync(d))fs.readFileSync(d+n)`;
const bare: Argv = ["node", "-e", "0"];

/** The runtimes of test/tools, and those in PATH. */
function* runtimes(): Generator<readonly [kind: "node" | "deno" | "bun", path: string]> {
  const tools = join(home, "test/tools/node_modules");
  const places = {
    node: ["node22", "node24", "node26"].map((name) => join(tools, name, "bin/node")),
    deno: [join(tools, ".bin/deno")],
    bun: [join(tools, ".bin/bun")],
  } as const;
  for (const kind of ["node", "deno", "bun"] as const) {
    const found = spawnSync("sh", ["-c", `command -v ${kind}`], { encoding: "utf8" }).stdout.trim();
    for (const path of new Set([found, ...places[kind]])) if (path !== "" && existsSync(path)) yield [kind, path];
  }
}

/** Calls that change nothing here, one for each command that has such a call. */
const startCalls: readonly (readonly string[])[] = [
  ["--version"],
  ["--help"],
  ["init"],
  ["session", "status"],
  ["session", "list"],
  ["decision", "list"],
  ["question", "list"],
  ["history"],
  ["knowledge", "candidates"],
  ["knowledge", "derive", "--dry-run"],
  ["knowledge", "check"],
  ["knowledge", "status"],
  ["yaml", "flatten", ".ai/manifest.yaml"],
  ["scenario", "list"],
  ["vendor", "--diff", "../vendored"],
  ["completion", "bash"],
];

/** The start of each command under each runtime, against the runtime's own. */
function* startRows(directory: string): Generator<Row> {
  // What Deno and Bun take long to load is not ours: their bare start loads the same built-in modules.
  const file = join(plain, "bare.mjs");
  writeFileSync(file, ["fs", "path", "buffer", "module"].map((name) => `import "node:${name}";\n`).join(""));
  for (const [kind, path] of runtimes()) {
    const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.split("\n")[0]?.replace(/^v|^deno | \(.*/g, "") ?? "";
    const against: Argv =
      kind === "node" ? [path, "-e", "0"] : kind === "deno" ? [path, "run", "--no-config", "--no-lock", "-A", file] : [path, file];
    for (const call of startCalls) {
      const isLimited = call[0] === "--version" || call[1] === "candidates";
      const limit = !isLimited ? undefined : kind !== "node" ? 2 : call[0] === "--version" ? 1.3 : 1.4;
      yield {
        name: `start, ${kind} ${version}: ${call.slice(0, 2).join(" ")}`,
        command: [program, ...call],
        environment: { MAJORDOMUS_RUNTIME: path, DENO_NO_UPDATE_CHECK: "1" },
        against,
        directory,
        runs: 15,
        ...(limit === undefined ? {} : { limit }),
      };
    }
  }
}

/** A provider's start and end of a session in which 20 observations were made, over a ledger of 5,000 lines of others. */
function* eventRows(): Generator<Row> {
  const event = (name: string): Argv => ["sh", "-c", `exec "$1" capture session --provider generic --event ${name} <payload.json`, "sh", program];
  const idle = repositoryOf("idle", 20);
  writeFileSync(join(idle, "payload.json"), '{"session_id":"one"}');
  fillLedger(idle, 5000, "s-20261009100000-1a2b", 20);
  const open = join(scratch, "open");
  cpSync(idle, open, { recursive: true });
  timeOf(event("start"), open);
  for (let index = 0; index < 20; index += 1) {
    const observe = ["knowledge", "observe", "--kind", "defect", "--subject", `lib/a${index}.sh`, `number ${index}`];
    timeOf([program, ...observe], open, { MAJORDOMUS_PROVIDER_SESSION: "one" });
  }
  for (const [name, from] of [["start", idle], ["end", open]] as const) {
    const directory = join(scratch, `at-${name}`);
    const before = (): void => {
      rmSync(directory, { recursive: true, force: true });
      cpSync(from, directory, { recursive: true });
    };
    yield { name: `provider event ${name}, 5,000 lines / node -e 0`, command: event(name), against: bare, directory, runs: 20, limit: 5, before };
  }
}

function* rows(): Generator<Row> {
  const few = repositoryOf("few", 20);
  const start = { against: bare, directory: few, runs: 30 };
  yield { ...start, name: "--version / node -e 0", command: [program, "--version"], limit: 1.3 };
  yield { ...start, name: "knowledge candidates, 20 records / node -e 0", command: [program, "knowledge", "candidates"], limit: 1.4 };
  const starting = repositoryOf("starting", 20, plain);
  majordomus(starting, "vendor", "../vendored");
  yield* startRows(starting);
  majordomus(few, "session", "start");
  const observe: Argv = [program, "knowledge", "observe", "--kind", "defect", "--subject", ".gitignore", "it is so"];
  yield { ...start, name: "knowledge observe / node -e 0", command: observe, limit: 2 };
  const shell = (awk: string): Argv => ["env", `MAJORDOMUS_AWK=${awk}`, "dash", reader, "knowledge", "candidates"];
  yield { ...start, name: "shell reader, 20 records, mawk / mawk 'BEGIN{}'", command: shell("mawk"), against: ["mawk", "BEGIN{}"], limit: 10 };
  yield { ...start, name: "shell reader, 20 records, gawk / gawk 'BEGIN{}'", command: shell("gawk"), against: ["gawk", "BEGIN{}"], limit: 18 };

  yield* eventRows();

  const many = repositoryOf("many", 10_000);
  const read = { directory: many, runs: 7 };
  const count = (awk: string): Argv => ["sh", "-c", `exec ${awk} 'END { print NR }' .ai/repo/knowledge/candidates/*.md`];
  yield { ...read, name: "knowledge candidates, 10,000 records / reading each", command: [program, "knowledge", "candidates"], against: ["node", "-e", readEach], limit: 3.5 };
  yield { ...read, name: "shell reader, 10,000 records, mawk / counting lines", command: shell("mawk"), against: count("mawk"), limit: 8 };
  yield { ...read, name: "shell reader, 10,000 records, gawk / counting lines", command: shell("gawk"), against: count("gawk"), limit: 12 };
  yield { ...read, name: "knowledge check / candidates, 10,000 records", command: [program, "knowledge", "check"], against: [program, "knowledge", "candidates"], limit: 3 };
  const ten = repositoryOf("ten-times-as-many", 100_000);
  yield { name: "knowledge candidates, 100,000 records / reading each", command: [program, "knowledge", "candidates"], against: ["node", "-e", readEach], directory: ten, runs: 3, limit: 3.5 };
  rmSync(ten, { recursive: true });

  const episode = "s-20261009100000-1a2b";
  const long = repositoryOf("long", 0);
  fillLedger(long, 1_000_000, episode, 20);
  const readLedger: Argv = ["node", "-e", `require("fs").readFileSync(".ai/local/state/ledger.jsonl")`];
  yield { name: "knowledge derive, 1,000,000 lines / readFileSync", command: [program, "knowledge", "derive", "--episode", episode], against: readLedger, directory: long, runs: 5, limit: 1 };
  print(`${"  its peak memory".padEnd(58)} ${peakMegabytes(long, ["knowledge", "derive", "--episode", episode]).toFixed(0).padStart(6)} MB  limit 100\n`);
  rmSync(long, { recursive: true });
}

/** The peak memory of a command in megabytes, as the runtime itself counts it. */
function peakMegabytes(directory: string, args: readonly string[]): number {
  const script = `process.on("exit",()=>require("fs").writeSync(2,String(process.resourceUsage().maxRSS)));process.argv=[process.argv[0],${JSON.stringify(bundle)},...${JSON.stringify(args)}];require(${JSON.stringify(bundle)})`;
  const run = spawnSync("node", ["-e", script], { cwd: directory, env: environment, encoding: "utf8" });
  return Number(run.stderr.match(/[0-9]+$/)?.[0]) / 1024;
}

const only = process.argv[2] ?? "";
try {
  print(`node ${process.versions.node}, seed ${seed}; ratio of medians pair by pair, then the medians\n`);
  for (const row of rows()) {
    if (!row.name.includes(only)) continue;
    const missing = !row.against[0].includes("/") && row.against[0] !== "node" && spawnSync("sh", ["-c", `command -v ${row.against[0]}`]).status !== 0;
    if (missing || (row.name.startsWith("shell") && !existsSync(reader))) print(`${row.name.padEnd(58)} skipped: not here\n`);
    else measure(row);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
  rmSync(plain, { recursive: true, force: true });
}
