/**
 * The filters of `knowledge candidates` (contract, section 8). Pure, and mirrored by `shell/awk/`: a filter looks at a record's
 * own values as they are read, so that both programs keep the same ones.
 */
import { bytesOfText } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import type { Refusal } from "../ground/errors.ts";
import { episodePattern } from "../ground/ids.ts";
import { routeWords } from "../ground/tables.ts";
import type { CandidateQueue, CandidateRecord } from "./candidates.ts";

export interface QueueFilter {
  readonly about?: ByteString;
  readonly route?: ByteString;
  readonly episode?: ByteString;
  /** Keeps the groups of so many episodes at least, and the records in them alone. */
  readonly minEpisodes?: number;
}

/** The filters as a call gives them; `undefined` for one that it does not give. */
export interface GivenFilters {
  readonly about: string | undefined;
  readonly route: string | undefined;
  readonly episode: string | undefined;
  readonly minEpisodes: string | undefined;
}

/** A filter from what was typed; the first that is none is a wrong call (2). */
export function filterOf(given: GivenFilters): QueueFilter {
  const { about, route, episode, minEpisodes } = given;
  const wrong = (option: string, value: string, detail: string): Refusal =>
    refuse("wrong-call", `cannot use --${option} '${value}'`, detail);
  if (route !== undefined && !Object.hasOwn(routeWords, route)) {
    throw wrong("route", route, `one of ${Object.keys(routeWords).join(", ")}`);
  }
  if (episode !== undefined && !episodePattern.test(episode)) {
    throw wrong("episode", episode, "an episode's id is s-YYYYMMDDHHMMSS-xxxx");
  }
  if (minEpisodes !== undefined && !/^[1-9][0-9]{0,8}$/.test(minEpisodes)) {
    throw wrong("min-episodes", minEpisodes, "a whole number from 1 to 999999999");
  }
  return {
    ...(about === undefined ? {} : { about: bytesOfText(about) }),
    ...(route === undefined ? {} : { route }),
    ...(episode === undefined ? {} : { episode }),
    ...(minEpisodes === undefined ? {} : { minEpisodes: Number(minEpisodes) }),
  };
}

/** Whether a record passes the filters that look at one record. */
export function isKept(record: CandidateRecord, filter: QueueFilter): boolean {
  if (filter.about !== undefined && record.about !== filter.about) return false;
  if (filter.route !== undefined && record.route !== filter.route) return false;
  return filter.episode === undefined || record.episode === filter.episode;
}

/** The queue of what recurs: the groups of enough episodes, and the awaiting records in them. Unreadable files stay. */
export function recurring(queue: CandidateQueue, minEpisodes: number): CandidateQueue {
  const groups = queue.groups.filter((group) => group.episodes.length >= minEpisodes);
  const subjects = new Set(groups.map((group) => group.about));
  return { ...queue, groups, awaiting: queue.awaiting.filter((record) => subjects.has(record.about)) };
}
