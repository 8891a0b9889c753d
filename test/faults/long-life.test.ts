import { expect, test } from "vitest";
import { candidatesPath, ledgerPath, statePath, withEpisode } from "../support/repository.ts";
import { readFileSync } from "node:fs";
import { costOf, writePast, writeRecords } from "./long-life.ts";

const isFull = process.env["MAJORDOMUS_TEST_FULL"] !== undefined;
const lines = isFull ? 1_000_000 : 20_000;
const records = isFull ? 100_000 : 500;
/** Mebibytes: of the ledger's hundreds no more than a few blocks are held at once. */
const mostMemory = 180;

test(`a ledger of ${lines} lines and ${records} records: memory stays flat, a rotation in the middle of appends loses nothing, and a derivation after it knows its own records`, async () => {
  const repository = withEpisode();
  const observe = (text: string) => ["knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", text] as const;
  repository.done(...observe("kept as it is"));
  repository.done(...observe("edited by a person"));
  repository.done("knowledge", "derive");
  const own = repository.names(candidatesPath);
  const edited = own.find((name) => repository.read(`${candidatesPath}/${name}`).includes("edited by a person")) ?? "";
  repository.write(`${candidatesPath}/${edited}`, repository.read(`${candidatesPath}/${edited}`).replace("edited by a person", "edited, by a person"));
  writePast(repository, lines);
  const report: string[] = [];
  const cost = (most: number, ...args: readonly string[]) => {
    const ended = costOf(repository, ...args);
    report.push(`${args.slice(0, 2).join(" ")}: ${ended.seconds.toFixed(1)} s, ${ended.memory} MiB`);
    expect([args.join(" "), ended.status, ended.error]).toEqual([args.join(" "), ended.status === 11 ? 11 : 0, ended.error]);
    expect([args.join(" "), ended.memory, (ended.memory > 20 || process.platform !== "linux") && ended.memory <= most]).toEqual([args.join(" "), ended.memory, true]);
    return ended;
  };
  cost(mostMemory, ...observe("after a long life"));
  cost(mostMemory, "knowledge", "derive");
  cost(mostMemory, "session", "start", "--if-open", "keep");
  cost(mostMemory, "history");
  cost(mostMemory, "history", "--validate");
  cost(mostMemory, "knowledge", "status");
  const before = repository.ledger().length;
  // The rotation and eight appends at once.
  const [rotated, ...observed] = await Promise.all([
    repository.mjLater({}, "history", "--rotate"),
    ...Array.from({ length: 8 }, (_, at) => repository.mjLater({}, ...observe(`during the rotation ${at}`))),
  ]);
  expect(rotated?.status).toBe(0);
  const done = observed.filter((ended) => ended.status === 0).length;
  expect(done + observed.filter((ended) => ended.stderr.includes("waited 10 s")).length).toBe(8);
  const archived = repository.names(statePath).filter((name) => name.endsWith(".archived"));
  expect(archived).toHaveLength(1);
  const count = (path: string) => {
    let lines = 0;
    for (const byte of readFileSync(repository.path(path))) if (byte === 0x0a) lines += 1;
    return lines;
  };
  expect(count(ledgerPath) + count(`${statePath}/${archived[0] ?? ""}`)).toBe(before + done + 1);
  const derived = cost(mostMemory, "knowledge", "derive");
  expect(derived.output).toContain(`skipped ${candidatesPath}/${edited} (edited)`);
  expect(derived.output.match(/\(edited\)/g)).toHaveLength(1);
  expect(derived.output).toContain(`${done} written, 2 unchanged, 1 skipped`);
  writeRecords(repository, records);
  const listed = cost(isFull ? 600 : mostMemory, "knowledge", "candidates");
  expect(listed.output).toContain(`knowledge candidates: ${records + 3 + done} awaiting review`);
  cost(mostMemory, "session", "end");
  process.stdout.write(`long life: ${report.join("; ")}\n`);
}, 1_800_000);
