/**
 * Turns the evidence of one episode into candidate records, without a model: same ledger, same git, same bytes
 * (contract, section 7). All files are staged first, then the ledger says so, then each is renamed into place.
 */
import { distinct } from "../ground/bytes.ts";
import { sha256 } from "../ground/digest.ts";
import { episodePattern, opensLikeConversation, recordPattern, taskPattern } from "../ground/ids.ts";
import { refuse } from "../ground/errors.ts";
import { flushFolder, moveFile, readBytes, removeTemporaries, stageFile, temporaryPrefix } from "../host/files.ts";
import type { StagedFile } from "../host/files.ts";
import { isDirectory, isFile, linkTarget, listFolder, nameExists, realPath } from "../host/folder.ts";
import { insistInside, makeInside, makeRecordDirectory } from "../host/inside.ts";
import { completedPath, isBelow, knowledgeLockPath, ledgerPath, statePath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { lockWait, withLock } from "../host/lock.ts";
import { readScope } from "../host/policy.ts";
import { isTimed, textField } from "../ledger/events.ts";
import { eachEntry, needlesOf } from "../ledger/ledger.ts";
import type { LedgerEntry } from "../ledger/events.ts";
import type { Damage } from "../ledger/ledger.ts";
import { append, episodeAt, lineMaker } from "../episode/act.ts";
import type { MakeLine, Place } from "../episode/act.ts";
import { isUnreadable, readRecord } from "./candidates.ts";
import { evidenceEvents, evidenceOf, reasonIn } from "./evidence.ts";
import type { Evidence } from "./evidence.ts";
import { derivedPaths, episodeCommits, resolveReferences } from "./git-facts.ts";
import { derivedFromOf, evidenceById, recordText } from "./record.ts";
import type { DerivedRecord } from "./record.ts";
import { isPathSubject, routeOf } from "./route.ts";

export type SkipReason = "transcript" | "promoted" | "superseded" | "edited";

/** What became of one record's file. */
export type Fate =
  | { readonly path: string; readonly fate: "written" | "unchanged" }
  | { readonly path: string; readonly fate: "skipped"; readonly reason: SkipReason };

export interface Derivation {
  readonly episode: string;
  readonly dryRun: boolean;
  readonly fates: readonly Fate[];
  readonly damage: Damage;
  /** Whether the ledger has the line of the episode's start. */
  readonly started: boolean;
  /** Whether it has the line of the episode's end. */
  readonly closed: boolean;
}

/** What the ledger says of one episode. */
interface EpisodeLines {
  readonly evidence: readonly Evidence[];
  readonly startHead: string | null;
  readonly closedHead: string | null;
  /** Digests of what we wrote, by path. */
  readonly digests: ReadonlyMap<string, ReadonlySet<string>>;
  readonly damage: Damage;
}

/** Derives an episode under the knowledge lock. An episode of no whole line here is missing (12). */
export function derive(place: Place, episode: string, dryRun: boolean, wait = lockWait): Derivation {
  if (!episodePattern.test(episode)) {
    throw refuse("wrong-call", `cannot derive '${episode}'`, "an episode's id is s-YYYYMMDDHHMMSS-xxxx");
  }
  if (dryRun) return deriveHeld(place, episode, true);
  return underKnowledge(place.layout, () => deriveHeld(place, episode, false), wait);
}

/** Runs an act under the lock that stands over derive, end, promote and reject, after clearing what a killed one staged. */
export function underKnowledge<Result>(layout: Layout, run: () => Result, wait = lockWait): Result {
  makeInside(layout, statePath);
  return withLock(`${layout.root}/${knowledgeLockPath}`, wait, () => {
    for (const folder of [layout.candidates, layout.curated, layout.sessions]) {
      insistInside(layout, folder);
      // What stands there instead is for the act to refuse; an end closes all the same.
      if (!isDirectory(`${layout.root}/${folder}`)) continue;
      if (folder === layout.candidates) finishStaged(layout);
      removeTemporaries(`${layout.root}/${folder}`);
    }
    return run();
  });
}

/**
 * Renames into place what a killed derivation had staged and the ledger already says is written; else it would be lost
 * once its episode is closed. What the ledger does not name never was.
 */
function finishStaged(layout: Layout): void {
  const folder = `${layout.root}/${layout.candidates}`;
  const staged = listFolder(folder).filter((entry) => entry.kind === "file" && entry.name.startsWith(temporaryPrefix));
  if (staged.length === 0) return;
  const digests = new Map<string, Set<string>>();
  eachEntry(`${layout.root}/${ledgerPath}`, (entry) => learnDigests(entry, digests), needlesOf("knowledge.derived"));
  for (const { name } of staged) {
    const bytes = readBytes(`${folder}/${name}`) ?? Buffer.alloc(0);
    const id = /^id: (\S+)$/m.exec(bytes.toString("latin1"))?.[1] ?? "";
    const path = `${layout.candidates}/${id}.md`;
    const ours = digests.get(path);
    if (!recordPattern.test(id) || ours === undefined || !ours.has(digestOf(bytes))) continue;
    const found = currentBytes(layout, path);
    if (nameExists(`${layout.root}/${layout.curated}/${id}.md`) || (found !== null && !ours.has(digestOf(found)))) continue;
    moveFile(`${folder}/${name}`, `${layout.root}/${path}`);
  }
}

/** Learns the digests of what we wrote, by path. */
function learnDigests(entry: LedgerEntry, digests: Map<string, Set<string>>): void {
  if (textField(entry, "event") !== "knowledge.derived" || !isTimed(entry)) return;
  const paths = textField(entry, "paths").split(" ");
  textField(entry, "digests")
    .split(" ")
    .forEach((digest, index) => {
      const path = paths[index] ?? "";
      if (digest !== "") digests.set(path, (digests.get(path) ?? new Set()).add(digest));
    });
}

/**
 * The same for a caller that holds the lock.
 * @param write appends to the ledger, for a caller that holds its lock as well
 */
export function deriveHeld(place: Place, episode: string, dryRun: boolean, write?: (lines: string) => void): Derivation {
  const { layout } = place;
  const lines = readEpisode(layout, episode);
  const records = recordsOf(place, episode, lines);
  const plans = records.map((record) => planOf(layout, record, lines));
  const written = plans.filter((plan) => plan.fate.fate === "written");
  const result = (fates: readonly Fate[]): Derivation => ({
    episode,
    dryRun,
    fates,
    damage: lines.damage,
    started: lines.startHead !== null,
    closed: lines.closedHead !== null,
  });
  if (dryRun) return result(plans.map((plan) => plan.fate));
  if (written.length > 0) makeRecordDirectory(layout, layout.candidates, place.home, "knowledge/candidates");
  const staged: StagedFile[] = [];
  let isRecorded = false;
  try {
    for (const plan of written) staged.push(stageFile(`${layout.root}/${plan.fate.path}`, plan.bytes));
    appendDerived(place, episode, plans, write);
    isRecorded = true;
    const edited = new Set<string>();
    staged.forEach((file, index) => {
      const plan = written[index] as Plan;
      // A person may have saved the file since it was looked at.
      if (isSame(currentBytes(layout, plan.fate.path), plan.found)) file.commit(false);
      else {
        file.discard();
        edited.add(plan.fate.path);
      }
    });
    if (staged.length > 0) flushFolder(`${layout.root}/${layout.candidates}`);
    return result(
      plans.map(({ fate }) => (edited.has(fate.path) ? { path: fate.path, fate: "skipped", reason: "edited" } : fate)),
    );
  } finally {
    // What the ledger says is written and could not be put into place stays staged: the next holder of the lock finishes it.
    if (!isRecorded) for (const file of staged) file.discard();
  }
}

function readEpisode(layout: Layout, episode: string): EpisodeLines {
  const evidence: Evidence[] = [];
  const digests = new Map<string, Set<string>>();
  let found = false;
  let startHead: string | null = null;
  let closedHead: string | null = null;
  const reasons = new Map<string, string>();
  const reasonOf = (task: string) => {
    const known = reasons.get(task) ?? readReason(layout, task);
    reasons.set(task, known);
    return known;
  };
  const damage = eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      const event = textField(entry, "event");
      if (!isTimed(entry)) return;
      learnDigests(entry, digests);
      if (textField(entry, "session") !== episode) return;
      found = true;
      if (event === "session.started") startHead ??= textField(entry, "head");
      if (event === "session.closed") closedHead = textField(entry, "head");
      if (!evidenceEvents.has(event)) return;
      const line = evidenceOf(entry, episode, reasonOf);
      if (line !== null) evidence.push(line);
    },
    needlesOf(episode),
  );
  if (!found) throw refuse("missing", `cannot derive '${episode}'`, "no line of the ledger here is of this episode");
  return { evidence, startHead, closedHead, digests, damage };
}

function readReason(layout: Layout, task: string): string {
  const note = taskPattern.test(task) ? readBytes(`${layout.root}/${completedPath}/${task}.md`) : null;
  return note === null ? "" : reasonIn(note.toString("utf8"));
}

/** The records of an episode's evidence, in the order of its lines. */
function recordsOf(place: Place, episode: string, lines: EpisodeLines): DerivedRecord[] {
  const { layout } = place;
  const byId = evidenceById(episode, lines.evidence);
  if (byId.size === 0) return [];
  const evidence = [...byId.values()];
  const position = place.position();
  const { commits, paths } =
    lines.startHead === null
      ? { commits: [], paths: [] }
      : episodeCommits(layout, lines.startHead, lines.closedHead ?? position.head);
  const resolved = resolveReferences(layout, evidence.flatMap((line) => line.references));
  const subjects = distinct(evidence.flatMap((line) => (line.subject === undefined ? [] : [line.subject])));
  const derived = derivedPaths(layout, subjects.filter(isPathSubject));
  const facts = {
    ...(subjects.length === 0 ? { generatedPaths: [], generatedNames: [] } : readScope(layout)),
    vendoredRules: layout.vendoredRules,
    share: shareInside(layout, place.home),
    isDerived: (path: string) => derived.has(path),
  };
  return [...byId].map(([id, line]) => ({
    id,
    evidence: line,
    derivedFrom: derivedFromOf(episode, line, commits, resolved),
    relatedPaths: paths,
    ...(line.subject === undefined ? {} : { route: routeOf(line.subject, facts) }),
  }));
}

/** The toolkit's own `share/` as a path in the repository; `null` where it lies elsewhere. */
function shareInside(layout: Layout, home: string): string | null {
  const root = realPath(layout.root);
  const share = realPath(`${home}/share`);
  if (root === null || share === null || share === root || !isBelow(root, share)) return null;
  return share.slice(root === "/" ? 1 : root.length + 1);
}

/** What is to become of a record's file, its bytes, and what stood there when it was looked at. */
interface Plan {
  readonly fate: Fate;
  readonly bytes: Buffer;
  readonly found: Buffer | null;
}

function planOf(layout: Layout, record: DerivedRecord, lines: EpisodeLines): Plan {
  const path = `${layout.candidates}/${record.id}.md`;
  const bytes = Buffer.from(recordText(record), "utf8");
  const skipped = (reason: SkipReason): Plan => ({ fate: { path, fate: "skipped", reason }, bytes, found: null });
  if (opensLikeConversation(record.evidence.title) || opensLikeConversation(record.evidence.description)) {
    return skipped("transcript");
  }
  if (nameExists(`${layout.root}/${layout.curated}/${record.id}.md`)) return skipped("promoted");
  // A link there is somebody's doing, and nothing is read or written through it.
  if (linkTarget(`${layout.root}/${path}`) !== null) return skipped("edited");
  const found = currentBytes(layout, path);
  if (found === null) return { fate: { path, fate: "written" }, bytes, found };
  const read = readRecord(path, found);
  if (read !== null && !isUnreadable(read) && read.status !== "candidate") return skipped("superseded");
  if (read === null || isUnreadable(read)) return skipped("edited");
  const text = lineFeeds(found);
  const isOurs = lines.digests.get(path)?.has(digestOf(text)) ?? false;
  const isEqual = text.equals(bytes);
  if (!isEqual && !isOurs) return skipped("edited");
  return { fate: { path, fate: isEqual || lines.closedHead !== null ? "unchanged" : "written" }, bytes, found };
}

/** The bytes of a record's file; `null` where there is none. Anything but a regular file is refused (13). */
function currentBytes(layout: Layout, path: string): Buffer | null {
  const place = `${layout.root}/${path}`;
  if (!nameExists(place)) return null;
  if (!isFile(place)) throw refuse("could-not-write", `cannot write '${path}'`, "it is no regular file");
  return readBytes(place);
}

function isSame(left: Buffer | null, right: Buffer | null): boolean {
  return left === null || right === null ? left === right : left.equals(right);
}

/** A checkout may have turned the line ends: what differs by them alone is the same. */
function lineFeeds(bytes: Buffer): Buffer {
  return bytes.includes("\r\n") ? Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1") : bytes;
}

/** How the ledger names the bytes of a file it wrote. */
export function digestOf(bytes: Buffer): string {
  return sha256(lineFeeds(bytes)).slice(0, 12);
}

/** Paths of one `knowledge.derived` line, by count and by bytes of path and digest; further lines carry the rest. */
const pathsPerLine = 500;
const pathBytesPerLine = 60_000;

function appendDerived(place: Place, episode: string, plans: readonly Plan[], write: ((lines: string) => void) | undefined): void {
  const count = (fate: Fate["fate"]) => plans.filter((plan) => plan.fate.fate === fate).length;
  const written = plans.filter((plan) => plan.fate.fate === "written");
  const make = (line: MakeLine) => {
    const perPath = Buffer.byteLength(written[0]?.fate.path ?? "", "utf8") + 14;
    const size = Math.max(1, Math.min(pathsPerLine, Math.floor(pathBytesPerLine / perPath)));
    let lines = "";
    for (let at = 0; at === 0 || at < written.length; at += size) {
      const part = written.slice(at, at + size);
      lines += line("knowledge.derived", {
        episode,
        written: at === 0 ? count("written") : 0,
        unchanged: at === 0 ? count("unchanged") : 0,
        skipped: at === 0 ? count("skipped") : 0,
        paths: part.map((plan) => plan.fate.path).join(" "),
        digests: part.map((plan) => digestOf(plan.bytes)).join(" "),
      });
    }
    return lines;
  };
  if (write === undefined) append(place, make);
  else write(make(lineMaker(place, episodeAt(place))));
}
