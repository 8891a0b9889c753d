import { textOfLines } from "../../ground/bytes.ts";
import { readInput } from "../../host/whole-input.ts";
import { insistNoSecret } from "../../episode/secrets.ts";
import { evidenceLines, promote } from "../../knowledge/review.ts";
import { isGiven, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { placeFor } from "./place.ts";

const evidenceLimit = 1 << 20;

export function promoteOne(call: Call): Outcome {
  const id = call.operands[0] ?? "";
  const evidence = () => {
    const lines = evidenceLines(readInput(evidenceLimit));
    insistNoSecret({ "the evidence": lines.join("\n") }, isGiven(call, "allow-secret"));
    return lines;
  };
  const path = promote(placeFor(call), id, { class: valueOf(call, "class"), evidence });
  return { text: textOfLines([path]), json: { schema: 1, promoted: id, path } };
}
