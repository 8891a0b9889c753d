import { listingJson, listingText } from "../../knowledge/listing.ts";
import { readQueue } from "../../knowledge/queue.ts";
import { layoutFor } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

export function candidates(call: Call): Outcome {
  const queue = readQueue(layoutFor(call));
  const bytes = call.json ? listingJson(queue) : listingText(queue);
  const { length } = queue.unreadable;
  return length === 0 ? { bytes } : { bytes, status: 10, notes: [`cannot read every candidate: ${length} unreadable`] };
}
