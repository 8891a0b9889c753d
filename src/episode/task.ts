/** The one active task of a checkout (contract, section 5): started, and finished with an outcome. */
import { scalar } from "../format/yaml-emit.ts";
import { textOfBytes } from "../ground/bytes.ts";
import { noTask, taskPattern } from "../ground/ids.ts";
import { refuse } from "../ground/errors.ts";
import { attempt, readBytes, removeFile, removeTemporaries, replaceFile } from "../host/files.ts";
import { nameExists } from "../host/folder.ts";
import { makeInside } from "../host/inside.ts";
import { completedPath, currentTaskPath, yamlLeavesOf } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { underLedger } from "../ledger/ledger.ts";
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
  const file = readBytes(place, { regular: true });
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
  if (task === null || isFinished(layout, task.id)) return null;
  if (task.session === "" || task.session === episode?.id) return task;
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
    const startLine = ({ id, profile, owner, scope, requires }: ActiveTask) =>
      line("task.started", { task_id: id, profile, owner, scope, requires });
    const there = checkoutTask(layout);
    if (there !== null && !isFinished(layout, there.id)) {
      if (isRequested(there, request) && there.session === (episode?.id ?? "") && !hasTaskLine(layout, there.id, "task.started")) {
        // The same start was killed before its line.
        write(startLine(there));
        return there;
      }
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
    try {
      replaceFile(`${layout.root}/${currentTaskPath}`, Buffer.from(taskText(task), "utf8"), { mode: 0o600 });
      write(startLine(task));
    } catch (error) {
      attempt(() => void removeFile(`${layout.root}/${currentTaskPath}`));
      throw error;
    }
    return task;
  });
}

function isRequested(task: ActiveTask, request: TaskRequest): boolean {
  const { profile, owner, requires } = request;
  return task.task === request.task && task.scope === request.scope.join(" ") && task.profile === profile && task.owner === owner && task.requires === requires;
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

function notePath(layout: Layout, id: string): string {
  return `${layout.root}/${completedPath}/${id}.md`;
}

/**
 * Whether the ledger has a task's end: a finish that was killed leaves the task's file behind it. It left the note
 * first, and so the ledger is asked only where there is one.
 */
function isFinished(layout: Layout, id: string): boolean {
  return nameExists(notePath(layout, id)) && hasTaskLine(layout, id, "task.finished");
}

/** Removes the task's file that a killed finish left. Call it before anything else that takes time; it takes the ledger's lock. */
export function clearFinished(place: Place): void {
  const { layout } = place;
  const isLeft = () => {
    const task = checkoutTask(layout);
    return task !== null && isFinished(layout, task.id);
  };
  if (!isLeft()) return;
  underLedger(
    layout,
    () => {
      if (isLeft()) removeFile(`${layout.root}/${currentTaskPath}`);
    },
    place.wait,
  );
}

/** The task that this process may finish, before its verify command runs. None is missing (12). */
export function taskToFinish(layout: Layout, episode: OpenEpisode | null): ActiveTask {
  const task = activeTask(layout, episode);
  if (task === null) {
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
    removeTemporaries(`${layout.root}/${completedPath}`);
    const path = notePath(layout, task.id);
    let takeBack = () => undefined as void;
    try {
      replaceFile(path, note);
      takeBack = write(line("task.finished", { task_id: task.id, outcome, contract: {}, verify, checkpoints: 0 }));
      removeFile(`${layout.root}/${currentTaskPath}`);
    } catch (error) {
      takeBack();
      attempt(() => void removeFile(path));
      throw error;
    }
    return task;
  });
}
