import { defineConfig } from "vitest/config";

/**
 * The other runtimes, under which MAJORDOMUS_TEST_MATRIX runs what starts the program through its launcher once more. Left
 * out: what has a matrix of its own, and what looks into the process of a Node or into no process at all.
 */
const runtimes = process.env["MAJORDOMUS_TEST_MATRIX"] === undefined ? [] : ["node22", "node24", "node26", "deno", "bun"];
const own = ["launcher", "vendor", "library", "completion", "pack", "runtimes"].map((name) => `test/e2e/${name}.test.ts`);

const whole = ["test/**/*.test.ts"];

const projectOf = (name: string) => ({
  extends: true as const,
  test: {
    name,
    env: { MAJORDOMUS_TEST_RUNTIME: name },
    include: ["test/e2e/**/*.test.ts", "test/scenarios/**/*.test.ts", "test/parity/parity.test.ts"],
    exclude: ["test/tools/**", ...own],
  },
});

export default defineConfig({
  test: {
    // A list here is joined to a project's own, so `include` stands once only.
    ...(runtimes.length === 0 ? { include: whole } : { projects: [{ extends: true, test: { name: "node", include: whole } }, ...runtimes.map(projectOf)] }),
    exclude: ["test/tools/**"],
    globalSetup: ["test/build.ts"],
    setupFiles: ["test/world.ts"],
    // Processes, for tests set the umask, which a thread cannot; not isolated, for loading the modules anew for every
    // file takes five times as long. So a test puts back what it changes.
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    // Only what hangs is to end by these: a machine that is busy with other work needs long.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 5_000,
  },
});
