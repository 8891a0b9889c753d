import { bytesOfText } from "../../ground/bytes.ts";
import { filterOf } from "../../knowledge/filters.ts";
import { listingJson, listingText } from "../../knowledge/listing.ts";
import { readQueue } from "../../knowledge/queue.ts";
import type { FolderRecords } from "../../knowledge/queue.ts";
import type { Layout } from "../../host/layout.ts";
import { isGiven, layoutFor, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

export async function candidates(call: Call): Promise<Outcome> {
  const filter = filterOf({
    about: valueOf(call, "about"),
    route: valueOf(call, "route"),
    episode: valueOf(call, "episode"),
    minEpisodes: valueOf(call, "min-episodes"),
  });
  const layout = layoutFor(call);
  const isAcross = isGiven(call, "ref") || isGiven(call, "all-refs");
  const queue = readQueue(layout, filter, isAcross ? await elsewhere(call, layout) : undefined);
  const bytes = call.json ? listingJson(queue) : listingText(queue);
  const { length } = queue.unreadable;
  return length === 0 ? { bytes } : { bytes, status: 10, notes: [`cannot read every candidate: ${length} unreadable`] };
}

/** Git is loaded only where other branches are asked for. */
async function elsewhere(call: Call, layout: Layout): Promise<(here: FolderRecords) => FolderRecords> {
  const { everyRef, recordsOn } = await import("../../knowledge/refs.ts");
  const named = (call.values.get("ref") ?? []).map(bytesOfText).map((name) => ({ shown: name, name }));
  const refs = isGiven(call, "all-refs") ? [...named, ...everyRef(layout)] : named;
  return (here) => recordsOn(layout, refs, here);
}
