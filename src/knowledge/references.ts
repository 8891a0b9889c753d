/**
 * Looking up what records refer to (contract, section 9). Everything is asked for all references at once: the ledger and each archive
 * are read once, git is asked once, a path is looked at once.
 */
import { frontMatterOf } from "../format/front-matter.ts";
import { readYaml } from "../format/yaml-read.ts";
import { compareBytes, isWellFormed, textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { Refusal } from "../ground/errors.ts";
import { episodePattern, taskPattern } from "../ground/ids.ts";
import { git, gitRefusal } from "../host/git.ts";
import { listFolder, nameExists, pathInFolder, readShared } from "../host/folder.ts";
import { completedPath, issuesPath, ledgerPath, openEpisodesPath, yamlLeavesOf } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { entryOf, isTimed, textField } from "../ledger/events.ts";
import { archivesOf, eachLine } from "../ledger/ledger.ts";
import { readFront } from "./candidates.ts";
import { isRecordName } from "./queue.ts";

/** Why a reference does not resolve, and whether that fails the record or is only told. */
export interface Unresolved {
  readonly why: string;
  readonly fails: boolean;
}

/** `null` for a reference that resolves. `episode` is the one behind the record that refers. */
export type Resolve = (reference: ByteString, episode: ByteString) => Unresolved | null;

const fails = (why: string): Unresolved => ({ why, fails: true });
const told = (why: string): Unresolved => ({ why, fails: false });

/**
 * Looks up these references.
 * @param records the ids of all records
 */
export function resolverOf(layout: Layout, references: readonly ByteString[], records: ReadonlySet<ByteString>): Resolve {
  const names = new Map<string, Set<string>>();
  for (const reference of references) {
    const [scheme, name] = partsOf(reference);
    const known = names.get(scheme);
    if (known === undefined) names.set(scheme, new Set([name]));
    else known.add(name);
  }
  const named = (scheme: string) => names.get(scheme) ?? new Set<string>();
  const traces = once(() => tracesOf(layout, named("session"), new Set([...named("task"), ...named("decision")])));
  const commits = once(() => commitsOf(layout, [...named("commit")].filter((name) => commitForm.test(name))));
  const rules = once(() => idsBelow(layout, layout.rules));
  const adrs = once(() => idsBelow(layout, layout.adrs));
  const issues = once(() => idsBelow(layout, issuesPath));
  const files = new Map<string, boolean>();
  const hasFile = (name: string) => {
    const known = files.get(name) ?? nameExists(`${layout.root}/${textOfBytes(name)}`);
    files.set(name, known);
    return known;
  };
  const unlessHere = (why: string, episode: ByteString) => (traces().episodes.has(episode) ? fails(why) : told(why));
  return (reference, episode) => {
    const [scheme, name] = partsOf(reference);
    switch (scheme) {
      case "session":
        if (!episodePattern.test(name)) return fails("no episode's id");
        return traces().sessions.has(name) ? null : told("no such episode is known here");
      case "task":
        if (!taskPattern.test(name)) return fails("no task's id");
        return traces().tasks.has(name) ? null : unlessHere("no such task is known here", episode);
      case "decision":
        if (!taskPattern.test(name)) return adrs().has(name) ? null : fails("no decision record has this id");
        return traces().decisions.has(name) ? null : unlessHere("no decision of such a task is known here", episode);
      case "commit":
        return commitForm.test(name) ? commits()(name) : fails("no commit: 4 to 64 hex digits");
      case "file":
      case "test":
        if (!isPlainPath(name)) return fails("no path below the root");
        return hasFile(name) ? null : fails("no such file");
      case "rule":
        return rules().has(name) ? null : fails("no rule has this id");
      case "adr":
        return adrs().has(name) ? null : fails("no decision record has this id");
      case "issue":
        return issues().has(name) ? null : told("an issue that is not kept here");
      case "claim":
        return told("a claim is looked up nowhere");
      case "knowledge":
        return records.has(name) ? null : fails("no such record");
      default:
        return fails("unknown kind of reference");
    }
  };
}

const commitForm = /^[0-9A-Fa-f]{4,64}$/;

function partsOf(reference: ByteString): [scheme: string, name: ByteString] {
  const colon = reference.indexOf(":");
  return colon === -1 ? ["", reference] : [reference.slice(0, colon), reference.slice(colon + 1)];
}

function isPlainPath(path: ByteString): boolean {
  return !path.includes("\0") && path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

function once<Value>(make: () => Value): () => Value {
  let known: { readonly value: Value } | undefined;
  return () => (known ??= { value: make() }).value;
}

/** What ledger, archives, open files, notes and session records say of episodes and tasks. */
interface Traces {
  /** Episodes of the ledger or an archive here. */
  readonly episodes: ReadonlySet<string>;
  /** Episodes that are known in any way. */
  readonly sessions: ReadonlySet<string>;
  readonly tasks: ReadonlySet<string>;
  /** Tasks under which a decision was recorded. */
  readonly decisions: ReadonlySet<string>;
}

function tracesOf(layout: Layout, sessionsAsked: ReadonlySet<string>, tasksAsked: ReadonlySet<string>): Traces {
  const episodes = new Set<string>();
  const tasks = new Set<string>();
  const decisions = new Set<string>();
  for (const path of [ledgerPath, ...archivesOf(layout)]) readTraces(`${layout.root}/${path}`, episodes, tasks, decisions);
  const sessions = new Set(episodes);
  const isComplete = () => allIn(sessionsAsked, sessions) && allIn(tasksAsked, tasks);
  for (const task of tasksAsked) if (taskPattern.test(task) && nameExists(`${layout.root}/${completedPath}/${task}.md`)) tasks.add(task);
  if (!isComplete()) {
    eachLeaves(`${layout.root}/${openEpisodesPath}`, ".yaml", (leaves) => sessions.add(leaves.get("session_id") ?? ""));
  }
  if (!isComplete()) {
    eachLeaves(`${layout.root}/${layout.sessions}`, ".md", (leaves) => {
      sessions.add(leaves.get("session_id") ?? "");
      for (const [path, value] of leaves) if (path === "task_id" || path.startsWith("tasks.")) tasks.add(value ?? "");
    });
  }
  return { episodes, sessions, tasks, decisions };
}

function allIn(asked: ReadonlySet<string>, known: ReadonlySet<string>): boolean {
  for (const name of asked) if (!known.has(name)) return false;
  return true;
}

const sessionForm = /"session":"(s-[0-9]{14}-[0-9a-f]{4})"/;
const taskForm = /"task_id":"(t-[0-9]{14}-[0-9a-f]{4})"/;

/** Adds what a ledger's whole lines name. A line that can say nothing new is not parsed. */
function readTraces(path: string, episodes: Set<string>, tasks: Set<string>, decisions: Set<string>): void {
  eachLine(path, (line) => {
    const text = line.toString("latin1");
    const session = sessionForm.exec(text)?.[1];
    const task = taskForm.exec(text)?.[1];
    const isDecision = text.includes("decision.recorded");
    const isNew =
      text.includes("\\u00") ||
      session === undefined ||
      !episodes.has(session) ||
      (task !== undefined && (!tasks.has(task) || (isDecision && !decisions.has(task))));
    const entry = isNew ? entryOf(line) : null;
    if (entry === null || !isTimed(entry)) return;
    episodes.add(textField(entry, "session"));
    const named = textField(entry, "task_id");
    tasks.add(named);
    if (textField(entry, "event") === "decision.recorded") decisions.add(named);
  });
}

type Leaves = ReadonlyMap<string, ByteString | null>;

/**
 * The leaves of each readable file of a folder: front matter of Markdown, whole YAML.
 * @param otherwise gives those of a file that is no YAML of the subset
 */
function eachLeaves(
  folder: string,
  ending: ".md" | ".yaml",
  take: (leaves: Leaves) => void,
  otherwise?: (text: ByteString) => Leaves | null,
): void {
  for (const { name, kind } of listFolder(folder)) {
    if (kind !== "file" || !isRecordName(name, ending)) continue;
    const file = readShared(pathInFolder(folder, name));
    if (file === null) continue;
    const leaves = leavesIn(file, ending) ?? otherwise?.(Buffer.from(file).toString("latin1"));
    if (leaves !== undefined && leaves !== null) take(leaves);
  }
}

function leavesIn(file: Uint8Array, ending: ".md" | ".yaml"): Leaves | null {
  const read = ending === ".md" ? readFront(file) : yamlLeavesOf(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  if (typeof read === "string") return null;
  return "leaves" in read ? read.leaves : read;
}

/** The id of a file whose YAML goes beyond the subset, as other people's may: its line alone is read. */
function idAlone(text: ByteString): Leaves | null {
  const matter = frontMatterOf(text);
  const line = /^id:.*$/m.exec(typeof matter === "string" ? text : matter.yaml)?.[0];
  return line === undefined ? null : readYaml(line.replace(/\r$/, ""), 1, true).leaves;
}

/** The ids that files below a folder give in their front matter. */
function idsBelow(layout: Layout, path: string): Set<ByteString> {
  const ids = new Set<ByteString>();
  const folders = [`${layout.root}/${path}`];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const ending of [".md", ".yaml"] as const) eachLeaves(folder, ending, (leaves) => ids.add(leaves.get("id") ?? ""), idAlone);
    for (const { name, kind } of listFolder(folder)) {
      if (kind === "directory" && !name.startsWith(".") && isWellFormed(name)) folders.push(`${folder}/${textOfBytes(name)}`);
    }
  }
  ids.delete("");
  return ids;
}

/** Commits by their names, in one batch. What git has not is told alone where it cannot have everything. */
function commitsOf(layout: Layout, names: readonly string[]): (name: string) => Unresolved | null {
  if (names.length === 0) return () => null;
  const ordered = [...names].sort(compareBytes);
  const answer = git(layout.root, ["cat-file", "--batch-check"], `${ordered.map((name) => `${name}^{commit}`).join("\n")}\n`);
  if (answer.status !== 0) {
    const refusal = gitRefusal(layout.root, answer);
    if (refusal instanceof Refusal && refusal.code === "missing") return () => told("there is no git repository here to ask");
    throw refusal;
  }
  const lines = answer.output.toString("latin1").split("\n");
  const found = new Set<string>();
  ordered.forEach((name, index) => {
    const object = /^([0-9a-f]{40,64}) commit [0-9]+$/.exec(lines[index] ?? "")?.[1];
    // A branch may be named like an abbreviation: then git answers with another commit.
    if (object?.startsWith(name.toLowerCase()) === true) found.add(name);
  });
  const isShallow = once(() => git(layout.root, ["rev-parse", "--is-shallow-repository"]).output.toString("latin1").startsWith("true"));
  return (name) => {
    if (found.has(name)) return null;
    return isShallow() ? told("git has no such commit, and its history is shallow") : fails("git has no such commit");
  };
}
