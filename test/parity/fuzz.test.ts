import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { knownAwks } from "../../src/host/readers.ts";
import { seed } from "../support/random.ts";
import { batchSizes, caseOf, documentsOf, fuzz, mutantsOf } from "./engine.ts";
import type { Finding, Kind } from "./engine.ts";
import { pairName, presentPairs } from "./readers.ts";

/** What a finding says when a test fails: enough to run it again. */
function told({ kind, seed: failing, pair, difference, ...rest }: Finding): string {
  return `npm run fuzz -- --kind ${kind} --seed ${failing} --count 1 (${pairName(pair)}): ${difference}\n${caseOf({ kind, seed: failing, pair, difference, ...rest })}`;
}

/** The shell reader with one thing changed in it. */
function changed(file: string, from: string, to: string): { readonly reader: string; readonly end: () => void } {
  const folder = mkdtempSync(join(tmpdir(), "canary-"));
  cpSync(join(home, "shell"), folder, { recursive: true });
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`'${from}' is not in ${file}`);
  writeFileSync(path, text.replace(from, to));
  return { reader: join(folder, "majordomus"), end: () => rmSync(folder, { recursive: true, force: true }) };
}

const smoke: readonly (readonly [kind: Kind, count: number])[] = [
  ["repositories", 160],
  ["listings", 2000],
  ["mutants", 6000],
  ["documents", 10_000],
];

describe("fuzz", () => {
  for (const [kind, count] of smoke) {
    test(`${count} ${kind} from seed ${seed}: no difference`, async () => {
      const { done, findings } = await fuzz({ kind, seed, count });
      expect(findings.map(told)).toEqual([]);
      expect(done).toBe(count);
    }, 120_000);
  }

  test("a seed names what it makes", () => {
    expect(documentsOf(7, 50)).toEqual(documentsOf(7, 50));
    expect(documentsOf(7, 50)).not.toEqual(documentsOf(8, 50));
    expect([...mutantsOf(7, 20)]).toEqual([...mutantsOf(7, 20)]);
    expect(batchSizes.repositories).toBe(1);
  });

  // The canaries: a reader that is wrong in one small thing must be found out, and the case made small.
  const canaries: readonly (readonly [kind: Kind, file: string, from: string, to: string])[] = [
    ["repositories", "awk/queue.awk", '"session:"', '"session"'],
    ["listings", "awk/queue.awk", "if (branch == \"\" ||", "if ("],
    ["mutants", "awk/yaml.awk", "YAML_KEY_LIMIT = 128", "YAML_KEY_LIMIT = 4"],
    ["documents", "awk/yaml.awk", 'return reason == "" ? yaml_trailing(line, YAML_NEXT, "after-quote")', 'return reason == "" ? ""'],
  ];
  const pairs = presentPairs().filter(({ shell, awk }) => shell === "dash" && awk === knownAwks[0]);
  for (const [kind, file, from, to] of canaries) {
    test.skipIf(pairs.length === 0)(`canary: ${kind} find out a reader that is changed, and the case is small`, async () => {
      const { reader, end } = changed(file, from, to);
      try {
        const { findings } = await fuzz({ kind, seed: 1, count: batchSizes[kind] * (kind === "repositories" ? 200 : 2), reader, pairs });
        expect(findings.length).toBeGreaterThan(0);
        const [finding] = findings as [Finding];
        const bytes = [...finding.smallest.values()].map((thing) => (typeof thing === "string" ? thing.length : 0)).reduce((sum, length) => sum + length, 0);
        expect(bytes).toBeLessThan(200);
        // What it says is a case: it can be read back, and gives what the toolkit says.
        expect(JSON.parse(caseOf(finding))).toMatchObject({ call: finding.args, status: finding.toolkit.status });
      } finally {
        end();
      }
    }, 120_000);
  }
});
