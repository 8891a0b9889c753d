/** The one active task of a checkout (contract, section 5): started, and finished with an outcome. */
import { scalar } from "../format/yaml-emit.ts";
import { textOfBytes } from "../ground/bytes.ts";
import { noTask, taskPattern } from "../ground/ids.ts";
import { refuse } from "../ground/errors.ts";
import { removeFile, replaceFile } from "../host/files.ts";
import { nameExists, readFileBytes } from "../host/folder.ts";
import { makeInside } from "../host/inside.ts";
import { completedPath, currentTaskPath, yamlLeavesOf } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { act } from "./act.ts";
import type { Place } from "./act.ts";
import { openEpisodes } from "./episode.ts";
import type { OpenEpisode } from "./episode.ts";
import { drawId, hasTaskLine } from "./open.ts";

/** The task that `current.yaml` names. */
export interface ActiveTask {
  readonly id: string;
  readonly task: string;
  readonly profile: string;
  readonly owner: string;
  readonly scope: string;
  readonly requires: string;
  readonly startedAt: string;
  /** The episode that started it, `""` where none was open. */
  readonly session: string;
}

export const taskOutcomes = ["completed", "partial", "blocked", "no_match", "failed"] as const;
export type TaskOutcome = (typeof taskOutcomes)[number];

export interface Verification {
  readonly command: string;
  readonly exit: number;
  readonly seconds: number;
}

/** The checkout's task, whoever started it; `null` where none is active. A file that cannot be read is refused (10). */
export function checkoutTask(layout: Layout): ActiveTask | null {
  const place = `${layout.root}/${currentTaskPath}`;
  if (!nameExists(place)) return null;
  const file = readFileBytes(place);
  const leaves = file === null ? "cannot be read" : yamlLeavesOf(file);
  const field = (name: string) => (typeof leaves === "string" ? "" : textOfBytes(leaves.get(name) ?? ""));
  const id = field("task_id");
  if (typeof leaves === "string" || !taskPattern.test(id)) {
    throw refuse("refused", `cannot read '${currentTaskPath}'`, typeof leaves === "string" ? leaves : "it names no task");
  }
  return {
    id,
    task: field("task"),
    profile: field("profile"),
    owner: field("owner"),
    scope: field("scope"),
    requires: field("requires"),
    startedAt: field("started_at"),
    session: field("session"),
  };
}

/** The task that is active for an episode: one that another open episode started is not. */
export function activeTask(layout: Layout, episode: OpenEpisode | null): ActiveTask | null {
  const task = checkoutTask(layout);
  if (task === null || task.session === "" || task.session === episode?.id) return task;
  return openEpisodes(layout).some((open) => open.id === task.session) ? null : task;
}

/** The id that an act stamps: the active task's, or `none`. */
export function activeTaskId(layout: Layout, episode: OpenEpisode | null): string {
  return activeTask(layout, episode)?.id ?? noTask;
}

export interface TaskRequest {
  readonly task: string;
  readonly scope: readonly string[];
  readonly profile: string;
  readonly owner: string;
  readonly requires: string;
}

/** Starts the checkout's task. One that is active: the state forbids it (15). */
export function startTask(place: Place, request: TaskRequest): ActiveTask {
  const { layout } = place;
  return act(place, "cannot start a task", ({ episode, line, write }) => {
    const there = checkoutTask(layout);
    if (there !== null && !isFinished(layout, there.id)) {
      throw refuse("wrong-state", "cannot start a task", `${there.id} is active here; end it with 'majordomus finish'`);
    }
    const task: ActiveTask = {
      id: drawId("t", place),
      task: request.task,
      profile: request.profile,
      owner: request.owner,
      scope: request.scope.join(" "),
      requires: request.requires,
      startedAt: place.now,
      session: episode?.id ?? "",
    };
    replaceFile(`${layout.root}/${currentTaskPath}`, Buffer.from(taskText(task), "utf8"), { mode: 0o600 });
    try {
      const { id, profile, owner, scope, requires } = task;
      write(line("task.started", { task_id: id, profile, owner, scope, requires }));
    } catch (error) {
      removeFile(`${layout.root}/${currentTaskPath}`);
      throw error;
    }
    return task;
  });
}

function taskText(task: ActiveTask): string {
  const fields: readonly (readonly [string, string])[] = [
    ["task_id", task.id],
    ["task", task.task],
    ["profile", task.profile],
    ["owner", task.owner],
    ["scope", task.scope],
    ["requires", task.requires],
    ["started_at", task.startedAt],
    ["session", task.session],
  ];
  return fields.map(([key, value]) => `${key}: ${key === "started_at" ? value : scalar(value)}\n`).join("");
}

/** Whether the ledger has a task's end: a finish that was killed leaves the task's file behind it. */
function isFinished(layout: Layout, id: string): boolean {
  return hasTaskLine(layout, id, "task.finished");
}

/** The task that this process may finish, before its verify command runs. None is missing (12). */
export function taskToFinish(layout: Layout, episode: OpenEpisode | null): ActiveTask {
  const task = activeTask(layout, episode);
  if (task === null || isFinished(layout, task.id)) {
    throw refuse("missing", "cannot finish", "no task is active here; run 'majordomus start' first");
  }
  return task;
}

/**
 * Records a task's end: its note, then its line, then no task.
 * @param note the bytes that become `completed/<tid>.md`
 */
export function finishTask(place: Place, outcome: TaskOutcome, note: Uint8Array, verify: Verification | null): ActiveTask {
  const { layout } = place;
  return act(place, "cannot finish", ({ episode, line, write }) => {
    const task = taskToFinish(layout, episode);
    makeInside(layout, completedPath);
    const notePath = `${layout.root}/${completedPath}/${task.id}.md`;
    replaceFile(notePath, note);
    try {
      write(line("task.finished", { task_id: task.id, outcome, contract: {}, verify, checkpoints: 0 }));
    } catch (error) {
      removeFile(notePath);
      throw error;
    }
    removeFile(`${layout.root}/${currentTaskPath}`);
    return task;
  });
}
