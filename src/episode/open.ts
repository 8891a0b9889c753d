/** Opening an episode: its file and its line, made together (contract, section 5). */
import { randomHex } from "../ground/clock.ts";
import { refuse } from "../ground/errors.ts";
import { isDirectory, linkTarget, listFolder, nameExists, readFileBytes, realPath } from "../host/folder.ts";
import { git, gitRefusal } from "../host/git.ts";
import { makeInside } from "../host/inside.ts";
import { currentEpisodePath, ledgerPath, openEpisodesPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { pointAt } from "../host/pointer.ts";
import { attempt, fileOperations, removeFile, removeTemporaries, replaceFile, worldError } from "../host/files.ts";
import { lineOf, textField } from "../ledger/events.ts";
import { archivesOf, eachEntry, eachLine, needlesOf, underLedger } from "../ledger/ledger.ts";
import type { Place } from "./act.ts";
import {
  cleanKey,
  environmentKey,
  environmentSessions,
  handKey,
  openFilePath,
  openFileText,
  pointedKey,
  readOpenFile,
} from "./episode.ts";
import type { OpenEpisode } from "./episode.ts";

/** The agents' providers that we know. */
export const providers = ["claude-code", "codex", "gemini-cli", "copilot-cli", "cursor", "opencode", "generic"] as const;

export interface OpenRequest {
  readonly owner?: string;
  readonly worker?: string;
  readonly provider?: string;
  /** A provider's session id; without one the environment's, if any. */
  readonly providerSession?: string;
  /** Whether the pointer moves to it always, or only when it points at nothing (a provider's start). */
  readonly pointer: "always" | "dangling";
}

export interface Opened {
  readonly episode: OpenEpisode;
  /** Whether it was opened now; else it was open here already. */
  readonly isNew: boolean;
}

/** Opens an episode, or finds the one of the same key that is open here. */
export function openEpisode(place: Place, request: OpenRequest, digest: (text: string) => string): Opened {
  const { layout } = place;
  const { head, branch } = place.position();
  const startWorkingTree = workingTree(layout);
  const session = request.providerSession ?? (environmentKey() === null ? environmentSessions()[0]?.session : undefined);
  return underLedger(
    layout,
    (write) => {
      makeInside(layout, openEpisodesPath);
      removeTemporaries(`${layout.root}/${openEpisodesPath}`);
      insistPointer(layout);
      const key = keyFor(layout, session, digest);
      const path = `${layout.root}/${openFilePath(key)}`;
      const there = readOpenFile(layout, key);
      if (there.state === "unreadable") {
        throw refuse("refused", `cannot open an episode in '${openFilePath(key)}'`, "what stands there is no open episode; remove it");
      }
      if (there.state === "open") {
        const isNew = !isStarted(layout, there.episode.id);
        if (isNew) write(startLine(place, there.episode));
        movePointer(layout, key, isNew ? request.pointer : "dangling");
        return { episode: there.episode, isNew };
      }
      const episode: OpenEpisode = {
        key,
        id: drawEpisodeId(place),
        startedAt: place.now,
        owner: request.owner ?? (process.env["USER"] || process.env["LOGNAME"] || "unknown"),
        ...(request.worker === undefined ? {} : { worker: request.worker }),
        ...(request.provider === undefined ? {} : { provider: request.provider }),
        ...(session === undefined ? {} : { providerSession: session }),
        worktree: realPath(layout.root) ?? layout.root,
        branch,
        startHead: head,
        startWorkingTree,
      };
      const putBack = there.state === "foreign" ? setAside(layout, key) : () => undefined as void;
      let takeBack = () => undefined as void;
      try {
        replaceFile(path, Buffer.from(openFileText(episode), "utf8"), { mode: 0o600 });
        takeBack = write(startLine(place, episode));
        movePointer(layout, key, request.pointer);
      } catch (error) {
        takeBack();
        attempt(() => void removeFile(path));
        putBack();
        throw error;
      }
      return { episode, isNew: true };
    },
    place.wait,
  );
}

/** Whether tracked files differ from HEAD or from the index. */
export function workingTree(layout: Layout): "clean" | "dirty" {
  return changedFiles(layout).length === 0 ? "clean" : "dirty";
}

/** The tracked files that differ from HEAD or from the index, as git names them from its top level. */
export function changedFiles(layout: Layout): string[] {
  const answer = git(layout.root, ["status", "--porcelain", "-z", "--untracked-files=no"]);
  if (answer.status !== 0) throw gitRefusal(layout.root, answer);
  const fields = answer.output.toString("utf8").split("\0");
  const files: string[] = [];
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] as string;
    if (field === "") continue;
    files.push(field.slice(3));
    // The name that a renamed or copied file had comes as a field of its own.
    if (/^[RC]|^.[RC]/.test(field)) at += 1;
  }
  return files;
}

function keyFor(layout: Layout, session: string | undefined, digest: (text: string) => string): string {
  if (session === undefined) return environmentKey() ?? handKey;
  const key = cleanKey(session);
  const digested = `${key}-${digest(session).slice(0, 8)}`;
  if (key === handKey) return digested;
  const there = readOpenFile(layout, key);
  return there.state === "open" && there.episode.providerSession !== session ? digested : key;
}

/** The line of an episode's start. Its position is the file's: a start that was killed gets its line later, elsewhere perhaps. */
export function startLine(place: Place, episode: OpenEpisode): string {
  const { startHead: head, branch, id: session } = episode;
  const payload = { owner: episode.owner, ...(episode.worker === undefined ? {} : { worker: episode.worker }) };
  return lineOf("session.started", { ts: place.now, head, branch, session }, payload);
}

/** Whether the ledger has the line of an episode's start: a start that was killed leaves a file without one. */
export function isStarted(layout: Layout, id: string): boolean {
  return hasLine(layout, id, "session.started");
}

/** Whether the ledger has a line of this event about an episode. */
export function hasLine(layout: Layout, id: string, event: string): boolean {
  return hasLineWith(layout, event, "session", id);
}

/** Whether the ledger has a line of this event about a task. */
export function hasTaskLine(layout: Layout, id: string, event: string): boolean {
  return hasLineWith(layout, event, "task_id", id);
}

function hasLineWith(layout: Layout, event: string, field: string, id: string): boolean {
  let found = false;
  eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      if (textField(entry, "event") === event && textField(entry, field) === id) found = true;
      return !found;
    },
    needlesOf(id),
  );
  return found;
}

/** Refuses (13) a directory in the pointer's place before anything is written: a link cannot take its place. */
function insistPointer(layout: Layout): void {
  const pointer = `${layout.root}/${currentEpisodePath}`;
  if (linkTarget(pointer) === null && isDirectory(pointer)) throw refuse("could-not-write", `cannot write '${currentEpisodePath}'`, "is a directory");
}

function movePointer(layout: Layout, key: string, when: "always" | "dangling"): void {
  const pointed = pointedKey(layout);
  if (pointed === key) return;
  if (when === "dangling" && pointed !== null && readOpenFile(layout, pointed).state === "open") return;
  pointAt(`${layout.root}/${currentEpisodePath}`, `sessions-open/${key}.yaml`);
}

/** Moves another checkout's file of the same key out of the way (a copied repository); gives what puts it back. */
function setAside(layout: Layout, key: string): () => void {
  const path = `${layout.root}/${openFilePath(key)}`;
  for (let number = 1; ; number += 1) {
    const aside = `${path}.foreign-${number}`;
    if (nameExists(aside)) continue;
    try {
      fileOperations.renameSync(path, aside);
    } catch (error) {
      throw worldError(`cannot set aside '${openFilePath(key)}'`, error);
    }
    return () => {
      attempt(() => fileOperations.renameSync(aside, path));
    };
  }
}

/** Draws an episode's id that nothing here knows: no open file, ledger, archive, session record or candidate. */
function drawEpisodeId(place: Place): string {
  return drawId("s", place);
}

/** Draws an id of this second again while anything here knows it (contract, section 4). */
export function drawId(letter: "s" | "t", place: Place): string {
  const stamp = `${letter}-${place.now.replace(/[-:TZ]/g, "")}-`;
  const known = knownIds(place.layout, stamp);
  for (;;) {
    const id = stamp + randomHex(4);
    if (!known.has(id)) return id;
  }
}

/** Every id here that begins so: only ids of the same second can collide. */
function knownIds(layout: Layout, stamp: string): Set<string> {
  const known = new Set<string>();
  const learn = (text: string) => {
    for (let at = text.indexOf(stamp); at !== -1; at = text.indexOf(stamp, at + 1)) known.add(text.slice(at, at + stamp.length + 4));
  };
  for (const path of [...archivesOf(layout), ledgerPath]) {
    eachLine(`${layout.root}/${path}`, (line) => learn(line.toString("latin1")), [stamp]);
  }
  for (const folder of [layout.sessions, layout.candidates, layout.curated]) {
    for (const entry of listFolder(`${layout.root}/${folder}`)) learn(entry.name);
  }
  for (const entry of listFolder(`${layout.root}/${openEpisodesPath}`)) {
    if (entry.kind === "file") learn(readFileBytes(`${layout.root}/${openEpisodesPath}/${entry.name}`)?.toString("latin1") ?? "");
  }
  return known;
}
