import { expect, test } from "vitest";
import { load } from "./load.ts";

const isFull = process.env["MAJORDOMUS_TEST_FULL"] !== undefined;

test("many processes at once, derivations, starts, ends and listings between them: nothing is lost, torn, doubled or underived", async () => {
  const size = isFull ? { processes: 64, observations: 200 } : { processes: 12, observations: 12 };
  const loaded = await load(size);
  expect(loaded.torn).toBe(0);
  expect(loaded.wrong).toEqual([]);
  expect(loaded.underived).toEqual([]);
  // A lock that is asked for by so many may be waited for in vain; nothing else may fail.
  const failed = loaded.ended.filter(([, status, complaint]) => status !== 0 && !/waited 10 s/.test(complaint));
  expect(failed).toEqual([]);
  expect(loaded.refused).toEqual([]);
  expect(loaded.acknowledged).toBe(size.processes * size.observations);
  process.stdout.write(`load: ${loaded.acknowledged} acknowledged, 0 lost, ${loaded.ended.length} other calls, ${loaded.seconds.toFixed(1)} s\n`);
}, 1_800_000);
