import { expect, test } from "vitest";
import { candidatesPath, installed, ledgerPath, openPath, run, runLater, launcher, sessionsPath, statePath, withEpisode } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";
import { randomFrom, seed } from "../support/random.ts";

const observe = (statement: string) => ["knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", statement];

const closedLines = (repository: Repository) => repository.ledger().filter((line) => line["event"] === "session.closed");

/** The statements that records hold. */
function derivedStatements(repository: Repository): Set<string> {
  return new Set(repository.names(candidatesPath).map((name) => /^# (.*)$/m.exec(repository.read(`${candidatesPath}/${name}`))?.[1] ?? ""));
}

/** What a finished end leaves: one line, one record, no open, half-open or staged file. */
function expectClosedOnce(repository: Repository, note: string): void {
  expect(closedLines(repository), note).toHaveLength(1);
  expect(repository.names(sessionsPath), note).toHaveLength(1);
  expect(repository.exists(String(closedLines(repository)[0]?.["session_path"])), note).toBe(true);
  expect(repository.names(openPath), note).toEqual([]);
  for (const folder of [candidatesPath, sessionsPath, statePath, openPath]) expect(repository.names(folder).filter((name) => name.startsWith(".tmp.mj")), note).toEqual([]);
}

test("session start: of four at once one opens (0), the others find it open (15); one line", async () => {
  for (let round = 0; round < 3; round += 1) {
    const repository = installed();
    const starts = await Promise.all([1, 2, 3, 4].map(() => repository.mjLater({}, "session", "start")));
    expect(starts.map((start) => start.status).sort()).toEqual([0, 15, 15, 15]);
    expect(repository.ledger().filter((line) => line["event"] === "session.started")).toHaveLength(1);
    expect(repository.names(openPath)).toEqual(["hand.yaml"]);
  }
});

test("session start --if-open keep at once: all succeed, one episode", async () => {
  const repository = installed();
  const starts = await Promise.all([1, 2, 3].map(() => repository.mjLater({ env: { CLAUDE_CODE_SESSION_ID: "a" } }, "session", "start", "--if-open", "keep")));
  expect(starts.map((start) => start.status)).toEqual([0, 0, 0]);
  expect(repository.ledger()).toHaveLength(1);
});

test("session start: a file that a killed start left without its line gets the line", () => {
  const repository = withEpisode();
  repository.remove(ledgerPath);
  expect(repository.done("session", "start")).toMatch(new RegExp(`^session ${repository.episode} opened at `));
  expect(repository.ledger().map((line) => [line["event"], line["session"]])).toEqual([["session.started", repository.episode]]);
});

test("session end at once: one record, one line, whoever comes first", async () => {
  const repository = withEpisode();
  repository.done(...observe("s"));
  const ends = await Promise.all([1, 2, 3].map(() => repository.mjLater({}, "session", "end")));
  expect(ends.filter((end) => end.status === 0).length).toBeGreaterThanOrEqual(1);
  for (const end of ends) expect([0, 12]).toContain(end.status);
  expectClosedOnce(repository, "three ends");
  expect(derivedStatements(repository)).toEqual(new Set(["s"]));
});

test(`session end killed at a random moment, 30 times: a second end finishes it, once (seed ${seed})`, async () => {
  const random = randomFrom(seed);
  const template = withEpisode();
  for (const statement of ["one", "two", "three"]) template.done(...observe(statement));
  const measured = withEpisode();
  const started = Date.now();
  measured.done("session", "end");
  const duration = Math.max(40, Date.now() - started);
  let killed = 0;
  const round = async (number: number, after: number) => {
    const repository = withEpisode();
    repository.write(ledgerPath, template.read(ledgerPath));
    const first = await repository.mjLater({ killAfter: after }, "session", "end");
    if (first.signal === "SIGKILL") killed += 1;
    const note = `seed ${seed}, round ${number}, after ${after} ms`;
    const second = repository.mj("session", "end");
    expect([0, 12], `${note}: ${second.stderr}`).toContain(second.status);
    if (second.status === 12) repository.mj("session", "recover");
    expectClosedOnce(repository, note);
    expect(derivedStatements(repository), note).toEqual(new Set(["one", "two", "three"]));
    expect(repository.read(ledgerPath).endsWith("\n"), note).toBe(true);
  };
  // Thirty rounds, or as many as a busy machine does in a minute.
  let rounds = 0;
  for (const deadline = Date.now() + 60_000; rounds < 30 && (rounds < 6 || Date.now() < deadline); rounds += 3) {
    // The first third of a run only starts the runtime.
    await Promise.all([0, 1, 2].map((at) => round(rounds + at, Math.floor(duration * (0.3 + random.below(1000) / 900)))));
  }
  expect(killed).toBeGreaterThan(rounds / 6);
});

test(`acts killed at a random moment leave whole lines alone, and nothing that stands in the way (seed ${seed})`, async () => {
  const random = randomFrom(seed + 1);
  const repository = withEpisode();
  const acts = Array.from({ length: 24 }, (_, number) => () => repository.mjLater({ killAfter: 30 + random.below(150) }, ...observe(`kill ${number}`)));
  const acknowledged: string[] = [];
  for (let at = 0; at < acts.length; at += 4) {
    const ended = await Promise.all(acts.slice(at, at + 4).map((act) => act()));
    ended.forEach((one, index) => {
      if (one.status === 0) acknowledged.push(`kill ${at + index}`);
    });
  }
  expect(repository.mj(...observe("last"))).toMatchObject({ status: 0 });
  const recorded = repository.ledger().map((line) => line["statement"]);
  for (const statement of [...acknowledged, "last"]) expect(recorded).toContain(statement);
  expect(repository.names(statePath).filter((name) => name.includes(".lock."))).toEqual([]);
});

test("observations from eight processes race with the end: what is acknowledged is in a record, what is not is refused", async () => {
  for (let round = 0; round < 2; round += 1) {
    const repository = withEpisode();
    const loop = 'i=0; while [ $i -lt 3 ]; do "$1" knowledge observe --kind defect --subject a "$2-$i" >/dev/null 2>&1 && printf "%s\\n" "$2-$i"; i=$((i + 1)); done';
      const writers = Array.from({ length: 8 }, (_, number) => runLater("sh", ["-c", loop, "sh", launcher, `w${number}`], { cwd: repository.root }));
    const end = new Promise<void>((resolve) => setTimeout(resolve, 150 + 150 * round)).then(() => repository.mjLater({}, "session", "end"));
    const acknowledged = (await Promise.all(writers)).flatMap((writer) => writer.stdout.split("\n").filter((line) => line !== ""));
    const ended = await end;
    expect(ended.status, ended.stderr).toBe(0);
    expectClosedOnce(repository, `round ${round}`);
    const statements = derivedStatements(repository);
    expect(acknowledged.filter((statement) => !statements.has(statement)), `round ${round}`).toEqual([]);
    const lines = repository.ledger();
    const closedAt = lines.findIndex((line) => line["event"] === "session.closed");
    expect(lines.slice(closedAt + 1).filter((line) => line["session"] === repository.episode)).toEqual([]);
  }
});

test("32 acts of eight processes at once: 32 whole lines, no blank one", async () => {
  const repository = withEpisode();
  const script = 'i=0; while [ $i -lt 4 ]; do "$1" decision add "$2-$i" --why w >/dev/null || exit 1; i=$((i + 1)); done';
  const ended = await Promise.all(Array.from({ length: 8 }, (_, number) => runLater("sh", ["-c", script, "sh", launcher, `d${number}`], { cwd: repository.root })));
  expect(ended.map((one) => one.status)).toEqual(ended.map(() => 0));
  const decisions = repository.ledger().flatMap((line) => (line["event"] === "decision.recorded" ? [String(line["decision"])] : []));
  expect(new Set(decisions).size).toBe(32);
  expect(repository.read(ledgerPath).split("\n").filter((line) => line === "")).toHaveLength(1);
  expect(repository.read(`${statePath}/decisions.md`).match(/^## d[0-9]-[0-9]$/gm)).toHaveLength(32);
});

test("derivations at once of one episode: every record whole, every run its line, no lock left held", async () => {
  const repository = withEpisode();
  for (const statement of ["one", "two"]) repository.done(...observe(statement));
  const runs = await Promise.all([1, 2, 3, 4].map(() => repository.mjLater({}, "knowledge", "derive")));
  expect(runs.map((one) => one.status)).toEqual([0, 0, 0, 0]);
  expect(derivedStatements(repository)).toEqual(new Set(["one", "two"]));
  expect(repository.ledger().filter((line) => line["event"] === "knowledge.derived").map((line) => line["written"]).sort()).toEqual([0, 0, 0, 2]);
  expect(run("find", [repository.path(statePath), "-path", "*.lock/*"]).stdout).toBe("");
});
