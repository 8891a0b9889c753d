/** `knowledge status`: what stands still in the queue and in its making (contract, section 9). */
import { showIllFormed, sortedBytes, textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { secondsOf } from "../ground/clock.ts";
import { git, gitRefusal } from "../host/git.ts";
import { ledgerPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { readPolicy } from "../host/policy.ts";
import { isTimed, textField } from "../ledger/events.ts";
import { eachEntry, eachLine, needlesOf } from "../ledger/ledger.ts";
import { compareRecords } from "./candidates.ts";
import { evidenceEvents } from "./evidence.ts";
import { readCandidates } from "./queue.ts";

export type WarningKind = "overfull" | "old" | "unreadable" | "untracked" | "long-ledger" | "stopped-writer";

export interface StatusWarning {
  readonly kind: WarningKind;
  /** What it is about: a path, an id, or `""`. */
  readonly subject: string;
  readonly message: string;
}

export interface KnowledgeStatus {
  readonly awaiting: number;
  /** The date of the oldest awaiting record, `null` where none has one. */
  readonly oldest: string | null;
  readonly warnings: readonly StatusWarning[];
  /** Whether evidence of a closed episode was never derived: then something that should write does not. */
  readonly isStopped: boolean;
}

/** The state of a repository's queue at a time, `YYYY-MM-DDTHH:MM:SSZ`. Refused: a policy that does not parse (10), no git (12). */
export function statusOf(layout: Layout, now: string): KnowledgeStatus {
  const policy = readPolicy(layout);
  const { records, unreadable } = readCandidates(layout);
  const warnings: StatusWarning[] = [];
  const warn = (kind: WarningKind, subject: string, message: string) => warnings.push({ kind, subject, message });
  const awaiting = records.filter((record) => record.status === "candidate").sort(compareRecords);
  const most = policy.limit("knowledge.candidates_max_files");
  if (awaiting.length > most) warn("overfull", "", `${awaiting.length} candidates await review, knowledge.candidates_max_files is ${most}`);
  const dated = awaiting.filter((record) => secondsOf(`${record.date}T00:00:00Z`) !== null);
  const [first] = dated;
  const oldest = first === undefined ? null : dated.reduce((old, record) => (record.date < old.date ? record : old), first);
  const limit = policy.limit("knowledge.candidate_max_age_minutes");
  const since = (secondsOf(now) ?? 0) - limit * 60;
  const old = dated.filter((record) => (secondsOf(`${record.date}T00:00:00Z`) ?? 0) < since);
  if (oldest !== null && old.length > 0) {
    const others = old.length === 1 ? "" : `, ${old.length - 1} more`;
    warn("old", textOfBytes(oldest.id), `awaits review since ${oldest.date}, knowledge.candidate_max_age_minutes is ${limit}${others}`);
  }
  for (const file of sortedBytes(unreadable, ({ path }) => path)) warn("unreadable", textOfBytes(showIllFormed(file.path)), file.reason);
  for (const path of untracked(layout, sortedBytes([...records, ...unreadable].map((file) => file.path)))) {
    warn("untracked", textOfBytes(showIllFormed(path)), "git does not track it: add and commit it, or others never see it");
  }
  const lines = countLines(layout);
  const retention = policy.limit("ledger.retention_max_lines");
  if (lines > retention) {
    warn("long-ledger", ledgerPath, `${lines} lines, ledger.retention_max_lines is ${retention}: run 'majordomus history --rotate'`);
  }
  const stopped = policy.isOn("session.knowledge_on_end") ? underivedEpisodes(layout) : [];
  for (const episode of stopped) {
    warn("stopped-writer", episode, `closed, and its evidence is not derived: run 'majordomus knowledge derive --episode ${episode}'`);
  }
  return { awaiting: awaiting.length, oldest: oldest === null ? null : oldest.date, warnings, isStopped: stopped.length > 0 };
}

/** Those of the paths that git's index does not have. */
function untracked(layout: Layout, paths: readonly ByteString[]): ByteString[] {
  if (paths.length === 0) return [];
  const answer = git(layout.root, ["ls-files", "-z", "--", layout.candidates]);
  if (answer.status !== 0) throw gitRefusal(layout.root, answer);
  const tracked = new Set(answer.output.toString("latin1").split("\0"));
  return paths.filter((path) => !tracked.has(path));
}

function countLines(layout: Layout): number {
  let lines = 0;
  eachLine(`${layout.root}/${ledgerPath}`, () => {
    lines += 1;
  });
  return lines;
}

/** Closed episodes with evidence that no later `knowledge.derived` of them follows, in the ledger's order. */
function underivedEpisodes(layout: Layout): string[] {
  const closed = new Set<string>();
  const underived = new Set<string>();
  eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      if (!isTimed(entry)) return;
      const event = textField(entry, "event");
      const session = textField(entry, "session");
      if (event === "knowledge.derived") underived.delete(textField(entry, "episode"));
      else if (session !== "" && event === "session.closed") closed.add(session);
      else if (session !== "" && evidenceEvents.has(event)) underived.add(session);
    },
    needlesOf("knowledge.derived", "session.closed", ...evidenceEvents),
  );
  return [...underived].filter((episode) => closed.has(episode));
}
