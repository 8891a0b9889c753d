/** Making directories of the layer: never outside the repository, and each with its own contract (section 7). */
import { refuse } from "../ground/errors.ts";
import { makeDirectory, replaceFile } from "./files.ts";
import { listFolder, nameExists, readNamed, realPath } from "./folder.ts";
import { isBelow, readmeName } from "./layout.ts";
import type { Layout } from "./layout.ts";

/**
 * Makes a directory of the layer and those above it. One that a link leads outside the repository, or nowhere, is
 * refused (10). Returns whether it was made here.
 */
export function makeInside(layout: Pick<Layout, "root">, path: string): boolean {
  insistInside(layout, path);
  return makeDirectory(path === "" ? layout.root : `${layout.root}/${path}`);
}

/** Refuses (10) a path below the root whose existing part leads out of the repository, or nowhere, through a link. */
export function insistInside(layout: Pick<Layout, "root">, path: string): void {
  const inside = realPath(layout.root) ?? layout.root;
  const segments = path.split("/");
  for (let count = segments.length; count > 0; count -= 1) {
    const at = `${layout.root}/${segments.slice(0, count).join("/")}`;
    const real = realPath(at);
    if (real === null && !nameExists(at)) continue;
    if (real === null) throw refuse("refused", `cannot use '${path}'`, "a link on its way leads nowhere");
    if (!isBelow(inside, real)) throw refuse("refused", `cannot use '${path}'`, "leads outside the repository");
    return;
  }
}

/** Where the files that `init` copies lie in the toolkit's folder, named as they will be below the root. */
export const templatePath = "share/layer";

/**
 * Makes a directory of records, with the README that says what it holds.
 * @param kind where the toolkit keeps that README, below the template's `.ai/repo/`
 */
export function makeRecordDirectory(layout: Layout, path: string, home: string, kind: string): void {
  const isMade = makeInside(layout, path);
  // Git keeps no empty directory: one without anything is what somebody was killed in.
  if (!isMade && listFolder(`${layout.root}/${path}`).length > 0) return;
  const readme = readNamed(`${home}/${templatePath}/.ai/repo/${kind}/${readmeName}`, `${templatePath}/${kind}/${readmeName}`);
  replaceFile(`${layout.root}/${path}/${readmeName}`, readme);
}
