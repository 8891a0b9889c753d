// Bundled once and run as plain Node by lock.test.ts and files.test.ts: `lock-worker.cjs MODE ARGUMENT...`.
import * as fs from "node:fs";
import { join } from "node:path";
import { randomHex, sleep } from "../../../src/ground/clock.ts";
import { Refusal } from "../../../src/ground/errors.ts";
import { appendDurably, makeDirectory, replaceFile } from "../../../src/host/files.ts";
import { takeLock, withLock } from "../../../src/host/lock.ts";

const [mode = "", folder = "", argument = ""] = process.argv.slice(2);

/** Whether a process runs, asked otherwise than the lock asks. */
function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/\) [ZX] /.test(fs.readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return fs.existsSync("/proc/self/stat") ? false : true;
  }
}

/** Marks this process as the one inside, in one step; whoever else is marked must have ended. */
function enter(marker: string): void {
  for (;;) {
    try {
      fs.symlinkSync(String(process.pid), marker);
      return;
    } catch {
      const inside = readMarker(marker);
      if (inside !== undefined && runs(inside)) {
        fs.writeFileSync(join(folder, `violation-${process.pid}`), `${inside} was inside`);
        return;
      }
      fs.rmSync(marker, { force: true });
    }
  }
}

function readMarker(marker: string): number | undefined {
  try {
    return Number(fs.readlinkSync(marker));
  } catch {
    return undefined;
  }
}

/** One more in the counter, in the way that loses updates where two do it at once. */
function increment(): void {
  const counter = join(folder, "counter");
  const marker = join(folder, "inside");
  enter(marker);
  const count = Number(fs.readFileSync(counter, "latin1"));
  sleep(Math.random());
  const next = join(folder, `next-${randomHex(12)}`);
  fs.writeFileSync(next, String(count + 1));
  fs.renameSync(next, counter);
  fs.rmSync(marker, { force: true });
}

switch (mode) {
  // Each byte printed is an increment acknowledged after the lock was given back.
  case "count":
    for (;;) {
      withLock(join(folder, "ledger.lock"), 20_000, increment);
      fs.writeSync(1, "+");
    }
  // The same without a lock: what the test must be able to see.
  case "count-unlocked":
    for (;;) {
      increment();
      fs.writeSync(1, "+");
    }
  case "hold": {
    const lock = takeLock(join(folder, "ledger.lock"));
    fs.writeSync(1, "held\n");
    sleep(Number(argument));
    lock.release();
    break;
  }
  case "try":
    try {
      if (argument === "lock") takeLock(join(folder, "ledger.lock"), 0).release();
      if (argument === "append") appendDurably(join(folder, "ledger.jsonl"), Buffer.from(`${"y".repeat(299)}\n`));
      if (argument === "modes") {
        replaceFile(join(folder, "a.md"), Buffer.from("a\n"));
        replaceFile(join(folder, "b.yaml"), Buffer.from("b\n"), { mode: 0o600 });
        makeDirectory(join(folder, "made"), 0o755);
        appendDurably(join(folder, "ledger.jsonl"), Buffer.from("{}\n"));
      }
      fs.writeSync(1, "done");
    } catch (error) {
      fs.writeSync(1, error instanceof Refusal ? `${error.code} ${error.status} ${error.message}` : String(error));
    }
    break;
  default:
    throw new Error(`no mode '${mode}'`);
}
