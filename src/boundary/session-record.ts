/** The record of a closed episode: what the ledger and git say of it, and no conversation (contract, section 5). */
import { quoted, scalar } from "../format/yaml-emit.ts";
import { cleaned, distinct, sortedBytes } from "../ground/bytes.ts";
import { sha256 } from "../ground/digest.ts";
import { commitPattern, opensLikeConversation } from "../ground/ids.ts";
import { readBytes, removeFile, replaceFile } from "../host/files.ts";
import { listFolder, realPath } from "../host/folder.ts";
import { commitsBetween, git } from "../host/git.ts";
import { makeRecordDirectory } from "../host/inside.ts";
import { ledgerPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { textField } from "../ledger/events.ts";
import { eachEntry, needlesOf } from "../ledger/ledger.ts";
import type { Place } from "../episode/act.ts";
import type { OpenEpisode } from "../episode/episode.ts";
import { changedFiles } from "../episode/open.ts";
import { activeTask } from "../episode/task.ts";

export type EpisodeOutcome = "closed" | "interrupted";

/** Writes the record of an episode that ends now, in the place of any that a killed end left. Returns its path. */
export function writeSessionRecord(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome): string {
  const { layout } = place;
  const before = sessionRecords(layout, episode.id);
  const text = recordText(place, episode, outcome);
  const { head, branch } = place.position();
  const utc = place.now.replace(/[-:]/g, "");
  const name = [
    utc,
    episode.id,
    Buffer.from(branch, "utf8").toString("latin1").replace(/[^A-Za-z0-9._-]/g, "-").slice(0, 100),
    head.slice(0, 7),
    sha256(text).slice(0, 16),
  ].join("--");
  const path = `${layout.sessions}/${name}.md`;
  makeRecordDirectory(layout, layout.sessions, place.home, "sessions");
  replaceFile(`${layout.root}/${path}`, Buffer.from(text, "utf8"));
  for (const other of before) if (other !== path) removeFile(`${layout.root}/${other}`);
  return path;
}

/** The records of an episode, by their names, whose second part is its id; oldest first. A branch may be named like an id. */
export function sessionRecords(layout: Layout, episode: string): string[] {
  const isOf = (name: string) => /^[0-9]{8}T[0-9]{6}Z--(.*?)--.*\.md$/.exec(name)?.[1] === episode;
  const names = listFolder(`${layout.root}/${layout.sessions}`)
    .filter((entry) => entry.kind === "file" && isOf(entry.name))
    .map((entry) => entry.name);
  return sortedBytes(names).map((name) => `${layout.sessions}/${name}`);
}

/** The outcome that a session record gives; `null` where it cannot be read. */
export function recordedOutcome(layout: Layout, path: string): EpisodeOutcome | null {
  const found = /^outcome: (closed|interrupted)$/m.exec(readBytes(`${layout.root}/${path}`)?.toString("latin1") ?? "");
  return found === null ? null : (found[1] as EpisodeOutcome);
}

/** What an episode's lines say, as lists in the order of the lines. */
interface EpisodeLists {
  readonly tasks: string[];
  readonly decisions: string[];
  readonly questions: string[];
  readonly evidence: string[];
}

function recordText(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome): string {
  const { layout } = place;
  const { head, branch } = place.position();
  const task = activeTask(layout, episode);
  const changed = changedFiles(layout);
  const lists = listsOf(layout, episode.id);
  const isKnown = commitPattern.test(episode.startHead) && commitPattern.test(head);
  const commits = (isKnown ? commitsBetween(layout.root, episode.startHead, head) : null) ?? [];
  const title = `Session ${episode.id} on ${cleaned(branch)}`;
  const lines = ["---", "schema: session/v1", "kind: session", `created_at: ${place.now}`];
  if (task !== null) lines.push(`task_id: ${task.id}`, `profile: ${scalar(task.profile)}`);
  lines.push(
    `repository_id: ${scalar(repositoryId(place))}`,
    `worktree_id: ${scalar(sha256(realPath(layout.root) ?? layout.root).slice(0, 16))}`,
    `branch: ${scalar(branch)}`,
    `head: ${scalar(head)}`,
    `working_tree: ${changed.length === 0 ? "clean" : "dirty"}`,
    ...list("changed_files", changed.map(scalar)),
    `session_id: ${episode.id}`,
    `started_at: ${episode.startedAt}`,
    `closed_at: ${place.now}`,
    `outcome: ${outcome}`,
    `title: ${quoted(title)}`,
  );
  if (episode.worker !== undefined) lines.push(`worker: ${scalar(episode.worker)}`);
  lines.push(
    `start_head: ${scalar(episode.startHead)}`,
    `start_working_tree: ${scalar(episode.startWorkingTree)}`,
    ...list("commits", commits.map((commit) => quoted(commit.slice(0, 7)))),
    ...list("tasks", lists.tasks.map(scalar)),
    ...list("issues", lists.evidence.filter((reference) => reference.startsWith("issue:")).map((issue) => scalar(issue.slice(6)))),
    ...list("milestones", []),
    ...list("checkpoints", []),
    ...list("handovers", []),
    ...list("decisions", lists.decisions.map(scalar)),
    ...list("questions", lists.questions.map(scalar)),
    ...list("evidence", lists.evidence.map(scalar)),
    "---",
    "",
    `# ${title}`,
  );
  return `${lines.join("\n")}\n`;
}

function list(name: string, items: readonly string[]): string[] {
  return items.length === 0 ? [`${name}: []`] : [`${name}:`, ...items.map((item) => `  - ${item}`)];
}

function listsOf(layout: Layout, episode: string): EpisodeLists {
  const lists: EpisodeLists = { tasks: [], decisions: [], questions: [], evidence: [] };
  const add = (to: string[], text: string) => {
    const clean = cleaned(text);
    if (clean !== "" && !opensLikeConversation(clean)) to.push(clean);
  };
  eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      if (textField(entry, "session") !== episode) return;
      const event = textField(entry, "event");
      if (event === "task.started" || event === "task.finished") add(lists.tasks, textField(entry, "task_id"));
      if (event === "decision.recorded") add(lists.decisions, textField(entry, "decision"));
      if (event === "question.opened") add(lists.questions, textField(entry, "question"));
      const references: unknown = entry["evidence"];
      if (event === "observation.recorded" && Array.isArray(references)) {
        for (const reference of references) if (typeof reference === "string") add(lists.evidence, reference);
      }
    },
    needlesOf(episode),
  );
  return {
    tasks: distinct(lists.tasks),
    decisions: distinct(lists.decisions),
    questions: distinct(lists.questions),
    evidence: distinct(lists.evidence),
  };
}

/** What names the repository on every machine: host and path of its origin, else a digest of where it lies. */
function repositoryId({ layout, position }: Place): string {
  const answer = git(layout.root, ["config", "--get", "remote.origin.url"]);
  const network = answer.status === 0 ? networkPlace(answer.output.toString("utf8").replace(/\n$/, "")) : null;
  if (network !== null) return network;
  const common = position().commonDirectory;
  const place = common.startsWith("/") ? common : `${layout.root}/${common}`;
  return `local:${sha256(realPath(place) ?? place).slice(0, 16)}`;
}

/**
 * Host and path of a network URL, without user, password, port, query or fragment; `null` for another address, one that
 * a remote helper reads (`ext::…`, which may hold any command) among them. Pure.
 */
export function networkPlace(url: string): string | null {
  const withScheme = /^(?:https?|ssh|git|ftps?|git\+ssh|ssh\+git):\/\/(?:[^/@]*@)*([^/:?#@]+|\[[^\]/]*\])(?::[0-9]*)?\/([^?#]*)/i.exec(url);
  const short = /^(?:[^/@:]+@)?([A-Za-z0-9][A-Za-z0-9.-]+|\[[^\]/]+\]):(?!\/\/|:)([^?#]*)$/.exec(url);
  const found = withScheme ?? (url.includes("://") ? null : short);
  if (found === null) return null;
  const [, host = "", path = ""] = found;
  const clean = cleaned(path).replace(/^\/+|\/+$/g, "");
  return clean === "" ? host.toLowerCase() : `${host.toLowerCase()}/${clean}`;
}
