/** One pass over the ledger that tells what boundaries left undone (contract, section 5). */
import { ledgerPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { evidenceEvents } from "../knowledge/evidence.ts";
import { entryOf, isTimed, textField } from "../ledger/events.ts";
import type { LedgerEntry } from "../ledger/events.ts";
import { eachBlock, eachEntry, needlesOf } from "../ledger/ledger.ts";

export interface EpisodeState {
  readonly closed: boolean;
  /** Whether evidence of it came after its last `knowledge.derived`. */
  readonly underived: boolean;
  /** Whether a provider said that it ended. */
  readonly ended: boolean;
  /** The `ts` of its newest line; `""` for an episode that is not among those watched. */
  readonly newest: string;
}

type Working = { -readonly [Field in keyof EpisodeState]: EpisodeState[Field] };

/** The states of episodes, in the order in which the ledger names them. */
class States {
  readonly #states = new Map<string, Working>();

  of(id: string): Working {
    const known = this.#states.get(id);
    if (known !== undefined) return known;
    const state: Working = { closed: false, underived: false, ended: false, newest: "" };
    // A copy: a piece of a block that was read would keep the whole block.
    this.#states.set(Buffer.from(id, "utf8").toString("utf8"), state);
    return state;
  }

  learn(entry: LedgerEntry): void {
    if (!isTimed(entry)) return;
    const event = textField(entry, "event");
    const derived = event === "knowledge.derived" ? textField(entry, "episode") : "";
    if (derived !== "") this.of(derived).underived = false;
    const session = textField(entry, "session");
    if (session === "") return;
    const state = this.of(session);
    state.newest = textField(entry, "ts");
    if (event === "session.closed") state.closed = true;
    if (evidenceEvents.has(event)) state.underived = true;
    if (event === "provider.event.received" && textField(entry, "provider_event") === "end") state.ended = true;
  }

  get all(): ReadonlyMap<string, EpisodeState> {
    return this.#states;
  }
}

/** What the ledger says of each episode that it names. */
export function surveyLedger(layout: Layout): ReadonlyMap<string, EpisodeState> {
  const states = new States();
  eachEntry(`${layout.root}/${ledgerPath}`, (entry) => states.learn(entry));
  return states.all;
}

/** The beginning of a line as every writer of ours makes it. */
const plainHead =
  /\{"ts":"[^"\\\n]{20}","event":"([a-z.]+)","head":"[^"\\\n]*","branch":"[^"\\\n]*","by":"[^"\\\n]*","session":"(s-[0-9]{14}-[0-9a-f]{4})",/y;

/** Where in a plain line its `ts` has ended. */
const headStart = 27;

/** Searching for more ids than this costs more than reading every line. */
const mostNeedles = 8;

/** Events that change a state beside evidence. */
const turns: ReadonlySet<string> = new Set(["knowledge.derived", "session.closed", "provider.event.received"]);

/**
 * The same, at a fraction of the time, for a boundary, which needs every state but only the `newest` of the episodes that
 * are open: most lines are evidence of others, and are told by how they begin. Where evidence told so would leave a
 * closed episode underived, its lines are read again, whole: a damaged one asks for nothing.
 * @param watched the ids of the open episodes
 */
export function surveyBoundaries(layout: Layout, watched: ReadonlySet<string>): ReadonlyMap<string, EpisodeState> {
  const path = `${layout.root}/${ledgerPath}`;
  const states = new States();
  const learn = (line: Buffer) => {
    const entry = entryOf(line);
    if (entry !== null) states.learn(entry);
  };
  eachBlock(
    path,
    (lines) => {
      /** How the line before began, behind its `ts`, where that said all: the same again says nothing new. */
      let before = "";
      for (let start = 0; start < lines.length; ) {
        const end = lines.indexOf("\n", start);
        if (before !== "" && lines.startsWith(before, start + headStart) && lines.startsWith('{"ts":"', start)) {
          start = end + 1;
          continue;
        }
        before = "";
        plainHead.lastIndex = start;
        const [, event = "", session = ""] = plainHead.exec(lines) ?? [];
        if (event === "" || turns.has(event) || watched.has(session)) learn(Buffer.from(lines.slice(start, end), "latin1"));
        else if (evidenceEvents.has(event)) {
          states.of(session).underived = true;
          before = lines.slice(start + headStart, plainHead.lastIndex);
        }
        start = end + 1;
      }
    },
    learn,
  );
  const doubted = [...states.all].filter(([, state]) => state.closed && state.underived).map(([id]) => id);
  if (doubted.length > 0) {
    const exact = new States();
    // In one pass, however many: with the switch off every episode is such a one.
    eachEntry(path, (entry) => exact.learn(entry), doubted.length > mostNeedles ? [] : needlesOf(...doubted));
    for (const id of doubted) states.of(id).underived = exact.of(id).underived;
  }
  return states.all;
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
