// The same bytes from every runtime, from the built files and from the source; and what a runtime denies.
import * as fs from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { needing, program } from "../needs.ts";
import { freshFolder, installed, launcher, run, snapshot, statePath } from "../support/repository.ts";
import type { Run } from "../support/repository.ts";

/** Checkouts that have the built files alone, and the source alone. */
const forms = { built: "src", source: "dist" } as const;
const places: Record<string, string> = {};

/** What the checkout answers under the node that runs the tests. */
let expected: Run[] = [];

beforeAll(() => {
  expected = answers(launcher, process.execPath);
  for (const [form, without] of Object.entries(forms)) {
    const folder = join(freshFolder(), "majordomus");
    expect(run(launcher, ["vendor", folder])).toMatchObject({ status: 0 });
    fs.rmSync(join(folder, without), { recursive: true });
    places[form] = join(folder, "bin/majordomus");
  }
}, 60_000);

const goldens = fs.readdirSync(join(home, "test/golden")).filter((name) => fs.existsSync(join(home, "test/golden", name, "repo/.ai")));

/** What is asked of each runtime; none of it writes. */
const calls: readonly (readonly string[])[] = [
  ["--version"],
  ["--help"],
  ["knowledge", "observe", "--help"],
  ["nonsense"],
  ["yaml", "flatten", join(home, "package.json")],
  ["yaml", "flatten", join(home, "share/layer/.ai/manifest.yaml"), "--json"],
  ["completion", "zsh"],
  ...goldens.flatMap((name) => {
    const repository = join(home, "test/golden", name, "repo");
    return [["knowledge", "candidates", "--repo", repository], ["knowledge", "candidates", "--json", "--repo", repository], ["history", "--all", "--repo", repository]];
  }),
];

function answers(path: string, runtime: string): Run[] {
  return calls.map((call) => run(path, call, { cwd: "/", env: { MAJORDOMUS_RUNTIME: runtime } }));
}

describe("runtimes: the same bytes and status", () => {
  test("the calls reach every golden repository", () => {
    expect(goldens.length).toBeGreaterThan(3);
  });

  for (const name of ["node20", "node22", "node24", "node26", "deno", "bun"]) {
    for (const form of Object.keys(forms)) {
      if (name === "node20" && form === "source") continue; // it strips no types
      needing(name)(`${name}, ${form}`, () => {
        expect(answers(places[form] ?? "", program(name) ?? "")).toEqual(expected);
      });
    }
  }
});

describe("runtimes: what Deno denies", () => {
  const flags = "run --no-config --no-remote --no-npm --no-prompt --cached-only --no-lock".split(" ");
  const allowed = ["--allow-read", "--allow-write", "--allow-run", "--allow-env"];

  test("the launcher allows reading, writing, running and the environment, and nothing else", () => {
    const text = fs.readFileSync(launcher, "utf8");
    expect([...new Set(text.match(/--allow-[a-z]+/g))]).toEqual(allowed);
    expect(text).not.toMatch(/ (?:-A|--allow-all|--unstable\S*)\b/);
    for (const flag of ["--no-prompt", "--no-remote", "--no-npm", "--no-config", "--no-lock"]) expect(text).toContain(flag);
  });

  needing("deno")("a denied permission is one clear line (12 or 13), and changes nothing", () => {
    const repository = installed();
    repository.done("session", "start");
    repository.done("session", "end");
    const before = snapshot(repository.path(".ai"));
    for (const denied of allowed) {
      const rest = allowed.filter((flag) => flag !== denied);
      const args = [...flags, ...rest, join(home, "src/cli/entry.ts"), "session", "start"];
      const ended = run(program("deno") ?? "", args, { cwd: repository.root, env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" } });
      expect([12, 13]).toContain(ended.status);
      expect(ended.stdout).toBe("");
      expect(ended.stderr).toMatch(/^majordomus: [^\n]*(?:permission is denied: Requires|the runtime denies it)[^\n]*\n$/);
      expect(ended.stderr).toContain(denied);
    }
    expect(snapshot(repository.path(".ai"))).toEqual(before);
    expect(repository.exists(statePath)).toBe(true);
  });

  needing("deno")("reading alone is enough to read the queue", () => {
    const repository = installed();
    const ended = run(program("deno") ?? "", [...flags, "--allow-read", join(home, "src/cli/entry.ts"), "knowledge", "candidates"], { cwd: repository.root });
    expect(ended).toMatchObject({ status: 0, stderr: "", stdout: "knowledge candidates: 0 awaiting review\n" });
  });
});
