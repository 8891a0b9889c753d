/**
 * `knowledge check`: every record of both directories, and what they refer to (contract, section 9). Each store is read once, git is
 * asked once, each path is looked up once: the cost grows with the store.
 */
import { bytesOfText, compareBytes, isWellFormed, textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { unreadableWords } from "../ground/tables.ts";
import { isFile, listFolder, pathInFolder, readShared } from "../host/folder.ts";
import { insistInside } from "../host/inside.ts";
import { readmeName } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { checkRules, inspect, unreadableInspection } from "./inspect.ts";
import type { CheckRule, Finding, Inspection, RecordFolder } from "./inspect.ts";
import { isRecordName } from "./queue.ts";
import { resolverOf } from "./references.ts";
import { isPathSubject } from "./route.ts";

export interface CheckResult {
  /** By path. */
  readonly records: readonly Inspection[];
  /** Names in the directories that no reader takes for a record, by path. */
  readonly strangers: readonly { readonly path: ByteString; readonly notes: readonly Finding[] }[];
  readonly failing: number;
}

/** Checks the records of a repository. What it finds is its result; refused is what keeps it from looking (13, 10). */
export function checkRecords(layout: Layout): CheckResult {
  insistInside(layout, layout.curated);
  const records: Inspection[] = [];
  const strangers: { path: ByteString; notes: Finding[] }[] = [];
  for (const folder of ["candidates", "curated"] as const) readFolder(layout, folder, records, strangers);
  checkIds(records);
  checkSupersession(records);
  checkReferences(layout, records);
  for (const record of records) record.faults.sort((left, right) => rankOf(left.rule) - rankOf(right.rule));
  records.sort((left, right) => compareBytes(left.path, right.path));
  strangers.sort((left, right) => compareBytes(left.path, right.path));
  return { records, strangers, failing: records.filter((record) => record.faults.length > 0).length };
}

const ranks = new Map(Object.keys(checkRules).map((rule, index) => [rule, index]));

function rankOf(rule: CheckRule): number {
  return ranks.get(rule) ?? 0;
}

function readFolder(
  layout: Layout,
  folder: RecordFolder,
  records: Inspection[],
  strangers: { path: ByteString; notes: Finding[] }[],
): void {
  const place = `${layout.root}/${layout[folder]}`;
  const prefix = `${bytesOfText(layout[folder])}/`;
  for (const { name, kind } of listFolder(place)) {
    const path = prefix + name;
    if (name.startsWith(".") || name === readmeName) continue;
    if (!isRecordName(name, ".md") || (kind !== "file" && kind !== "link")) {
      const why = name.endsWith(".md") ? "it is no regular file" : "its name does not end in .md";
      strangers.push({ path, notes: [{ rule: "no-record", message: `not read: ${why}` }] });
    } else if (!isWellFormed(name)) {
      records.push(unreadableInspection(path, folder, unreadableWords.name));
    } else if (kind === "link") {
      records.push(unreadableInspection(path, folder, unreadableWords.link));
    } else {
      const file = readShared(pathInFolder(place, name));
      const inspection = file === null ? unreadableInspection(path, folder, unreadableWords.closed) : inspect(path, folder, file);
      if (inspection !== null) records.push(inspection);
    }
  }
}

function checkIds(records: readonly Inspection[]): void {
  const byId = new Map<ByteString, Inspection[]>();
  for (const record of records) {
    if (record.id === "") continue;
    const same = byId.get(record.id);
    if (same === undefined) byId.set(record.id, [record]);
    else same.push(record);
  }
  for (const same of byId.values()) {
    if (same.length < 2) continue;
    // Each names one other, so that many of one id are told in as many lines.
    same.forEach((record, index) => {
      const other = same[index === 0 ? 1 : 0] as Inspection;
      record.faults.push({ rule: "unique-id", message: `its id stands also in '${textOfBytes(other.path)}'` });
    });
  }
}

/** What supersedes a record is another one, and following it comes to an end. */
function checkSupersession(records: readonly Inspection[]): void {
  const next = new Map<ByteString, ByteString>();
  const known = new Set(records.map((record) => record.id));
  for (const record of records) if (record.supersededBy !== "") next.set(record.id, record.supersededBy);
  const circles = circlesIn(next);
  for (const record of records) {
    const { supersededBy } = record;
    if (supersededBy === "") continue;
    const message = !known.has(supersededBy)
      ? `superseded_by '${textOfBytes(supersededBy)}' names no record`
      : circles.has(record.id)
        ? `superseded_by '${textOfBytes(supersededBy)}' comes back to itself`
        : null;
    if (message !== null) record.faults.push({ rule: "supersession", message });
  }
}

/** The ids that lie on a circle. Each is walked once. */
function circlesIn(next: ReadonlyMap<ByteString, ByteString>): Set<ByteString> {
  const circles = new Set<ByteString>();
  const walks = new Map<ByteString, number>();
  let walk = 0;
  for (const start of next.keys()) {
    walk += 1;
    let at: ByteString | undefined = start;
    while (at !== undefined && !walks.has(at)) {
      walks.set(at, walk);
      at = next.get(at);
    }
    if (at === undefined || walks.get(at) !== walk) continue;
    for (let id: ByteString = at; !circles.has(id); id = next.get(id) as ByteString) circles.add(id);
  }
  return circles;
}

function checkReferences(layout: Layout, records: readonly Inspection[]): void {
  const resolve = resolverOf(
    layout,
    records.flatMap((record) => record.references),
    new Set(records.map((record) => record.id)),
  );
  for (const record of records) {
    for (const reference of record.references) {
      const finding = resolve(reference, record.episode);
      if (finding === null) continue;
      const message = `'${textOfBytes(reference)}': ${finding.why}`;
      if (finding.fails) record.faults.push({ rule: "reference", message });
      else record.notes.push({ rule: "unresolved", message });
    }
  }
}

/** An awaiting record that is about a path, and the place where a reviewer is shown it. */
export interface Awaiting {
  readonly record: Inspection;
  readonly place: ByteString;
}

/** The awaiting records that are about a path, in their order. */
export function awaitingReview(layout: Layout, records: readonly Inspection[]): Awaiting[] {
  return records.flatMap((record) => {
    const place = reviewPlace(layout, record);
    return place === null ? [] : [{ record, place }];
  });
}

/** There where it is a file; where it is missing or a folder, at the record's own. `null` for a record that is about no path. */
function reviewPlace(layout: Layout, record: Inspection): ByteString | null {
  if (record.folder !== "candidates" || record.status !== "candidate" || record.about === "") return null;
  const about = textOfBytes(record.about);
  if (!isPathSubject(about)) return null;
  const isShown = about.split("/").every((segment) => segment !== "" && !/^\.(?:\.?|git)$/.test(segment)) && isFile(`${layout.root}/${about}`);
  return isShown ? record.about : record.path;
}
