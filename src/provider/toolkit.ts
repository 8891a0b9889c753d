/** Where a repository finds the toolkit: by a path of its own, or in PATH; never by an absolute path (contract, section 10). */
import { realPath } from "../host/folder.ts";
import { isBelow } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";

const program = "bin/majordomus";

/** The launcher's path from the repository's root; `null` where the toolkit lies outside it. */
export function programPath(layout: Pick<Layout, "root">, home: string): string | null {
  const root = realPath(layout.root);
  const place = realPath(home);
  if (root === null || place === null || !isBelow(root, place)) return null;
  const below = place.slice(root === "/" ? 1 : root.length + 1);
  return below === "" ? program : `${below}/${program}`;
}

/** How a shell in the repository's root calls the toolkit. */
export function commandWord(layout: Pick<Layout, "root">, home: string): string {
  const path = programPath(layout, home);
  return path === null ? "majordomus" : shellWord(path);
}

/** A text as one word of a POSIX shell: as it is where it may stand so, else in single quotes. Pure. */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
