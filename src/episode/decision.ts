/** Decisions: one line each in the ledger, and a readable store beside it (contract, section 5). */
import { textField } from "../ledger/events.ts";
import { archivesOf, eachEntry, needlesOf } from "../ledger/ledger.ts";
import { ledgerPath, decisionsPath, statePath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { attempt, flushFolder, readBytes, stageFile } from "../host/files.ts";
import { act } from "./act.ts";
import type { Place } from "./act.ts";
import { activeTaskId } from "./task.ts";

export interface Decision {
  readonly decision: string;
  readonly why: string;
  readonly rejected?: string;
  readonly evidence?: string;
  readonly supersedes?: string;
}

/** Records a decision. */
export function addDecision(place: Place, decision: Decision): void {
  const { layout } = place;
  act(place, "cannot record a decision", ({ episode, line, write }) => {
    const task = activeTaskId(layout, episode);
    const path = `${layout.root}/${decisionsPath}`;
    const store = readBytes(path, { regular: true })?.toString("latin1") ?? "# Decisions\n";
    const entry = Buffer.from(`\n${entryText(place.now, task, decision)}`, "utf8");
    // Staged first: a store that cannot be written refuses the act before its line is there.
    const staged = stageFile(path, Buffer.concat([Buffer.from(store.replace(/\n*$/, "\n"), "latin1"), entry]));
    try {
      const takeBack = write(line("decision.recorded", { task_id: task, decision: decision.decision }));
      try {
        staged.commit(false);
      } catch (error) {
        takeBack();
        throw error;
      }
      // The ledger has it on disk: what a crash makes of the store is no reason to say that it was not recorded.
      attempt(() => flushFolder(`${layout.root}/${statePath}`));
    } finally {
      staged.discard();
    }
  });
}

function entryText(now: string, task: string, decision: Decision): string {
  const details: readonly (readonly [string, string | undefined])[] = [
    ["Why", decision.why],
    ["Rejected", decision.rejected],
    ["Evidence", decision.evidence],
    ["Supersedes", decision.supersedes],
  ];
  const given = details.filter(([, text]) => text !== undefined).map(([name, text]) => `- ${name}: ${text ?? ""}\n`);
  return `## ${decision.decision}\n\n- At: ${now}, task ${task}\n${given.join("")}`;
}

export interface RecordedDecision {
  readonly ts: string;
  readonly task: string;
  readonly decision: string;
}

/** All decisions that this checkout's ledger and its archives hold, oldest first. */
export function recordedDecisions(layout: Layout): RecordedDecision[] {
  const decisions: RecordedDecision[] = [];
  for (const path of [...archivesOf(layout), ledgerPath]) {
    eachEntry(
      `${layout.root}/${path}`,
      (entry) => {
        if (textField(entry, "event") !== "decision.recorded") return;
        decisions.push({ ts: textField(entry, "ts"), task: textField(entry, "task_id"), decision: textField(entry, "decision") });
      },
      needlesOf("decision.recorded"),
    );
  }
  return decisions;
}
