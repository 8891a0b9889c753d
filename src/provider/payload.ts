/**
 * What a provider says of an event, as JSON that nobody vouches for (contract, section 10). Pure: bytes in, the few
 * fields that are used out. No other field is kept: a payload carries mail addresses and conversations.
 */
import { byteLength } from "../ground/bytes.ts";
import { isObject, textField } from "../ledger/events.ts";
import { lineFault } from "../episode/act.ts";

/** The most that is read of a payload, in bytes. */
export const payloadLimit = 1 << 20;

/** The longest session id that is taken, in bytes. */
const sessionLimit = 512;

export interface Payload {
  /** The provider's session id; `null` where the payload gives none that a ledger line can carry. */
  readonly session: string | null;
  /** Absolute directories where the session may be, the likeliest first. */
  readonly directories: readonly string[];
  /** Why a session ended, `""` where it is not said. */
  readonly reason: string;
  /** The provider's own name of the event, `""` where it is not said. */
  readonly name: string;
}

export const emptyPayload: Payload = { session: null, directories: [], reason: "", name: "" };

/** The payload in these bytes; what is no JSON object is as good as none. */
export function payloadOf(bytes: Buffer): Payload {
  const object = objectIn(bytes);
  if (object === null) return emptyPayload;
  const roots: unknown = Object.hasOwn(object, "workspace_roots") ? object["workspace_roots"] : undefined;
  const first: unknown = Array.isArray(roots) ? roots[0] : undefined;
  const directories = [textField(object, "cwd"), typeof first === "string" ? first : ""];
  const sessions = ["session_id", "sessionId", "conversation_id"].map((name) => textField(object, name));
  return {
    session: sessions.find(isSession) ?? null,
    directories: directories.filter((path) => path.startsWith("/") && !path.includes("\0")),
    reason: textField(object, "reason"),
    name: textField(object, "hook_event_name"),
  };
}

/** Whether a text can be a session's id: one line, not blank, well-formed, not endless. */
export function isSession(text: string): boolean {
  return text !== "" && lineFault(text) === null && byteLength(text) <= sessionLimit;
}

function objectIn(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Gathers bytes until they hold one whole JSON object, or cannot any more. */
export interface ObjectGatherer {
  /** Takes the next bytes; `true` when no more are wanted. */
  take(piece: Buffer): boolean;
  /** The object, without what stood before and behind it; empty where there is no whole one. */
  bytes(): Buffer;
}

const byteOrderMark = [0xef, 0xbb, 0xbf];
const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const backslash = 0x5c;

/**
 * A gatherer of at most `limit` bytes. It looks at each byte once: braces and brackets outside strings tell where the
 * object ends, whether or not it is JSON in between.
 */
export function gatherObject(limit: number = payloadLimit): ObjectGatherer {
  const pieces: Buffer[] = [];
  let length = 0;
  let marked = 0;
  let depth = 0;
  let inString = false;
  let escaped = false;
  let state: "before" | "inside" | "whole" | "none" = "before";

  /** The state after one more byte. */
  const look = (byte: number): typeof state => {
    if (state === "before") {
      if (byte === byteOrderMark[marked]) {
        marked += 1;
        return state;
      }
      if (marked !== 0 && marked !== byteOrderMark.length) return "none";
      marked = byteOrderMark.length;
      if (byte !== openBrace) return isBlank(byte) ? state : "none";
      depth = 1;
      return "inside";
    }
    if (escaped) escaped = false;
    else if (inString) {
      if (byte === backslash) escaped = true;
      else if (byte === quote) inString = false;
    } else if (byte === quote) inString = true;
    else if (byte === openBrace || byte === 0x5b) depth += 1;
    else if (byte === closeBrace || byte === 0x5d) {
      depth -= 1;
      if (depth === 0) return "whole";
    }
    return state;
  };

  const take = (piece: Buffer): boolean => {
    if (state === "whole" || state === "none") return true;
    const seen = piece.subarray(0, limit - length);
    let start = state === "inside" ? 0 : -1;
    for (let at = 0; at < seen.length; at += 1) {
      const next = look(seen[at] as number);
      state = next;
      if (next === "inside" && start === -1) start = at;
      if (next === "whole") {
        pieces.push(Buffer.from(seen.subarray(start, at + 1)));
        return true;
      }
      if (next === "none") return true;
    }
    if (start !== -1) pieces.push(Buffer.from(seen.subarray(start)));
    length += seen.length;
    return length >= limit;
  };

  return { take, bytes: () => (state === "whole" ? Buffer.concat(pieces) : Buffer.alloc(0)) };
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}
