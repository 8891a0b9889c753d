/**
 * Running a scenario (contract, section 13): a directory of its own in a frozen world, its setup made by this toolkit, then
 * its steps one by one until one fails. Each step is passed, failed or not run: together they are the steps written.
 */
import { milliseconds } from "../ground/clock.ts";
import { readChunks } from "../host/files.ts";
import { isFile, listFolder, nameExists, realPath } from "../host/folder.ts";
import { isBelow } from "../host/layout.ts";
import { runProgram } from "../host/program.ts";
import type { ProgramEnd, ProgramFate } from "../host/program.ts";
import { keepScratch, makeScratch, removeScratch } from "../host/scratch.ts";
import { makeDirectory, replaceFile } from "../host/files.ts";
import { ledgerPath, currentTaskPath, openEpisodesPath } from "../host/layout.ts";
import { setups } from "./document.ts";
import type { Expectations, Scenario, Setup, Step } from "./document.ts";
import { linesOf, matchesAny } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

/** How the scenarios of a call are run. */
export interface RunRequest {
  /** The toolkit's folder: its program makes the setups. */
  readonly home: string;
  /** What runs the steps: a path or a name in PATH; `null` for the toolkit's own program. */
  readonly program: string | null;
  /** Whether the directories stay. */
  readonly keep: boolean;
  /** How long a step may run, in milliseconds. */
  readonly timeLimit: number;
}

/** An expectation that was not met. */
export interface Miss {
  /** The expectation's key, or what stood in its way. */
  readonly expectation: string;
  readonly words: string;
  /** The lines that were looked at; `null` where it is the step's own output. */
  readonly lines: readonly string[] | null;
}

export type StepOutcome = "passed" | "failed" | "not run";

export interface StepResult {
  readonly step: Step;
  readonly outcome: StepOutcome;
  readonly milliseconds: number;
  readonly misses: readonly Miss[];
  /** What a failed step printed, as patterns see it. */
  readonly output: readonly string[];
  readonly error: readonly string[];
}

export interface ScenarioResult {
  readonly steps: readonly StepResult[];
  readonly milliseconds: number;
  /** Why the setup could not be made, `null` where it was: then no step is run. */
  readonly setupFault: string | null;
  /** The directory that was kept. */
  readonly directory: string | null;
}

/** Told as a run goes on. */
export interface RunWatch {
  readonly begun: (step: Step, number: number) => void;
  readonly ended: (result: StepResult, number: number) => void;
}

/** The time of every scenario: the contract's example. */
const frozenNow = "2026-10-09T10:00:00Z";
const outputLimit = 8 * 1024 * 1024;
/** Setups are our own program and git: they are given longer than a step. */
const setupTimeLimit = 60_000;

/** Runs one scenario. */
export async function runScenario(scenario: Scenario, request: RunRequest, watch: RunWatch): Promise<ScenarioResult> {
  const started = milliseconds();
  const world = makeScratch("majordomus-scenario-");
  try {
    const stage = stageIn(world, request);
    const setupFault = await makeSetup(stage, scenario.setup);
    const steps: StepResult[] = [];
    let isStopped = setupFault !== null;
    for (const [index, step] of scenario.steps.entries()) {
      if (isStopped) {
        steps.push({ step, outcome: "not run", milliseconds: 0, misses: [], output: [], error: [] });
        continue;
      }
      watch.begun(step, index + 1);
      const result = await runStep(stage, step);
      watch.ended(result, index + 1);
      steps.push(result);
      isStopped = result.outcome !== "passed";
    }
    return { steps, milliseconds: milliseconds() - started, setupFault, directory: request.keep ? world : null };
  } finally {
    if (request.keep) keepScratch(world);
    else removeScratch(world);
  }
}

interface Stage {
  readonly request: RunRequest;
  /** The toolkit's own program. */
  readonly own: string;
  /** The directory that the steps run in. */
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
}

function stageIn(world: string, request: RunRequest): Stage {
  const directory = `${world}/repository`;
  for (const path of [directory, `${world}/home`, `${world}/tmp`]) makeDirectory(path);
  return { request, own: `${request.home}/bin/majordomus`, directory, environment: frozenEnvironment(world) };
}

/**
 * The environment of a setup and of a step, made anew. What stays says how programs run and not what they do: the search
 * path, and the runtime and the awk that Majordomus was told to use.
 */
function frozenEnvironment(world: string): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ["PATH", "LD_LIBRARY_PATH", "MAJORDOMUS_RUNTIME", "MAJORDOMUS_AWK"]) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  const runtime = kept["MAJORDOMUS_RUNTIME"];
  if (runtime?.includes("/") === true) kept["MAJORDOMUS_RUNTIME"] = realPath(runtime) ?? runtime;
  return {
    ...kept,
    HOME: `${world}/home`,
    TMPDIR: `${world}/tmp`,
    USER: "ann",
    LOGNAME: "ann",
    LC_ALL: "C",
    TZ: "UTC",
    TERM: "dumb",
    MAJORDOMUS_NOW: frozenNow,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CEILING_DIRECTORIES: world,
    GIT_TERMINAL_PROMPT: "0",
    GIT_AUTHOR_NAME: "Ann",
    GIT_AUTHOR_EMAIL: "ann@example.org",
    GIT_AUTHOR_DATE: frozenNow,
    GIT_COMMITTER_NAME: "Ann",
    GIT_COMMITTER_EMAIL: "ann@example.org",
    GIT_COMMITTER_DATE: frozenNow,
  };
}

function perform(stage: Stage, program: string, args: readonly string[], input: string, timeLimit: number): Promise<ProgramEnd> {
  const { directory, environment } = stage;
  return runProgram({ program, args, directory, environment, input, timeLimit, outputLimit });
}

/** Each setup's own part; it is made on top of those before it. `bare` has none. */
const setupParts: Readonly<Record<Setup, readonly (readonly ["git" | "majordomus", ...string[]])[]>> = {
  "bare": [],
  "repository": [
    ["git", "init", "--quiet", "--initial-branch=main"],
    ["git", "add", "--all"],
    ["git", "commit", "--quiet", "--message", "one commit"],
  ],
  "installed": [
    ["majordomus", "init"],
    ["git", "add", "--all"],
    ["git", "commit", "--quiet", "--message", "add the layer"],
  ],
  "session-open": [["majordomus", "session", "start"]],
  "task-active": [["majordomus", "start", "do what the scenario says", "--scope", "."]],
};

/** Makes a setup with the toolkit's own program; why it could not be made, or `null`. */
async function makeSetup(stage: Stage, setup: Setup): Promise<string | null> {
  const until = setups.indexOf(setup);
  if (until >= setups.indexOf("repository")) {
    replaceFile(`${stage.directory}/README.md`, Buffer.from("# A repository\n\nWhat a scenario works on.\n"));
  }
  for (const part of setups.slice(0, until + 1)) {
    for (const [program, ...args] of setupParts[part]) {
      const end = await perform(stage, program === "git" ? "git" : stage.own, args, "", setupTimeLimit);
      if (end.fate.kind === "exit" && end.fate.status === 0) continue;
      const words = linesOf(end.error).at(-1);
      return `'${program} ${args.join(" ")}' ${fateWords(end.fate, setupTimeLimit)}${words === undefined ? "" : `: ${words}`}`;
    }
  }
  nameIds(stage);
  return null;
}

/**
 * Gives the ids that a setup drew the same four digits every time, those of the contract's examples, so that a document can
 * name the record of an episode: a drawn id is as long, and these are drawn again like any that is known.
 */
function nameIds({ directory }: Stage): void {
  const openFiles = listFolder(`${directory}/${openEpisodesPath}`).map((entry) => `${openEpisodesPath}/${entry.name}`);
  for (const path of [ledgerPath, currentTaskPath, ...openFiles]) {
    const place = `${directory}/${path}`;
    if (!isFile(place)) continue;
    const text = textUpTo(place, outputLimit) ?? "";
    const named = text.replace(/\b(s-[0-9]{14})-[0-9a-f]{4}\b/g, "$1-1a2b").replace(/\b(t-[0-9]{14})-[0-9a-f]{4}\b/g, "$1-0a1b");
    if (named !== text) replaceFile(place, Buffer.from(named, "utf8"), { mode: path.startsWith(openEpisodesPath) ? 0o600 : 0o644 });
  }
}

async function runStep(stage: Stage, step: Step): Promise<StepResult> {
  const { request } = stage;
  if (realPath(stage.directory) === null) {
    const miss: Miss = { expectation: "run", words: "the scenario's directory, which is gone", lines: [] };
    return { step, outcome: "failed", milliseconds: 0, misses: [miss], output: [], error: [] };
  }
  const end = await perform(stage, request.program ?? stage.own, step.run, step.stdin, request.timeLimit);
  const output = linesOf(end.output);
  const error = linesOf(end.error);
  const misses = missesOf(stage, step.expect, end, output, error);
  const outcome = misses.length === 0 ? "passed" : "failed";
  return { step, outcome, milliseconds: end.milliseconds, misses, output, error };
}

function missesOf(
  stage: Stage,
  expect: Expectations,
  end: ProgramEnd,
  output: readonly string[],
  error: readonly string[],
): Miss[] {
  const misses: Miss[] = [];
  const miss = (expectation: string, words: string, lines: readonly string[] | null = null) => {
    misses.push({ expectation, words, lines });
  };
  if (end.fate.kind !== "exit" || end.fate.status !== expect.exit) {
    miss("exit", `${expect.exit}; it ${fateWords(end.fate, stage.request.timeLimit)}`);
  }
  // What was cut off by a limit may have held what is looked for, or what must not be there: only the end counts then.
  if (end.fate.kind !== "exit" && end.fate.kind !== "signal") return misses;
  const look = (key: string, where: string, pattern: Pattern, lines: readonly string[], isWanted: boolean, shown: readonly string[] | null) => {
    const verdict = matchesAny(pattern, lines);
    if (verdict === (isWanted ? "yes" : "no")) return;
    const shape = isWanted ? `a line of ${where} that matches '${pattern.source}'` : `no line of ${where} that matches '${pattern.source}'`;
    miss(key, verdict === "too-long" ? `${shape}; looking for it takes too long` : shape, shown);
  };
  for (const pattern of expect.stdoutContains) look("stdout_contains", "standard output", pattern, output, true, null);
  for (const pattern of expect.stdoutNotContains) look("stdout_not_contains", "standard output", pattern, output, false, null);
  for (const pattern of expect.stderrContains) look("stderr_contains", "standard error", pattern, error, true, null);
  for (const path of expect.filesExist) {
    const state = stateOf(stage, path);
    if (state !== "there") miss("files_exist", `'${path}' to exist; it ${state}`);
  }
  for (const { path, pattern } of expect.filesContain) {
    const state = stateOf(stage, path);
    const text = state === "there" ? textUpTo(`${stage.directory}/${path}`, outputLimit) : null;
    if (state !== "there") miss("files_contain", `a line of '${path}' that matches '${pattern.source}'; it ${state}`);
    else if (text === null) miss("files_contain", `a line of '${path}' that matches '${pattern.source}'; it cannot be read`);
    else look("files_contain", `'${path}'`, pattern, linesOf(text), true, linesOf(text));
  }
  return misses;
}

/** Whether a path stands in the scenario's directory, or how it does not. */
function stateOf({ directory }: Stage, path: string): string {
  const place = `${directory}/${path}`;
  if (!nameExists(place)) return "is not there";
  const real = realPath(place);
  if (real === null) return "is a link that leads nowhere";
  return isBelow(directory, real) ? "there" : "leads outside the scenario's directory";
}

/** The text of a regular file; `null` for anything else and for a longer one. */
function textUpTo(path: string, limit: number): string | null {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    readChunks(path, 65_536, (chunk) => {
      length += chunk.length;
      chunks.push(Buffer.from(chunk));
      return length <= limit;
    });
  } catch {
    return null;
  }
  return length > limit ? null : Buffer.concat(chunks).toString("utf8");
}

function fateWords(fate: ProgramFate, timeLimit: number): string {
  switch (fate.kind) {
    case "exit":
      return `ended with ${fate.status}`;
    case "signal":
      return `was ended by ${fate.signal}`;
    case "time":
      return `did not end within ${timeLimit / 1000} s and was ended`;
    case "flood":
      return `printed more than ${outputLimit / 1024 / 1024} MiB and was ended`;
    case "unstartable":
      return `could not be started: ${fate.why}`;
  }
}
