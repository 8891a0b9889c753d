/** The closed table of ledger events, and the line of each (contract, section 3). Pure. */
import { isUtf8 } from "node:buffer";
import { timestampPattern } from "../ground/clock.ts";
import { refuse } from "../ground/errors.ts";
import { olderEventWords } from "../ground/tables.ts";
import { version } from "../ground/version.ts";

/** At most so many bytes a line, its LF included. */
export const lineLimit = 65_536;

type Shape = "string" | "integer" | "object" | "strings" | "verify";

/** A payload's fields in order; a name that ends in `?` may be left out. */
type Fields = readonly (readonly [name: string, shape: Shape])[];

const table = {
  "session.started": [["owner", "string"], ["worker?", "string"]],
  "session.closed": [["outcome", "string"], ["session_path", "string"]],
  "task.started": [
    ["task_id", "string"],
    ["profile", "string"],
    ["owner", "string"],
    ["scope", "string"],
    ["requires", "string"],
  ],
  "task.finished": [
    ["task_id", "string"],
    ["outcome", "string"],
    ["contract", "object"],
    ["verify", "verify"],
    ["checkpoints", "integer"],
  ],
  "decision.recorded": [["task_id", "string"], ["decision", "string"]],
  "question.opened": [["task_id", "string"], ["question", "string"]],
  "question.resolved": [["task_id", "string"], ["question", "string"], ["answer", "string"]],
  "observation.recorded": [
    ["task_id", "string"],
    ["kind", "string"],
    ["subject", "string"],
    ["statement", "string"],
    ["evidence", "strings"],
  ],
  "knowledge.derived": [
    ["episode", "string"],
    ["written", "integer"],
    ["unchanged", "integer"],
    ["skipped", "integer"],
    ["paths", "string"],
    ["digests", "string"],
  ],
  "knowledge.promoted": [["id", "string"], ["path", "string"]],
  "knowledge.rejected": [["id", "string"], ["reason", "string"], ["superseded_by?", "string"]],
  "provider.event.received": [["provider", "string"], ["provider_event", "string"], ["provider_session?", "string"]],
  "provider.event.failed": [["provider", "string"], ["provider_event", "string"], ["reason", "string"]],
  "ledger.rotated": [["archived", "integer"], ["kept", "integer"], ["archive", "string"]],
} as const satisfies Record<string, Fields>;

export type EventName = keyof typeof table;

/** Whether this is an event of ours. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(table, name);
}

/** Whether we, or an older Majordomus, have this event. */
export function isKnownEvent(name: string): boolean {
  return isEventName(name) || Object.hasOwn(olderEventWords, name);
}

/** What every line begins with. `session` is left out where no episode is open for the process. */
export interface Envelope {
  readonly ts: string;
  readonly head: string;
  readonly branch: string;
  readonly session?: string | undefined;
}

export type Payload = Readonly<Record<string, unknown>>;

/**
 * The line of an event, with its LF. A payload of another shape than the table's is a fault of the program; a line
 * over the limit is refused as a wrong call (2).
 */
export function lineOf(event: EventName, envelope: Envelope, payload: Payload): string {
  const entry: Record<string, unknown> = {
    ts: envelope.ts,
    event,
    head: envelope.head,
    branch: envelope.branch,
    by: `majordomus-ts/${version}`,
  };
  if (envelope.session !== undefined) entry["session"] = envelope.session;
  let given = Object.keys(payload).length;
  for (const [field, shape] of table[event] as Fields) {
    const name = field.replace(/\?$/, "");
    const value = payload[name];
    if (value === undefined && name !== field) continue;
    given -= 1;
    if (!hasShape(value, shape)) throw new Error(`${event}: ${name} is no ${shape}`);
    entry[name] = value;
  }
  if (given !== 0) throw new Error(`${event}: a field that is not in the table`);
  const line = `${JSON.stringify(entry)}\n`;
  const bytes = Buffer.byteLength(line, "utf8");
  if (bytes > lineLimit) {
    throw refuse("wrong-call", `cannot record ${event}`, `a ledger line has at most ${lineLimit} bytes, this one would have ${bytes}`);
  }
  return line;
}

function hasShape(value: unknown, shape: Shape): boolean {
  switch (shape) {
    case "string":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "object":
      return isObject(value);
    case "strings":
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    case "verify":
      return value === null || isObject(value);
  }
}

/** A line read back: a JSON object, its strings well-formed. Nothing else about it is known yet. */
export type LedgerEntry = Readonly<Record<string, unknown>>;

/**
 * Reads one line, without its LF. `null` for a damaged one: no JSON object, longer than the limit, invalid UTF-8, a
 * lone surrogate in any string.
 */
export function entryOf(line: Buffer): LedgerEntry | null {
  if (line.length >= lineLimit || !mayBeObject(line) || !isUtf8(line)) return null;
  const text = line.toString("utf8");
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && !(mayHoldSurrogate.test(text) && holdsLoneSurrogate(value)) ? value : null;
  } catch {
    return null;
  }
}

/** Whether a line begins as an object does. Asked first: an error of the parser costs fifty times as much. */
function mayBeObject(line: Buffer): boolean {
  let at = 0;
  while (line[at] === 0x20 || line[at] === 0x09 || line[at] === 0x0d) at += 1;
  return line[at] === 0x7b;
}

const mayHoldSurrogate = /\\u[dD][89a-fA-F]/;
const loneSurrogate = /\p{Surrogate}/u;

/** Walks without recursion: a line may nest as deep as its length allows. */
function holdsLoneSurrogate(root: unknown): boolean {
  const pending: unknown[] = [root];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === "string" && loneSurrogate.test(value)) return true;
    if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        if (loneSurrogate.test(key)) return true;
        pending.push(member);
      }
    }
  }
  return false;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field of a line as a string; `""` where it is absent or of another shape. */
export function textField(entry: LedgerEntry, name: string): string {
  const value = Object.hasOwn(entry, name) ? entry[name] : undefined;
  return typeof value === "string" ? value : "";
}

/** Whether a line has the envelope that makes it evidence: its `ts` is of the contract's form. */
export function isTimed(entry: LedgerEntry): boolean {
  return timestampPattern.test(textField(entry, "ts"));
}
