/**
 * What `knowledge check` says of one record by itself (contract, section 9). Pure: a file in, faults out. What needs the other
 * records, the ledger, git or the disk is in `check.ts`.
 */
import { opensLikeConversation, recordPattern } from "../ground/ids.ts";
import { textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { secretShape } from "../ground/secrets.ts";
import { routeWords, statusWords } from "../ground/tables.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import { episodeOf, readFront, recordClasses } from "./candidates.ts";
import { subjectFault } from "./observe.ts";

/** What is checked, in the contract's order: the rules of a SARIF log. */
export const checkRules = {
  "unreadable": "A record can be read.",
  "shape": "A record has the schema's keys, and each the schema's shape.",
  "unknown-key": "A record has no key that the schema does not have.",
  "file-name": "A record's id is its file's name.",
  "unique-id": "An id stands once over both directories.",
  "class": "The class is one of the closed list.",
  "status": "The status is candidate, verified or superseded.",
  "epistemics": "The epistemics are decided, observed or inferred.",
  "date": "The date is YYYY-MM-DD.",
  "tags": "The tags are words.",
  "provenance": "A record says where it comes from.",
  "supersession": "What supersedes a record is another record.",
  "reference": "References resolve.",
  "conversation": "No text opens like a conversation.",
  "place": "Candidates and rejected records stand under candidates, promoted ones under curated.",
  "about": "What a record is about has the form of a subject.",
  "route": "The route is one of the closed list.",
  // What is told and never fails a check:
  "unresolved": "A reference that cannot be looked up here.",
  "credential": "A text carries a credential's shape.",
  "no-record": "A name that no reader takes for a record.",
  "candidate": "A record about this path awaits review.",
} as const;

export type CheckRule = keyof typeof checkRules;

export interface Finding {
  readonly rule: CheckRule;
  readonly message: string;
  /** The line of the record's file, from 1, where there is one to name. */
  readonly line?: number;
}

export type RecordFolder = "candidates" | "curated";

/** A record as it is checked. Values that are absent are `""`. */
export interface Inspection {
  readonly path: ByteString;
  readonly folder: RecordFolder;
  readonly id: ByteString;
  readonly status: ByteString;
  readonly class: ByteString;
  readonly title: ByteString;
  readonly about: ByteString;
  readonly supersededBy: ByteString;
  /** The episode that it is derived from first. */
  readonly episode: ByteString;
  /** What it refers to, in the order of the file, no value twice. */
  readonly references: readonly ByteString[];
  readonly faults: Finding[];
  readonly notes: Finding[];
}

const scalarKeys: ReadonlySet<string> = new Set([
  "schema",
  "id",
  "kind",
  "class",
  "title",
  "description",
  "status",
  "superseded_by",
  "epistemics",
  "date",
  "about",
  "route",
]);
const requiredKeys = ["id", "class", "title", "description", "status", "epistemics", "date"] as const;
const epistemicsWords: readonly string[] = ["decided", "observed", "inferred"];
const listForms = {
  tags: /^tags(?:\.[0-9]+)?$/,
  provenance: /^provenance\.(?:origin|derived_from(?:\.[0-9]+)?)$/,
  relations: /^relations(?:\.[0-9]+\.(?:type|target))?$/,
} as const;

/** A file that cannot be read as a record. */
export function unreadableInspection(path: ByteString, folder: RecordFolder, reason: string): Inspection {
  const line = /^line ([0-9]+): /.exec(reason)?.[1];
  const fault: Finding = { rule: "unreadable", message: reason, ...(line === undefined ? {} : { line: Number(line) }) };
  return { ...nothing, path, folder, faults: [fault], notes: [] };
}

const nothing = { id: "", status: "", class: "", title: "", about: "", supersededBy: "", episode: "", references: [] };

/** Inspects one file; `null` for one that says `kind: context` and so is no record. */
export function inspect(path: ByteString, folder: RecordFolder, file: Uint8Array): Inspection | null {
  const front = readFront(file);
  if (typeof front === "string") return unreadableInspection(path, folder, front);
  const { leaves, text, bodyStart } = front;
  if (leaves.get("kind") === "context") return null;
  const field = (name: string) => leaves.get(name) ?? "";
  const inspection: Inspection = {
    path,
    folder,
    id: field("id"),
    status: field("status"),
    class: field("class"),
    title: field("title"),
    about: field("about"),
    supersededBy: field("superseded_by"),
    episode: episodeOf(leaves),
    references: referencesIn(leaves),
    faults: [],
    notes: [],
  };
  const fault = (rule: CheckRule, message: string, line?: number) => {
    inspection.faults.push({ rule, message, ...(line === undefined ? {} : { line }) });
  };
  checkShape(leaves, fault);
  checkValues(inspection, leaves, fault);
  checkConversation(inspection, field("description"), text, bodyStart, fault);
  const shape = secretShape(text);
  if (shape !== null) inspection.notes.push({ rule: "credential", message: `it carries the shape of ${shape}`, ...secretLine(text) });
  return inspection;
}

type Fault = (rule: CheckRule, message: string, line?: number) => void;

function checkShape(leaves: YamlLeaves, fault: Fault): void {
  if (leaves.get("schema") !== "knowledge/v1") fault("shape", "schema is not knowledge/v1");
  if (leaves.get("kind") !== "knowledge") fault("shape", "kind is not knowledge");
  const missing = requiredKeys.filter((key) => leaves.get(key) === "" || !hasRoot(leaves, key));
  if (missing.length > 0) fault("shape", `no ${missing.join(", ")}`);
  const misshapen = new Set<string>();
  const unknown = new Set<string>();
  for (const [path, value] of leaves) {
    const dot = path.indexOf(".");
    const root = dot === -1 ? path : path.slice(0, dot);
    if (scalarKeys.has(root)) {
      if (dot !== -1 || value === null) misshapen.add(`${root} is no text`);
    } else if (Object.hasOwn(listForms, root)) {
      const second = path.split(".")[root === "relations" ? 2 : 1] ?? "";
      if (listForms[root as keyof typeof listForms].test(path)) continue;
      if (root === "provenance" && second !== "" && second !== "origin" && second !== "derived_from") unknown.add(`provenance.${second}`);
      else if (root === "relations" && second !== "" && second !== "type" && second !== "target") unknown.add(`relations.${second}`);
      else misshapen.add(`${root} is of another shape`);
    } else {
      unknown.add(root);
    }
  }
  for (const message of misshapen) fault("shape", message);
  for (const key of unknown) fault("unknown-key", `unknown key '${key}'`);
}

function hasRoot(leaves: YamlLeaves, key: string): boolean {
  if (leaves.has(key)) return true;
  for (const path of leaves.keys()) if (path.startsWith(`${key}.`)) return true;
  return false;
}

function checkValues(record: Inspection, leaves: YamlLeaves, fault: Fault): void {
  const text = (name: string) => textOfBytes(leaves.get(name) ?? "");
  const given = (name: string) => typeof leaves.get(name) === "string" && leaves.get(name) !== "";
  const name = record.path.slice(record.path.lastIndexOf("/") + 1, -".md".length);
  if (given("id") && record.id !== name) fault("file-name", `its id is '${text("id")}'`);
  else if (given("id") && record.folder === "candidates" && !recordPattern.test(record.id)) {
    fault("file-name", "its id is not an episode's id, '-' and 12 hex digits");
  }
  if (given("class") && !(recordClasses as readonly string[]).includes(record.class)) fault("class", `unknown class '${text("class")}'`);
  if (given("status") && !Object.hasOwn(statusWords, record.status)) fault("status", `unknown status '${text("status")}'`);
  if (given("epistemics") && !epistemicsWords.includes(text("epistemics"))) fault("epistemics", `unknown epistemics '${text("epistemics")}'`);
  if (given("date") && !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text("date"))) fault("date", `date '${text("date")}' is not YYYY-MM-DD`);
  const tags = listAt(leaves, "tags");
  if (tags === null) fault("tags", "no tags");
  else if (tags.some((tag) => !/^[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(tag))) fault("tags", "a tag is no word");
  if (!given("provenance.origin")) fault("provenance", "no provenance.origin");
  const from = listAt(leaves, "provenance.derived_from");
  if (from === null && typeof leaves.get("provenance.derived_from") === "string") fault("provenance", "derived_from is no list");
  else if ((from ?? []).length === 0 && leaves.get("provenance.origin") === "extracted") fault("provenance", "derived_from names nothing");
  if (record.supersededBy !== "" && record.status !== "superseded") fault("supersession", "superseded_by without status superseded");
  if (record.folder === "candidates" && record.status === "verified") fault("place", "a verified record under candidates");
  if (record.folder === "curated" && record.status === "candidate") fault("place", "a candidate under curated");
  if (leaves.has("about")) {
    const wrong = record.about === "" ? "it is empty" : subjectFault(textOfBytes(record.about));
    if (wrong !== null) fault("about", `about '${text("about")}': ${wrong}`);
  }
  if (leaves.has("route") && !Object.hasOwn(routeWords, text("route"))) fault("route", `unknown route '${text("route")}'`);
}

/** The texts of a list, `null` where there is none; an entry of another shape is `""`. */
function listAt(leaves: YamlLeaves, path: string): ByteString[] | null {
  if (leaves.get(path) === null) return [];
  const values: ByteString[] = [];
  const prefix = `${path}.`;
  for (const [key, value] of leaves) if (key.startsWith(prefix)) values.push(value ?? "");
  return values.length === 0 ? null : values;
}

function referencesIn(leaves: YamlLeaves): ByteString[] {
  const references = new Set<ByteString>();
  for (const [path, value] of leaves) {
    const isReference = path.startsWith("provenance.derived_from.") || (path.startsWith("relations.") && path.endsWith(".target"));
    if (isReference && value !== null) references.add(value);
  }
  return [...references];
}

function checkConversation(record: Inspection, description: ByteString, text: ByteString, bodyStart: number, fault: Fault): void {
  if (opensLikeConversation(record.title)) fault("conversation", "the title opens like a conversation");
  if (opensLikeConversation(description)) fault("conversation", "the description opens like a conversation");
  for (let start = bodyStart; start < text.length; ) {
    const end = text.indexOf("\n", start);
    if (opensLikeConversation(text.slice(start, start + 14))) {
      fault("conversation", "a line of the body opens like a conversation", lineOf(text, start));
      return;
    }
    if (end === -1) return;
    start = end + 1;
  }
}

function lineOf(text: ByteString, at: number): number {
  return text.slice(0, at).split("\n").length;
}

/** The first line that carries a shape by itself; none where only several lines do. */
function secretLine(text: ByteString): { readonly line?: number } {
  const index = text.split("\n").findIndex((line) => secretShape(line) !== null);
  return index === -1 ? {} : { line: index + 1 };
}
