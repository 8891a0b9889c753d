import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { act, placeOf } from "../../src/episode/act.ts";
import { openEpisode } from "../../src/episode/open.ts";
import { sha256 } from "../../src/ground/digest.ts";
import { layoutOf } from "../../src/host/layout.ts";
import { lockWait } from "../../src/host/lock.ts";
import { countLines, eventArguments, fresh, observeIn, payloadOf, send } from "../support/provider.ts";
import { randomFrom, seed } from "../support/random.ts";
import { candidatesPath, openPath, sessionsPath, statePath } from "../support/repository.ts";
import type { Repository, Run } from "../support/repository.ts";

type Event = "start" | "end" | "compact";

/** Sends an event without waiting for it; killed after so many milliseconds where they are given. */
function later(repository: Repository, provider: string, event: Event, session: string, killAfter?: number): Promise<Run> {
  const input = payloadOf(provider, event, session, repository.root);
  return repository.mjLater({ input, ...(killAfter === undefined ? {} : { killAfter }) }, ...eventArguments(provider, event));
}

/** What stays of every killed event when the next ones are done: whole episodes, whole records, nothing half-way. */
function expectWhole(repository: Repository, statements: readonly string[]): void {
  const lines = repository.ledger();
  const started = lines.filter((line) => line["event"] === "session.started").map((line) => line["session"]);
  const closed = lines.filter((line) => line["event"] === "session.closed");
  expect(new Set(started).size).toBe(started.length);
  expect(new Set(closed.map((line) => line["session"])).size).toBe(closed.length);
  const stillOpen = repository.names(openPath).length;
  expect(closed.length + stillOpen).toBe(started.length);
  for (const line of closed) {
    expect(started).toContain(line["session"]);
    expect(repository.exists(String(line["session_path"]))).toBe(true);
  }
  expect(repository.names(sessionsPath).length).toBe(closed.length);
  expect(repository.names(openPath).filter((name) => !name.endsWith(".yaml"))).toEqual([]);
  for (const folder of [candidatesPath, sessionsPath, openPath, statePath]) {
    expect(repository.names(folder).filter((name) => name.startsWith(".tmp."))).toEqual([]);
  }
  const titles = repository.names(candidatesPath).map((name) => /^title: "(.*)"$/m.exec(repository.read(`${candidatesPath}/${name}`))?.[1]);
  expect([...titles].sort()).toEqual([...statements].sort());
}

describe("capture session: twice at the same instant", () => {
  test("each event by two processes, as one provider and as two that read one settings file: one clean event's records", { timeout: 60_000 }, async () => {
    for (const second of ["claude-code", "copilot-cli"]) {
      const repository = fresh();
      const both = async (event: Event) => {
        for (const ended of await Promise.all([later(repository, "claude-code", event, "s1"), later(repository, second, event, "s1")])) {
          expect(ended).toMatchObject({ status: 0, stderr: "" });
        }
      };
      await both("start");
      observeIn(repository, "s1", "one");
      await both("compact");
      observeIn(repository, "s1", "two");
      await both("end");
      expect(countLines(repository, "session.started")).toBe(1);
      expect(countLines(repository, "session.closed")).toBe(1);
      expect(countLines(repository, "provider.event.failed")).toBe(0);
      expect(countLines(repository, "provider.event.received")).toBe(6);
      expectWhole(repository, ["one", "two"]);
    }
  });

  test("starts and ends of several sessions at once: each one its own episode", { timeout: 60_000 }, async () => {
    const repository = fresh();
    const sessions = ["a", "b", "c"];
    await Promise.all(sessions.map((session) => later(repository, "codex", "start", session)));
    for (const session of sessions) observeIn(repository, session, session);
    await Promise.all(sessions.map((session) => later(repository, "codex", "end", session)));
    send(repository, "codex", "start", "last");
    expect(repository.names(openPath)).toEqual(["last.yaml"]);
    expectWhole(repository, sessions);
  });

  test("observations while the session ends: what was acknowledged is derived", { timeout: 60_000 }, async () => {
    const repository = fresh();
    send(repository, "codex", "start", "s1");
    const env = { MAJORDOMUS_PROVIDER_SESSION: "s1" };
    const observe = (statement: string) => repository.mjLater({ env }, "knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", statement);
    const statements = [1, 2, 3, 4, 5, 6].map((number) => `number ${number}`);
    const runs = await Promise.all([...statements.slice(0, 3).map(observe), later(repository, "codex", "end", "s1"), ...statements.slice(3).map(observe)]);
    const acknowledged = runs.flatMap(({ status, stdout }) => (status === 0 && stdout !== "" ? [/— (.*)\n/.exec(Buffer.from(stdout, "latin1").toString("utf8"))?.[1] ?? ""] : []));
    send(repository, "codex", "start", "s2");
    expectWhole(repository, acknowledged);
  });
});

describe("capture session: killed", () => {
  for (const milliseconds of [50, 100, 300]) {
    test(`an end killed after ${milliseconds} ms is finished by a second end, and by another session's start`, { timeout: 60_000 }, async () => {
      for (const finish of ["end", "start"] as const) {
        const repository = fresh();
        send(repository, "codex", "start", "s1");
        for (const statement of ["one", "two", "three"]) observeIn(repository, "s1", statement);
        const killed = await later(repository, "codex", "end", "s1", milliseconds);
        const wasReceived = countLines(repository, "provider.event.received") > 1;
        send(repository, "codex", finish, finish === "end" ? "s1" : "s2");
        if (finish === "start" && !wasReceived) {
          // Nobody knows of that end yet.
          expect(killed.signal).toBe("SIGKILL");
          send(repository, "codex", "end", "s1");
        }
        expect(repository.names(openPath)).toEqual(finish === "end" ? [] : ["s2.yaml"]);
        expectWhole(repository, ["one", "two", "three"]);
      }
    });
  }

  const rounds = Number(process.env["MAJORDOMUS_TEST_KILLS"] ?? 20);

  test(`${rounds} events killed at random times lose nothing (seed ${seed})`, { timeout: 60_000 + rounds * 10_000 }, async () => {
    const random = randomFrom(seed);
    const repository = fresh();
    const acknowledged: string[] = [];
    let killed = 0;
    // How long an event takes here and now: a kill that only ever meets a program that is starting proves nothing.
    const timeOf = (event: Event) => {
      const begun = process.hrtime.bigint();
      send(repository, "codex", event, "measured");
      return Number(process.hrtime.bigint() - begun) / 1e6;
    };
    const takes = { start: timeOf("start"), compact: timeOf("compact"), end: timeOf("end") };
    const kill = async (event: Event, session: string) => {
      const ended = await later(repository, "codex", event, session, takes[event] * (0.3 + random.below(80) / 100));
      if (ended.signal !== null) killed += 1;
      else expect(ended.status).toBe(0);
    };
    for (let round = 0; killed < rounds; round += 1) {
      const session = `session ${round}`;
      await kill("start", session);
      // In this process, to be quick. Where the start came through, opening finds its episode.
      const place = placeOf(layoutOf(repository.root), home, lockWait, session);
      openEpisode(place, { provider: "codex", providerSession: session, pointer: "dangling" }, sha256);
      for (const number of random.pick([[1], [1, 2]])) {
        const statement = `round ${round} number ${number}`;
        act(place, "cannot observe", ({ line, write }) =>
          write(line("observation.recorded", { task_id: "none", kind: "defect", subject: "lib/a.sh", statement, evidence: [] })),
        );
        acknowledged.push(statement);
      }
      const ends = random.pick<readonly Event[]>([["compact", "end"], ["end"], ["end", "end"], ["compact"]]);
      for (const event of ends) await kill(event, session);
    }
    repository.done("session", "recover", "--all");
    expect(repository.names(openPath)).toEqual([]);
    expectWhole(repository, acknowledged);
  });
});
