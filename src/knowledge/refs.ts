/**
 * The records of other branches, out of git's objects: no checkout, no network (contract, section 8). Two calls of git serve any
 * number of refs: one batch gives each ref's folder of candidates as a tree, the next all their files.
 */
import { bytesOfText, isWellFormed, sortedBytes, textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import { unreadableWords } from "../ground/tables.ts";
import { git, gitRefusal } from "../host/git.ts";
import { nameExists } from "../host/folder.ts";
import type { Layout } from "../host/layout.ts";
import { isUnreadable, readRecord } from "./candidates.ts";
import type { CandidateRecord, UnreadableFile } from "./candidates.ts";
import { isRecordName } from "./queue.ts";
import type { FolderRecords } from "./queue.ts";

/** A ref as it is shown, and as git finds it: in full where it may be, for a short name can also be an object's or an option's. */
export interface NamedRef {
  readonly shown: ByteString;
  readonly name: ByteString;
}

/** Every branch here, and every branch of a remote as it was fetched last. */
export function everyRef(layout: Layout): NamedRef[] {
  const answer = git(layout.root, ["for-each-ref", "--format=%(symref)%00%(refname:short)%00%(refname)", "refs/heads", "refs/remotes"]);
  if (answer.status !== 0) throw gitRefusal(layout.root, answer);
  // A symbolic one (a remote's HEAD) is another's name.
  const lines = answer.output.toString("latin1").split("\n").filter((line) => line.startsWith("\0"));
  return lines.map((line) => {
    const [, shown = "", name = ""] = line.split("\0");
    return { shown, name };
  });
}

/**
 * What stands on refs and not here. A record counts once: one whose id the working tree has, among its candidates or promoted, is
 * left out; of several refs the first in byte order gives it. A ref that is unknown, or begins with `-`, is missing (12).
 */
export function recordsOn(layout: Layout, refs: readonly NamedRef[], here: FolderRecords): FolderRecords {
  const ordered = sortedBytes(new Map(refs.map((ref) => [ref.shown, ref])).values(), ({ shown }) => shown);
  const found: FolderRecords = { records: [], unreadable: [] };
  if (ordered.length === 0) return found;
  const folders = foldersOf(layout, ordered);
  const blobs = blobsOf(layout, folders);
  const path = bytesOfText(layout.candidates);
  const ids = new Set(here.records.map((record) => record.id));
  const isCurated = (id: ByteString) => !id.includes("/") && nameExists(`${layout.root}/${layout.curated}/${id}.md`);
  const seen = new Set(here.unreadable.map((file) => `${file.path}\0${file.reason}`));
  for (const { ref, entries } of folders) {
    const ours = new Set<ByteString>();
    for (const entry of entries) {
      const place = `${path}/${entry.name}`;
      const read = readEntry(place, entry, blobs);
      if (read === null) continue;
      if (isUnreadable(read)) {
        const key = `${place}\0${read.reason}`;
        if (!seen.has(key)) found.unreadable.push({ ...read, ref });
        seen.add(key);
      } else if (!ids.has(read.id) && !isCurated(read.id)) {
        ours.add(read.id);
        found.records.push({ ...read, ref });
      }
    }
    for (const id of ours) ids.add(id);
  }
  return found;
}

interface TreeEntry {
  readonly name: ByteString;
  readonly isLink: boolean;
  readonly object: string;
}

interface RefFolder {
  readonly ref: ByteString;
  readonly entries: readonly TreeEntry[];
}

/** The candidates' folder of each ref; one that has none is empty. */
function foldersOf(layout: Layout, refs: readonly NamedRef[]): RefFolder[] {
  const missing = ({ shown }: NamedRef) => {
    return refuse("missing", `cannot read ref '${textOfBytes(shown)}'`, "no such branch or commit here; see 'git branch --all'");
  };
  for (const ref of refs) if (ref.name === "" || ref.name.startsWith("-") || /[\0\n]/.test(ref.name)) throw missing(ref);
  // A path that begins with `./` is looked up from the root that we ask in, which may be below git's top level.
  const path = bytesOfText(layout.candidates);
  const answers = askBatch(layout, refs.flatMap(({ name }) => [`${name}^{commit}`, `${name}:./${path}`]));
  const known = new Map<string, readonly TreeEntry[]>();
  return refs.map((ref, index) => {
    const [commit, tree] = [answers[2 * index], answers[2 * index + 1]];
    if (commit === null || commit === undefined) throw missing(ref);
    if (tree === null || tree === undefined || tree.type !== "tree") return { ref: ref.shown, entries: [] };
    const entries = known.get(tree.object) ?? treeEntries(tree.bytes, tree.object.length / 2);
    known.set(tree.object, entries);
    return { ref: ref.shown, entries };
  });
}

/** The files and links among the entries of a tree object whose names a reader takes: `<mode> <name>`, NUL, the object's bytes. */
export function treeEntries(tree: Buffer, objectBytes: number): TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < tree.length; ) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, space);
    const mode = tree.toString("latin1", at, space);
    const name = tree.toString("latin1", space + 1, end);
    at = end + 1 + objectBytes;
    const isLink = mode === "120000";
    if (!isRecordName(name, ".md") || !(isLink || mode.startsWith("100"))) continue;
    entries.push({ name, isLink, object: tree.toString("hex", end + 1, at) });
  }
  return entries;
}

function readEntry(path: ByteString, entry: TreeEntry, blobs: ReadonlyMap<string, Buffer>): CandidateRecord | UnreadableFile | null {
  if (!isWellFormed(entry.name)) return { path, reason: unreadableWords.name };
  if (entry.isLink) return { path, reason: unreadableWords.link };
  const file = blobs.get(entry.object);
  return file === undefined ? { path, reason: unreadableWords.closed } : readRecord(path, file);
}

function blobsOf(layout: Layout, folders: readonly RefFolder[]): Map<string, Buffer> {
  const objects = new Set<string>();
  for (const { entries } of folders) for (const entry of entries) if (!entry.isLink) objects.add(entry.object);
  const names = [...objects];
  const blobs = new Map<string, Buffer>();
  if (names.length === 0) return blobs;
  askBatch(layout, names).forEach((answer, index) => {
    if (answer !== null) blobs.set(names[index] as string, answer.bytes);
  });
  return blobs;
}

interface GitObject {
  readonly object: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** Git's objects by their names, in order; `null` for one that it has not, or that a name leaves open. */
function askBatch(layout: Layout, names: readonly ByteString[]): (GitObject | null)[] {
  const answer = git(layout.root, ["cat-file", "--batch"], Buffer.from(`${names.join("\n")}\n`, "latin1"));
  if (answer.status !== 0) throw gitRefusal(layout.root, answer);
  const { output } = answer;
  let at = 0;
  return names.map(() => {
    const end = output.indexOf(0x0a, at);
    const header = output.toString("latin1", at, end);
    at = end + 1;
    const [, object, type, size] = /^([0-9a-f]{40}|[0-9a-f]{64}) ([a-z]+) ([0-9]+)$/.exec(header) ?? [];
    if (object === undefined || type === undefined) return null;
    const start = at;
    at += Number(size) + 1;
    return { object, type, bytes: output.subarray(start, at - 1) };
  });
}
