import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { home } from "../../../build/bundle.mjs";
import { endEpisode, mend, strandedEpisodes } from "../../../src/boundary/end.ts";
import { sessionRecords } from "../../../src/boundary/session-record.ts";
import { surveyBoundaries, surveyLedger } from "../../../src/boundary/survey.ts";
import { append, placeOf } from "../../../src/episode/act.ts";
import type { Place } from "../../../src/episode/act.ts";
import { openEpisodes } from "../../../src/episode/episode.ts";
import type { OpenEpisode } from "../../../src/episode/episode.ts";
import { openEpisode } from "../../../src/episode/open.ts";
import { sha256 } from "../../../src/ground/digest.ts";
import { fileOperations } from "../../../src/host/files.ts";
import { layoutOf } from "../../../src/host/layout.ts";
import { markLedger } from "../../../src/ledger/ledger.ts";
import { fresh } from "../../support/provider.ts";
import { randomFrom, seed } from "../../support/random.ts";
import { candidatesPath, ledgerPath, openPath, sessionsPath } from "../../support/repository.ts";
import type { Repository } from "../../support/repository.ts";

interface Open {
  readonly repository: Repository;
  readonly place: Place;
  readonly episode: OpenEpisode;
}

function opened(session = "s1"): Open {
  const repository = fresh();
  const place = placeOf(layoutOf(repository.root), home, 1000, session);
  const { episode } = openEpisode(place, { provider: "codex", providerSession: session, pointer: "dangling" }, sha256);
  return { repository, place, episode };
}

function observe(place: Place, statement: string): void {
  append(place, (line) => line("observation.recorded", { task_id: "none", kind: "defect", subject: "lib/a.sh", statement, evidence: [] }));
}

const receive = (place: Place, event = "end") =>
  append(place, (line) => line("provider.event.received", { provider: "codex", provider_event: event, provider_session: "s1" }));

const events = (repository: Repository, event: string) => repository.ledger().filter((line) => line["event"] === event);

/** Runs something with one call of the file system replaced. */
function withCall<Name extends keyof typeof fileOperations, Result>(name: Name, replacement: (typeof fileOperations)[Name], run: () => Result): Result {
  const original = fileOperations[name];
  fileOperations[name] = replacement;
  try {
    return run();
  } finally {
    fileOperations[name] = original;
  }
}

/** What a process that is killed leaves: nothing more is written after the n-th call that changes anything. */
class Killed extends Error {}

const changing = ["openSync", "writeSync", "renameSync", "unlinkSync", "mkdirSync", "fsyncSync", "ftruncateSync"] as const;

/** Stops at the n-th call that changes the disk, and at every one after it; returns whether it came that far. */
function killedAt(count: number, run: () => void): boolean {
  const originals = changing.map((name) => fileOperations[name]);
  let left = count;
  const guard = (original: (...args: never[]) => unknown) => (...args: never[]) => {
    left -= 1;
    if (left <= 0) throw new Killed();
    return original(...args);
  };
  changing.forEach((name, at) => Object.assign(fileOperations, { [name]: guard(originals[at] as (...args: never[]) => unknown) }));
  try {
    run();
  } catch {
    // As a killed process says nothing.
  } finally {
    changing.forEach((name, at) => Object.assign(fileOperations, { [name]: originals[at] }));
  }
  return left <= 0;
}

/** What a killed process leaves is its locks too: it is alive here, and so a test takes them away. */
function dropLocks(repository: Repository): void {
  for (const lock of ["ledger.lock", "knowledge.lock"]) repository.remove(`.ai/local/state/${lock}`);
}

describe("endEpisode", () => {
  test("killed at every call that changes the disk: the next boundary finishes it, once, with all its evidence", { timeout: 120_000 }, () => {
    let reached = true;
    let count = 1;
    for (; reached; count += 1) {
      const { repository, place, episode } = opened();
      for (const statement of ["one", "two"]) observe(place, statement);
      receive(place);
      reached = killedAt(count, () => endEpisode(place, episode, "interrupted"));
      dropLocks(repository);
      mend(placeOf(place.layout, home, 1000, "s2"));
      expect({ count, open: readdirSync(repository.path(openPath)) }).toEqual({ count, open: [] });
      expect(events(repository, "session.closed").length).toBe(1);
      expect(repository.names(candidatesPath).length).toBe(2);
      expect(repository.names(sessionsPath).length).toBe(1);
      expect(readdirSync(repository.path(candidatesPath)).filter((name) => name.startsWith(".tmp"))).toEqual([]);
      expect(repository.exists(String(events(repository, "session.closed")[0]?.["session_path"]))).toBe(true);
      mend(placeOf(place.layout, home, 1000, "s2"));
      expect(events(repository, "session.closed").length).toBe(1);
    }
    expect(count).toBeGreaterThan(20);
  });

  test("evidence that comes while it derives is derived before it closes, however long others go on", () => {
    for (const late of [1, 2, 5]) {
      const { repository, place, episode } = opened();
      observe(place, "first");
      let left = late;
      const original = fileOperations.renameSync;
      // A session record that is renamed into place is the last step before the ledger's lock.
      withCall("renameSync", (from, to) => {
        original(from, to);
        if (!String(to).includes("/sessions/") || left === 0) return;
        left -= 1;
        if (!existsSync(repository.path(".ai/local/state/ledger.lock")) || readdirSync(repository.path(".ai/local/state/ledger.lock")).length === 0) observe(place, `late ${left}`);
      }, () => endEpisode(place, episode, "closed"));
      const observed = events(repository, "observation.recorded").length;
      expect(observed).toBeGreaterThan(1);
      expect(repository.names(candidatesPath).length).toBe(observed);
      expect(events(repository, "session.closed").length).toBe(1);
      expect(repository.names(sessionsPath).length).toBe(1);
    }
  });

  test("an earlier episode of the same key that is half closed is finished, not lost", () => {
    const { repository, place, episode } = opened();
    endEpisode(place, episode, "closed");
    // As if it had been killed before its line.
    const ledger = repository.read(ledgerPath);
    writeFileSync(repository.path(ledgerPath), ledger.split("\n").filter((line) => !line.includes("session.closed")).join("\n"));
    const second = openEpisode(place, { provider: "codex", providerSession: "s1", pointer: "dangling" }, sha256).episode;
    const text = repository.read(`${openPath}/s1.yaml`).replace(second.id, episode.id);
    writeFileSync(repository.path(openPath, "s1.yaml.closing"), text);
    endEpisode(place, second, "closed");
    expect(new Set(events(repository, "session.closed").map((line) => line["session"]))).toEqual(new Set([episode.id, second.id]));
    expect(readdirSync(repository.path(openPath))).toEqual([]);
  });

  test("an episode whose start was killed before its line gets the line, at the commit where it began", () => {
    const { repository, place, episode } = opened();
    writeFileSync(repository.path(ledgerPath), "");
    repository.write(".ai/repo/rules/r.md", "rule\n");
    repository.git("add", "-A");
    repository.git("commit", "-q", "-m", "rule");
    observe(place, "one");
    endEpisode(placeOf(place.layout, home, 1000, "s1"), episode, "closed");
    expect(events(repository, "session.started").map((line) => [line["session"], line["head"]])).toEqual([[episode.id, episode.startHead]]);
    expect(repository.read(`${candidatesPath}/${repository.names(candidatesPath)[0] ?? ""}`)).toContain("- commit:");
  });

  test("ending twice adds nothing", () => {
    const { repository, place, episode } = opened();
    expect(endEpisode(place, episode, "closed")).not.toBeNull();
    const before = repository.read(ledgerPath);
    expect(endEpisode(place, episode, "closed")).toBeNull();
    expect(repository.read(ledgerPath)).toBe(before);
  });

  test("the outcome that a killed end had written down stays", () => {
    const { repository, place, episode } = opened();
    receive(place);
    const original = fileOperations.renameSync;
    expect(() =>
      withCall("renameSync", (from, to) => {
        if (String(to).endsWith(".closing")) throw new Killed();
        original(from, to);
      }, () => endEpisode(place, episode, "interrupted")),
    ).toThrow(Killed);
    mend(placeOf(place.layout, home));
    expect(events(repository, "session.closed").map((line) => line["outcome"])).toEqual(["interrupted"]);
  });
});

describe("mend", () => {
  test("a late derivation killed between its line and its files is finished, not lost", () => {
    const { repository, place, episode } = opened();
    const policy = repository.read(".ai/repo/policy.yaml");
    repository.write(".ai/repo/policy.yaml", "session:\n  knowledge_on_end: false\n");
    observe(place, "one");
    endEpisode(place, episode, "closed");
    repository.write(".ai/repo/policy.yaml", policy);
    const candidates = repository.path(candidatesPath);
    const staged: string[] = [];
    const original = fileOperations.renameSync;
    withCall("renameSync", (from, to) => {
      if (!String(to).includes("/candidates/s-")) return original(from, to);
      // What a kill leaves here: the line, and the file under its first name.
      staged.push(readFileSync(String(from), "utf8"));
      throw Object.assign(new Error("killed"), { code: "EIO" });
    }, () => mend(placeOf(place.layout, home)));
    expect(events(repository, "knowledge.derived").length).toBe(1);
    expect(repository.names(candidatesPath).filter((name) => name.startsWith("s-"))).toEqual([]);
    if (readdirSync(candidates).every((name) => !name.startsWith(".tmp.mj"))) writeFileSync(`${candidates}/.tmp.mjabcdef`, staged[0] ?? "");
    writeFileSync(`${candidates}/.tmp.mj000000`, (staged[0] ?? "").replace("one", "never recorded"));
    observe(place, "nobody's");
    const other = openEpisode(place, { provider: "codex", providerSession: "s1", pointer: "dangling" }, sha256).episode;
    endEpisode(place, other, "closed");
    expect(readdirSync(candidates).filter((name) => name.startsWith(".tmp"))).toEqual([]);
    const titles = repository.names(candidatesPath).map((name) => /^title: "(.*)"$/m.exec(repository.read(`${candidatesPath}/${name}`))?.[1]);
    expect(titles).toEqual(["one"]);
  });

  test("what a person made of a record meanwhile is not overwritten by a staged file", () => {
    const { repository, place, episode } = opened();
    observe(place, "one");
    endEpisode(place, episode, "closed");
    const [name = ""] = repository.names(candidatesPath);
    const bytes = repository.read(`${candidatesPath}/${name}`);
    repository.write(`${candidatesPath}/.tmp.mjabcdef`, bytes);
    repository.write(`${candidatesPath}/${name}`, bytes.replace("one", "edited"));
    const next = openEpisode(place, { provider: "codex", providerSession: "s1", pointer: "dangling" }, sha256).episode;
    endEpisode(place, next, "closed");
    expect(repository.read(`${candidatesPath}/${name}`)).toContain("edited");
    expect(readdirSync(repository.path(candidatesPath)).filter((one) => one.startsWith(".tmp"))).toEqual([]);
  });

  test("an end that was received and not done is done, an episode that goes on is left", () => {
    const { repository, place } = opened();
    openEpisode(placeOf(place.layout, home, 1000, "s2"), { providerSession: "s2", pointer: "dangling" }, sha256);
    receive(place, "compact");
    mend(place);
    expect(openEpisodes(place.layout).length).toBe(2);
    receive(place, "end");
    receive(place, "start");
    mend(place);
    expect(openEpisodes(place.layout).map((episode) => episode.key)).toEqual(["s2"]);
    expect(events(repository, "session.closed").length).toBe(1);
  });
});

test("strandedEpisodes: older than the policy's limit by the newest line, in seconds", () => {
  const { place, episode } = opened();
  const at = (seconds: number) => ({ ...place, now: new Date(Date.parse(place.now) + seconds * 1000).toISOString().replace(/\.\d+/, "") });
  expect(strandedEpisodes(at(720 * 60), false)).toEqual([]);
  expect(strandedEpisodes(at(720 * 60 + 1), false).map(({ id }) => id)).toEqual([episode.id]);
  observe(at(600), "still here");
  expect(strandedEpisodes(at(720 * 60 + 1), false)).toEqual([]);
  expect(strandedEpisodes(place, true).length).toBe(1);
});

test("sessionRecords: by the id in its place, not in a branch that is named like one", () => {
  const { repository, place, episode } = opened();
  const other = "s-20260101000000-aaaa";
  repository.write(`${sessionsPath}/20260101T000000Z--${other}--x--${episode.id}--y--1234567--0123456789abcdef.md`, "---\n---\n");
  expect(sessionRecords(place.layout, episode.id)).toEqual([]);
  expect(sessionRecords(place.layout, other).length).toBe(1);
});

describe("surveyBoundaries", () => {
  test(`says of closed, underived and ended what surveyLedger says, on random ledgers with damage (seed ${seed})`, () => {
    const random = randomFrom(seed);
    const { repository, place } = opened();
    const ids = [1, 2, 3, 4].map((number) => `s-2026100910000${number}-1a2b`);
    const names = ["session.started", "session.closed", "observation.recorded", "decision.recorded", "knowledge.derived", "provider.event.received", "task.checkpoint", "question.opened"];
    for (let round = 0; round < 60; round += 1) {
      // Now and then longer than what is read at once, and with a line over the limit.
      let text = round % 20 === 0 ? `${"x".repeat(1_100_000)}\n` : round % 20 === 1 ? `{"a":"${"x".repeat(60_000)}"}\n`.repeat(18) : "";
      for (let line = 0; line < 40; line += 1) {
        const session = random.pick(ids);
        const entry = {
          ts: "2026-10-09T10:00:00Z",
          event: random.pick(names),
          head: "NONE",
          branch: random.pick(["main", 'a"b', "é"]),
          by: "majordomus-ts/0.1.0",
          ...(random.below(5) === 0 ? {} : { session }),
          ...(random.below(2) === 0 ? { episode: random.pick(ids) } : {}),
          provider_event: random.pick(["end", "start"]),
          statement: random.pick(["x", "\u0001", "\ud800"]),
        };
        const bytes = JSON.stringify(entry);
        text += random.below(8) === 0 ? `${bytes.slice(0, random.below(bytes.length))}\n` : `${bytes}\n`;
      }
      writeFileSync(repository.path(ledgerPath), text);
      const watched = new Set(ids.slice(0, 2));
      const exact = surveyLedger(place.layout);
      const quick = surveyBoundaries(place.layout, watched);
      for (const id of ids) {
        const of = (states: typeof exact) => {
          const state = states.get(id);
          const closed = state?.closed ?? false;
          return { closed, late: closed && (state?.underived ?? false), ended: state?.ended ?? false, newest: watched.has(id) ? (state?.newest ?? "") : "" };
        };
        expect({ round, id, ...of(quick) }).toEqual({ round, id, ...of(exact) });
      }
    }
  });
});

test("markLedger: the end of the whole lines, also behind a torn one and in a long ledger", () => {
  const { repository } = opened();
  const path = repository.path(ledgerPath);
  writeFileSync(path, "");
  expect(markLedger(path).offset).toBe(0);
  writeFileSync(path, '{"a":1}\n{"b"');
  expect(markLedger(path).offset).toBe(8);
  writeFileSync(path, `${"x".repeat(70_000)}\n`.repeat(3));
  appendFileSync(path, "torn");
  expect(markLedger(path).offset).toBe(3 * 70_001);
  const before = markLedger(path).file;
  renameSync(path, `${path}.old`);
  writeFileSync(path, "");
  expect(markLedger(path).file).not.toBe(before);
  unlinkSync(`${path}.old`);
});
