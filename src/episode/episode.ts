/** Open episodes: one file each, and which of them a process means (contract, sections 4 and 5). */
import { readYamlFile } from "../format/yaml-read.ts";
import { scalar } from "../format/yaml-emit.ts";
import { sortedBytes, textOfBytes } from "../ground/bytes.ts";
import { episodePattern } from "../ground/ids.ts";
import { refuse } from "../ground/errors.ts";
import type { Refusal } from "../ground/errors.ts";
import { isDirectory, isFile, linkTarget, listFolder, nameExists, readFileBytes, realPath } from "../host/folder.ts";
import { currentEpisodePath, openEpisodesPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";

/** The file of an open episode, as it was written at its start. */
export interface OpenEpisode {
  readonly key: string;
  readonly id: string;
  readonly startedAt: string;
  readonly owner: string;
  readonly worker?: string;
  readonly provider?: string;
  readonly providerSession?: string;
  readonly worktree: string;
  readonly branch: string;
  readonly startHead: string;
  readonly startWorkingTree: string;
}

/** The key of the episode that a person opens by hand. */
export const handKey = "hand";
const keyLimit = 64;

/** Variables that carry a provider's session id, in the order they are tried. */
export const sessionVariables = ["MAJORDOMUS_PROVIDER_SESSION", "CLAUDE_CODE_SESSION_ID"] as const;

/** A key of an open file from any text: what a file name bears on every system (contract, section 4). */
export function cleanKey(text: string): string {
  const bytes = Buffer.from(text, "utf8").toString("latin1");
  const key = bytes
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/-+/g, "-")
    .slice(0, keyLimit)
    .replace(/^-+|-+$/g, "");
  if (key === "") return handKey;
  return /^\.+$/.test(key) ? `_${key}` : key;
}

export function openFilePath(key: string): string {
  return `${openEpisodesPath}/${key}.yaml`;
}

/** The text of an open file, its keys in the contract's order. */
export function openFileText(episode: OpenEpisode): string {
  const fields: readonly (readonly [string, string | undefined])[] = [
    ["session_id", episode.id],
    ["started_at", episode.startedAt],
    ["owner", scalar(episode.owner)],
    ["worker", episode.worker === undefined ? undefined : scalar(episode.worker)],
    ["provider", episode.provider],
    ["provider_session", episode.providerSession === undefined ? undefined : scalar(episode.providerSession)],
    ["worktree", scalar(episode.worktree)],
    ["branch", scalar(episode.branch)],
    ["start_head", episode.startHead],
    ["start_working_tree", episode.startWorkingTree],
  ];
  return fields.map(([key, value]) => (value === undefined ? "" : `${key}: ${value}\n`)).join("");
}

/** What a name among the open files holds: nothing, an episode of ours, another checkout's, or what cannot be read. */
export type OpenFile =
  | { readonly state: "absent" | "foreign" | "unreadable" }
  | { readonly state: "open"; readonly episode: OpenEpisode };

/** Reads the open file of a key. */
export function readOpenFile(layout: Layout, key: string): OpenFile {
  return readEpisodeFile(layout, openFilePath(key), key);
}

/** Reads a file that holds an episode, open or closing. */
export function readEpisodeFile(layout: Layout, path: string, key: string): OpenFile {
  const place = `${layout.root}/${path}`;
  if (!nameExists(place)) return { state: "absent" };
  const file = isFile(place) ? readFileBytes(place) : null;
  const leaves = file === null ? null : readYamlFile(file.toString("latin1")).leaves;
  if (leaves === null) return { state: "unreadable" };
  const field = (name: string) => textOfBytes(leaves.get(name) ?? "");
  const id = field("session_id");
  if (!episodePattern.test(id)) return { state: "unreadable" };
  if (isElsewhere(layout, field("worktree"))) return { state: "foreign" };
  const optional = (name: string, value: string) => (value === "" ? {} : { [name]: value });
  return {
    state: "open",
    episode: {
      key,
      id,
      startedAt: field("started_at"),
      owner: field("owner"),
      ...optional("worker", field("worker")),
      ...optional("provider", field("provider")),
      ...optional("providerSession", field("provider_session")),
      worktree: field("worktree"),
      branch: field("branch"),
      startHead: field("start_head"),
      startWorkingTree: field("start_working_tree"),
    },
  };
}

/** Whether a work tree is another directory that exists: a repository that was moved keeps its episodes. */
function isElsewhere(layout: Layout, worktree: string): boolean {
  if (worktree === layout.root || !worktree.startsWith("/") || !isDirectory(worktree)) return false;
  return realPath(worktree) !== realPath(layout.root);
}

/** All open episodes of this checkout, by key. */
export function openEpisodes(layout: Layout): OpenEpisode[] {
  const keys = listFolder(`${layout.root}/${openEpisodesPath}`)
    .filter((entry) => entry.kind === "file" && entry.name.endsWith(".yaml") && !entry.name.startsWith("."))
    .map((entry) => textOfBytes(entry.name.slice(0, -".yaml".length)));
  return sortedBytes(keys).flatMap((key) => {
    const file = readOpenFile(layout, key);
    return file.state === "open" ? [file.episode] : [];
  });
}

/** The provider's session ids that this process's environment names, in the order they are tried. */
export function environmentSessions(): { readonly variable: (typeof sessionVariables)[number]; readonly session: string }[] {
  return sessionVariables.flatMap((variable) => {
    const session = process.env[variable] ?? "";
    return session === "" ? [] : [{ variable, session }];
  });
}

/** The key of the environment, cleaned; `null` where it sets none. */
export function environmentKey(): string | null {
  const key = process.env["MJ_SESSION_KEY"] ?? "";
  return key === "" ? null : cleanKey(key);
}

/** The open episode of a provider's session, `null` where it has none here. Looks by name, then at the ids inside. */
export function providerEpisode(layout: Layout, session: string): OpenEpisode | null {
  const key = cleanKey(session);
  const direct = readOpenFile(layout, key);
  if (direct.state === "open" && direct.episode.providerSession === session) return direct.episode;
  return openEpisodes(layout).find((episode) => episode.key.startsWith(`${key}-`) && episode.providerSession === session) ?? null;
}

/**
 * The episode that this process means (contract, section 5), or `null`. An agent never writes into another agent's
 * episode: where one of the session variables is set, the pointer counts only for a person's own episode.
 */
export function processEpisode(layout: Layout): OpenEpisode | null {
  const key = environmentKey();
  if (key !== null) return openOrNull(layout, key);
  const sessions = environmentSessions();
  for (const { session } of sessions) {
    const episode = providerEpisode(layout, session);
    if (episode !== null) return episode;
  }
  const pointed = pointedKey(layout);
  if (pointed === null) return null;
  if (pointed === handKey) return openOrNull(layout, handKey);
  if (sessions.length > 0) return null;
  const all = openEpisodes(layout);
  return all.length === 1 && all[0]?.key === pointed ? all[0] : null;
}

function openOrNull(layout: Layout, key: string): OpenEpisode | null {
  const file = readOpenFile(layout, key);
  return file.state === "open" ? file.episode : null;
}

/** The key of the open file that `session-current.yaml` points at, whether that exists or not; `null` for no pointer. */
export function pointedKey(layout: Layout): string | null {
  const target = linkTarget(`${layout.root}/${currentEpisodePath}`);
  return target === null ? null : (/^sessions-open\/([^/]+)\.yaml$/.exec(target)?.[1] ?? null);
}

/** Why this process has no episode, and the command that opens one. */
export function noEpisode(layout: Layout, what: string): Refusal {
  const keys = openEpisodes(layout).map((episode) => episode.key);
  const variables = environmentSessions().map(({ variable }) => variable);
  const options = variables.map((variable) =>
    variable === "CLAUDE_CODE_SESSION_ID"
      ? ` --provider claude-code --provider-session "$${variable}"`
      : ` --provider-session "$${variable}"`,
  );
  const start = `run 'majordomus session start${options[0] ?? ""}'`;
  if (keys.length === 0) return refuse("refused", what, `no episode is open here; ${start}`);
  return refuse(
    "refused",
    what,
    `none of the open episodes is this process's: set MJ_SESSION_KEY to one of ${keys.join(", ")}, or ${start}`,
  );
}
