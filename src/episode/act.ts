/**
 * An act leaves one line in the ledger, stamped with the episode that this process means. The episode is looked up
 * while the ledger's lock is held, so that no line is acknowledged into one that is closed (contract, section 5).
 */
import { refuse } from "../ground/errors.ts";
import { opensLikeConversation } from "../ground/ids.ts";
import { now } from "../ground/clock.ts";
import { gitPosition } from "../host/git.ts";
import type { GitPosition } from "../host/git.ts";
import type { Layout } from "../host/layout.ts";
import { lockWait } from "../host/lock.ts";
import { lineOf } from "../ledger/events.ts";
import type { EventName, Payload } from "../ledger/events.ts";
import { underLedger } from "../ledger/ledger.ts";
import type { Append } from "../ledger/ledger.ts";
import { noEpisode, openEpisodes, processEpisode, providerEpisode } from "./episode.ts";
import type { OpenEpisode } from "./episode.ts";

/** Where and when an act happens. */
export interface Place {
  readonly layout: Layout;
  /** The folder of the toolkit that runs. */
  readonly home: string;
  readonly now: string;
  /** Asked of git at most once. */
  readonly position: () => GitPosition;
  /** How long it waits for a lock, in milliseconds. */
  readonly wait: number;
  /** The provider's session that it acts for, `null` for none; where absent, the environment says it. */
  readonly session?: string | null;
}

export function placeOf(layout: Layout, home: string, wait = lockWait, session?: string | null): Place {
  let known: GitPosition | undefined;
  const position = () => (known ??= gitPosition(layout.root));
  return { layout, home, now: now(), position, wait, ...(session === undefined ? {} : { session }) };
}

/** The open episode that an act at this place belongs to, `null` where none is open. */
export function episodeAt(place: Place): OpenEpisode | null {
  const { layout, session } = place;
  if (session === undefined) return processEpisode(layout);
  return session === null ? null : providerEpisode(layout, session);
}

/** Makes the line of an event; `session` names an episode where the event is about one, else it is the process's. */
export type MakeLine = (event: EventName, payload: Payload, session?: string) => string;

/** Appends what `make` gives, stamped with this process's episode where it has one. */
export function append(place: Place, make: (line: MakeLine) => string): void {
  // Asked before the lock is held: it is slow, and others wait for the lock.
  place.position();
  underLedger(
    place.layout,
    (write) => {
      write(make(lineMaker(place, episodeAt(place))));
    },
    place.wait,
  );
}

/** Makes lines of this place; those that name no episode of their own are stamped with `stamp`. */
export function lineMaker(place: Place, stamp: OpenEpisode | null): MakeLine {
  const { head, branch } = place.position();
  return (event, payload, session) =>
    lineOf(event, { ts: place.now, head, branch, session: session ?? stamp?.id }, payload);
}

/** What an act may do while the ledger's lock is held. */
export interface HeldAct {
  /** The episode of this process, `null` where none is open here at all. */
  readonly episode: OpenEpisode | null;
  readonly line: MakeLine;
  readonly write: Append;
}

/**
 * Runs an act under the ledger's lock. Refused (10) where episodes are open here and none is this process's, and, with
 * `needsEpisode`, where none is open.
 */
export function act<Result>(
  place: Place,
  what: string,
  run: (held: HeldAct) => Result,
  { needsEpisode = false }: { readonly needsEpisode?: boolean } = {},
): Result {
  place.position();
  return underLedger(
    place.layout,
    (write) => {
      const episode = episodeAt(place);
      if (episode === null && (needsEpisode || openEpisodes(place.layout).length > 0)) throw noEpisode(place.layout, what);
      return run({ episode, line: lineMaker(place, episode), write });
    },
    place.wait,
  );
}

/** A text that an act records: one line, not blank, without control characters; else the call is wrong (2). */
export function insistOneLine(name: string, text: string): void {
  const fault = lineFault(text);
  if (fault !== null) throw refuse("wrong-call", `cannot use ${name}`, fault);
}

/** A text that becomes a record's title does not open like a conversation (2): it would never be derived. */
export function insistRecordable(name: string, text: string): void {
  if (opensLikeConversation(text)) throw refuse("wrong-call", `cannot use ${name}`, "it opens like a conversation; say what it comes to");
}

/** Why a text is not one whole line of well-formed text, or `null`. */
export function lineFault(text: string): string | null {
  if (text.trim() === "") return "it is blank";
  if (/[\n\r]/.test(text)) return "it has more than one line";
  if (/[\x00-\x1f\x7f-\x9f]/.test(text)) return "it holds a control character";
  if (/[\u2028\u2029]/.test(text)) return "it holds a line or paragraph separator";
  // What is not UTF-8 on the command line reaches us as U+FFFD.
  if (/[\ufeff\ufffd-\uffff]|\p{Surrogate}/u.test(text)) return "it holds U+FEFF, U+FFFD, U+FFFE, U+FFFF or invalid UTF-8";
  return null;
}
