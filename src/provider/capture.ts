/**
 * The boundary of an event (contract, section 10). A provider is never kept waiting and never told of a failure: what
 * fails becomes a line of the ledger, where one can be written, and one line for standard error.
 */
import { errorWords } from "../host/files.ts";
import { defaultLayout, findRoot, layoutOf, ledgerPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { lockWaitInEvent } from "../host/lock.ts";
import { readPolicy } from "../host/policy.ts";
import type { PolicySwitch } from "../host/policy.ts";
import { cleaned } from "../ground/bytes.ts";
import { sha256 } from "../ground/digest.ts";
import { Refusal } from "../ground/errors.ts";
import { derive } from "../knowledge/derive.ts";
import { readQueue } from "../knowledge/queue.ts";
import { endEpisode, mend, strandedEpisodes } from "../boundary/end.ts";
import type { Ended, Mended } from "../boundary/end.ts";
import type { EpisodeState } from "../boundary/survey.ts";
import { textField } from "../ledger/events.ts";
import { eachEntry, needlesOf } from "../ledger/ledger.ts";
import { append, placeOf } from "../episode/act.ts";
import type { Place } from "../episode/act.ts";
import { providerEpisode } from "../episode/episode.ts";
import type { OpenEpisode } from "../episode/episode.ts";
import { openEpisode } from "../episode/open.ts";
import { briefingText, shapedBriefing } from "./briefing.ts";
import type { ProviderEvent } from "./events.ts";
import { isSession } from "./payload.ts";
import type { Payload } from "./payload.ts";
import { commandWord } from "./toolkit.ts";

export interface CaptureRequest {
  /** The toolkit's folder. */
  readonly home: string;
  readonly provider: string;
  readonly event: ProviderEvent;
  readonly payload: Payload;
  readonly workingDirectory: string;
  /** What `--repo` says. */
  readonly repository: string | undefined;
}

export interface Captured {
  /** What the provider is to read: the briefing in its shape, `""` for none. */
  readonly output: string;
  /** Lines for standard error. */
  readonly notes: readonly string[];
}

/** The variables that name the session of a provider; `MAJORDOMUS_PROVIDER_SESSION` does for every one. */
const sessionVariables: Readonly<Record<string, string>> = {
  "claude-code": "CLAUDE_CODE_SESSION_ID",
  "gemini-cli": "GEMINI_SESSION_ID",
};

/** Providers whose own variable our other commands know: their agents need no key. */
const namedByVariable: ReadonlySet<string> = new Set(["claude-code"]);

/** Events that end a turn and no session: whoever wires one to us must not end an episode with every turn. */
const turnEvents: ReadonlySet<string> = new Set([
  "stop",
  "stopfailure",
  "subagentstop",
  "agentstop",
  "afteragent",
  "interrupt",
  "session.idle",
]);

const interrupting: ReadonlySet<string> = new Set(["error", "abort", "timeout"]);

/** Takes in one event. Never throws. */
export function captureEvent(request: CaptureRequest): Captured {
  const { payload, event, provider } = request;
  if (turnEvents.has(payload.name.toLowerCase())) {
    return { output: "", notes: [`${event} of ${provider} left alone: '${payload.name}' is no event of a session`] };
  }
  const session = sessionOf(request);
  const found = layoutsOf(request);
  const isOpen = ({ layout }: Found) => session !== null && providerEpisode(layout, session) !== null;
  const chosen = (event === "start" ? undefined : found.find(isOpen)) ?? found[0];
  return chosen === undefined ? { output: "", notes: [] } : captureIn(request, chosen, session);
}

/** The session that an event is about: what the payload says, else what the environment says of this provider. */
function sessionOf({ payload, provider }: CaptureRequest): string | null {
  if (payload.session !== null) return payload.session;
  const own = Object.hasOwn(sessionVariables, provider) ? sessionVariables[provider] : undefined;
  const variables = ["MAJORDOMUS_PROVIDER_SESSION", ...(own === undefined ? [] : [own])];
  return variables.map((name) => process.env[name] ?? "").find(isSession) ?? null;
}

interface Found {
  readonly layout: Layout;
  /** Why its manifest cannot be used; the local state is then still where it always is, to say so in. */
  readonly fault?: unknown;
}

/** The repositories with a layer where the session may be, the likeliest first. */
function layoutsOf({ payload, workingDirectory, repository }: CaptureRequest): Found[] {
  const variables = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR"].map((name) => process.env[name] ?? "");
  const places = [...payload.directories, ...variables.filter((path) => path.startsWith("/")), workingDirectory];
  const roots = repository === undefined ? places.map((place) => findRoot(place, undefined)) : [findRoot(workingDirectory, repository)];
  return [...new Set(roots)].flatMap((root) => (root === null ? [] : [lookAt(root)]));
}

function lookAt(root: string): Found {
  try {
    return { layout: layoutOf(root) };
  } catch (fault) {
    return { layout: defaultLayout(root), fault };
  }
}

/** How long the line of a failure waits for the ledger's lock, in milliseconds: the event has waited already. */
const failureWait = 100;

/** The longest reason that a failure's line carries, in characters. */
const reasonLimit = 1000;

/** What an event does, step by step: a step that fails is remembered, and the next one is taken. */
interface Steps {
  /** What it gives, or `null` where it failed. */
  attempt<Result>(step: () => Result): Result | null;
  /** The same for what every later event does too: that another process holds a lock is then no failure. */
  attemptFree<Result>(step: () => Result): Result | null;
  fail(error: unknown): void;
  note(text: string): void;
  readonly failures: readonly string[];
}

function captureIn(request: CaptureRequest, { layout, fault }: Found, session: string | null): Captured {
  const { provider, event } = request;
  const failures: string[] = [];
  const notes: string[] = [];
  const steps: Steps = {
    attempt: (step) => {
      try {
        return step();
      } catch (error) {
        steps.fail(error);
        return null;
      }
    },
    attemptFree: (step) => {
      try {
        return step();
      } catch (error) {
        if (!isLocked(error)) steps.fail(error);
        return null;
      }
    },
    fail: (error) => failures.push(reasonOf(error)),
    note: (text) => notes.push(text),
    failures,
  };
  const place = steps.attempt(() => placeOf(layout, request.home, lockWaitInEvent, session));
  let output = "";
  if (place !== null && steps.attempt(() => receive(place, request, session)) !== null) {
    if (fault !== undefined) steps.fail(fault);
    else if (event === "start") output = start(place, request, session, steps);
    else if (event === "end") end(place, request, session, steps);
    else compact(place, request, session, steps);
  }
  const [reason] = failures;
  if (reason !== undefined) {
    if (place !== null) recordFailure(place, request, reason);
    const more = failures.length === 1 ? "" : `; and ${failures.length - 1} more`;
    notes.push(`cannot capture the ${event} of a ${provider} session: ${reason}${more}`);
  }
  return { output, notes };
}

function isLocked(error: unknown): boolean {
  return error instanceof Refusal && error.code === "locked";
}

function reasonOf(error: unknown): string {
  const words = error instanceof Refusal ? error.message : `internal fault: ${errorWords(error)}`;
  return cleaned(words).slice(0, reasonLimit);
}

/** An event's first line. */
function receive(place: Place, { provider, event }: CaptureRequest, session: string | null): true {
  const payload = { provider, provider_event: event, ...(session === null ? {} : { provider_session: session }) };
  append(place, (line) => line("provider.event.received", payload));
  return true;
}

function recordFailure(place: Place, { provider, event }: CaptureRequest, reason: string): void {
  try {
    append({ ...place, wait: failureWait }, (line) => line("provider.event.failed", { provider, provider_event: event, reason }));
  } catch {
    // Standard error says it all the same.
  }
}

/** Ends what earlier sessions left, opens this one's episode, and says what awaits review. */
function start(place: Place, request: CaptureRequest, session: string | null, steps: Steps): string {
  let key: string | null = null;
  if (session !== null) {
    const mended = steps.attemptFree(() => mend(place));
    if (mended !== null) {
      tellMended(mended, steps);
      closeStranded(place, session, mended.states, steps);
    }
    const asked = { provider: request.provider, providerSession: session, pointer: "dangling" } as const;
    const opened = steps.attempt(() => openEpisode(place, asked, sha256));
    if (opened === null) return "";
    key = opened.episode.key;
  }
  return steps.attempt(() => briefing(place, request, key)) ?? "";
}

/** Closes what other sessions of providers left open longer than the policy says. A person's own episode stays. */
function closeStranded(place: Place, session: string, states: ReadonlyMap<string, EpisodeState>, steps: Steps): void {
  const stranded = steps.attempt(() => strandedEpisodes(place, false, states)) ?? [];
  for (const episode of stranded.filter((one) => isOfAnother(one, session))) {
    const ended = steps.attemptFree(() => endEpisode(place, episode, "interrupted"));
    if (ended !== null) tellEnded(ended, steps);
  }
}

function isOfAnother(episode: OpenEpisode, session: string): boolean {
  const isProviders = episode.provider !== undefined || episode.providerSession !== undefined;
  return isProviders && episode.providerSession !== session;
}

/** Closes the session's episode, then what others left: the provider may end us at any moment. */
function end(place: Place, request: CaptureRequest, session: string | null, steps: Steps): void {
  if (session === null) return;
  const outcome = interrupting.has(request.payload.reason) ? "interrupted" : "closed";
  const isDone = attemptOnce(place, request, session, steps, (episode) => {
    const ended = endEpisode(place, episode, outcome);
    if (ended !== null) tellEnded(ended, steps);
  });
  if (!isDone) return;
  const mended = steps.attemptFree(() => mend({ ...place, wait: mendingWait }));
  if (mended !== null) tellMended(mended, steps);
}

/** How long the mending behind an end waits for each lock, in milliseconds: who holds one may be mending too. */
const mendingWait = 50;

function compact(place: Place, request: CaptureRequest, session: string | null, steps: Steps): void {
  if (session === null) return;
  attemptOnce(place, request, session, steps, (episode) => {
    if (isOn(place, "session.knowledge_on_compact", steps)) derive(place, episode.id, false, place.wait);
  });
}

/**
 * Takes a step in the session's episode, where one is open. One that finds the lock held while the same event, received
 * before, is still being taken in has nothing to do. Returns whether it came to its end.
 */
function attemptOnce(
  place: Place,
  { event }: CaptureRequest,
  session: string,
  steps: Steps,
  step: (episode: OpenEpisode) => void,
): boolean {
  const episode = steps.attempt(() => providerEpisode(place.layout, session));
  if (episode === null) return steps.failures.length === 0;
  try {
    step(episode);
    return true;
  } catch (error) {
    if (!isLocked(error) || !isTwin(place, event, session, episode.id)) steps.fail(error);
    return false;
  }
}

/** Whether this event of a session was received twice and neither has come to its last line, or one of them has just now. */
function isTwin({ layout }: Place, event: ProviderEvent, session: string, episode: string): boolean {
  if (event === "end" && providerEpisode(layout, session)?.id !== episode) return true;
  let received = 0;
  eachEntry(
    `${layout.root}/${ledgerPath}`,
    (entry) => {
      if (textField(entry, "event") === "provider.event.received") {
        if (textField(entry, "session") === episode && textField(entry, "provider_event") === event) received += 1;
      } else if (event === "compact" && textField(entry, "episode") === episode) received = 0;
    },
    needlesOf(episode),
  );
  return received > 1;
}

function isOn(place: Place, name: PolicySwitch, steps: Steps): boolean {
  const on = readPolicy(place.layout).isOn(name);
  if (!on) steps.note(`knowledge not derived: ${name} is false`);
  return on;
}

function tellMended(mended: Mended, steps: Steps): void {
  for (const ended of mended.ended) tellEnded(ended, steps);
  for (const derived of mended.derived) if (derived instanceof Refusal) steps.fail(derived);
}

function tellEnded(ended: Ended, steps: Steps): void {
  if (ended.derived === null) steps.note("knowledge not derived: session.knowledge_on_end is false");
  else if (ended.derived instanceof Refusal) steps.fail(ended.derived);
}

function briefing(place: Place, { provider, home }: CaptureRequest, key: string | null): string {
  const { layout } = place;
  const policy = readPolicy(layout);
  if (!policy.isOn("session.briefing_on_start")) return "";
  const text = briefingText({
    queue: readQueue(layout),
    branch: place.position().branch,
    command: commandWord(layout, home),
    key: namedByVariable.has(provider) ? null : key,
    budget: policy.limit("session.briefing_budget_lines"),
  });
  return shapedBriefing(provider, text);
}
