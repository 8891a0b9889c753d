import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sortedBytes } from "../../src/ground/bytes.ts";
import { branchCases } from "./cases/branches.ts";
import { callCases } from "./cases/calls.ts";
import { fileCases } from "./cases/files.ts";
import { filterCases } from "./cases/filters.ts";
import { goldenCases } from "./cases/golden.ts";
import { manifestCases } from "./cases/manifest.ts";
import { valueCases } from "./cases/values.ts";
import { yamlCases } from "./cases/yaml.ts";
import { treeOf } from "./cases.ts";
import type { ParityCase } from "./cases.ts";
import { knownDifferences } from "./known-differences.ts";
import { everyPair, launcherSays, missingPrograms, pairName, presentPairs, readersSay, somePairs, toolkitSays } from "./readers.ts";
import type { Pair, Said } from "./readers.ts";
import { difference } from "./same.ts";
import { bytesOf, writeTree } from "./tree.ts";

const cases: readonly ParityCase[] = [...goldenCases, ...yamlCases, ...fileCases, ...branchCases, ...valueCases, ...manifestCases, ...callCases, ...filterCases];

/** Somebody who is not root. */
const nobody = 65_534;

/** What a case must give, given what the toolkit said where it is held to that. */
function expected(parityCase: ParityCase, root: string, toolkit: Said): Said {
  const rooted = (text: string) => bytesOf(text.replaceAll("@ROOT@", root));
  return {
    status: parityCase.status ?? 0,
    stdout: parityCase.sameAs === undefined ? rooted(parityCase.stdout ?? "") : toolkit.stdout,
    stderr: rooted(parityCase.stderr ?? ""),
  };
}

interface Placed {
  readonly root: string;
  readonly directory: string;
  readonly call: readonly string[];
  readonly user: number | undefined;
}

/** Hands a case, laid out in a folder of its own, to `use`. */
async function placed(parityCase: ParityCase, use: (place: Placed) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "parity-"));
  try {
    // The root is below the folder, for a case may put something beside it.
    const root = join(folder, "repository");
    mkdirSync(root);
    writeTree(root, treeOf(parityCase));
    chmodSync(folder, 0o755);
    await use({
      root,
      directory: join(root, parityCase.directory ?? ""),
      call: parityCase.call.map((word) => word.replaceAll("@ROOT@", root)),
      user: parityCase.asUser && process.getuid?.() === 0 ? nobody : undefined,
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both readers, the TypeScript one in this process. */
function runCase(parityCase: ParityCase, pairs: readonly Pair[]): Promise<void> {
  return placed(parityCase, async ({ root, directory, call, user }) => {
    const toolkit = parityCase.asUser ? await launcherSays(directory, call, user) : await toolkitSays(directory, call);
    const wanted = expected(parityCase, root, toolkit);
    expect({ reader: "TypeScript", ...toolkit }).toEqual({ reader: "TypeScript", ...wanted });
    const said = await readersSay(pairs.map((pair) => ({ pair, directory, args: call })), { user });
    const differing = pairs.flatMap((pair, index) => {
      const found = difference(wanted, said[index] as Said);
      return found === null ? [] : [`${pairName(pair)}: ${found}`];
    });
    if (knownDifferences.includes(parityCase.title)) expect(differing).not.toEqual([]);
    else expect(differing).toEqual([]);
  });
}

/** The TypeScript reader as it is installed. */
function runLauncher(parityCase: ParityCase): Promise<void> {
  return placed(parityCase, async ({ root, directory, call, user }) => {
    const said = await launcherSays(directory, call, user);
    const toolkit = parityCase.sameAs === undefined ? said : await toolkitSays(directory, call);
    expect(said).toEqual(expected(parityCase, root, toolkit));
  });
}

/** Set where the matrix of vitest.config.ts runs the launcher under another runtime: it is all that is new there. */
const runtime = process.env["MAJORDOMUS_TEST_RUNTIME"];

if (runtime === undefined) describe("parity", () => {
  const missing = missingPrograms();
  const demanded = process.env["MAJORDOMUS_NOTHING_SKIPPED"] !== undefined;
  if (missing.length > 0 && !demanded) test.skip(`without ${missing.join(", ")}: not installed`, () => undefined);
  else {
    test("every shell and every awk is there", () => {
      expect(missing).toEqual([]);
    });
  }

  test("forty pairs of shell and awk, and eight numbers go through all of them", () => {
    expect(everyPair.length).toBe(40);
    const gone = new Set([0, 1, 2, 3, 4, 5, 6, 7].flatMap((number) => somePairs(number).map(pairName)));
    expect(sortedBytes(gone)).toEqual(sortedBytes(presentPairs().map(pairName)));
  });

  test("no difference is known: the list is empty, and of cases that are there", () => {
    expect(knownDifferences).toEqual([]);
  });

  test("every case has a title of its own", () => {
    expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length);
  });

  for (const [index, parityCase] of cases.entries()) {
    test(parityCase.title, () => runCase(parityCase, parityCase.everywhere === true ? presentPairs() : somePairs(index)), 60_000);
  }
});

// What runs in this process is the launcher's own code; that the launcher prints it is tried on a few calls.
describe(`the launcher, ${runtime ?? "node"}`, () => {
  const through = runtime === undefined ? [...goldenCases, ...callCases.slice(0, 4)] : cases;
  for (const [index, parityCase] of through.entries()) test(`${parityCase.title} (${index})`, () => runLauncher(parityCase));
});
