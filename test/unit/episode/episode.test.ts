import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readYamlFile } from "../../../src/format/yaml-read.ts";
import { bytesOfText } from "../../../src/ground/bytes.ts";
import { layoutOf, openEpisodesPath, statePath } from "../../../src/host/layout.ts";
import type { Layout } from "../../../src/host/layout.ts";
import { cleanKey, noEpisode, openEpisodes, openFileText, processEpisode, readOpenFile } from "../../../src/episode/episode.ts";
import type { OpenEpisode } from "../../../src/episode/episode.ts";

test.each([
  ["a b/c", "a-b-c"],
  ["ünïcode:id", "n-code-id"],
  ["..", "_.."],
  [".", "_."],
  ["", "hand"],
  ["---", "hand"],
  ["日本", "hand"],
  ["hand", "hand"],
  ["a", "a"],
  ["a--b", "a-b"],
  ["-a-", "a"],
  ["../../etc/passwd", "..-..-etc-passwd"],
  ["a\nb\u0000c", "a-b-c"],
  ["a.yaml", "a.yaml"],
  ["x".repeat(70), "x".repeat(64)],
  [`${"x".repeat(63)} y`, "x".repeat(63)],
  [`${"x".repeat(60)}é é é é é`, "x".repeat(60)],
  ["0193a2f4-1b2c-7def-8123-456789abcdef", "0193a2f4-1b2c-7def-8123-456789abcdef"],
])("cleanKey: '%s' is '%s'", (text, key) => {
  expect(cleanKey(text)).toBe(key);
  expect(cleanKey(key)).toBe(key);
});

const id = (digits: string) => `s-20261009100000-${digits}`;

function episodeOf(layout: Layout, key: string, digits: string, more: Partial<OpenEpisode> = {}): OpenEpisode {
  return {
    key,
    id: id(digits),
    startedAt: "2026-10-09T10:00:00Z",
    owner: "o",
    worktree: realpathSync(layout.root),
    branch: "main",
    startHead: "NONE",
    startWorkingTree: "clean",
    ...more,
  };
}

function layoutWith(open: (layout: Layout) => readonly OpenEpisode[], pointer?: string): Layout {
  const root = mkdtempSync(join(tmpdir(), "episode-"));
  mkdirSync(join(root, openEpisodesPath), { recursive: true });
  writeFileSync(join(root, ".ai/manifest.yaml"), "schema: ai-repository/v1\n");
  const layout = layoutOf(root);
  for (const episode of open(layout)) writeFileSync(join(root, openEpisodesPath, `${episode.key}.yaml`), openFileText(episode));
  if (pointer !== undefined) symlinkSync(pointer, join(root, statePath, "session-current.yaml"));
  return layout;
}

const variables = ["MJ_SESSION_KEY", "MAJORDOMUS_PROVIDER_SESSION", "CLAUDE_CODE_SESSION_ID"] as const;

afterEach(() => {
  for (const name of variables) delete process.env[name];
});

interface Case {
  readonly title: string;
  /** Keys of the open files; with `:` the provider's session that the file names. */
  readonly open: readonly string[];
  readonly pointer?: string;
  readonly environment?: Partial<Record<(typeof variables)[number], string>>;
  /** The key of the episode that the process means. */
  readonly means: string | null;
}

const key = "MJ_SESSION_KEY";
const majordomus = "MAJORDOMUS_PROVIDER_SESSION";
const claude = "CLAUDE_CODE_SESSION_ID";

/** Docs/contract.md, section 5, "Which episode a process means": every branch. */
const cases: readonly Case[] = [
  { title: "nothing is open", open: [], means: null },
  { title: "one is open and nothing points", open: ["hand"], means: null },
  { title: "the pointer's hand", open: ["hand"], pointer: "hand", means: "hand" },
  { title: "the pointer's hand among others", open: ["hand", "a:a"], pointer: "hand", means: "hand" },
  { title: "the pointer's agent, the only open file", open: ["a:a"], pointer: "a", means: "a" },
  { title: "the pointer's agent, not the only open file", open: ["a:a", "b:b"], pointer: "a", means: null },
  { title: "a pointer that dangles", open: ["a:a"], pointer: "gone", means: null },
  { title: "the key names one", open: ["hand", "a:a"], pointer: "hand", environment: { [key]: "a" }, means: "a" },
  { title: "the key names none: no other counts", open: ["hand", "a:a"], pointer: "hand", environment: { [key]: "b", [claude]: "a" }, means: null },
  { title: "the key is cleaned", open: ["a-b"], environment: { [key]: "a b" }, means: "a-b" },
  { title: "an empty key is none", open: ["hand"], pointer: "hand", environment: { [key]: "" }, means: "hand" },
  { title: "the key wins over the variables", open: ["a:a", "b:b"], environment: { [key]: "b", [majordomus]: "a" }, means: "b" },
  { title: "majordomus's variable", open: ["a:a", "b:b"], environment: { [majordomus]: "a" }, means: "a" },
  { title: "claude's variable", open: ["a:a", "b:b"], environment: { [claude]: "b" }, means: "b" },
  { title: "majordomus's before claude's", open: ["a:a", "b:b"], environment: { [majordomus]: "a", [claude]: "b" }, means: "a" },
  { title: "claude's where majordomus's has no file", open: ["b:b"], environment: { [majordomus]: "a", [claude]: "b" }, means: "b" },
  { title: "an empty variable is none", open: ["a:a"], pointer: "a", environment: { [majordomus]: "", [claude]: "" }, means: "a" },
  { title: "a file of that name with another session in it", open: ["a:other"], environment: { [claude]: "a" }, means: null },
  { title: "a file of that name with no session in it", open: ["a"], environment: { [claude]: "a" }, means: null },
  { title: "the digested key of a session whose name was taken", open: ["a:other", "a-0123abcd:a"], environment: { [claude]: "a" }, means: "a-0123abcd" },
  { title: "another agent's file is not written into", open: ["a:a"], pointer: "a", environment: { [claude]: "b" }, means: null },
  { title: "with a variable set the pointer's hand counts", open: ["hand", "a:a"], pointer: "hand", environment: { [claude]: "b" }, means: "hand" },
  { title: "a session named hand is not a person's episode", open: ["hand"], pointer: "hand", environment: { [claude]: "hand" }, means: "hand" },
  { title: "a session named hand has a file of its own", open: ["hand", "hand-0123abcd:hand"], pointer: "hand", environment: { [claude]: "hand" }, means: "hand-0123abcd" },
];

test.each(cases)("processEpisode: $title", ({ open, pointer, environment = {}, means }) => {
  const layout = layoutWith(
    (place) =>
      open.map((file, index) => {
        const [name = "", session] = file.split(":");
        return episodeOf(place, name, `000${index}`, session === undefined ? {} : { providerSession: session });
      }),
    pointer === undefined ? undefined : `sessions-open/${pointer}.yaml`,
  );
  for (const [name, value] of Object.entries(environment)) process.env[name] = value;
  expect(processEpisode(layout)?.key ?? null).toBe(means);
});

test("processEpisode: a pointer that leads out of the folder counts as none", () => {
  const layout = layoutWith((place) => [episodeOf(place, "hand", "0001")], "../../../../hand.yaml");
  expect(processEpisode(layout)).toBeNull();
});

test("noEpisode: names the keys, and the start that the variables ask for", () => {
  const layout = layoutWith((place) => [episodeOf(place, "b", "0001"), episodeOf(place, "a", "0002")]);
  expect(noEpisode(layout, "cannot observe").message).toBe(
    "cannot observe: none of the open episodes is this process's: set MJ_SESSION_KEY to one of a, b, or run 'majordomus session start'",
  );
  process.env[claude] = "x";
  expect(noEpisode(layoutWith(() => []), "cannot observe")).toMatchObject({
    status: 10,
    detail: `no episode is open here; run 'majordomus session start --provider claude-code --provider-session "$CLAUDE_CODE_SESSION_ID"'`,
  });
});

test("openFileText: the contract's keys in order; what is read back is what was written", () => {
  const layout = layoutWith(() => []);
  const episode = episodeOf(layout, "a", "0001", {
    owner: "null",
    worker: "a: b #c",
    provider: "codex",
    providerSession: "é\u0085\u2028'\"",
    branch: "feature/ü#1",
    startHead: "0".repeat(40),
    startWorkingTree: "dirty",
  });
  const text = openFileText(episode);
  expect([...(readYamlFile(bytesOfText(text)).leaves ?? new Map()).keys()]).toEqual([
    "session_id", "started_at", "owner", "worker", "provider", "provider_session", "worktree", "branch", "start_head", "start_working_tree",
  ]);
  writeFileSync(join(layout.root, openEpisodesPath, "a.yaml"), text);
  expect(readOpenFile(layout, "a")).toEqual({ state: "open", episode });
});

test("readOpenFile: absent, unreadable, foreign; a repository that was moved keeps its episode", () => {
  const layout = layoutWith((place) => [
    episodeOf(place, "moved", "0001", { worktree: "/no/such/directory" }),
    episodeOf(place, "foreign", "0002", { worktree: realpathSync(tmpdir()) }),
    episodeOf(place, "file", "0003", { worktree: realpathSync(process.execPath) }),
    episodeOf(place, "relative", "0004", { worktree: "." }),
  ]);
  const place = (name: string) => join(layout.root, openEpisodesPath, `${name}.yaml`);
  writeFileSync(place("text"), "no yaml\n");
  writeFileSync(place("other"), `session_id: ${id("0009")}x\n`);
  mkdirSync(place("directory"));
  symlinkSync("moved.yaml", place("link"));
  const states = ["absent", "moved", "foreign", "file", "relative", "text", "other", "directory", "link"].map((name) => readOpenFile(layout, name).state);
  expect(states).toEqual(["absent", "open", "foreign", "open", "open", "unreadable", "unreadable", "unreadable", "unreadable"]);
  expect(openEpisodes(layout).map((episode) => episode.key)).toEqual(["file", "moved", "relative"]);
});

test("readOpenFile: a link to this very directory is no other directory", () => {
  const layout = layoutWith(() => []);
  const link = `${layout.root}-link`;
  symlinkSync(layout.root, link);
  writeFileSync(join(layout.root, openEpisodesPath, "a.yaml"), openFileText(episodeOf(layout, "a", "0001", { worktree: link })));
  expect(readOpenFile(layout, "a").state).toBe("open");
  rmSync(link);
  expect(readFileSync(join(layout.root, openEpisodesPath, "a.yaml"), "utf8")).toContain("worktree: ");
  expect(readdirSync(join(layout.root, openEpisodesPath))).toEqual(["a.yaml"]);
});
