/**
 * The library: the pure parts, for a program that has a ledger or records in memory. Every string here is text, as
 * JavaScript has it. Nothing reads or writes a file, asks git, prints or keeps state; the contract is docs/contract.md.
 */
import { bytesOfText, textOfBytes } from "./ground/bytes.ts";
import { Refusal, refuse } from "./ground/errors.ts";
import type { RefusalCode } from "./ground/errors.ts";
import { opensLikeConversation } from "./ground/ids.ts";
import { unreadableWords, yamlWords } from "./ground/tables.ts";
import { frontMatterOf } from "./format/front-matter.ts";
import { quoted, scalar } from "./format/yaml-emit.ts";
import { flattened, readYaml as readYamlBytes, readYamlFile } from "./format/yaml-read.ts";
import type { YamlResult } from "./format/yaml-read.ts";
import { entryOf, textField } from "./ledger/events.ts";
import { isUnreadable, queueOf, readRecord as readRecordBytes } from "./knowledge/candidates.ts";
import type { CandidateGroup, CandidateRecord, UnreadableFile } from "./knowledge/candidates.ts";
import { evidenceEvents, evidenceOf } from "./knowledge/evidence.ts";
import type { Evidence, Reference } from "./knowledge/evidence.ts";
import { listingJson, listingText } from "./knowledge/listing.ts";
import { derivedFromOf, evidenceById, recordId, recordText } from "./knowledge/record.ts";
import type { DerivedRecord } from "./knowledge/record.ts";
import { matchesGlob, routeOf } from "./knowledge/route.ts";
import type { Route, RouteFacts } from "./knowledge/route.ts";

export { matchesGlob, quoted, recordId, recordText, Refusal, routeOf, scalar };
export type { CandidateGroup, CandidateRecord, DerivedRecord, Evidence, Reference, RefusalCode, Route, RouteFacts, UnreadableFile };

/** The leaves of a document, in its order: `tags.0` → a scalar, `tags` → `null` for an empty sequence. */
export type Leaves = ReadonlyMap<string, string | null>;

/** The leaves of a whole document in the YAML subset (contract, section 11). What leaves the subset: a `Refusal`, `line <n>: <why>`. */
export function readYaml(text: string): Leaves {
  return leavesOf(readYamlFile(bytesOfText(insistNoNul(text))));
}

/** The leaves of a record's front matter, and its body. No front matter, or one that leaves the subset: a `Refusal`. */
export function readFrontMatter(text: string): { readonly leaves: Leaves; readonly body: string } {
  const bytes = bytesOfText(insistNoNul(text));
  const matter = frontMatterOf(bytes);
  if (typeof matter === "string") throw refuse("refused", unreadableWords[matter]);
  return {
    leaves: leavesOf(readYamlBytes(matter.yaml, matter.firstLine, true)),
    body: textOfBytes(bytes.slice(matter.bodyStart)),
  };
}

/** A document as `yaml flatten` prints it: `path=value` lines. Refused as `readYaml`. */
export function flattenYaml(text: string): string {
  const { leaves, refusal } = readYamlFile(bytesOfText(insistNoNul(text)));
  if (refusal !== null) throw refuse("refused", `line ${refusal.line}`, yamlWords[refusal.reason]);
  return textOfBytes(flattened(leaves));
}

function insistNoNul(text: string): string {
  if (text.includes("\0")) throw refuse("refused", unreadableWords.nul);
  return text;
}

function leavesOf({ leaves, refusal }: YamlResult): Leaves {
  if (refusal !== null) throw refuse("refused", `line ${refusal.line}`, yamlWords[refusal.reason]);
  return new Map([...leaves].map(([path, value]) => [path, value === null ? null : textOfBytes(value)]));
}

/** A file by its path, which is only shown. */
export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** A file as the review queue reads it (contract, section 8): a record, an unreadable file, or `null` for `kind: context`. */
export function readRecord(file: TextFile): CandidateRecord | UnreadableFile | null {
  const read = readRecordBytes(bytesOfText(file.path), Buffer.from(file.text, "utf8"));
  return read === null ? null : asText(read);
}

export { isUnreadable };

/** An object with each of its strings as text. */
function asText<Fields extends CandidateRecord | UnreadableFile>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOfBytes(String(value))])) as unknown as Fields;
}

/** The review queue of some records. */
export interface ReviewQueue {
  /** Those that await review, by id. */
  readonly awaiting: readonly CandidateRecord[];
  /** Records about one subject, by subject. */
  readonly groups: readonly CandidateGroup[];
  readonly unreadable: readonly UnreadableFile[];
  /** What `knowledge candidates` prints, and what it prints with `--json`. */
  readonly text: string;
  readonly json: string;
}

/**
 * Groups records as `knowledge candidates` does.
 * @param files records in any order
 * @param branches the branch of each episode that has one
 */
export function reviewQueue(files: Iterable<TextFile>, branches: ReadonlyMap<string, string> = new Map()): ReviewQueue {
  const records: CandidateRecord[] = [];
  const unreadable: UnreadableFile[] = [];
  for (const { path, text } of files) {
    const read = readRecordBytes(bytesOfText(path), Buffer.from(text, "utf8"));
    if (read === null) continue;
    if (isUnreadable(read)) unreadable.push(read);
    else records.push(read);
  }
  const queue = queueOf(records, unreadable, new Map([...branches].map(([episode, branch]) => [bytesOfText(episode), bytesOfText(branch)])));
  return {
    awaiting: queue.awaiting.map(asText),
    groups: queue.groups.map((group) => ({
      ...group,
      about: textOfBytes(group.about),
      route: textOfBytes(group.route),
      records: group.records.map(asText),
      episodes: group.episodes.map(textOfBytes),
    })),
    unreadable: queue.unreadable.map(asText),
    text: textOfBytes(listingText(queue)),
    json: textOfBytes(listingJson(queue)),
  };
}

/** What a derivation asks of the world; what is not given is not there. */
export interface DeriveOptions {
  /** Only this episode; else every one, by first appearance. */
  readonly episode?: string | undefined;
  /** A reference as it resolves in git (`commit:`, `file:`, `test:` with what they name), `null` where it does not. */
  readonly resolve?: (reference: Reference) => string | null;
  /** The first line under `# Reason` of a task's note. */
  readonly reasonOf?: (task: string) => string;
  /** What routes depend on beside the subject. */
  readonly route?: Partial<RouteFacts>;
}

/** A derived record, and the file that it is. */
export interface DerivedFile extends TextFile {
  readonly id: string;
  readonly episode: string;
  readonly record: DerivedRecord;
}

/**
 * Derives the records of a ledger (contract, section 7), without git: no commits and no related paths are in them.
 * @param ledger its lines; damaged ones are passed over and counted
 */
export function deriveRecords(ledger: string, options: DeriveOptions = {}): { readonly records: DerivedFile[]; readonly damaged: number } {
  const lines = new Map<string, Evidence[]>();
  let damaged = 0;
  for (const line of ledger.replace(/\n$/, "").split("\n")) {
    const entry = ledger === "" ? {} : entryOf(Buffer.from(line, "utf8"));
    if (entry === null) damaged += 1;
    if (entry === null || !evidenceEvents.has(textField(entry, "event"))) continue;
    const episode = textField(entry, "session");
    if (episode === "" || episode !== (options.episode ?? episode)) continue;
    const evidence = evidenceOf(entry, episode, options.reasonOf ?? (() => ""));
    if (evidence !== null) lines.set(episode, [...(lines.get(episode) ?? []), evidence]);
  }
  const records = [...lines].flatMap(([episode, evidence]) => recordsOf(episode, evidence, options));
  return { records, damaged };
}

function recordsOf(episode: string, lines: readonly Evidence[], { resolve = () => null, route = {} }: DeriveOptions): DerivedFile[] {
  const facts: RouteFacts = {
    vendoredRules: ".ai/repo/rules/vendor",
    share: null,
    generatedPaths: [],
    generatedNames: [],
    isDerived: () => false,
    ...route,
  };
  const told = [...evidenceById(episode, lines)].filter(
    ([, evidence]) => !opensLikeConversation(evidence.title) && !opensLikeConversation(evidence.description),
  );
  return told.map(([id, evidence]) => {
    const record: DerivedRecord = {
      id,
      evidence,
      derivedFrom: derivedFromOf(episode, evidence, [], resolve),
      relatedPaths: [],
      ...(evidence.subject === undefined ? {} : { route: routeOf(evidence.subject, facts) }),
    };
    return { id, episode, path: `.ai/repo/knowledge/candidates/${id}.md`, text: recordText(record), record };
  });
}
