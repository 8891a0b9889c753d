/** The documents that a call names: files as they are, directories with every scenario below them. */
import { isWellFormed, sortedBytes, textOfBytes } from "../ground/bytes.ts";
import { refuse, Refusal } from "../ground/errors.ts";
import { unreadableWords } from "../ground/tables.ts";
import { readBytes } from "../host/files.ts";
import { isDirectory, listFolder, pathExists } from "../host/folder.ts";
import { absolute } from "../host/layout.ts";
import { isDocumentName, readDocument } from "./document.ts";
import type { DocumentFault, Scenario } from "./document.ts";

export interface Document {
  /** As the call names it, or below the directory that it names. */
  readonly path: string;
  readonly content: Scenario | DocumentFault;
}

export function isScenario(content: Scenario | DocumentFault): content is Scenario {
  return "steps" in content;
}

/** Where a fault stands and what it is: `line 7: unknown key 'stdot'`. */
export function faultWords(fault: DocumentFault): string {
  return fault.line === null ? fault.words : `line ${fault.line}: ${fault.words}`;
}

/**
 * Reads the documents of the paths that a call names, directories in byte order and with what lies below them. A path that is
 * not there is missing (12); a directory that holds none is a wrong call (2).
 */
export function findDocuments(workingDirectory: string, paths: readonly string[]): Document[] {
  return paths.flatMap((path) => {
    const place = absolute(workingDirectory, path);
    if (!pathExists(place)) throw refuse("missing", `cannot read '${path}'`, "no such file");
    if (!isDirectory(place)) return [documentAt(place, path)];
    const found = documentsBelow(place, path.replace(/(?<=.)\/+$/, ""));
    if (found.length === 0) throw refuse("wrong-call", `no scenario in '${path}'`, "they are .yaml, .yml and .md files");
    return found;
  });
}

/** Links to files are read, links to directories are not followed: they may lead round. */
function documentsBelow(directory: string, shown: string): Document[] {
  return sortedBytes(listFolder(directory), (entry) => entry.name).flatMap((entry) => {
    const name = textOfBytes(entry.name);
    const [place, path] = [`${directory}/${name}`, shown === "/" ? `/${name}` : `${shown}/${name}`];
    if (entry.kind === "directory") return name.startsWith(".") ? [] : documentsBelow(place, path);
    if (!isDocumentName(name) || (entry.kind === "link" && isDirectory(place))) return [];
    if (!isWellFormed(entry.name)) return [{ path, content: { line: null, words: unreadableWords.name } }];
    return [documentAt(place, path)];
  });
}

function documentAt(place: string, path: string): Document {
  try {
    const file = readBytes(place, { regular: true });
    if (file === null) return { path, content: { line: null, words: unreadableWords.closed } };
    const result = readDocument(path, file);
    return { path, content: "scenario" in result ? result.scenario : result.fault };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { path, content: { line: null, words: error.detail } };
  }
}
