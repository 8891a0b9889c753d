import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/tools/**"],
    globalSetup: ["test/build.ts"],
    setupFiles: ["test/world.ts"],
    // Processes, for tests set the umask, which a thread cannot; not isolated, for loading the modules anew for every
    // file takes five times as long. So a test puts back what it changes.
    pool: "forks",
    isolate: false,
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 20_000,
    teardownTimeout: 5_000,
  },
});
