/** What acts need beside their own options. */
import { placeOf } from "../../episode/act.ts";
import type { Place } from "../../episode/act.ts";
import { insistOneLine } from "../../episode/act.ts";
import { insistNoSecret } from "../../episode/secrets.ts";
import type { NamedTexts } from "../../episode/secrets.ts";
import { isGiven, layoutFor } from "../call.ts";
import type { Call } from "../call.ts";

export function placeFor(call: Call): Place {
  return placeOf(layoutFor(call), call.home);
}

/** Texts that an act records, by what a refusal calls them: each one line (2), none with a credential (10). */
export function insistTexts(call: Call, texts: NamedTexts): void {
  for (const [name, text] of Object.entries(texts)) if (text !== undefined) insistOneLine(name, text);
  insistNoSecret(texts, isGiven(call, "allow-secret"));
}

/** The user's name, for what belongs to somebody who did not say so. */
export function userName(): string {
  return process.env["USER"] || process.env["LOGNAME"] || "unknown";
}
