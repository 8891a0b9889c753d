/**
 * A checkout with a long life: a ledger of many lines and a store of many records, what its calls cost in time and memory,
 * and a rotation in the middle of appends. Run whole: npm run test:long (1,000,000 lines, 100,000 records).
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { candidatesPath, freshFolder, ledgerPath, statePath } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, "0");

/** The id of the n-th episode of the past. */
export function pastEpisode(number: number): string {
  return `s-20250101000000-${hex(number, 4)}`;
}

/** Puts so many lines before what the ledger has: closed and derived episodes of 200 lines each. */
export function writePast(repository: Repository, lines: number): void {
  const now = repository.exists(ledgerPath) ? repository.read(ledgerPath) : "";
  mkdirSync(repository.path(statePath), { recursive: true });
  const file = openSync(repository.path(ledgerPath), "w");
  let text = "";
  for (let at = 0; at < lines; at += 1) {
    const episode = pastEpisode(Math.floor(at / 200));
    const place = at % 200;
    const envelope = (event: string) =>
      `{"ts":"2025-01-01T00:00:00Z","event":"${event}","head":"NONE","branch":"main","by":"majordomus-ts/0.1.0","session":"${episode}"`;
    if (place === 0) text += `${envelope("session.started")},"owner":"o"}\n`;
    else if (place === 198) text += `${envelope("knowledge.derived")},"episode":"${episode}","written":0,"unchanged":0,"skipped":0,"paths":"","digests":""}\n`;
    else if (place === 199) text += `${envelope("session.closed")},"outcome":"closed","session_path":".ai/repo/sessions/x.md"}\n`;
    else text += `${envelope("observation.recorded")},"task_id":"none","kind":"defect","subject":"lib/a.sh","statement":"line ${at} of the past, which says a little more than that","evidence":[]}\n`;
    if (text.length > 1 << 22) {
      writeSync(file, text);
      text = "";
    }
  }
  writeSync(file, text + now);
  closeSync(file);
}

/** Writes so many candidates of past episodes. */
export function writeRecords(repository: Repository, count: number): void {
  mkdirSync(repository.path(candidatesPath), { recursive: true });
  for (let at = 0; at < count; at += 1) {
    const episode = pastEpisode(at % 4096);
    const id = `${episode}-${hex(at, 12)}`;
    const text = `---\nschema: knowledge/v1\nid: ${id}\nkind: knowledge\nclass: lesson\ntitle: "record ${at}"\ndescription: "Observed as defect about lib/a.sh in episode ${episode}."\nstatus: candidate\nepistemics: observed\ndate: 2025-01-01\ntags:\n  - derived\n  - observation\nabout: "lib/${at % 1000}.sh"\nroute: project\nprovenance:\n  origin: extracted\n  derived_from:\n    - session:${episode}\n---\n\n# record ${at}\n`;
    writeFileSync(repository.path(candidatesPath, `${id}.md`), text);
  }
}

export interface Cost {
  readonly status: number | null;
  readonly seconds: number;
  /** The most memory that it held, in mebibytes; 0 where the system does not tell. */
  readonly memory: number;
  readonly output: string;
  readonly error: string;
}

/** What one call costs. */
export function costOf(repository: Repository, ...args: readonly string[]): Cost {
  const folder = freshFolder("cost-");
  const [script, told] = [join(folder, "measure.cjs"), join(folder, "memory")];
  // Not resourceUsage().maxRSS: on Linux it has the peak of the process that started this one, too.
  writeFileSync(script, `process.on("exit", () => { const fs = require("node:fs"); try { fs.writeFileSync(${JSON.stringify(told)}, fs.readFileSync("/proc/self/status")); } catch {} });\n`);
  const started = performance.now();
  const ended = repository.mjWith({ env: { NODE_OPTIONS: `--require ${script}` } }, ...args);
  return {
    status: ended.status,
    seconds: (performance.now() - started) / 1000,
    memory: existsSync(told) ? Math.round(Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(told, "utf8"))?.[1] ?? 0) / 1024) : 0,
    output: ended.stdout,
    error: ended.stderr,
  };
}
