/** The closed table of what yields a record (contract, section 7). Pure: ledger entries in, evidence out. */
import { cleaned } from "../ground/bytes.ts";
import { noTask, taskPattern } from "../ground/ids.ts";
import { isObject, isTimed, textField } from "../ledger/events.ts";
import type { LedgerEntry } from "../ledger/events.ts";

/** A reference of an observation, and the commit its line was written at. */
export interface Reference {
  readonly reference: string;
  readonly head: string;
}

/** What one line says, its strings cleaned: everything of a record that comes from the ledger. */
export interface Evidence {
  /** The fields that the record's id digests, in order. */
  readonly identity: readonly string[];
  readonly title: string;
  readonly description: string;
  readonly class: "convention" | "fact" | "lesson";
  readonly epistemics: "decided" | "observed" | "inferred";
  readonly tag: "decision" | "question" | "task" | "observation";
  /** The day of the line, `YYYY-MM-DD`. */
  readonly date: string;
  /** The task's id, or `none`. */
  readonly task: string;
  /** Observations alone: what it is about, and the references as given. */
  readonly subject?: string;
  readonly references: readonly Reference[];
}

/** Events that can be evidence; no other line yields a record. */
export const evidenceEvents: ReadonlySet<string> = new Set([
  "decision.recorded",
  "question.resolved",
  "task.finished",
  "observation.recorded",
]);

/**
 * The evidence of one line of the episode, or `null` where the line is not whole or yields no record.
 * @param reasonOf the first line under `# Reason` of a task's note, `""` where there is none
 */
export function evidenceOf(entry: LedgerEntry, episode: string, reasonOf: (task: string) => string): Evidence | null {
  if (!isTimed(entry)) return null;
  const task = entry["task_id"] === undefined ? noTask : textField(entry, "task_id");
  if (task !== noTask && !taskPattern.test(task)) return null;
  const line = { date: textField(entry, "ts").slice(0, 10), task, references: [] };
  switch (textField(entry, "event")) {
    case "decision.recorded":
      return decided(entry, episode, line);
    case "question.resolved":
      return answered(entry, episode, line);
    case "task.finished":
      return task === noTask ? null : finished(entry, episode, line, reasonOf);
    case "observation.recorded":
      return observed(entry, episode, line);
    default:
      return null;
  }
}

interface LineFacts {
  readonly date: string;
  readonly task: string;
  readonly references: readonly Reference[];
}

function decided(entry: LedgerEntry, episode: string, line: LineFacts): Evidence | null {
  const decision = cleaned(textField(entry, "decision"));
  if (decision === "") return null;
  const where = line.task === noTask ? "outside a task" : `under task ${line.task}`;
  return {
    ...line,
    identity: ["decision.recorded", decision],
    title: decision,
    description: `Recorded as a decision ${where} in episode ${episode}.`,
    class: "convention",
    epistemics: "decided",
    tag: "decision",
  };
}

function answered(entry: LedgerEntry, episode: string, line: LineFacts): Evidence | null {
  const question = cleaned(textField(entry, "question"));
  const answer = cleaned(textField(entry, "answer"));
  if (question === "" || answer === "") return null;
  return {
    ...line,
    identity: ["question.resolved", question, answer],
    title: answer,
    description: `Answers the question "${question}" resolved under task ${line.task} in episode ${episode}.`,
    class: "fact",
    epistemics: "observed",
    tag: "question",
  };
}

function finished(
  entry: LedgerEntry,
  episode: string,
  line: LineFacts,
  reasonOf: (task: string) => string,
): Evidence | null {
  const outcome = textField(entry, "outcome");
  const identity = ["task.finished", line.task, outcome];
  if (outcome === "blocked" || outcome === "failed" || outcome === "no_match") {
    const reason = cleaned(reasonOf(line.task)).trim();
    return {
      ...line,
      identity,
      title: `Task ${line.task} ended ${outcome}${reason === "" ? "" : `: ${reason}`}`,
      description: `The task reached the outcome ${outcome} in episode ${episode}.`,
      class: "lesson",
      epistemics: "inferred",
      tag: "task",
    };
  }
  const verify = entry["verify"];
  if (outcome !== "completed" || !isObject(verify)) return null;
  const command = cleaned(textField(verify, "command"));
  const exit = verify["exit"];
  if (command === "" || !Number.isSafeInteger(exit)) return null;
  return {
    ...line,
    identity,
    title: `Task ${line.task} completed; verified by: ${command} (exit ${String(exit)})`,
    description: `The verification command passed when the task finished in episode ${episode}.`,
    class: "fact",
    epistemics: "observed",
    tag: "task",
  };
}

function observed(entry: LedgerEntry, episode: string, line: LineFacts): Evidence | null {
  const kind = cleaned(textField(entry, "kind"));
  const subject = cleaned(textField(entry, "subject"));
  const statement = cleaned(textField(entry, "statement"));
  const given: unknown = entry["evidence"] ?? (entry["evidence"] === undefined ? [] : null);
  if (kind === "" || subject === "" || statement === "" || !isStrings(given)) return null;
  const head = textField(entry, "head");
  return {
    ...line,
    identity: ["observation.recorded", kind, subject, statement],
    title: statement,
    description: `Observed as ${kind} about ${subject} in episode ${episode}.`,
    class: "lesson",
    epistemics: "observed",
    tag: "observation",
    subject,
    references: given.map((reference) => ({ reference: cleaned(reference), head })),
  };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** The first non-blank line under `# Reason` of a note, blanks cut at both ends; `""` where there is none. */
export function reasonIn(note: string): string {
  // Cleaned first: a line of control characters alone is blank.
  return sectionLines(note, "Reason").map((line) => cleaned(line).trim()).find((line) => line !== "") ?? "";
}

/** All that stands under `# Reason` of a note. */
export function reasonSection(note: string): string {
  return sectionLines(note, "Reason").join("\n");
}

/** Whether a note has a section of this heading. */
export function hasSection(note: string, heading: string): boolean {
  return headingAt(note.split("\n"), heading) !== -1;
}

function sectionLines(note: string, heading: string): string[] {
  const lines = note.split("\n");
  const at = headingAt(lines, heading);
  if (at === -1) return [];
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => /^# /.test(line));
  return end === -1 ? rest : rest.slice(0, end);
}

function headingAt(lines: readonly string[], heading: string): number {
  return lines.findIndex((line) => line.replace(/[ \t\r]+$/, "") === `# ${heading}`);
}
