/**
 * What a parity case is. The cases are data in test/parity/cases/*.ts; test/parity/parity.test.ts gives each to both readers.
 *
 * To add one: put an object into the list of a file there. A case is a small repository, a call, and what it must give,
 * byte for byte:
 *
 *     {
 *       title: "a record without a route",
 *       files: layer({ [`${candidates}/a.md`]: recordOf({ id: "a", about: "x" }) }),
 *       call: ["knowledge", "candidates"],
 *       stdout: "…",            // "" by default
 *       stderr: "…",            // "" by default; of a call that fails, its one line
 *       status: 0,              // 0 by default
 *     }
 *
 * - Texts are UTF-8. A byte that is no UTF-8 is written as U+DC80 to U+DCFF: `\udcff` is the byte FF (tree.ts).
 * - `@ROOT@` in the call and in what is expected is the repository's root.
 * - A call is made at the root, or in `directory` below it.
 * - A case runs through the TypeScript reader and through the shell reader under five pairs of shell and awk, other ones for
 *   the next case; with `everywhere` under all forty. Forty runs take a second: put many files into one repository.
 * - `asUser` runs it as a user who is not root, which files that may not be read need; it is skipped where nobody else can be.
 * - `sameAs: "toolkit"` in place of `stdout` holds the shell reader to whatever the TypeScript one prints: for outputs too
 *   long to write down. Its status and standard error are given all the same.
 */
import { bytesTree } from "./tree.ts";
import type { Thing } from "./tree.ts";

export interface ParityCase {
  readonly title: string;
  readonly files: Readonly<Record<string, Thing>>;
  readonly call: readonly string[];
  readonly directory?: string;
  readonly stdout?: string;
  readonly sameAs?: "toolkit";
  readonly stderr?: string;
  readonly status?: number;
  readonly everywhere?: true;
  readonly asUser?: true;
}

export const candidates = ".ai/repo/knowledge/candidates";
export const sessions = ".ai/repo/sessions";
export const openFiles = ".ai/local/state/sessions-open";
export const ledger = ".ai/local/state/ledger.jsonl";

/** A repository with a layer and these files. */
export function layer(files: Readonly<Record<string, Thing>>): Record<string, Thing> {
  return { ".ai/manifest.yaml": "schema: ai-repository/v1\n", ...files };
}

/** A record with these values, written as they are. `status` is `candidate` unless it is given. */
export function recordOf(values: Readonly<Record<string, string>>): string {
  const fields = Object.entries({ id: "a", status: "candidate", ...values });
  return `---\n${fields.map(([key, value]) => `${key}:${value === "" ? "" : ` ${value}`}\n`).join("")}---\n\n# t\n`;
}

/** A record that awaits review and was derived from this episode. */
export function recordFrom(episode: string, id = "a"): string {
  return `---\nid: ${id}\nstatus: candidate\nprovenance:\n  derived_from:\n    - session:${episode}\n---\n`;
}

/** A queue line with these fields; a missing one is `-`. */
export function queueLine(fields: { readonly id?: string; readonly class?: string; readonly date?: string; readonly branch?: string; readonly title?: string }): string {
  const { id = "a", class: kind = "-", date = "-", branch = "-", title = "-" } = fields;
  return `${padded(id, 46)} ${padded(kind, 10)} ${padded(date, 10)} ${padded(branch, 24)} ${title}\n`;
}

function padded(text: string, width: number): string {
  return text + " ".repeat(Math.max(width - Buffer.byteLength(text), 0));
}

/** The line of text after the queue. */
export function awaiting(count: number): string {
  return `knowledge candidates: ${count} awaiting review\n`;
}

/** The line on standard error where files are unreadable. */
export function unreadable(count: number): string {
  return `majordomus: cannot read every candidate: ${count} unreadable\n`;
}

/** The files of a case in bytes. */
export function treeOf({ files }: Pick<ParityCase, "files">) {
  return bytesTree(files);
}
