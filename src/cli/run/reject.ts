import { textOfLines } from "../../ground/bytes.ts";
import { insistRecordable } from "../../episode/act.ts";
import { reject } from "../../knowledge/review.ts";
import { valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { insistTexts, placeFor } from "./place.ts";

export function rejectOne(call: Call): Outcome {
  const id = call.operands[0] ?? "";
  const reason = valueOf(call, "reason") ?? "";
  insistTexts(call, { "the reason": reason });
  insistRecordable("the reason", reason);
  const by = valueOf(call, "by");
  const path = reject(placeFor(call), id, { reason, by });
  return { text: textOfLines([path]), json: { schema: 1, rejected: id, path } };
}
