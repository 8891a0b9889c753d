/** What git says of an episode and of its references (contract, section 7): each question once, whatever the number of records. */
import { compareBytes, isWellFormed, textOfBytes } from "../ground/bytes.ts";
import { commitPattern } from "../ground/ids.ts";
import { commitsBetween, git, gitRefusal } from "../host/git.ts";
import type { Layout } from "../host/layout.ts";
import type { Reference } from "./evidence.ts";

/** The commits of an episode that touched rules or decision records, oldest first, and the paths they touched that are still tracked. */
export interface EpisodeCommits {
  readonly commits: readonly string[];
  readonly paths: readonly string[];
}

const none: EpisodeCommits = { commits: [], paths: [] };

/** The commits from `start` (where the episode began) to `end`; none when the start is no ancestor of the end. */
export function episodeCommits(layout: Layout, start: string, end: string): EpisodeCommits {
  if (!commitPattern.test(start) || !commitPattern.test(end)) return none;
  const { root, rules, adrs } = layout;
  const all = commitsBetween(root, start, end);
  if (all === null || all.length === 0) return none;
  const sections = ["--", rules, adrs];
  // Each commit that touched one of them, then what it touched; a merge touches nothing.
  const diff = ["diff-tree", "--stdin", "--root", "-r", "-z", "--name-only", "--no-renames", "--relative"];
  const fields = nulSeparated(root, [...diff, ...sections], `${all.join("\n")}\n`);
  const known = new Set(all);
  const commits = fields.filter((field) => known.has(field));
  if (commits.length === 0) return none;
  const touched = new Set(fields.filter((field) => !known.has(field)));
  const tracked = new Set(nulSeparated(root, ["ls-files", "-z", ...sections]));
  const paths = [...touched].filter((path) => tracked.has(path) && isPrintablePath(path)).sort(compareBytes);
  return { commits, paths: paths.map(textOfBytes) };
}

function nulSeparated(root: string, args: readonly string[], input?: string): string[] {
  const answer = git(root, args, input);
  if (answer.status !== 0) throw gitRefusal(root, answer);
  return answer.output.toString("latin1").split("\0").filter((path) => path !== "");
}

/** Paths with a control character, U+FEFF or invalid UTF-8 are left out of records. */
function isPrintablePath(path: string): boolean {
  return isWellFormed(path) && !/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]|\xef\xbb\xbf/.test(path);
}

/**
 * How references resolve: a `commit:` that git knows, in full; a `file:` or `test:` that is a blob in the tree of the
 * line's own head. One batch for all; what does not resolve gives `null`.
 */
export function resolveReferences(
  layout: Layout,
  references: readonly Reference[],
): (reference: Reference) => string | null {
  const questions = new Map<string, string>();
  for (const reference of references) {
    const question = questionOf(reference);
    if (question !== null) questions.set(keyOf(reference), question);
  }
  if (questions.size === 0) return () => null;
  const answer = git(layout.root, ["cat-file", "--batch-check"], `${[...questions.values()].join("\n")}\n`);
  if (answer.status !== 0) throw gitRefusal(layout.root, answer);
  const lines = answer.output.toString("utf8").split("\n");
  const resolved = new Map<string, string>();
  [...questions.keys()].forEach((key, index) => {
    const found = /^([0-9a-f]{40,64}) (commit|blob) [0-9]+$/.exec(lines[index] ?? "");
    if (found !== null) resolved.set(key, `${found[2]} ${found[1]}`);
  });
  return (reference) => {
    const [type, object] = resolved.get(keyOf(reference))?.split(" ") ?? [];
    const [scheme, name] = parts(reference.reference);
    if (object === undefined) return null;
    if (scheme !== "commit") return type === "blob" ? reference.reference : null;
    // A branch may be named like an abbreviation: then git answers with another commit.
    return type === "commit" && object.startsWith(name.toLowerCase()) ? `commit:${object}` : null;
  };
}

function keyOf(reference: Reference): string {
  return `${reference.head} ${reference.reference}`;
}

function parts(reference: string): [scheme: string, name: string] {
  const colon = reference.indexOf(":");
  return [reference.slice(0, colon), reference.slice(colon + 1)];
}

function questionOf(reference: Reference): string | null {
  const [scheme, name] = parts(reference.reference);
  if (scheme === "commit") return /^[0-9a-fA-F]{4,64}$/.test(name) ? `${name}^{commit}` : null;
  if (scheme !== "file" && scheme !== "test") return null;
  // Seen from the root, which git is asked in: its own name may hold a line feed, this question may not.
  return isPlainPath(name) && commitPattern.test(reference.head) ? `${reference.head}:./${name}` : null;
}

/** A path of names alone: git answers no other, and one that leads out of the work tree ends its whole batch. */
function isPlainPath(path: string): boolean {
  return path.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

/** Those of the paths to which git's attributes give `merge=derived`. */
export function derivedPaths(layout: Layout, paths: readonly string[]): Set<string> {
  const asked = paths.filter(isPlainPath);
  if (asked.length === 0) return new Set();
  const answer = git(layout.root, ["check-attr", "-z", "--stdin", "merge"], `${asked.join("\0")}\0`);
  if (answer.status !== 0) throw gitRefusal(layout.root, answer);
  const fields = answer.output.toString("utf8").split("\0");
  const derived = new Set<string>();
  for (let at = 0; at + 2 < fields.length; at += 3) {
    if (fields[at + 2] === "derived") derived.add(fields[at] as string);
  }
  return derived;
}
