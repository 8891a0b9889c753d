import { captureEvent } from "../../provider/capture.ts";
import { providerEvents } from "../../provider/events.ts";
import { gatherObject, payloadOf } from "../../provider/payload.ts";
import { providers } from "../../episode/open.ts";
import { readSoon } from "../../host/event-input.ts";
import { choiceOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

/** How long an event waits for its payload, in milliseconds. */
const payloadWait = 300;

export async function session(call: Call): Promise<Outcome> {
  const provider = choiceOf(call, "provider", providers, "generic");
  const event = choiceOf(call, "event", providerEvents, "start");
  const { home, workingDirectory, repository } = call;
  const gathered = gatherObject();
  await readSoon(payloadWait, gathered.take);
  const { output, notes } = captureEvent({ home, provider, event, payload: payloadOf(gathered.bytes()), workingDirectory, repository });
  return { text: output, notes };
}
