import { clearFinished, finishTask, startTask, taskOutcomes, taskToFinish } from "../../episode/task.ts";
import type { TaskOutcome, Verification } from "../../episode/task.ts";
import { noEpisode, openEpisodes, processEpisode } from "../../episode/episode.ts";
import { insistNoSecret } from "../../episode/secrets.ts";
import { runVerification } from "../../episode/verify.ts";
import { refuse } from "../../ground/errors.ts";
import { absolute } from "../../host/layout.ts";
import { readNamed } from "../../host/folder.ts";
import { hasSection, reasonSection } from "../../knowledge/evidence.ts";
import { choiceOf, isGiven, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { insistTexts, placeFor, userName } from "./place.ts";

export function start(call: Call): Outcome {
  const scope = call.values.get("scope") ?? [];
  const request = {
    task: call.operands[0] ?? "",
    scope,
    profile: valueOf(call, "profile") ?? "implementation",
    owner: valueOf(call, "owner") ?? userName(),
    requires: valueOf(call, "requires") ?? "",
  };
  for (const path of scope) insistScope(path);
  insistTexts(call, {
    "the task": request.task,
    "the scope": scope.join(" "),
    "the profile": request.profile,
    "the owner": request.owner,
    "what it requires": request.requires === "" ? undefined : request.requires,
  });
  const task = startTask(placeFor(call), request);
  return {
    text: `started ${task.id}  profile=${task.profile}  scope=${scope.join(",")}\n`,
    json: { schema: 1, task_id: task.id, profile: task.profile, scope },
  };
}

function insistScope(path: string): void {
  const wrong = (detail: string) => refuse("wrong-call", `cannot use --scope '${path}'`, detail);
  if (path === "" || path.startsWith("/")) throw wrong("a path relative to the root");
  if (path.split("/").includes("..")) throw wrong("a path stays in the repository: no '..' segment");
  if (/\s/.test(path)) throw wrong("the ledger joins scopes by spaces: a path has none");
}

const neededSection: Partial<Record<TaskOutcome, string>> = {
  blocked: "Next Action",
  partial: "Next Action",
  failed: "Reason",
  no_match: "Reason",
};

export async function finish(call: Call): Promise<Outcome> {
  const outcome = choiceOf(call, "outcome", taskOutcomes, "completed");
  const command = valueOf(call, "verify-command");
  if (command !== undefined && outcome !== "completed") {
    throw refuse("wrong-call", "cannot use --verify-command", `it goes with --outcome completed, not ${outcome}`);
  }
  if (command !== undefined) insistTexts(call, { "the verify command": command });
  const place = placeFor(call);
  const episode = processEpisode(place.layout);
  if (episode === null && openEpisodes(place.layout).length > 0) throw noEpisode(place.layout, "cannot finish");
  clearFinished(place);
  const { id } = taskToFinish(place.layout, episode);
  const noteName = valueOf(call, "note");
  const note = noteName === undefined ? Buffer.alloc(0) : readNamed(absolute(call.workingDirectory, noteName), noteName);
  const text = note.toString("utf8");
  const section = neededSection[outcome];
  if (section !== undefined && !hasSection(text, section)) {
    throw refuse("refused", `cannot finish ${outcome}`, `the note needs a section '# ${section}'; give it with --note FILE`);
  }
  insistNoSecret({ "the note's reason": reasonSection(text) }, isGiven(call, "allow-secret"));
  const verify: Verification | null = command === undefined ? null : await runVerification(place.layout.root, id, command);
  const task = finishTask(place, outcome, note, verify);
  return { text: `finish: ${task.id} ${outcome}\n`, json: { schema: 1, task_id: task.id, outcome, verify } };
}
