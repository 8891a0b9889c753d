/**
 * Git, asked by plumbing (contract, section 1). No call writes the index, prompts, or goes to the network, and none
 * listens to what a git hook leaks into the environment.
 */
import { spawnSync } from "node:child_process";
import { refuse } from "../ground/errors.ts";
import type { Refusal } from "../ground/errors.ts";
import { withOnly } from "./environment.ts";
import { errorCode } from "./files.ts";

/** What `git rev-parse --local-env-vars` lists, of every git from 2.20 on; a test compares. */
export const localVariables = [
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_CONFIG",
  "GIT_CONFIG_PARAMETERS",
  "GIT_CONFIG_COUNT",
  "GIT_OBJECT_DIRECTORY",
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_GRAFT_FILE",
  "GIT_INDEX_FILE",
  "GIT_NO_REPLACE_OBJECTS",
  "GIT_REPLACE_REF_BASE",
  "GIT_PREFIX",
  "GIT_SHALLOW_FILE",
  "GIT_COMMON_DIR",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_TOPLEVEL_PREFIX",
] as const;

/** The environment of a git call: ours without what redirects git, and with what keeps it quiet and literal. */
export function gitEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (value !== undefined && !(localVariables as readonly string[]).includes(name)) environment[name] = value;
  }
  return Object.assign(environment, {
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_LITERAL_PATHSPECS: "1",
    LC_ALL: "C",
  });
}

export interface GitAnswer {
  readonly status: number;
  readonly output: Buffer;
  readonly error: string;
}

/** Asks git in a directory. A git that says no is an answer; a git that cannot be run is a refusal (12). */
export function git(directory: string, args: readonly string[], input?: Uint8Array | string): GitAnswer {
  const env = gitEnvironment();
  const run = withOnly(env, () =>
    spawnSync("git", ["-c", "protocol.allow=never", "-c", "core.fsmonitor=false", ...args], {
      cwd: directory,
      env,
      input: input ?? "",
      maxBuffer: Number.MAX_SAFE_INTEGER,
      windowsHide: true,
    }),
  );
  // A runtime that refuses to run a program answers without a status and without an error.
  if (typeof run.status !== "number") {
    const why = run.error === undefined ? (run.signal ?? "the runtime denies it; Deno needs --allow-run") : run.error.message;
    throw refuse("missing", "cannot run git", errorCode(run.error) === "ENOENT" ? "install it, or put it in PATH" : why);
  }
  return { status: run.status, output: run.stdout, error: run.stderr.toString("utf8") };
}

/** Git's own words of a failure, on one line, as a refusal that passes them on. */
export function gitRefusal(directory: string, answer: GitAnswer): Refusal {
  const words = answer.error.split("\n").find((line) => line !== "") ?? `git ended with ${answer.status}`;
  if (words.includes("not a git repository")) {
    return refuse("missing", `no git work tree in '${directory}'`, "run 'git init' first");
  }
  if (words.includes("must be run in a work tree")) return bareRefusal(directory);
  return refuse("could-not-write", `cannot ask git in '${directory}'`, words.replace(/^fatal: /, ""));
}

function bareRefusal(directory: string): Refusal {
  return refuse("missing", `no git work tree in '${directory}'`, "a bare repository has none");
}

/** What an act says of the commit it happened at (contract, section 3). */
export interface GitPosition {
  /** The full commit, or `NONE` on an unborn branch. */
  readonly head: string;
  /** HEAD's target without `refs/heads/`, or `DETACHED`. */
  readonly branch: string;
  /** The repository's root as seen from git's top level: `""`, or ending in a slash. */
  readonly prefix: string;
  /** Git's own directory, which all work trees share, as seen from the root. */
  readonly commonDirectory: string;
}

/** The position of a work tree, in one call where there is a commit. No work tree: refused (12). */
export function gitPosition(root: string): GitPosition {
  const answer = git(root, [
    "rev-parse",
    "--is-inside-work-tree",
    "--git-common-dir",
    "--show-prefix",
    "HEAD",
    "--symbolic-full-name",
    "HEAD",
  ]);
  const lines = answer.output.toString("utf8").split("\n");
  lines.pop();
  if (lines.length === 0) throw gitRefusal(root, answer);
  if (lines[0] !== "true") throw bareRefusal(root);
  // Git prints what it could not resolve before it says so: an unborn branch.
  const isBorn = answer.status === 0;
  const places = lines.slice(1, isBorn ? -2 : -1);
  // A name with a line feed in it: then each is asked for by itself.
  const [commonDirectory = "", prefix = ""] = places.length === 2 ? places : ["--git-common-dir", "--show-prefix"].map((what) => tell(root, what));
  if (!isBorn) return { head: "NONE", branch: branchName(root), prefix, commonDirectory };
  const reference = lines[lines.length - 1] ?? "";
  const named = reference.startsWith("refs/heads/") ? reference.slice(11) : reference === "HEAD" ? "DETACHED" : branchName(root);
  return { head: lines[lines.length - 2] ?? "NONE", branch: named, prefix, commonDirectory };
}

function tell(root: string, what: string): string {
  return git(root, ["rev-parse", what]).output.toString("utf8").replace(/\n$/, "");
}

/** The commits after `start` up to `end`, oldest first; `null` when the start is unknown or no ancestor of the end. */
export function commitsBetween(root: string, start: string, end: string): readonly string[] | null {
  // Both ends are commits by their full names, and so the answer never changes.
  const question = `${root}\n${start}\n${end}`;
  if (lastCommits?.question === question) return lastCommits.commits;
  const commits = askCommits(root, start, end);
  lastCommits = { question, commits };
  return commits;
}

let lastCommits: { readonly question: string; readonly commits: readonly string[] | null } | undefined;

function askCommits(root: string, start: string, end: string): readonly string[] | null {
  if (start === end) return [];
  // What the start has and the end has not comes with a `<`: then it is no ancestor.
  const answer = git(root, ["rev-list", "--left-right", "--reverse", "--date-order", `${start}...${end}`, "--"]);
  if (answer.status !== 0) return null;
  const lines = answer.output.toString("latin1").split("\n").filter((line) => line !== "");
  return lines.every((line) => line.startsWith(">")) ? lines.map((line) => line.slice(1)) : null;
}

function branchName(root: string): string {
  const answer = git(root, ["symbolic-ref", "-q", "HEAD"]);
  if (answer.status !== 0) return "DETACHED";
  return answer.output
    .toString("utf8")
    .replace(/\n$/, "")
    .replace(/^refs\/heads\//, "");
}

/** Git's top level above a directory, or `null` outside a work tree. */
export function gitTopLevel(directory: string): string | null {
  const answer = git(directory, ["rev-parse", "--show-toplevel"]);
  return answer.status === 0 ? answer.output.toString("utf8").replace(/\n$/, "") : null;
}
