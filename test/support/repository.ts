/** Real repositories for end-to-end tests, and the program run in them through its launcher. */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { home } from "../../build/bundle.mjs";
import { showControls } from "../../src/ground/bytes.ts";

export const launcher = join(home, "bin/majordomus");

/** What a program came to. Bytes are held as latin1, so that nothing is lost. */
export interface Run {
  readonly status: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  /** Added to the frozen environment; `undefined` takes a name away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string | Buffer;
}

export function environment(added: RunOptions["env"] = {}): Record<string, string> {
  const merged: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...process.env, ...added })) if (value !== undefined) merged[name] = value;
  return merged;
}

/** Runs a program to its end. */
export function run(program: string, args: readonly string[], options: RunOptions = {}): Run {
  const ended = spawnSync(program, args, {
    cwd: options.cwd,
    env: environment(options.env),
    input: options.input ?? "",
    maxBuffer: 1 << 30,
  });
  if (ended.error !== undefined) throw ended.error;
  return {
    status: ended.status,
    signal: ended.signal,
    stdout: ended.stdout.toString("latin1"),
    stderr: ended.stderr.toString("latin1"),
  };
}

/** The same without waiting; `started` is given the process, to kill it. */
export function runLater(
  program: string,
  args: readonly string[],
  options: RunOptions & { readonly killAfter?: number } = {},
): Promise<Run> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd, env: environment(options.env), stdio: ["pipe", "pipe", "pipe"] });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input ?? "");
    child.on("error", reject);
    const timer = options.killAfter === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), options.killAfter);
    child.on("close", (status, signal) => {
      clearTimeout(timer);
      resolve({
        status,
        signal,
        stdout: Buffer.concat(stdout).toString("latin1"),
        stderr: Buffer.concat(stderr).toString("latin1"),
      });
    });
  });
}

/** A fresh folder; it goes when the run of all tests ends. */
export function freshFolder(name = "case-"): string {
  return mkdtempSync(join(tmpdir(), name));
}

/** A repository of a test. */
export interface Repository {
  readonly root: string;
  /** Runs majordomus here. */
  mj(...args: readonly string[]): Run;
  mjWith(options: RunOptions, ...args: readonly string[]): Run;
  mjLater(options: RunOptions & { readonly killAfter?: number }, ...args: readonly string[]): Promise<Run>;
  /** Runs majordomus, which must succeed, and gives its standard output. */
  done(...args: readonly string[]): string;
  /** Runs git, which must succeed, and gives its standard output. */
  git(...args: readonly string[]): string;
  path(...parts: readonly string[]): string;
  read(path: string): string;
  write(path: string, text: string | Buffer): void;
  remove(path: string): void;
  exists(path: string): boolean;
  /** The lines of the ledger, read as JSON. */
  ledger(): Record<string, unknown>[];
  /** Names below a folder, without README.md. */
  names(folder: string): string[];
}

export const candidatesPath = ".ai/repo/knowledge/candidates";
export const curatedPath = ".ai/repo/knowledge/curated";
export const sessionsPath = ".ai/repo/sessions";
export const statePath = ".ai/local/state";
export const ledgerPath = `${statePath}/ledger.jsonl`;
export const openPath = `${statePath}/sessions-open`;

export function repositoryAt(root: string): Repository {
  const path = (...parts: readonly string[]) => join(root, ...parts);
  const mjWith = (options: RunOptions, ...args: readonly string[]) => run(launcher, args, { cwd: root, ...options });
  const done = (...args: readonly string[]) => {
    const ended = mjWith({}, ...args);
    if (ended.status !== 0) throw new Error(`majordomus ${args.join(" ")} ended with ${String(ended.status)}: ${ended.stderr}`);
    return ended.stdout;
  };
  return {
    root,
    mj: (...args) => mjWith({}, ...args),
    mjWith,
    mjLater: (options, ...args) => runLater(launcher, args, { cwd: root, ...options }),
    done,
    git: (...args) => {
      const ended = run("git", args, { cwd: root });
      if (ended.status !== 0) throw new Error(`git ${args.join(" ")}: ${ended.stderr}`);
      return ended.stdout;
    },
    path,
    read: (name) => readFileSync(path(name), "latin1"),
    write: (name, text) => {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), typeof text === "string" ? Buffer.from(text, "utf8") : text);
    },
    remove: (name) => rmSync(path(name), { recursive: true, force: true }),
    exists: (name) => existsSync(path(name)),
    ledger: () =>
      readFileSync(path(ledgerPath), "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    names: (folder) => (existsSync(path(folder)) ? readdirSync(path(folder)).filter((name) => name !== "README.md").sort() : []),
  };
}

/** An empty git repository on the branch `main`. */
export function bareRepository(): Repository {
  const repository = repositoryAt(freshFolder());
  repository.git("init", "-q", "-b", "main");
  return repository;
}

let layerTemplate: Repository | undefined;
let episodeTemplate: (Repository & { readonly episode: string }) | undefined;

function copyOf(template: Repository): Repository {
  const root = freshFolder();
  cpSync(template.root, root, { recursive: true, verbatimSymlinks: true });
  return repositoryAt(root);
}

/** A git repository with a layer, committed: a copy of one that is made once. */
export function installed(): Repository {
  if (layerTemplate === undefined) {
    const made = bareRepository();
    made.done("init");
    made.write("lib/a.sh", "echo a\n");
    made.git("add", "-A");
    made.git("commit", "-q", "-m", "layer");
    rmSync(made.path(".git/hooks"), { recursive: true, force: true });
    layerTemplate = made;
  }
  return copyOf(layerTemplate);
}

/** The same with an open episode; gives its id too. */
export function withEpisode(): Repository & { readonly episode: string } {
  if (episodeTemplate === undefined) {
    const made = installed();
    episodeTemplate = { ...made, episode: openedIn(made.done("session", "start", "--owner", "o")) };
  }
  const repository = copyOf(episodeTemplate);
  // A copied repository has no open episode of its own: the file is told where it is now.
  const file = `${openPath}/hand.yaml`;
  const mode = lstatSync(repository.path(file)).mode;
  repository.write(file, repository.read(file).replace(realpathSync(episodeTemplate.root), realpathSync(repository.root)));
  chmodSync(repository.path(file), mode);
  return { ...repository, episode: episodeTemplate.episode };
}

/** Runs majordomus inside this process: for tables of calls, for which a process each would take too long. */
export async function answerHere(repository: Repository, args: readonly string[], env: RunOptions["env"] = {}): Promise<Run> {
  const { answer } = await import("../../src/cli/answer.ts");
  const kept = { ...process.env };
  const nowhere = () => undefined;
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
  try {
    const terminal = { print: nowhere, tell: nowhere, progress: nowhere };
    const answered = await answer({ home, workingDirectory: () => repository.root, terminal }, args);
    return {
      status: answered.status,
      signal: null,
      stdout: answered.output.toString("latin1"),
      stderr: answered.complaints.map((line) => `majordomus: ${textBytes(line)}\n`).join(""),
    };
  } finally {
    for (const name of Object.keys(env)) {
      const value = kept[name];
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

function textBytes(text: string): string {
  return Buffer.from(showControls(text), "utf8").toString("latin1");
}

/** The id in what a start prints. */
export function openedIn(output: string): string {
  const found = /^session (s-[0-9]{14}-[0-9a-f]{4}) /.exec(output);
  if (found?.[1] === undefined) throw new Error(`no session opened: ${output}`);
  return found[1];
}

/**
 * Everything below a folder but git's own objects and what an empty folder says: paths to modes and bytes. What the locks
 * leave behind (empty folders) is no file.
 */
export function snapshot(root: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (folder: string) => {
    for (const name of readdirSync(join(root, folder)).sort()) {
      const path = folder === "" ? name : `${folder}/${name}`;
      if (path === ".git/objects" || path === ".git/logs") continue;
      const status = lstatSync(join(root, path));
      if (status.isDirectory()) walk(path);
      else if (status.isSymbolicLink()) found.set(path, `-> ${readlinkSync(join(root, path))}`);
      else if (status.isFile()) {
        found.set(path, `${(status.mode & 0o777).toString(8)} ${createHash("sha256").update(readFileSync(join(root, path))).digest("hex")}`);
      } else found.set(path, "special");
    }
  };
  walk("");
  return found;
}

/** A shell whose file system mounts are its own; `null` where the system does not allow that. */
export function canMount(): boolean {
  const ended = spawnSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs none /mnt"], { stdio: "ignore" });
  return ended.status === 0;
}

/** A program in a folder of its own, to be put in front of PATH. */
export function writeProgram(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}
