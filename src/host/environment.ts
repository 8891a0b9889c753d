/** The environment of a program that we start. */

/**
 * Starts something while our own environment has no name but these. Node and Bun give a program the environment it is told to have;
 * Deno gives it ours beneath that, so that a name which is left out would still be there.
 * @param start starts the program in this very call
 */
export function withOnly<Result>(environment: Readonly<Record<string, string>>, start: () => Result): Result {
  const others = Object.entries(process.env).filter(([name]) => !Object.hasOwn(environment, name));
  for (const [name] of others) delete process.env[name];
  try {
    return start();
  } finally {
    for (const [name, value] of others) process.env[name] = value;
  }
}
