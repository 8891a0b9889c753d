/**
 * The manifest of a vendored copy: one line a file, as `sha256sum` prints and checks them, in the order of bytes. It lists
 * every file of the copy but itself. Pure.
 */
import { compareBytes, sortedBytes } from "../ground/bytes.ts";

export const manifestName = "MANIFEST.sha256";

/** The programs of a copy: the files that are executable. */
export const programs: readonly string[] = ["bin/majordomus", "shell/majordomus"];

/** SHA-256 sums in lower hex by path, in the order of bytes. */
export type Sums = ReadonlyMap<string, string>;

export function manifestText(sums: Sums): string {
  return sortedBytes(sums, ([path]) => path)
    .map(([path, sum]) => `${sum}  ${path}\n`)
    .join("");
}

/** The sums that a manifest lists; `null` where it is none of ours: another form, another order, or without our programs. */
export function readManifest(text: string): Sums | null {
  if (!text.endsWith("\n")) return null;
  const sums = new Map<string, string>();
  let last = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, sum, path] = /^([0-9a-f]{64}) {2}([A-Za-z0-9._/-]+)$/.exec(line) ?? [];
    if (sum === undefined || path === undefined || compareBytes(path, last) <= 0) return null;
    if (path.split("/").some((segment) => segment === "" || segment === "." || segment === "..")) return null;
    sums.set(path, sum);
    last = path;
  }
  return programs.every((program) => sums.has(program)) ? sums : null;
}

export interface Difference {
  readonly path: string;
  readonly what: "added" | "changed" | "removed";
}

/** What turns one list into another, in the order of bytes. */
export function differencesOf(from: Sums, to: Sums): Difference[] {
  const found: Difference[] = [];
  for (const [path, sum] of to) {
    if (!from.has(path)) found.push({ path, what: "added" });
    else if (from.get(path) !== sum) found.push({ path, what: "changed" });
  }
  for (const path of from.keys()) if (!to.has(path)) found.push({ path, what: "removed" });
  return sortedBytes(found, (difference) => difference.path);
}
