/** Reads the review queue of a repository from its files (contract, section 8). Needs no git and takes no lock. */
import { isUtf8 } from "node:buffer";
import { frontMatterOf } from "../format/front-matter.ts";
import { readYaml } from "../format/yaml-read.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import { bytesOfText, compareBytes, isWellFormed } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { Refusal } from "../ground/errors.ts";
import { unreadableWords } from "../ground/tables.ts";
import { isFile, listFolder, pathInFolder, readShared } from "../host/folder.ts";
import type { FolderEntry } from "../host/folder.ts";
import { ledgerPath, openEpisodesPath, readmeName, yamlLeavesOf } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { isTimed, textField } from "../ledger/events.ts";
import { eachEntry, needlesOf } from "../ledger/ledger.ts";
import { isUnreadable, queueOf, readRecord } from "./candidates.ts";
import type { CandidateQueue, CandidateRecord, UnreadableFile } from "./candidates.ts";
import { isKept, recurring } from "./filters.ts";
import type { QueueFilter } from "./filters.ts";

/** What a folder of records holds, in no order: records, and the files that cannot be any. */
export interface FolderRecords {
  readonly records: CandidateRecord[];
  readonly unreadable: UnreadableFile[];
}

/**
 * The queue of a repository. Files that cannot be records are in it as unreadable; a folder that cannot be listed is refused (13).
 * @param filter which records are kept; unreadable files always are
 * @param elsewhere what stands on other branches
 */
export function readQueue(layout: Layout, filter: QueueFilter = {}, elsewhere?: (here: FolderRecords) => FolderRecords): CandidateQueue {
  const here = namedFromRoot(layout, () => readCandidates(layout));
  const there = elsewhere?.(here) ?? { records: [], unreadable: [] };
  const records = [...here.records, ...there.records].filter((record) => isKept(record, filter));
  const awaited = records.filter((record) => record.status === "candidate").map((record) => record.episode);
  const branches = namedFromRoot(layout, () => branchesOf(layout, new Set(awaited.filter((episode) => episode !== ""))));
  const queue = queueOf(records, [...here.unreadable, ...there.unreadable], branches);
  return filter.minEpisodes === undefined ? queue : recurring(queue, filter.minEpisodes);
}

/** Reads, and names what cannot be read by its path from the root, as the shell reader does. */
function namedFromRoot<Result>(layout: Layout, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    throw new Refusal(error.code, error.what.replace(`'${layout.root}/`, "'"), error.detail);
  }
}

/** What stands in the working tree's folder of candidates. */
export function readCandidates(layout: Layout): FolderRecords {
  const folder = `${layout.root}/${layout.candidates}`;
  const path = bytesOfText(layout.candidates);
  const records: CandidateRecord[] = [];
  const unreadable: UnreadableFile[] = [];
  for (const entry of listFolder(folder)) {
    if (!isRecordName(entry.name, ".md") || (entry.kind !== "file" && entry.kind !== "link")) continue;
    const read = readEntry(folder, `${path}/${entry.name}`, entry);
    if (read === null) continue;
    if (isUnreadable(read)) unreadable.push(read);
    else records.push(read);
  }
  return { records, unreadable };
}

/** Whether a file of this name is one to read. */
export function isRecordName(name: ByteString, ending: string): boolean {
  return name.endsWith(ending) && !name.startsWith(".") && name !== readmeName;
}

function readEntry(folder: string, path: ByteString, entry: FolderEntry): CandidateRecord | UnreadableFile | null {
  if (!isWellFormed(entry.name)) return { path, reason: unreadableWords.name };
  if (entry.kind === "link") return { path, reason: unreadableWords.link };
  const file = readShared(pathInFolder(folder, entry.name));
  return file === null ? { path, reason: unreadableWords.closed } : readRecord(path, file);
}

/**
 * The branches of these episodes: from the session records, then the open files, then the ledger, whichever names an
 * episode first and gives a branch. Each source is read only while an episode is still without one.
 */
function branchesOf(layout: Layout, episodes: ReadonlySet<ByteString>): Map<ByteString, ByteString> {
  const branches = new Map<ByteString, ByteString>();
  const unknown = new Set(episodes);
  const learn = (episode: ByteString, branch: ByteString) => {
    if (branch !== "" && unknown.delete(episode)) branches.set(episode, branch);
    return unknown.size > 0;
  };
  learnFrom(`${layout.root}/${layout.sessions}`, ".md", sessionLeaves, unknown, learn);
  learnFrom(`${layout.root}/${openEpisodesPath}`, ".yaml", yamlLeaves, unknown, learn);
  const ledger = `${layout.root}/${ledgerPath}`;
  if (unknown.size > 0 && isFile(ledger)) {
    eachEntry(
      ledger,
      (entry) => {
        if (textField(entry, "event") !== "session.started" || !isTimed(entry)) return true;
        return learn(bytesOfText(textField(entry, "session")), bytesOfText(textField(entry, "branch")));
      },
      needlesOf("session.started"),
    );
  }
  return branches;
}

function learnFrom(
  folder: string,
  ending: string,
  leavesOf: (file: Buffer) => YamlLeaves | null,
  unknown: ReadonlySet<ByteString>,
  learn: (episode: ByteString, branch: ByteString) => boolean,
): void {
  if (unknown.size === 0) return;
  const names = listFolder(folder)
    .filter((entry) => entry.kind === "file" && isRecordName(entry.name, ending))
    .map((entry) => entry.name)
    .sort(compareBytes);
  for (const name of names) {
    const file = readShared(pathInFolder(folder, name));
    const leaves = file === null ? null : leavesOf(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
    if (leaves !== null && !learn(leaves.get("session_id") ?? "", leaves.get("branch") ?? "")) return;
  }
}

function sessionLeaves(file: Buffer): YamlLeaves | null {
  if (file.includes(0) || !isUtf8(file)) return null;
  const matter = frontMatterOf(file.toString("latin1"));
  return typeof matter === "string" ? null : readYaml(matter.yaml, matter.firstLine, true).leaves;
}

function yamlLeaves(file: Buffer): YamlLeaves | null {
  const leaves = yamlLeavesOf(file);
  return typeof leaves === "string" ? null : leaves;
}

