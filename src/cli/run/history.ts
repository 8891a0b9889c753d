import { now } from "../../ground/clock.ts";
import { refuse } from "../../ground/errors.ts";
import { openEpisodes } from "../../episode/episode.ts";
import { lineMaker } from "../../episode/act.ts";
import { ledgerPath } from "../../host/layout.ts";
import { readPolicy } from "../../host/policy.ts";
import { isKnownEvent, textField } from "../../ledger/events.ts";
import { damageWords, detailOf, readHistory, sinceOf, validateLedger } from "../../ledger/history.ts";
import type { HistoryLine } from "../../ledger/history.ts";
import { underLedger } from "../../ledger/ledger.ts";
import { rotateHeld } from "../../ledger/rotate.ts";
import { surveyLedger } from "../../boundary/survey.ts";
import { showControls } from "../../ground/bytes.ts";
import { isGiven, layoutFor, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { placeFor } from "./place.ts";

const filters = ["task", "event", "since", "limit", "all"] as const;
const newestLines = 20;

export function history(call: Call): Outcome {
  for (const alone of ["validate", "rotate"] as const) {
    if (!isGiven(call, alone)) continue;
    const other = [...filters, "rotate"].find((option) => option !== alone && isGiven(call, option));
    if (other !== undefined) throw refuse("wrong-call", `cannot use --${alone} and --${other} together`);
    return alone === "validate" ? validate(call) : rotate(call);
  }
  const event = valueOf(call, "event");
  if (event !== undefined && !isKnownEvent(event)) throw refuse("wrong-call", `unknown event '${event}'`);
  const task = valueOf(call, "task");
  const since = valueOf(call, "since");
  const limit = limitOf(call);
  const path = `${layoutFor(call).root}/${ledgerPath}`;
  const { lines, damage } = readHistory(path, {
    ...(task === undefined ? {} : { task }),
    ...(event === undefined ? {} : { event }),
    ...(since === undefined ? {} : { since: sinceOf(since, now()) }),
    ...(limit === null ? {} : { limit }),
  });
  const words = damageWords(path, damage);
  const notes = words === null ? [] : [`history: ${words}`];
  if (call.json) return { bytes: lines.map((line) => `${Buffer.from(line.text, "utf8").toString("latin1")}\n`).join(""), notes };
  return { text: lines.map((line) => `${lineText(line)}\n`).join(""), notes };
}

function limitOf(call: Call): number | null {
  const limit = valueOf(call, "limit");
  if (isGiven(call, "all")) {
    if (limit !== undefined) throw refuse("wrong-call", "cannot use --limit and --all together");
    return null;
  }
  if (limit === undefined) return newestLines;
  if (!/^[1-9][0-9]{0,8}$/.test(limit)) throw refuse("wrong-call", `cannot use --limit '${limit}'`, "a whole number from 1 up");
  return Number(limit);
}

function lineText({ entry }: HistoryLine): string {
  const field = (name: string, width: number, missing = "-") => showControls(textField(entry, name) || missing).padEnd(width);
  const head = textField(entry, "head").slice(0, 7);
  const detail = detailOf(entry);
  const line = `${field("ts", 20)}  ${field("event", 23)}  ${field("task_id", 21)}  ${showControls(head).padEnd(7)}  ${showControls(detail)}`;
  return line.trimEnd();
}

function validate(call: Call): Outcome {
  const { lines, fault } = validateLedger(`${layoutFor(call).root}/${ledgerPath}`);
  if (fault !== null) throw refuse("refused", `cannot validate '${ledgerPath}'`, fault);
  return { text: `history: ${lines} line(s), all whole and known\n`, json: { schema: 1, lines } };
}

function rotate(call: Call): Outcome {
  const place = placeFor(call);
  const { layout } = place;
  const retention = readPolicy(layout).limit("ledger.retention_max_lines");
  place.position();
  const rotation = underLedger(layout, () => {
    const underived = [...surveyLedger(layout)].filter(([, state]) => state.underived);
    const bound = new Set(underived.map(([id]) => id));
    for (const episode of openEpisodes(layout)) bound.add(episode.id);
    return rotateHeld(layout, place.now, retention, bound, (done) => lineMaker(place, null)("ledger.rotated", { ...done }));
  });
  if (rotation === null) return { text: "history: nothing to archive\n", json: { schema: 1, archived: 0 } };
  return {
    text: `history: ${rotation.archived} archived to ${rotation.archive}, ${rotation.kept} kept\n`,
    json: { schema: 1, ...rotation },
  };
}
