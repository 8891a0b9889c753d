/**
 * The review: a person promotes or rejects a candidate (contract, section 9). An act checks everything before it touches
 * anything, then holds the knowledge lock and the ledger's, and goes in an order that a second call can take up anywhere:
 *
 * - promote: `curated/<id>.md` is written whole, the line appended, the candidate removed. Where the curated file stands and is this
 *   candidate promoted, whoever began, only the rest is done: the first one's class and evidence stay.
 * - reject: the file is replaced whole, the line appended. Where it stands rejected for this reason, only the line is added.
 *
 * An act that fails takes back what it wrote, as long as its line is not in the ledger.
 */
import { isUtf8 } from "node:buffer";
import { bytesOfText, textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { refuse, Refusal } from "../ground/errors.ts";
import { opensLikeConversation, recordPattern } from "../ground/ids.ts";
import { act } from "../episode/act.ts";
import type { HeldAct, Place } from "../episode/act.ts";
import { attempt, flushFolder, readBytes, removeFile, replaceFile, stageFile } from "../host/files.ts";
import { fileMode, isFile, nameExists } from "../host/folder.ts";
import { makeRecordDirectory } from "../host/inside.ts";
import { knowledgeLockPath, ledgerPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { isAbandoned } from "../host/lock.ts";
import { textField } from "../ledger/events.ts";
import { archivesOf, eachEntry, needlesOf } from "../ledger/ledger.ts";
import { amended, cannotChange, derivedFromIn, leavesOf, sectionOf } from "./amend.ts";
import type { Amendment } from "./amend.ts";
import { isUnreadable, readRecord, recordClasses } from "./candidates.ts";
import type { CandidateRecord } from "./candidates.ts";
import { underKnowledge } from "./derive.ts";

const evidenceHeading = "Evidence";
const rejectedHeading = "Rejected";

/** The record that an act is about: its path below the root, its bytes, and what the queue reads in them. */
interface Subject {
  readonly id: string;
  readonly path: string;
  readonly file: Buffer;
  readonly text: ByteString;
  readonly record: CandidateRecord;
}

function recordPath(folder: string, id: string): string {
  return `${folder}/${id}.md`;
}

/** A record by its id; `null` where nothing has its name. What is there and is no whole record is refused (10). */
function subjectAt(layout: Layout, folder: string, id: string, what: string): Subject | null {
  const path = recordPath(folder, id);
  const place = `${layout.root}/${path}`;
  if (!nameExists(place)) return null;
  if (!isFile(place)) throw refuse("refused", what, `'${path}' is no regular file`);
  const file = readBytes(place, { regular: true });
  if (file === null) return null;
  const record = readRecord(bytesOfText(path), file);
  if (record === null) throw refuse("refused", what, `'${path}' is no record: its kind is context`);
  if (isUnreadable(record)) throw refuse("refused", what, `'${path}': ${record.reason}; mend it by hand`);
  if (record.id !== id) throw refuse("refused", what, `'${path}' has the id '${textOfBytes(record.id)}'`);
  return { id, path, file, text: file.toString("latin1"), record };
}

/** The candidate's file that an act names (12), whatever its status is. */
function candidateAt(layout: Layout, id: string, what: string): Subject {
  const subject = recordPattern.test(id) ? subjectAt(layout, layout.candidates, id, what) : null;
  if (subject !== null) return subject;
  const curated = recordPath(layout.curated, id);
  const isPromoted = recordPattern.test(id) && isFile(`${layout.root}/${curated}`);
  throw refuse("missing", what, isPromoted ? `it is promoted already, as '${curated}'` : "no such candidate; see 'majordomus knowledge candidates'");
}

function insistCandidate(subject: Subject, what: string): void {
  if (subject.record.status !== "candidate") throw refuse("refused", what, `it is no candidate: its status is ${subject.record.status}`);
}

/** Whether the act before this one was killed while it held the lock: then this call may be the same act again. */
function wasKilled(layout: Layout): boolean {
  return isAbandoned(`${layout.root}/${knowledgeLockPath}`);
}

/** Whether a line of the ledger or its archives says this of a record. */
function hasReviewLine(layout: Layout, event: string, id: string, reason?: string): boolean {
  let found = false;
  for (const path of [ledgerPath, ...archivesOf(layout)]) {
    eachEntry(
      `${layout.root}/${path}`,
      (entry) => {
        if (textField(entry, "event") !== event || textField(entry, "id") !== id) return true;
        found = reason === undefined || textField(entry, "reason") === reason;
        return !found;
      },
      needlesOf(id),
    );
    if (found) return true;
  }
  return found;
}

/** The evidence of a promotion as it is read: `null` stands for a terminal. Refused (10): none, or what no record may hold. */
export function evidenceLines(input: Uint8Array | null): string[] {
  const what = "cannot use the evidence on standard input";
  const say = "say there what shows that it holds";
  if (input === null) throw refuse("refused", "no evidence", `standard input is a terminal; ${say}`);
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (!isUtf8(bytes)) throw refuse("refused", what, "invalid UTF-8");
  const lines = bytes
    .toString("utf8")
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map((line) => line.replace(/[ \t]+$/, ""));
  while (lines[0] === "") lines.shift();
  while (lines[lines.length - 1] === "") lines.pop();
  if (lines.every((line) => line.trim() === "")) throw refuse("refused", "no evidence", `standard input is empty; ${say}`);
  if (lines.some(opensLikeConversation)) throw refuse("refused", what, "a line of it opens like a conversation; say what it comes to");
  if (lines.some((line) => /[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(line))) throw refuse("refused", what, "it holds a control character");
  return lines;
}

export interface Promotion {
  /** As it was typed; `undefined` keeps the candidate's. */
  readonly class: string | undefined;
  /** Reads the evidence: called once, before any lock is taken, and only where it is needed. */
  readonly evidence: () => readonly string[];
}

/** Promotes a candidate and gives the curated record's path. */
export function promote(place: Place, id: string, promotion: Promotion): string {
  const { layout } = place;
  const what = `cannot promote '${id}'`;
  if (promotion.class !== undefined && !(recordClasses as readonly string[]).includes(promotion.class)) {
    throw refuse("refused", what, `unknown class '${promotion.class}': one of ${recordClasses.join(", ")}`);
  }
  if (isPromotedByKilled(layout, id)) return recordPath(layout.curated, id);
  const evidence = isBegun(layout, insistPromotable(layout, id, promotion.class, what), what) ? null : promotion.evidence();
  place.position();
  return underKnowledge(layout, () => promoteHeld(place, id, promotion.class, evidence, what), place.wait);
}

/** Whether a killed act has done all of this one. */
function isPromotedByKilled(layout: Layout, id: string): boolean {
  if (!recordPattern.test(id) || nameExists(`${layout.root}/${recordPath(layout.candidates, id)}`)) return false;
  if (!isFile(`${layout.root}/${recordPath(layout.curated, id)}`) || !wasKilled(layout)) return false;
  return hasReviewLine(layout, "knowledge.promoted", id);
}

/** The candidate, whole and such that it can be promoted; else refused. */
function insistPromotable(layout: Layout, id: string, givenClass: string | undefined, what: string): Subject {
  const subject = candidateAt(layout, id, what);
  insistCandidate(subject, what);
  if ((leavesOf(subject.text).get("provenance.origin") ?? "") === "") throw refuse("refused", what, "it has no provenance.origin");
  const own = textOfBytes(subject.record.class);
  if (givenClass === undefined && !(recordClasses as readonly string[]).includes(own)) {
    throw refuse("refused", what, `its class is '${own}': pass --class with one of ${recordClasses.join(", ")}`);
  }
  // What cannot be changed in place is refused before anything is read or touched.
  promotedText(subject, { class: givenClass, date: "0000-00-00", episode: "s-00000000000000-0000" }, ["x"]);
  return subject;
}

/** Whether a promotion of this candidate was begun: its curated file stands. One that is anything else is refused (10). */
function isBegun(layout: Layout, subject: Subject, what: string): boolean {
  const curated = subjectAt(layout, layout.curated, subject.id, what);
  if (curated === null) return false;
  if (isPromotionOf(subject, curated)) return true;
  throw refuse("refused", what, `'${curated.path}' stands already and is no promotion of it: compare the two and remove one`);
}

interface PromotionFacts {
  readonly class: string | undefined;
  readonly date: string;
  readonly episode: string | undefined;
}

function promotedText(subject: Subject, facts: PromotionFacts, lines: readonly string[]): ByteString {
  const fields: [string, string][] = [["status", "verified"]];
  if (facts.class !== undefined) fields.push(["class", facts.class]);
  fields.push(["date", facts.date]);
  const derivedFrom = facts.episode === undefined ? null : `session:${facts.episode}`;
  return amendedSubject(subject, { fields, derivedFrom, section: { heading: evidenceHeading, lines } });
}

/** Whether a curated record is this candidate, promoted with some class and evidence, on some day, in some episode. */
function isPromotionOf(candidate: Subject, curated: Subject): boolean {
  if (curated.record.status !== "verified") return false;
  const before = derivedFromIn(leavesOf(candidate.text));
  const added = derivedFromIn(leavesOf(curated.text)).slice(before.length);
  const episode = added.length === 1 && added[0]?.startsWith("session:") === true ? added[0].slice(8) : undefined;
  const facts = { class: curated.record.class, date: curated.record.date, episode };
  // No record holds the mark: between what stands before and behind it is the evidence.
  const mark = "\0";
  const [head = "", tail = ""] = lineFeeds(promotedText(candidate, facts, [mark])).split(mark);
  const text = lineFeeds(curated.text);
  return text.length > head.length + tail.length && text.startsWith(head) && text.endsWith(tail);
}

function lineFeeds(text: ByteString): ByteString {
  return text.replaceAll("\r\n", "\n");
}

function promoteHeld(
  place: Place,
  id: string,
  givenClass: string | undefined,
  evidence: readonly string[] | null,
  what: string,
): string {
  const { layout } = place;
  const subject = insistPromotable(layout, id, givenClass, what);
  const begun = isBegun(layout, subject, what);
  if (!begun && evidence === null) throw refuse("refused", what, "it changed meanwhile; try again");
  const path = recordPath(layout.curated, id);
  const curated = `${layout.root}/${path}`;
  act(place, what, ({ episode, line, write }) => {
    const entry = line("knowledge.promoted", { id, path });
    if (begun) {
      if (!hasReviewLine(layout, "knowledge.promoted", id)) write(entry);
      return;
    }
    const facts = { class: givenClass, date: place.now.slice(0, 10), episode: episode?.id };
    const text = promotedText(subject, facts, evidence ?? []);
    makeRecordDirectory(layout, layout.curated, place.home, "knowledge/curated");
    if (!isUnchanged(layout, subject)) throw refuse("refused", what, changed(subject));
    insistRemovable(`${layout.root}/${subject.path}`);
    orTakeBack(
      () => {
        replaceFile(curated, Buffer.from(text, "latin1"));
        write(entry);
      },
      () => removeFile(curated),
    );
  });
  if (!isUnchanged(layout, subject)) throw refuse("refused", what, `${changed(subject)}; '${path}' is what it was before`);
  removeFile(`${layout.root}/${subject.path}`);
  // Where a crash brings the candidate back, a second call removes it again: no failure of an act that is done.
  attempt(() => flushFolder(`${layout.root}/${layout.candidates}`));
  return path;
}

/** The candidate is removed last, when it is too late to refuse: so another file of its folder is made and removed first. */
function insistRemovable(path: string): void {
  const other = stageFile(path, new Uint8Array());
  try {
    removeFile(other.temporary);
  } finally {
    other.discard();
  }
}

/** A person may save the file while an act runs: what was saved then is not overwritten and not removed. */
function isUnchanged(layout: Layout, subject: Subject): boolean {
  return readBytes(`${layout.root}/${subject.path}`, { regular: true })?.equals(subject.file) ?? false;
}

function changed(subject: Subject): string {
  return `'${subject.path}' changed meanwhile; look at it and try again`;
}

/** Runs what must come to pass; where it does not, what went before it is taken back, as far as that goes. */
function orTakeBack(run: () => void, takeBack: () => unknown): void {
  try {
    run();
  } catch (error) {
    attempt(() => void takeBack());
    throw error;
  }
}

export interface Rejection {
  readonly reason: string;
  /** The record that takes its place. */
  readonly by: string | undefined;
}

/** Rejects a candidate and gives its path. The reason is one line, and not blank. */
export function reject(place: Place, id: string, rejection: Rejection): string {
  const { layout } = place;
  const what = `cannot reject '${id}'`;
  const killed = wasKilled(layout);
  insistRejectable(layout, id, rejection, killed, what);
  place.position();
  return underKnowledge(
    layout,
    () => {
      const subject = insistRejectable(layout, id, rejection, killed, what);
      act(place, what, (held) => rejectHeld(layout, subject, rejection, held, what));
      return subject.path;
    },
    place.wait,
  );
}

/** The record, such that it can be rejected, or stands rejected for this reason and lacks its line; else refused. */
function insistRejectable(layout: Layout, id: string, rejection: Rejection, killed: boolean, what: string): Subject {
  const subject = candidateAt(layout, id, what);
  if (isRejectedFor(subject, rejection)) {
    if (killed || !hasReviewLine(layout, "knowledge.rejected", id, rejection.reason)) return subject;
    throw refuse("refused", what, "it stands rejected for this reason already");
  }
  insistCandidate(subject, what);
  if (nameExists(`${layout.root}/${recordPath(layout.curated, id)}`)) {
    throw refuse("refused", what, `it stands promoted, as '${recordPath(layout.curated, id)}': run 'majordomus knowledge check'`);
  }
  const { by } = rejection;
  if (by !== undefined) {
    const folders = [layout.candidates, layout.curated];
    const isRecord = recordPattern.test(by) && by !== id && folders.some((folder) => subjectAt(layout, folder, by, what) !== null);
    if (!isRecord) throw refuse("refused", what, `--by '${by}' names no other record`);
    if (isReplacedBy(layout, by, id, what)) throw refuse("refused", what, `--by '${by}' stands itself superseded by it`);
  }
  rejectedText(subject, rejection);
  return subject;
}

/** Whether following what supersedes a record comes to that other one. */
function isReplacedBy(layout: Layout, id: string, other: string, what: string): boolean {
  const seen = new Set<string>();
  for (let at = id; recordPattern.test(at) && !seen.has(at); ) {
    if (at === other) return true;
    seen.add(at);
    const subject = subjectAt(layout, layout.curated, at, what) ?? subjectAt(layout, layout.candidates, at, what);
    at = subject === null ? "" : supersededBy(subject);
  }
  return false;
}

function rejectedText(subject: Subject, { reason, by }: Rejection): ByteString {
  const fields: [string, string][] = [["status", "superseded"]];
  if (by !== undefined) fields.push(["superseded_by", by]);
  const amendment: Amendment = { fields, derivedFrom: null, section: { heading: rejectedHeading, lines: [reason] } };
  return amendedSubject(subject, amendment);
}

function amendedSubject({ path, text }: Subject, amendment: Amendment): ByteString {
  try {
    return amended(text, amendment);
  } catch (error) {
    if (!(error instanceof Refusal) || error.what !== cannotChange) throw error;
    throw refuse("refused", `cannot change '${path}'`, `${error.detail}; mend it by hand`);
  }
}

/** Whether a record stands rejected for this reason, and by that record where one is named. */
function isRejectedFor(subject: Subject, { reason, by }: Rejection): boolean {
  if (subject.record.status !== "superseded") return false;
  if (by !== undefined && supersededBy(subject) !== by) return false;
  const section = sectionOf(subject.text, rejectedHeading);
  const lines = section === null ? [] : subject.text.slice(section.start).split(/\r?\n/).slice(1);
  return lines.includes(bytesOfText(reason));
}

function supersededBy(subject: Subject): string {
  return textOfBytes(leavesOf(subject.text).get("superseded_by") ?? "");
}

function rejectHeld(layout: Layout, subject: Subject, rejection: Rejection, { line, write }: HeldAct, what: string): void {
  const { id } = subject;
  const stands = subject.record.status === "superseded";
  const by = stands ? supersededBy(subject) : (rejection.by ?? "");
  const entry = line("knowledge.rejected", { id, reason: rejection.reason, ...(by === "" ? {} : { superseded_by: by }) });
  if (stands) {
    if (!hasReviewLine(layout, "knowledge.rejected", id, rejection.reason)) write(entry);
    return;
  }
  const place = `${layout.root}/${subject.path}`;
  const text = Buffer.from(rejectedText(subject, rejection), "latin1");
  const mode = { mode: fileMode(place) ?? 0o644 };
  if (!isUnchanged(layout, subject)) throw refuse("refused", what, changed(subject));
  orTakeBack(
    () => {
      replaceFile(place, text, mode);
      write(entry);
    },
    () => replaceFile(place, subject.file, mode),
  );
}
