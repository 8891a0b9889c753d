/** Every name on disk, once (contract, section 1): the root, the sections that the manifest names, the state files. */
import { readYamlFile } from "../format/yaml-read.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import { isUtf8 } from "node:buffer";
import { textOfBytes } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import type { Refusal } from "../ground/errors.ts";
import { unreadableWords, yamlWords } from "../ground/tables.ts";
import { isFile, pathExists, readFileBytes, realPath } from "./folder.ts";

export const manifestPath = ".ai/manifest.yaml";
export const policyPath = ".ai/repo/policy.yaml";
export const scopePath = ".ai/repo/scope.yaml";
/** Where an older Majordomus keeps its issues: only looked up, never written. */
export const issuesPath = ".ai/repo/issues";
export const localPath = ".ai/local";
export const statePath = ".ai/local/state";
export const ledgerPath = `${statePath}/ledger.jsonl`;
export const ledgerLockPath = `${statePath}/ledger.lock`;
export const knowledgeLockPath = `${statePath}/knowledge.lock`;
export const currentTaskPath = `${statePath}/current.yaml`;
export const completedPath = `${statePath}/completed`;
export const decisionsPath = `${statePath}/decisions.md`;
export const questionsPath = `${statePath}/open-questions.md`;
export const openEpisodesPath = `${statePath}/sessions-open`;
export const currentEpisodePath = `${statePath}/session-current.yaml`;

/** The directory's own contract, in every directory of records: never a record. */
export const readmeName = "README.md";

const sectionDefaults = {
  knowledge: "repo/knowledge",
  sessions: "repo/sessions",
  rules: "repo/rules",
  adrs: "repo/adrs",
} as const;

export type Section = keyof typeof sectionDefaults;

/** A repository with a layer. Section paths are relative to the root, as everything that is printed is. */
export interface Layout {
  /** The root as it was found, absolute. */
  readonly root: string;
  readonly knowledge: string;
  readonly candidates: string;
  readonly curated: string;
  readonly sessions: string;
  readonly rules: string;
  readonly vendoredRules: string;
  readonly adrs: string;
}

/** The root that a call means: what `--repo` says, else the nearest ancestor with a manifest up to the first `.git`. */
export function findRoot(workingDirectory: string, repository: string | undefined): string | null {
  if (repository !== undefined) {
    const path = absolute(workingDirectory, repository);
    const root = realPath(path) ?? path;
    return pathExists(`${root}/${manifestPath}`) ? root : null;
  }
  for (let directory = workingDirectory; ; ) {
    if (pathExists(`${directory}/${manifestPath}`)) return directory;
    if (pathExists(`${directory}/.git`) || directory === "/") return null;
    directory = directory.slice(0, Math.max(directory.lastIndexOf("/"), 0)) || "/";
  }
}

/** A path as a call gives it, from its working directory on. What `..` means is left to the system, which knows the links. */
export function absolute(workingDirectory: string, path: string): string {
  return path.startsWith("/") ? path : `${workingDirectory}/${path}`;
}

/** The layout of a repository; a manifest that cannot be read or leads outside is refused (10). */
export function layoutOf(root: string): Layout {
  return layoutBy(root, manifestLeaves(root));
}

/** The layout that a repository has where its manifest names no section: enough to find its local state. */
export function defaultLayout(root: string): Layout {
  return layoutBy(root, new Map());
}

function layoutBy(root: string, leaves: YamlLeaves): Layout {
  const knowledge = sectionPath(leaves, "knowledge");
  const sessions = sectionPath(leaves, "sessions");
  const rules = sectionPath(leaves, "rules");
  const adrs = sectionPath(leaves, "adrs");
  const layout: Layout = {
    root,
    knowledge,
    candidates: `${knowledge}/candidates`,
    curated: `${knowledge}/curated`,
    sessions,
    rules,
    vendoredRules: `${rules}/vendor`,
    adrs,
  };
  const inside = realPath(root) ?? root;
  insist(inside, root, knowledge, sectionRefusal("knowledge", outside));
  insist(inside, root, sessions, sectionRefusal("sessions", outside));
  for (const path of [layout.candidates, statePath, openEpisodesPath]) insist(inside, root, path, placeRefusal(path, outside));
  return layout;
}

const outside = "leads outside the repository";

function insist(inside: string, root: string, path: string, refusal: Refusal): void {
  const real = realPath(`${root}/${path}`);
  if (real !== null && !isBelow(inside, real)) throw refusal;
}

/** Whether a path is another or lies below it; both absolute. */
export function isBelow(directory: string, path: string): boolean {
  return path === directory || directory === "/" || path.startsWith(`${directory}/`);
}

function sectionRefusal(section: Section, detail: string): Refusal {
  return refuse("refused", `cannot use sections.${section} of '${manifestPath}'`, detail);
}

function placeRefusal(path: string, detail: string): Refusal {
  return refuse("refused", `cannot use '${path}'`, detail);
}

function manifestLeaves(root: string): YamlLeaves {
  const path = `${root}/${manifestPath}`;
  const refused = (reason: string) => refuse("refused", `cannot read '${manifestPath}'`, reason);
  const file = isFile(path) ? readFileBytes(path) : null;
  if (file === null) throw refused(unreadableWords.closed);
  const leaves = yamlLeavesOf(file);
  if (typeof leaves === "string") throw refused(leaves);
  return leaves;
}

/** The leaves of a whole YAML file, or the words of why it cannot be read. */
export function yamlLeavesOf(file: Buffer): YamlLeaves | string {
  if (file.includes(0)) return unreadableWords.nul;
  if (!isUtf8(file)) return unreadableWords.utf8;
  const { leaves, refusal } = readYamlFile(file.toString("latin1"));
  return refusal === null ? leaves : `line ${refusal.line}: ${yamlWords[refusal.reason]}`;
}

function sectionPath(leaves: YamlLeaves, section: Section): string {
  const value = leaves.get(`sections.${section}`) ?? "";
  const path = textOfBytes(value === "" ? sectionDefaults[section] : value);
  if (path.startsWith("/")) throw sectionRefusal(section, "an absolute path");
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw sectionRefusal(section, "a '..' segment");
  if (path.includes(" ")) throw sectionRefusal(section, "a space");
  if (/[\x00-\x1f\x7f-\x9f]/.test(path)) throw sectionRefusal(section, "a control character");
  if (segments.length === 0) throw sectionRefusal(section, "no path");
  return `.ai/${segments.join("/")}`;
}
