/**
 * The end of an episode, and the mending of ends that were killed (contract, section 5). No line is acknowledged into a
 * closed episode and none stays underived: the end derives and writes its record first, and closes only where, under
 * the ledger's lock, no evidence came meanwhile.
 *
 * Whoever is killed here leaves one of these, and the next boundary goes on from it:
 *   an open file, its end received   the whole end is done again; its record takes the place of the one that was written
 *   a `.closing`                     only the line and the file's removal are left
 *   staged records                   those that the ledger names are renamed into place (`underKnowledge`), the others removed
 */
import { attempt, errorWords, hasTemporaries, moveFile, removeFile } from "../host/files.ts";
import { linkTarget, listFolder, nameExists } from "../host/folder.ts";
import { currentEpisodePath, ledgerPath, openEpisodesPath, statePath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { readPolicy } from "../host/policy.ts";
import { Refusal } from "../ground/errors.ts";
import { secondsOf } from "../ground/clock.ts";
import { evidenceEvents } from "../knowledge/evidence.ts";
import { deriveHeld, underKnowledge } from "../knowledge/derive.ts";
import type { Derivation } from "../knowledge/derive.ts";
import { isTimed, textField } from "../ledger/events.ts";
import { eachEntrySince, markLedger, needlesOf, underLedger } from "../ledger/ledger.ts";
import type { LedgerMark } from "../ledger/ledger.ts";
import { lineMaker } from "../episode/act.ts";
import type { Place } from "../episode/act.ts";
import { openEpisodes, openFilePath, readEpisodeFile, readOpenFile } from "../episode/episode.ts";
import type { OpenEpisode } from "../episode/episode.ts";
import { hasLine, isStarted, startLine } from "../episode/open.ts";
import { recordedOutcome, sessionRecords, writeSessionRecord } from "./session-record.ts";
import type { EpisodeOutcome } from "./session-record.ts";
import { surveyBoundaries } from "./survey.ts";
import type { EpisodeState } from "./survey.ts";

/** What an end did. */
export interface Ended {
  readonly episode: string;
  /** The session record's path. */
  readonly path: string;
  /** What was derived, why not, or `null` where the policy switches it off. */
  readonly derived: Derivation | Refusal | null;
}

/** Appends to the ledger, whose lock is held. */
type Append = (lines: string) => void;

/** Ends an open episode. `null` where another process has ended it meanwhile: ending twice adds nothing. */
export function endEpisode(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome): Ended | null {
  return underKnowledge(place.layout, () => endHeld(place, episode, outcome), place.wait);
}

/** How often evidence may come in the way before the end keeps others from recording while it derives. */
const freeRounds = 2;

function endHeld(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome): Ended | null {
  const { layout } = place;
  const isOn = readPolicy(layout).isOn("session.knowledge_on_end");
  // Asked before the ledger's lock is held: it is slow, and others wait for the lock.
  place.position();
  for (let round = 1; ; round += 1) {
    const there = readOpenFile(layout, episode.key);
    if (there.state !== "open" || there.episode.id !== episode.id) return null;
    if (round > freeRounds) {
      return underLedger(
        layout,
        (write) => {
          const [derived, path] = writeDown(place, episode, outcome, isOn, write);
          close(place, episode, outcome, path, write, false);
          return { episode: episode.id, path, derived };
        },
        place.wait,
      );
    }
    const mark = markLedger(`${layout.root}/${ledgerPath}`);
    const [derived, path] = writeDown(place, episode, outcome, isOn);
    const closed = underLedger(
      layout,
      (write) => {
        if (insistStarted(place, episode, derived, write) || hasNewsSince(layout, episode.id, mark)) return false;
        const isFirst = derived !== null && !(derived instanceof Refusal) && !derived.closed;
        close(place, episode, outcome, path, write, isFirst);
        return true;
      },
      place.wait,
    );
    if (closed) return { episode: episode.id, path, derived };
  }
}

/** Derives the episode and writes its record. */
function writeDown(
  place: Place,
  episode: OpenEpisode,
  outcome: EpisodeOutcome,
  isOn: boolean,
  write?: Append,
): [Derivation | Refusal | null, string] {
  const derived = isOn ? attemptDerivation(place, episode.id, write) : null;
  return [derived, writeSessionRecord(place, episode, outcome)];
}

/** A derivation that fails never fails the close. */
function attemptDerivation(place: Place, episode: string, write?: Append): Derivation | Refusal {
  try {
    return deriveHeld(place, episode, false, write);
  } catch (error) {
    if (error instanceof Refusal) return error;
    return new Refusal("fault", "cannot derive", errorWords(error));
  }
}

/** Adds the line of a start that was killed before it could. Returns whether it was missing. */
function insistStarted(place: Place, episode: OpenEpisode, derived: Derivation | Refusal | null, write: Append): boolean {
  const isKnown = derived !== null && !(derived instanceof Refusal) && derived.started;
  if (isKnown || isStarted(place.layout, episode.id)) return false;
  write(startLine(place, episode));
  return true;
}

/** Whether evidence of the episode, or its end, stands behind a mark, or nobody can tell. */
function hasNewsSince(layout: Layout, episode: string, mark: LedgerMark): boolean {
  let found = false;
  const isRead = eachEntrySince(
    `${layout.root}/${ledgerPath}`,
    mark,
    (entry) => {
      const event = textField(entry, "event");
      const isNews = isTimed(entry) && (evidenceEvents.has(event) || event === "session.closed");
      if (isNews && textField(entry, "session") === episode) found = true;
      return !found;
    },
    needlesOf(episode),
  );
  return found || !isRead;
}

const closingEnding = ".closing";

function closingPath(key: string): string {
  return `${openFilePath(key)}${closingEnding}`;
}

/**
 * Closes an episode whose evidence is derived and whose record stands. Both locks are held.
 * @param isFirst whether the ledger is known to have no line of its end
 */
function close(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome, path: string, write: Append, isFirst: boolean): void {
  const { layout } = place;
  // An earlier episode of this key may be half closed still: its file would be lost.
  const earlier = readEpisodeFile(layout, closingPath(episode.key), episode.key);
  if (earlier.state === "open" && earlier.episode.id !== episode.id) finishClosing(place, earlier.episode, write);
  moveFile(`${layout.root}/${openFilePath(episode.key)}`, `${layout.root}/${closingPath(episode.key)}`);
  closeFile(place, episode, outcome, path, write, isFirst);
}

/** Finishes an end that was killed after it took the open file away. Both locks are held. */
function finishClosing(place: Place, episode: OpenEpisode, write: Append): string {
  const { layout } = place;
  const path = sessionRecords(layout, episode.id).at(-1) ?? writeSessionRecord(place, episode, "interrupted");
  closeFile(place, episode, recordedOutcome(layout, path) ?? "closed", path, write);
  return path;
}

/** Appends the line of an end that has none yet, then removes its file and the pointer where that leads nowhere. */
function closeFile(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome, path: string, write: Append, isFirst = false): void {
  const { layout } = place;
  if (isFirst || !hasLine(layout, episode.id, "session.closed")) {
    write(lineMaker(place, null)("session.closed", { outcome, session_path: path }, episode.id));
  }
  removeFile(`${layout.root}/${closingPath(episode.key)}`);
  const pointer = `${layout.root}/${currentEpisodePath}`;
  const target = linkTarget(pointer);
  if (target !== null && !nameExists(`${layout.root}/${statePath}/${target}`)) removeFile(pointer);
}

/** What mending did: episodes that were closed, and closed ones that were derived late, or why not. */
export interface Mended {
  readonly ended: readonly Ended[];
  readonly derived: readonly (Derivation | Refusal)[];
  /** The records of the episodes whose end had come to its last steps. */
  readonly finished: readonly string[];
  /** What the ledger said before that. */
  readonly states: ReadonlyMap<string, EpisodeState>;
}

/**
 * Finishes what killed boundaries left: a `.closing`, an episode whose provider said that it ended, and a closed
 * episode with evidence that was never derived. Every start, end and recover does it.
 */
export function mend(place: Place): Mended {
  const { layout } = place;
  const finished = finishClosings(place);
  removeDanglingPointer(place);
  const open = openEpisodes(layout);
  const states = surveyBoundaries(layout, new Set(open.map((episode) => episode.id)));
  const ended = open
    .filter((episode) => states.get(episode.id)?.ended === true)
    .flatMap((episode) => endEpisode(place, episode, outcomeBegun(layout, episode.id)) ?? []);
  const late = readPolicy(layout).isOn("session.knowledge_on_end")
    ? [...states].filter(([, state]) => state.closed && state.underived).map(([id]) => id)
    : [];
  const derived = late.length === 0 ? [] : underKnowledge(layout, () => late.map((id) => attemptDerivation(place, id)), place.wait);
  // Staged by one that writes now, or left by one that could not put it into place: whoever takes the lock finishes that.
  attempt(() => {
    if (hasTemporaries(`${layout.root}/${layout.candidates}`)) underKnowledge(layout, () => undefined, 0);
  });
  return { ended, derived, finished, states };
}

/** Removes the pointer of an end that was killed before it could. */
function removeDanglingPointer(place: Place): void {
  const { layout } = place;
  const isDangling = () => {
    const target = linkTarget(`${layout.root}/${currentEpisodePath}`);
    return target !== null && !nameExists(`${layout.root}/${statePath}/${target}`);
  };
  if (!isDangling()) return;
  underLedger(
    layout,
    () => {
      if (isDangling()) removeFile(`${layout.root}/${currentEpisodePath}`);
    },
    place.wait,
  );
}

/** The outcome that a killed end had written down already; else its provider's end is taken for a plain one. */
function outcomeBegun(layout: Layout, episode: string): EpisodeOutcome {
  const record = sessionRecords(layout, episode).at(-1);
  return (record === undefined ? null : recordedOutcome(layout, record)) ?? "closed";
}

/** Gives the records of the episodes that are closed then. */
function finishClosings(place: Place): string[] {
  const { layout } = place;
  const finished: string[] = [];
  const ending = `.yaml${closingEnding}`;
  for (const entry of listFolder(`${layout.root}/${openEpisodesPath}`)) {
    if (entry.kind !== "file" || !entry.name.endsWith(ending)) continue;
    const key = entry.name.slice(0, -ending.length);
    place.position();
    underKnowledge(
      layout,
      () =>
        underLedger(
          layout,
          (write) => {
            // Looked at under the lock: the end that made it may have gone on.
            const file = readEpisodeFile(layout, closingPath(key), key);
            if (file.state === "open") finished.push(finishClosing(place, file.episode, write));
          },
          place.wait,
        ),
      place.wait,
    );
  }
  return finished;
}

/**
 * Open episodes whose newest line is older than the policy's limit, or all.
 * @param known what the ledger says, where the caller has asked it already
 */
export function strandedEpisodes(place: Place, all: boolean, known?: ReadonlyMap<string, EpisodeState>): OpenEpisode[] {
  const { layout } = place;
  const open = openEpisodes(layout);
  if (all || open.length === 0) return open;
  const states = known ?? surveyBoundaries(layout, new Set(open.map((episode) => episode.id)));
  const limit = readPolicy(layout).limit("session.stranded_after_minutes") * 60;
  const now = secondsOf(place.now) ?? 0;
  return open.filter((episode) => now - (newestOf(episode, states) ?? now) > limit);
}

function newestOf(episode: OpenEpisode, states: ReadonlyMap<string, EpisodeState>): number | null {
  return secondsOf(states.get(episode.id)?.newest ?? "") ?? secondsOf(episode.startedAt);
}
