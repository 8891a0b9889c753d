// One of many processes: observes so often, and prints the number of each observation that was acknowledged.
import { answer } from "../../src/cli/answer.ts";
import { writeSync } from "node:fs";
import { evidenceOf, statementOf } from "./load-lines.ts";

const [number = "0", count = "0"] = process.argv.slice(2);
const terminal = { print: () => undefined, tell: () => undefined, progress: () => undefined };

async function work(): Promise<void> {
  for (let at = 1; at <= Number(count); at += 1) {
    const evidence = evidenceOf(at).flatMap((reference) => ["--evidence", reference]);
    const args = ["knowledge", "observe", "--kind", "friction", "--subject", "lib/a.sh", ...evidence, statementOf(Number(number), at)];
    const ended = await answer({ home: process.env["MAJORDOMUS_TEST_HOME"] ?? "", workingDirectory: () => process.cwd(), terminal }, args);
    if (ended.status === 0) writeSync(1, `${at}\n`);
    else writeSync(2, `${ended.status} ${ended.complaints.join(" ")}\n`);
  }
}

void work();
