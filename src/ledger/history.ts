/** Reading the ledger back for a person (contract, section 5). */
import { secondsOf } from "../ground/clock.ts";
import { refuse } from "../ground/errors.ts";
import { isKnownEvent, textField } from "./events.ts";
import type { LedgerEntry } from "./events.ts";
import { eachEntry, eachLine, lineNumberAt } from "./ledger.ts";
import { entryOf } from "./events.ts";
import type { Damage } from "./ledger.ts";

export interface HistoryQuery {
  readonly task?: string;
  readonly event?: string;
  /** Seconds since 1970: older lines are left out. */
  readonly since?: number;
  /** The newest so many; all where absent. */
  readonly limit?: number;
}

/** A line of the ledger: what it says, and its bytes as they stand there. */
export interface HistoryLine {
  readonly entry: LedgerEntry;
  readonly text: string;
}

/** The lines that match, oldest first, and the damage met on the way. */
export function readHistory(path: string, query: HistoryQuery): { readonly lines: readonly HistoryLine[]; readonly damage: Damage } {
  const lines: HistoryLine[] = [];
  const limit = query.limit ?? Number.POSITIVE_INFINITY;
  const damage = eachEntry(path, (entry, line) => {
    if (!isKnownEvent(textField(entry, "event")) || !matches(entry, query)) return;
    lines.push({ entry, text: line.toString("utf8") });
    // Cut now and then, so that a long ledger is never held whole.
    if (lines.length >= 2 * limit + 1000) lines.splice(0, lines.length - limit);
  });
  return { lines: lines.length > limit ? lines.slice(lines.length - limit) : lines, damage };
}

function matches(entry: LedgerEntry, query: HistoryQuery): boolean {
  if (query.task !== undefined && textField(entry, "task_id") !== query.task) return false;
  if (query.event !== undefined && textField(entry, "event") !== query.event) return false;
  if (query.since === undefined) return true;
  const at = secondsOf(textField(entry, "ts"));
  return at !== null && at >= query.since;
}

/** What `--since` means, in seconds since 1970: so long before `now`, or a timestamp. Another form is a wrong call (2). */
export function sinceOf(text: string, now: string): number {
  const back = /^([0-9]{1,9})([mhd])$/.exec(text);
  const unit = { m: 60, h: 3600, d: 86_400 }[back?.[2] ?? ""];
  const at = secondsOf(back === null ? text : now);
  if (at === null) throw refuse("wrong-call", `cannot use --since '${text}'`, "30m, 2h, 7d or YYYY-MM-DDTHH:MM:SSZ");
  return back === null ? at : at - Number(back[1]) * (unit ?? 0);
}

/** A short word on what a line says, one line. */
export function detailOf(entry: LedgerEntry): string {
  const field = (name: string) => textField(entry, name);
  const number = (name: string) => String(entry[name] ?? "");
  switch (field("event")) {
    case "session.started":
      return `${field("session")} by ${field("owner")}`;
    case "session.closed":
      return `${field("session")} ${field("outcome")}`;
    case "task.started":
      return field("scope");
    case "task.finished":
      return field("outcome");
    case "decision.recorded":
      return field("decision");
    case "question.opened":
      return field("question");
    case "question.resolved":
      return `${field("question")} ${field("answer")}`;
    case "observation.recorded":
      return `${field("kind")} ${field("subject")} — ${field("statement")}`;
    case "knowledge.derived":
      return `${field("episode")} ${number("written")} written, ${number("unchanged")} unchanged, ${number("skipped")} skipped`;
    case "knowledge.promoted":
      return field("path");
    case "knowledge.rejected":
      return `${field("id")} ${field("reason")}`;
    case "provider.event.received":
    case "provider.event.failed":
      return [field("provider"), field("provider_event"), field("reason")].filter((text) => text !== "").join(" ");
    case "ledger.rotated":
      return `${number("archived")} archived to ${field("archive")}, ${number("kept")} kept`;
    default:
      return "";
  }
}

/** The first line that is no JSON object or names an event that nobody has, and how many lines there are. */
export function validateLedger(path: string): { readonly lines: number; readonly fault: string | null } {
  let lines = 0;
  let fault: string | null = null;
  eachLine(path, (line) => {
    lines += 1;
    if (fault !== null) return;
    const entry = entryOf(line);
    if (entry === null) fault = `line ${lines}: no whole JSON object`;
    else if (!isKnownEvent(textField(entry, "event"))) fault = `line ${lines}: unknown event '${textField(entry, "event")}'`;
  });
  return { lines, fault };
}

/** The words of what was skipped as damaged, for standard error; `null` where nothing was. */
export function damageWords(path: string, damage: Damage): string | null {
  if (damage.count === 0) return null;
  const lines = damage.count === 1 ? "1 damaged line" : `${damage.count} damaged lines`;
  return `skipped ${lines}, the first is line ${lineNumberAt(path, damage.firstOffset)}`;
}
