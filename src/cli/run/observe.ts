import { insistObservation, isMissingPath, observe } from "../../knowledge/observe.ts";
import { isGiven, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { placeFor } from "./place.ts";

export function observeOne(call: Call): Outcome {
  const observation = {
    kind: valueOf(call, "kind") ?? "",
    subject: valueOf(call, "subject") ?? "",
    statement: call.operands[0] ?? "",
    evidence: call.values.get("evidence") ?? [],
  };
  insistObservation(observation, isGiven(call, "allow-secret"));
  const place = placeFor(call);
  observe(place, observation);
  const { kind, subject, statement } = observation;
  return {
    text: `observed: ${kind} ${subject} — ${statement}\n`,
    json: { schema: 1, observed: observation },
    notes: isMissingPath(place, subject) ? [`observed '${subject}': no such path here`] : [],
  };
}
