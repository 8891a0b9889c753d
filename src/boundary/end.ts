/**
 * The end of an episode, and the mending of ends that were killed (contract, section 5). No line is acknowledged into a
 * closed episode and none stays underived: the end derives and writes its record first, and closes only where, under
 * the ledger's lock, no evidence came meanwhile.
 */
import { errorWords, fileOperations, readBytes, removeFile, worldError } from "../host/files.ts";
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
import { eachEntry, needlesOf, underLedger } from "../ledger/ledger.ts";
import { lineMaker } from "../episode/act.ts";
import type { Place } from "../episode/act.ts";
import { openEpisodes, openFilePath, readEpisodeFile, readOpenFile } from "../episode/episode.ts";
import type { OpenEpisode } from "../episode/episode.ts";
import { hasLine } from "../episode/open.ts";
import { sessionRecords, writeSessionRecord } from "./session-record.ts";
import type { EpisodeOutcome } from "./session-record.ts";
import { surveyLedger } from "./survey.ts";
import type { EpisodeState } from "./survey.ts";

/** What an end did. */
export interface Ended {
  readonly episode: string;
  /** The session record's path. */
  readonly path: string;
  /** What was derived, why not, or `null` where the policy switches it off. */
  readonly derived: Derivation | Refusal | null;
}

/** Ends an open episode. `null` where another process has ended it meanwhile: ending twice adds nothing. */
export function endEpisode(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome): Ended | null {
  return underKnowledge(place.layout, () => endHeld(place, episode, outcome), place.wait);
}

function endHeld(place: Place, episode: OpenEpisode, outcome: EpisodeOutcome): Ended | null {
  const { layout } = place;
  const isOn = readPolicy(layout).isOn("session.knowledge_on_end");
  for (;;) {
    const there = readOpenFile(layout, episode.key);
    if (there.state !== "open" || there.episode.id !== episode.id) return null;
    const derived = isOn ? attemptDerivation(place, episode.id) : null;
    const path = writeSessionRecord(place, episode, outcome);
    const seen = derived === null || derived instanceof Refusal ? null : derived.evidenceLines;
    if (closeWhenDerived(place, episode, outcome, path, seen)) return { episode: episode.id, path, derived };
  }
}

/** A derivation that fails never fails the close. */
function attemptDerivation(place: Place, episode: string): Derivation | Refusal {
  try {
    return deriveHeld(place, episode, false);
  } catch (error) {
    if (error instanceof Refusal) return error;
    return new Refusal("fault", "cannot derive", errorWords(error));
  }
}

/** Closes under the ledger's lock, unless evidence came since it was counted. Returns whether it is closed. */
function closeWhenDerived(
  place: Place,
  episode: OpenEpisode,
  outcome: EpisodeOutcome,
  path: string,
  seen: number | null,
): boolean {
  const { layout } = place;
  return underLedger(
    layout,
    (write) => {
      if (seen !== null && countEvidence(layout, episode.id) !== seen) return false;
      const open = `${layout.root}/${openFilePath(episode.key)}`;
      rename(open, `${open}${closingEnding}`);
      finishClosing(place, episode, outcome, path, write);
      return true;
    },
    place.wait,
  );
}

const closingEnding = ".closing";

function rename(from: string, to: string): void {
  try {
    fileOperations.renameSync(from, to);
  } catch (error) {
    throw worldError(`cannot close '${from}'`, error);
  }
}

/** Appends the line of an end that has none yet, then removes its file and the pointer where that leads nowhere. */
function finishClosing(
  place: Place,
  episode: OpenEpisode,
  outcome: EpisodeOutcome,
  path: string,
  write: (lines: string) => void,
): void {
  const { layout } = place;
  if (!hasLine(layout, episode.id, "session.closed")) {
    write(lineMaker(place, null)("session.closed", { outcome, session_path: path }, episode.id));
  }
  removeFile(`${layout.root}/${openFilePath(episode.key)}${closingEnding}`);
  const pointer = `${layout.root}/${currentEpisodePath}`;
  const target = linkTarget(pointer);
  if (target !== null && !nameExists(`${layout.root}/${statePath}/${target}`)) removeFile(pointer);
}

function countEvidence(layout: Layout, episode: string): number {
  let count = 0;
  eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      const isEvidence = isTimed(entry) && evidenceEvents.has(textField(entry, "event"));
      if (isEvidence && textField(entry, "session") === episode) count += 1;
    },
    needlesOf(episode),
  );
  return count;
}

/** What mending did: episodes that were closed, and closed ones that were derived late, or why not. */
export interface Mended {
  readonly ended: readonly Ended[];
  readonly derived: readonly (Derivation | Refusal)[];
}

/**
 * Finishes what killed boundaries left: a `.closing`, an episode whose provider said that it ended, and a closed
 * episode with evidence that was never derived. Every start, end and recover does it.
 */
export function mend(place: Place): Mended {
  const { layout } = place;
  finishClosings(place);
  const states = surveyLedger(layout);
  const isUnfinished = (episode: OpenEpisode) => states.get(episode.id)?.ended === true;
  const ended = openEpisodes(layout)
    .filter(isUnfinished)
    .flatMap((episode) => endEpisode(place, episode, "closed") ?? []);
  const late = readPolicy(layout).isOn("session.knowledge_on_end")
    ? [...states].filter(([, state]) => state.closed && state.underived).map(([id]) => id)
    : [];
  const derived = late.length === 0 ? [] : underKnowledge(layout, () => late.map((id) => attemptDerivation(place, id)), place.wait);
  return { ended, derived };
}

function finishClosings(place: Place): void {
  const { layout } = place;
  const folder = `${layout.root}/${openEpisodesPath}`;
  const ending = `.yaml${closingEnding}`;
  for (const entry of listFolder(folder)) {
    if (entry.kind !== "file" || !entry.name.endsWith(ending)) continue;
    const key = entry.name.slice(0, -ending.length);
    underKnowledge(
      layout,
      () => {
        const file = readEpisodeFile(layout, `${openFilePath(key)}${closingEnding}`, key);
        if (file.state !== "open") return;
        const path = sessionRecords(layout, file.episode.id)[0] ?? writeSessionRecord(place, file.episode, "interrupted");
        const outcome = recordedOutcome(layout, path);
        underLedger(layout, (write) => finishClosing(place, file.episode, outcome, path, write), place.wait);
      },
      place.wait,
    );
  }
}

/** The outcome that a session record gives. */
function recordedOutcome(layout: Layout, path: string): EpisodeOutcome {
  const record = readBytes(`${layout.root}/${path}`)?.toString("latin1") ?? "";
  return /^outcome: interrupted$/m.test(record) ? "interrupted" : "closed";
}

/** Open episodes whose newest line is older than the policy's limit, or all. */
export function strandedEpisodes(place: Place, all: boolean): OpenEpisode[] {
  const { layout } = place;
  const states = surveyLedger(layout);
  const limit = readPolicy(layout).limit("session.stranded_after_minutes") * 60;
  const now = secondsOf(place.now) ?? 0;
  return openEpisodes(layout).filter((episode) => all || now - (newestOf(episode, states) ?? now) > limit);
}

function newestOf(episode: OpenEpisode, states: ReadonlyMap<string, EpisodeState>): number | null {
  return secondsOf(states.get(episode.id)?.newest ?? "") ?? secondsOf(episode.startedAt);
}
