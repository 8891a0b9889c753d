/** One pass over the ledger that tells what a boundary left undone (contract, section 5). */
import { ledgerPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { evidenceEvents } from "../knowledge/evidence.ts";
import { isTimed, textField } from "../ledger/events.ts";
import { eachEntry, needlesOf } from "../ledger/ledger.ts";

export interface EpisodeState {
  readonly closed: boolean;
  /** Whether evidence of it came after its last `knowledge.derived`. */
  readonly underived: boolean;
  /** Whether a provider said that it ended, and has not said since that it goes on. */
  readonly ended: boolean;
  /** The `ts` of its newest line. */
  readonly newest: string;
}

interface Working {
  closed: boolean;
  underived: boolean;
  ended: boolean;
  newest: string;
}

/** What the ledger says of each episode that it names. */
export function surveyLedger(layout: Layout): ReadonlyMap<string, EpisodeState> {
  const states = new Map<string, Working>();
  const stateOf = (id: string) => {
    const known = states.get(id);
    if (known !== undefined) return known;
    const state: Working = { closed: false, underived: false, ended: false, newest: "" };
    states.set(id, state);
    return state;
  };
  eachEntry(`${layout.root}/${ledgerPath}`, (entry) => {
    if (!isTimed(entry)) return;
    const event = textField(entry, "event");
    if (event === "knowledge.derived") {
      const derived = textField(entry, "episode");
      if (derived !== "") stateOf(derived).underived = false;
    }
    const session = textField(entry, "session");
    if (session === "") return;
    const state = stateOf(session);
    state.newest = textField(entry, "ts");
    if (event === "session.closed") state.closed = true;
    if (evidenceEvents.has(event)) state.underived = true;
    if (event === "provider.event.received") state.ended = textField(entry, "provider_event") === "end";
  });
  return states;
}

/** An episode that was closed here. */
export interface ClosedEpisode {
  readonly session: string;
  readonly outcome: string;
  readonly closedAt: string;
  /** The path of its session record. */
  readonly path: string;
}

/** The closed episodes that the ledger names, oldest first. */
export function closedEpisodes(layout: Layout): ClosedEpisode[] {
  const closed: ClosedEpisode[] = [];
  eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      if (textField(entry, "event") !== "session.closed" || !isTimed(entry)) return;
      const field = (name: string) => textField(entry, name);
      closed.push({ session: field("session"), outcome: field("outcome"), closedAt: field("ts"), path: field("session_path") });
    },
    needlesOf("session.closed"),
  );
  return closed;
}
