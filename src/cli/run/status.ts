import { textOfLines } from "../../ground/bytes.ts";
import { now } from "../../ground/clock.ts";
import { statusOf } from "../../knowledge/status.ts";
import { layoutFor } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

const drift = 11;

export function status(call: Call): Outcome {
  const found = statusOf(layoutFor(call), now());
  const lines = found.warnings.map(({ kind, subject, message }) => `warning ${kind}${subject === "" ? "" : ` ${subject}`}: ${message}`);
  const oldest = found.oldest === null ? "" : `, the oldest of ${found.oldest}`;
  lines.push(`knowledge status: ${found.awaiting} awaiting review${oldest}, ${found.warnings.length} warning(s)`);
  return {
    text: textOfLines(lines),
    json: { schema: 1, awaiting: found.awaiting, oldest: found.oldest, warnings: found.warnings },
    ...(found.isStopped ? { status: drift, notes: ["knowledge status: the writer has stopped"] } : {}),
  };
}
