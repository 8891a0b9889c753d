import { textOfLines } from "../../ground/bytes.ts";
import { addDecision, recordedDecisions } from "../../episode/decision.ts";
import { insistRecordable } from "../../episode/act.ts";
import { layoutFor, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { insistTexts, placeFor } from "./place.ts";

export function addOne(call: Call): Outcome {
  const decision = call.operands[0] ?? "";
  const optional = (name: string) => (valueOf(call, name) === undefined ? {} : { [name]: valueOf(call, name) ?? "" });
  const why = valueOf(call, "why") ?? "";
  insistTexts(call, {
    "the decision": decision,
    "the reason": why,
    "what was rejected": valueOf(call, "rejected"),
    "the evidence": valueOf(call, "evidence"),
    "what it supersedes": valueOf(call, "supersedes"),
  });
  insistRecordable("the decision", decision);
  addDecision(placeFor(call), { decision, why, ...optional("rejected"), ...optional("evidence"), ...optional("supersedes") });
  return { text: `recorded: ${decision}\n`, json: { schema: 1, recorded: decision } };
}

export function list(call: Call): Outcome {
  const decisions = recordedDecisions(layoutFor(call));
  return {
    text: textOfLines(decisions.map((one, index) => `${index + 1}. ${one.decision}`)),
    json: { schema: 1, decisions: decisions.map((one) => ({ ts: one.ts, task_id: one.task, decision: one.decision })) },
  };
}
