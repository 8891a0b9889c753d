import { textOfLines } from "../../ground/bytes.ts";
import { sha256 } from "../../ground/digest.ts";
import { refuse, Refusal } from "../../ground/errors.ts";
import { endEpisode, mend, strandedEpisodes } from "../../boundary/end.ts";
import type { Ended, Mended } from "../../boundary/end.ts";
import { noEpisode, openEpisodes, processEpisode, environmentSessions } from "../../episode/episode.ts";
import type { OpenEpisode } from "../../episode/episode.ts";
import type { Place } from "../../episode/act.ts";
import { openEpisode, providers } from "../../episode/open.ts";
import { closedEpisodes } from "../../boundary/survey.ts";
import { choiceOf, isGiven, layoutFor, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { derivationSummary } from "./derive.ts";
import { insistTexts, placeFor } from "./place.ts";

export function start(call: Call): Outcome {
  const ifOpen = choiceOf(call, "if-open", ["refuse", "keep"], "refuse");
  const texts = {
    "the owner": valueOf(call, "owner"),
    "the worker": valueOf(call, "worker"),
    "the provider's session": valueOf(call, "provider-session"),
  };
  const provider = valueOf(call, "provider");
  if (provider !== undefined) choiceOf(call, "provider", providers, "generic");
  insistTexts(call, texts);
  const place = placeFor(call);
  const { notes } = mendHere(place);
  const session = valueOf(call, "provider-session") ?? environmentSessions()[0]?.session;
  const { episode, isNew } = openEpisode(
    place,
    {
      ...given("owner", valueOf(call, "owner")),
      ...given("worker", valueOf(call, "worker")),
      ...given("provider", provider),
      ...given("providerSession", valueOf(call, "provider-session")),
      pointer: "always",
    },
    sha256,
  );
  const json = { schema: 1, session: episode.id, key: episode.key, started_at: episode.startedAt, opened: isNew };
  if (isNew) {
    return { text: `session ${episode.id} opened at ${episode.startedAt} (head ${episode.startHead.slice(0, 7)})\n`, json, notes };
  }
  if (ifOpen === "keep") return { text: `session ${episode.id} already open here since ${episode.startedAt}; kept\n`, json, notes };
  const whose = session === undefined ? "" : " for this provider's session";
  throw refuse(
    "wrong-state",
    "cannot open a session",
    `${episode.id} is open here${whose} since ${episode.startedAt}; end it with 'majordomus session end', or pass --if-open keep`,
  );
}

function given(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}

/** Mends what killed boundaries left; that it could not be done never stops the call. */
function mendHere(place: Place): { readonly notes: string[]; readonly records: readonly string[] } {
  try {
    const mended = mend(place);
    return { notes: noteMended(mended), records: [...mended.finished, ...mended.ended.map((one) => one.path)] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { notes: [`cannot mend what an earlier end left: ${error.message}`], records: [] };
  }
}

function noteMended(mended: Mended): string[] {
  const ended = mended.ended.map((one) => `ended ${one.episode}, which its provider had ended: ${one.path}`);
  const derived = mended.derived.map((one) => (one instanceof Refusal ? one.message : derivationSummary(one)));
  return [...ended, ...derived];
}

export function end(call: Call): Outcome {
  const outcome = choiceOf(call, "outcome", ["closed", "interrupted"], "closed");
  const ifNone = choiceOf(call, "if-none", ["refuse", "ignore"], "refuse");
  const place = placeFor(call);
  const { notes, records } = mendHere(place);
  const episode = processEpisode(place.layout);
  const ended = episode === null ? null : endEpisode(place, episode, outcome);
  if (ended !== null) return { text: `${ended.path}\n`, json: endedJson(ended), notes: [...notes, ...endedNotes(ended)] };
  // The end that was killed before is done now: what it would have printed.
  const [record] = records;
  if (record !== undefined) return { text: `${record}\n`, json: { schema: 1, session: null, path: record }, notes };
  if (ifNone === "ignore") return { json: { schema: 1, session: null }, notes };
  if (openEpisodes(place.layout).length > 0) throw noEpisode(place.layout, "cannot end a session");
  throw refuse("missing", "cannot end a session", "no episode is open here; 'majordomus session start' opens one");
}

function endedNotes(ended: Ended): string[] {
  if (ended.derived === null) return ["knowledge not derived: session.knowledge_on_end is false"];
  if (ended.derived instanceof Refusal) return [`knowledge not derived: ${ended.derived.message}`];
  return [derivationSummary(ended.derived).replace("knowledge derive:", "knowledge derived:")];
}

function endedJson(ended: Ended): object {
  return { schema: 1, session: ended.episode, path: ended.path };
}

export function status(call: Call): Outcome {
  const layout = layoutFor(call);
  const open = openEpisodes(layout);
  const own = processEpisode(layout)?.id;
  const lines = open.map((episode) => `${episode.id === own ? "*" : " "} ${openLine(episode)}`);
  return {
    text: open.length === 0 ? "no episode is open here\n" : textOfLines(lines),
    json: { schema: 1, session: own ?? null, open: open.map(openJson) },
  };
}

function openLine(episode: OpenEpisode): string {
  return `${episode.id}  open since ${episode.startedAt}  key ${episode.key}  branch ${episode.branch}  owner ${episode.owner}`;
}

function openJson(episode: OpenEpisode): object {
  return {
    session: episode.id,
    key: episode.key,
    started_at: episode.startedAt,
    owner: episode.owner,
    branch: episode.branch,
    start_head: episode.startHead,
  };
}

/** How many closed episodes are listed unless all are asked for. */
const newestClosed = 20;

export function list(call: Call): Outcome {
  const layout = layoutFor(call);
  const all = closedEpisodes(layout);
  const closed = isGiven(call, "all") ? all : all.slice(-newestClosed);
  const open = openEpisodes(layout);
  const lines = [
    ...closed.map((one) => `${one.session}  ${one.outcome} at ${one.closedAt}  ${one.path}`),
    ...open.map(openLine),
  ];
  return {
    text: textOfLines(lines),
    json: {
      schema: 1,
      closed: closed.map((one) => ({ session: one.session, outcome: one.outcome, closed_at: one.closedAt, path: one.path })),
      open: open.map(openJson),
    },
  };
}

export function recover(call: Call): Outcome {
  const place = placeFor(call);
  const mended = mend(place);
  const stranded = strandedEpisodes(place, isGiven(call, "all"));
  const ended = stranded.flatMap((episode) => endEpisode(place, episode, "interrupted") ?? []);
  const lines = ended.map((one) => `recovered ${one.episode}  ${one.path}`);
  return {
    text: textOfLines([...lines, `session recover: ${ended.length} closed`]),
    json: { schema: 1, recovered: ended.map((one) => ({ session: one.episode, path: one.path })) },
    notes: [...noteMended(mended), ...ended.flatMap(endedNotes)],
  };
}
