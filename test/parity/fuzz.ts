/**
 * `npm run fuzz -- --seed S --count N [--kind K] [--sh WORDS]... [--awk WORDS]...`: random repositories through both readers
 * whole, and ten times as many listings (repositories that awk reads by the thousand), mutants and documents. Without a seed
 * one is drawn. Exit status 1 when the readers differ: the seed and the smallest case are printed, and the case is left in a file.
 */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { caseOf, fuzz, kinds } from "./engine.ts";
import type { Kind } from "./engine.ts";
import { pairName, presentPairs } from "./readers.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string" },
    count: { type: "string", default: "1000" },
    kind: { type: "string" },
    sh: { type: "string", multiple: true },
    awk: { type: "string", multiple: true },
    enough: { type: "string", default: "1" },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(values.count);
const chosen = kinds.filter((kind) => values.kind === undefined || values.kind === kind);
const pairs = presentPairs().filter(
  ({ shell, awk }) => (values.sh === undefined || values.sh.includes(shell)) && (values.awk === undefined || values.awk.includes(awk)),
);
if (!Number.isSafeInteger(seed) || !(count > 0) || chosen.length === 0 || pairs.length === 0) {
  process.stderr.write("usage: npm run fuzz -- [--seed S] [--count N] [--kind repositories|listings|mutants|documents] [--sh WORDS]... [--awk WORDS]...\n");
  process.exit(2);
}

process.stdout.write(`seed ${seed}, ${pairs.length} pairs\n`);
let differences = 0;
for (const kind of chosen) {
  const wanted = kind === "repositories" || values.kind !== undefined ? count : 10 * count;
  differences += await run(kind, wanted);
}
process.exitCode = differences === 0 ? 0 : 1;

async function run(kind: Kind, wanted: number): Promise<number> {
  const begun = performance.now();
  let told = begun;
  const { done, findings } = await fuzz({
    kind,
    seed,
    count: wanted,
    pairs,
    enough: Number(values.enough),
    onProgress: (sofar) => {
      if (performance.now() - told < 10_000) return;
      told = performance.now();
      process.stdout.write(`  ${kind}: ${sofar} of ${wanted}\n`);
    },
  });
  for (const finding of findings) {
    const path = join(tmpdir(), `parity-${kind}-${finding.seed}.json`);
    writeFileSync(path, `${caseOf(finding)}\n`);
    process.stdout.write(`${kind}, seed ${finding.seed}, ${pairName(finding.pair)}: ${finding.difference}\n${caseOf(finding)}\n${path}\n`);
  }
  process.stdout.write(`${kind}: ${done} run, ${findings.length} different, ${Math.round((performance.now() - begun) / 1000)} s\n`);
  return findings.length;
}
