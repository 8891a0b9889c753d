import { refuse } from "../../ground/errors.ts";
import { providers } from "../../episode/open.ts";
import { providerEvents } from "../../provider/events.ts";
import { checkProvider, installProvider, removeProvider } from "../../provider/install.ts";
import { choiceOf, isGiven } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { placeFor } from "./place.ts";

export function install(call: Call): Outcome {
  const provider = choiceOf(call, "provider", providers, "generic");
  const isCheck = isGiven(call, "check");
  const isRemoval = isGiven(call, "remove");
  if (isCheck && isRemoval) throw refuse("wrong-call", "cannot check and remove at once", "pass --check or --remove");
  if (provider === "generic") return generic(isCheck || isRemoval);
  const place = placeFor(call);
  const act = isCheck ? checkProvider : isRemoval ? removeProvider : installProvider;
  const { path, done, note } = act(place, provider);
  const words = {
    installed: `installed into ${path}`,
    removed: `removed from ${path}`,
    unchanged: isRemoval ? `nothing of ours in ${path}` : `already in ${path}`,
  }[done];
  return {
    text: `capture install: ${words}\n`,
    json: { schema: 1, provider, path, done },
    notes: note === undefined || done !== "installed" ? [] : [note],
  };
}

/** A provider that we know nothing of: what it is to call. */
function generic(isOther: boolean): Outcome {
  if (isOther) throw refuse("wrong-call", "cannot check or remove 'generic'", "it has no settings file; this prints what to call");
  const calls = providerEvents.map((event) => `majordomus capture session --provider generic --event ${event}`);
  return {
    text: `Call these at a session's start, at its end and before its compaction, with {"session_id": …, "cwd": …} on standard input:\n${calls.map((one) => `  ${one}\n`).join("")}`,
    json: { schema: 1, provider: "generic", calls },
  };
}
