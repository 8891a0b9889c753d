/**
 * The review queue (contract, section 8). Pure: files in, records, groups and unreadable files out. Everything is
 * bytes (`ByteString`), as in `shell/awk/`, which mirrors this: a change here lands there in the same commit.
 */
import { isUtf8 } from "node:buffer";
import { frontMatterOf } from "../format/front-matter.ts";
import { readYaml } from "../format/yaml-read.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import { compareBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { statusWords, unreadableWords, yamlWords } from "../ground/tables.ts";

/** The classes of knowledge (contract, section 9). */
export const recordClasses = ["fact", "convention", "constraint", "memory", "lesson"] as const;

/** A record as the queue reads it. An absent value is `""`; so is one of another shape than a string. */
export interface CandidateRecord {
  readonly path: ByteString;
  readonly id: ByteString;
  readonly class: ByteString;
  readonly status: ByteString;
  readonly epistemics: ByteString;
  readonly date: ByteString;
  readonly title: ByteString;
  readonly about: ByteString;
  readonly route: ByteString;
  /** The episode behind it: the first `session:` it is derived from. */
  readonly episode: ByteString;
  /** The branch or commit that it stands on, where it does not stand in the working tree. */
  readonly ref?: ByteString;
}

/** A file that cannot be a record, and the words of the first reason that holds. */
export interface UnreadableFile {
  /** Its raw bytes, which need not be UTF-8. */
  readonly path: ByteString;
  readonly reason: ByteString;
  /** As a record's. */
  readonly ref?: ByteString;
}

/** The records that are about one subject, in the order of their ids. */
export interface CandidateGroup {
  readonly about: ByteString;
  /** The route of the last record, `""` where it has none. */
  readonly route: ByteString;
  readonly records: readonly CandidateRecord[];
  readonly awaiting: number;
  readonly rejected: number;
  /** The episodes behind them, by first appearance. */
  readonly episodes: readonly ByteString[];
}

export interface CandidateQueue {
  /** Those that await review. */
  readonly awaiting: readonly CandidateRecord[];
  readonly groups: readonly CandidateGroup[];
  readonly unreadable: readonly UnreadableFile[];
  /** Branches by episode, where known. */
  readonly branches: ReadonlyMap<ByteString, ByteString>;
}

/**
 * Reads one file: a record, an unreadable file, or `null` for one that says `kind: context` and so is no record.
 * @param file the whole file
 */
export function readRecord(path: ByteString, file: Uint8Array): CandidateRecord | UnreadableFile | null {
  const read = readFront(file);
  if (typeof read === "string") return { path, reason: read };
  const { leaves } = read;
  if (leaves.get("kind") === "context") return null;
  const id = leaves.get("id") ?? "";
  if (id === "") return { path, reason: unreadableWords["no-id"] };
  const status = leaves.get("status") ?? "";
  if (!Object.hasOwn(statusWords, status)) return { path, reason: unreadableWords.status };
  return {
    path,
    id,
    class: leaves.get("class") ?? "",
    status,
    epistemics: leaves.get("epistemics") ?? "",
    date: leaves.get("date") ?? "",
    title: leaves.get("title") ?? "",
    about: leaves.get("about") ?? "",
    route: leaves.get("route") ?? "",
    episode: episodeOf(leaves),
  };
}

/** A file with front matter: its bytes, the leaves, and where its body begins. */
export interface FrontFile {
  readonly text: ByteString;
  readonly leaves: YamlLeaves;
  readonly bodyStart: number;
}

/** Reads a file's front matter, or gives the words of why it cannot be read. */
export function readFront(file: Uint8Array): FrontFile | string {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.includes(0)) return unreadableWords.nul;
  if (!isUtf8(bytes)) return unreadableWords.utf8;
  const text = bytes.toString("latin1");
  const matter = frontMatterOf(text);
  if (typeof matter === "string") return unreadableWords[matter];
  const { leaves, refusal } = readYaml(matter.yaml, matter.firstLine, true);
  if (refusal !== null) return `line ${refusal.line}: ${yamlWords[refusal.reason]}`;
  return { text, leaves, bodyStart: matter.bodyStart };
}

export function isUnreadable(read: CandidateRecord | UnreadableFile): read is UnreadableFile {
  return "reason" in read;
}

const derivedFrom = "provenance.derived_from.";

/** The episode behind a record: the first `session:` it is derived from, `""` where there is none. */
export function episodeOf(leaves: YamlLeaves): ByteString {
  const first = leaves.get(`${derivedFrom}0`);
  if (typeof first === "string" && first.startsWith("session:")) return first.slice(8);
  for (const [path, value] of leaves) {
    if (!path.startsWith(derivedFrom) || path.includes(".", derivedFrom.length)) continue;
    if (value !== null && value.startsWith("session:")) return value.slice(8);
  }
  return "";
}

/** Orders records by id, then by path, in byte order. */
export function compareRecords(left: CandidateRecord, right: CandidateRecord): number {
  return compareBytes(left.id, right.id) || compareBytes(left.path, right.path);
}

/**
 * The queue of the records and files read, in any order.
 * @param branches the branch of each episode that has one
 */
export function queueOf(
  records: readonly CandidateRecord[],
  unreadable: readonly UnreadableFile[],
  branches: ReadonlyMap<ByteString, ByteString>,
): CandidateQueue {
  const ordered = [...records].sort(compareRecords);
  return {
    awaiting: ordered.filter((record) => record.status === "candidate"),
    groups: groupsOf(ordered),
    unreadable: [...unreadable].sort((left, right) => compareBytes(left.path, right.path)),
    branches,
  };
}

function groupsOf(ordered: readonly CandidateRecord[]): CandidateGroup[] {
  const byAbout = new Map<ByteString, CandidateRecord[]>();
  for (const record of ordered) {
    if (record.about === "" || record.status === "verified") continue;
    const records = byAbout.get(record.about);
    if (records === undefined) byAbout.set(record.about, [record]);
    else records.push(record);
  }
  return [...byAbout]
    .sort(([left], [right]) => compareBytes(left, right))
    .map(([about, records]) => ({
      about,
      route: (records[records.length - 1] as CandidateRecord).route,
      records,
      awaiting: records.filter((record) => record.status === "candidate").length,
      rejected: records.filter((record) => record.status === "superseded").length,
      episodes: [...new Set(records.map((record) => record.episode).filter((episode) => episode !== ""))],
    }));
}
