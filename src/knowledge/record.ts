/** The bytes of a derived record (contract, section 7). Pure but for the digest of its id. */
import { distinct } from "../ground/bytes.ts";
import { sha256 } from "../ground/digest.ts";
import { noTask } from "../ground/ids.ts";
import { quoted, scalar } from "../format/yaml-emit.ts";
import type { Evidence, Reference } from "./evidence.ts";
import type { Route } from "./route.ts";

/** Everything that a record holds. */
export interface DerivedRecord {
  readonly id: string;
  readonly evidence: Evidence;
  /** Observations alone. */
  readonly route?: Route;
  readonly derivedFrom: readonly string[];
  /** Paths that the episode's commits touched among rules and decision records. */
  readonly relatedPaths: readonly string[];
}

/** The id of a record: its episode, and the digest of the evidence and of nothing else (contract, section 4). */
export function recordId(episode: string, identity: readonly string[]): string {
  return `${episode}-${sha256(identity.join("\n")).slice(0, 12)}`;
}

/** The evidence of an episode by record id: lines of one id are one, the first line's day and task, all their references. */
export function evidenceById(episode: string, lines: readonly Evidence[]): Map<string, Evidence> {
  const byId = new Map<string, Evidence>();
  for (const line of lines) {
    const id = recordId(episode, line.identity);
    const first = byId.get(id);
    byId.set(id, first === undefined ? line : { ...first, references: [...first.references, ...line.references] });
  }
  return byId;
}

/**
 * What a record is derived from, no value twice: the episode, the task, the episode's commits, the references that resolve.
 * @param resolved a reference as it resolves, `null` where it does not
 */
export function derivedFromOf(
  episode: string,
  evidence: Evidence,
  commits: readonly string[],
  resolved: (reference: Reference) => string | null,
): string[] {
  const from = [`session:${episode}`];
  if (evidence.task !== noTask) from.push(`${evidence.tag === "decision" ? "decision" : "task"}:${evidence.task}`);
  for (const commit of commits) from.push(`commit:${commit}`);
  for (const reference of evidence.references) {
    const value = resolved(reference);
    if (value !== null) from.push(value);
  }
  return distinct(from);
}

/** The file of a record. */
export function recordText(record: DerivedRecord): string {
  const { evidence } = record;
  const lines = [
    "---",
    "schema: knowledge/v1",
    `id: ${record.id}`,
    "kind: knowledge",
    `class: ${evidence.class}`,
    `title: ${quoted(evidence.title)}`,
    `description: ${quoted(evidence.description)}`,
    "status: candidate",
    `epistemics: ${evidence.epistemics}`,
    `date: ${evidence.date}`,
    "tags:",
    "  - derived",
    `  - ${evidence.tag}`,
  ];
  if (evidence.subject !== undefined) lines.push(`about: ${quoted(evidence.subject)}`, `route: ${record.route ?? "project"}`);
  lines.push("provenance:", "  origin: extracted", "  derived_from:");
  for (const value of record.derivedFrom) lines.push(`    - ${scalar(value)}`);
  if (record.relatedPaths.length > 0) lines.push("relations:");
  for (const path of record.relatedPaths) lines.push("  - type: relates_to", `    target: ${scalar(`file:${path}`)}`);
  lines.push("---", "", `# ${evidence.title}`, "", evidence.description);
  const references = distinct(evidence.references.map((reference) => reference.reference));
  if (references.length > 0) lines.push("", "# Evidence", "", ...references.map((reference) => `- \`${reference}\``));
  return `${lines.join("\n")}\n`;
}
