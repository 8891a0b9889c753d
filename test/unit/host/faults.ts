// Calls of the file system that fail when a test says so.
import { fileOperations } from "../../../src/host/files.ts";

type Operation = keyof typeof fileOperations;
type Call = (...values: unknown[]) => unknown;

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made by a test`), { code });
}

/** Runs `action` while each operation named in `replaced` is done by its replacement, which is given the true one. */
export function withOperations<Result>(
  replaced: Partial<Record<Operation, (real: Call, ...values: unknown[]) => unknown>>,
  action: () => Result,
): Result {
  const table = fileOperations as unknown as Record<string, Call>;
  const kept = { ...table };
  for (const [name, replacement] of Object.entries(replaced)) {
    const real = kept[name] as Call;
    table[name] = (...values) => replacement(real, ...values);
  }
  try {
    return action();
  } finally {
    Object.assign(table, kept);
  }
}

/** Runs `action` with its n-th operation failing so, the first being 1. Tells whether it came to that, and what was thrown. */
export function failingAt(n: number, code: string, action: () => void): { readonly failed: Operation | undefined; readonly thrown: unknown } {
  let count = 0;
  let failed: Operation | undefined;
  const replaced: Parameters<typeof withOperations>[0] = {};
  for (const name of Object.keys(fileOperations) as Operation[]) {
    replaced[name] = (real, ...values) => {
      count += 1;
      if (count === n) {
        failed = name;
        throw systemError(code);
      }
      return real(...values);
    };
  }
  let thrown: unknown;
  withOperations(replaced, () => {
    try {
      action();
    } catch (error) {
      thrown = error;
    }
  });
  return { failed, thrown };
}
