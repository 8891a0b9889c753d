/** The switches, limits and scope of a repository (contract, section 12). */
import { refuse } from "../ground/errors.ts";
import { textOfBytes } from "../ground/bytes.ts";
import { unreadableWords } from "../ground/tables.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import { nameExists, readFileBytes } from "./folder.ts";
import { policyPath, scopePath, yamlLeavesOf } from "./layout.ts";
import type { Layout } from "./layout.ts";

const limits = {
  "session.briefing_budget_lines": 60,
  "session.stranded_after_minutes": 720,
  "knowledge.candidates_max_files": 40,
  "knowledge.candidate_max_age_minutes": 20_160,
  "ledger.retention_max_lines": 5000,
} as const;

export type PolicySwitch = "session.knowledge_on_end" | "session.knowledge_on_compact" | "session.briefing_on_start";
export type PolicyLimit = keyof typeof limits;

export interface Policy {
  /** On unless the policy says literally `false`. */
  isOn(name: PolicySwitch): boolean;
  /** The policy's whole number, or the default where it gives none. */
  limit(name: PolicyLimit): number;
}

/** The policy; none is the defaults. One that does not parse is refused (10). */
export function readPolicy(layout: Layout): Policy {
  const leaves = leavesIn(layout, policyPath);
  return {
    isOn: (name) => leaves.get(name) !== "false",
    limit: (name) => {
      const value = leaves.get(name) ?? "";
      return /^[0-9]{1,15}$/.test(value) ? Number(value) : limits[name];
    },
  };
}

export interface Scope {
  /** Globs of paths, and of last segments, that are generated. */
  readonly generatedPaths: readonly string[];
  readonly generatedNames: readonly string[];
}

/** What the scope declares generated; no scope declares nothing. One that does not parse is refused (10). */
export function readScope(layout: Layout): Scope {
  const leaves = leavesIn(layout, scopePath);
  return {
    generatedPaths: listAt(leaves, "out.generated.paths"),
    generatedNames: listAt(leaves, "out.generated.names"),
  };
}

function listAt(leaves: YamlLeaves, path: string): string[] {
  const items: string[] = [];
  for (const [at, value] of leaves) {
    if (value !== null && at.startsWith(`${path}.`) && !at.includes(".", path.length + 1)) items.push(textOfBytes(value));
  }
  return items;
}

function leavesIn(layout: Layout, path: string): YamlLeaves {
  const place = `${layout.root}/${path}`;
  if (!nameExists(place)) return new Map();
  const file = readFileBytes(place);
  const leaves = file === null ? unreadableWords.closed : yamlLeavesOf(file);
  if (typeof leaves === "string") throw refuse("refused", `cannot read '${path}'`, leaves);
  return leaves;
}
