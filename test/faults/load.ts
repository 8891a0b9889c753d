/**
 * Many processes in one checkout: some observe, others derive, start, end and list between them. Counts what is lost.
 * Run whole: npm run test:load (64 processes with 200 observations each).
 */
import { candidatesPath, freshFolder, run, runLater, withEpisode } from "../support/repository.ts";
import { build } from "esbuild";
import { join } from "node:path";
import { home } from "../../build/bundle.mjs";
import { statementOf } from "./load-lines.ts";

export interface Load {
  readonly processes: number;
  readonly observations: number;
}

export interface Loaded {
  readonly acknowledged: number;
  /** What was said of each observation that was not acknowledged. */
  readonly refused: readonly string[];
  /** Acknowledged statements that the ledger has not exactly once. */
  readonly wrong: readonly string[];
  /** Lines that are no whole JSON object. */
  readonly torn: number;
  /** Acknowledged statements of which no record tells. */
  readonly underived: readonly string[];
  readonly ended: readonly (readonly [command: string, status: number | null, complaint: string])[];
  readonly seconds: number;
}

/** What names the episode that was opened by hand: the starts between move the pointer. */
const own = { MJ_SESSION_KEY: "hand" };

export async function load({ processes, observations }: Load): Promise<Loaded> {
  const repository = withEpisode();
  const worker = join(freshFolder("load-"), "worker.cjs");
  await build({
    absWorkingDir: home,
    entryPoints: ["test/faults/load-worker.ts"],
    outfile: worker,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "silent",
    tsconfigRaw: {},
    define: { "import.meta.dirname": "__dirname" },
  });
  const started = performance.now();
  const ended: [string, number | null, string][] = [];
  let working = true;
  const others = [
    ["knowledge", "derive"],
    ["knowledge", "candidates"],
    ["history", "--limit", "5"],
  ].map(async (words) => {
    while (working) {
      const result = await repository.mjLater({ env: own }, ...words);
      ended.push([words.join(" "), result.status, result.stderr]);
    }
  });
  const sessions = [1, 2].map(async (number) => {
    for (let round = 1; working; round += 1) {
      const env = { MAJORDOMUS_PROVIDER_SESSION: `p${number}-${round}` };
      for (const words of [
        ["session", "start", "--provider", "generic"],
        ["knowledge", "observe", "--kind", "repetition", "--subject", "gate:load", `session ${number} round ${round}`],
        ["session", "end"],
      ]) {
        const result = await repository.mjLater({ env }, ...words);
        ended.push([words.slice(0, 2).join(" "), result.status, result.stderr]);
        if (result.status !== 0) break; // what follows would be another episode's
      }
    }
  });
  const reports = await Promise.all(
    Array.from({ length: processes }, (_, process) =>
      runLater(globalThis.process.execPath, [worker, String(process), String(observations)], { cwd: repository.root, env: { ...own, MAJORDOMUS_TEST_HOME: home } }),
    ),
  );
  working = false;
  await Promise.all([...others, ...sessions]);
  const last = repository.mjWith({ env: own }, "session", "end");
  ended.push(["the last end", last.status, last.stderr]);
  const seconds = (performance.now() - started) / 1000;
  const acknowledged = reports.flatMap((report, process) => {
    if (report.status !== 0) ended.push([`process ${process}`, report.status, report.stderr]);
    return report.stdout.trim().split("\n").filter((line) => line !== "").map((number) => statementOf(process, Number(number)));
  });
  const counts = new Map<string, number>();
  let torn = 0;
  for (const line of repository.read(".ai/local/state/ledger.jsonl").split("\n").slice(0, -1)) {
    try {
      const { statement } = JSON.parse(line) as { readonly statement?: string };
      if (statement !== undefined) counts.set(statement, (counts.get(statement) ?? 0) + 1);
    } catch {
      torn += 1;
    }
  }
  const records = run("sh", ["-c", `cat ${candidatesPath}/*.md | grep '^title: '`], { cwd: repository.root }).stdout;
  const titles = new Set(records.split("\n").map((line) => line.slice(8, -1)));
  return {
    acknowledged: acknowledged.length,
    refused: reports.flatMap((report) => report.stderr.split("\n").slice(0, -1)),
    wrong: acknowledged.filter((statement) => counts.get(statement) !== 1),
    torn,
    underived: acknowledged.filter((statement) => !titles.has(statement)),
    ended,
    seconds,
  };
}
