/** Creating the layer in a repository (contract, section 1): never overwrites a file. */
import { sortedBytes } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import { hasTemporaries, readBytes, removeTemporaries, replaceFile } from "../host/files.ts";
import { fileMode, isFile, listFolder, nameExists, readNamed, realPath } from "../host/folder.ts";
import { git, gitPosition, gitRefusal } from "../host/git.ts";
import { makeInside, templatePath } from "../host/inside.ts";
import { localPath, manifestPath } from "../host/layout.ts";
import { underLedger } from "../ledger/ledger.ts";

/** What git is to leave alone. */
const ignored = [`${localPath}/`, ".ai/repo/**/.tmp.*"];

export interface Initialised {
  readonly root: string;
  /** The paths that were made, in order; `.gitignore` where lines were added. */
  readonly made: readonly string[];
}

/**
 * Creates what is missing of the layer. Outside a git work tree it is refused (12).
 * @param isRoot whether `directory` is the root that was asked for; else git's top level above it is
 */
export function initLayer(directory: string, home: string, isRoot: boolean): Initialised {
  if (!nameExists(directory)) throw refuse("missing", `cannot create a layer in '${directory}'`, "no such directory");
  const answer = git(directory, ["rev-parse", "--show-toplevel"]);
  if (answer.status !== 0) throw gitRefusal(directory, answer);
  const root = isRoot ? (realPath(directory) ?? directory) : answer.output.toString("utf8").replace(/\n$/, "");
  gitPosition(root);
  const gitignore = `${root}/.gitignore`;
  if (nameExists(gitignore) && !isFile(gitignore)) throw refuse("could-not-write", "cannot write '.gitignore'", "it is no regular file");
  const template = templateFiles(home);
  const folders = [...new Set(["", ...template.map(folderOf)])].map((folder) => `${root}/${folder}`);
  const isDone = template.every((path) => nameExists(`${root}/${path}`)) && ignoring(gitignore).missing.length === 0 && !folders.some(hasTemporaries);
  // Two at once would each remove what the other stages.
  return { root, made: isDone ? [] : underLedger({ root }, () => makeLayer(root, home, template, folders, gitignore)) };
}

function makeLayer(root: string, home: string, template: readonly string[], folders: readonly string[], gitignore: string): string[] {
  for (const folder of folders) removeTemporaries(folder);
  const made: string[] = [];
  // The manifest comes last: it is what says that the layer is whole.
  const files = template.filter((path) => path !== manifestPath);
  for (const path of [...files, manifestPath]) {
    if (nameExists(`${root}/${path}`)) continue;
    makeInside({ root }, folderOf(path));
    replaceFile(`${root}/${path}`, readNamed(`${home}/${templatePath}/${path}`, path));
    made.push(path);
  }
  if (ignore(gitignore)) made.push(".gitignore");
  return made;
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

function templateFiles(home: string, folder = ""): string[] {
  const entries = listFolder(`${home}/${templatePath}/${folder}`);
  return sortedBytes(entries, (entry) => entry.name).flatMap((entry) => {
    const path = folder + entry.name;
    return entry.kind === "directory" ? templateFiles(home, `${path}/`) : [path];
  });
}

/** The lines that `.gitignore` lacks, and its text. */
function ignoring(path: string): { readonly text: string; readonly missing: readonly string[] } {
  const text = readBytes(path)?.toString("latin1") ?? "";
  const lines = text.split("\n").map((line) => line.replace(/\r$/, ""));
  return { text, missing: ignored.filter((pattern) => !lines.includes(pattern)) };
}

/** Adds to `.gitignore`, once each, what git is to leave alone. Returns whether anything was missing. */
function ignore(path: string): boolean {
  const { text, missing } = ignoring(path);
  if (missing.length === 0) return false;
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const begun = text === "" || text.endsWith("\n") ? text : text + end;
  replaceFile(path, Buffer.from(begun + missing.map((pattern) => pattern + end).join(""), "latin1"), {
    mode: fileMode(path) ?? 0o644,
  });
  return true;
}
