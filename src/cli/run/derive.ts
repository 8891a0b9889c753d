import { textOfLines } from "../../ground/bytes.ts";
import { derive } from "../../knowledge/derive.ts";
import type { Derivation } from "../../knowledge/derive.ts";
import { processEpisode } from "../../episode/episode.ts";
import { ledgerPath } from "../../host/layout.ts";
import { damageWords } from "../../ledger/history.ts";
import { isGiven, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { placeFor } from "./place.ts";

export function deriveOne(call: Call): Outcome {
  const place = placeFor(call);
  const dryRun = isGiven(call, "dry-run");
  const episode = valueOf(call, "episode") ?? processEpisode(place.layout)?.id;
  if (episode === undefined) {
    return {
      text: "knowledge derive: no episode to derive from; open one or pass --episode <id>\n",
      json: { schema: 1, episode: null, dry_run: dryRun, written: [], unchanged: [], skipped: [] },
    };
  }
  const derivation = derive(place, episode, dryRun);
  const damage = damageWords(`${place.layout.root}/${ledgerPath}`, derivation.damage);
  return { text: derivationText(derivation), json: derivationJson(derivation), notes: damage === null ? [] : [`knowledge derive: ${damage}`] };
}

function derivationText(derivation: Derivation): string {
  const lines = derivation.fates.map((fate) => {
    if (fate.fate === "skipped") return `skipped ${fate.path} (${fate.reason})`;
    return `${fate.fate === "written" && derivation.dryRun ? "would write" : fate.fate} ${fate.path}`;
  });
  return textOfLines([...lines, derivationSummary(derivation)]);
}

/** The last line of a derivation's text. */
export function derivationSummary(derivation: Derivation): string {
  const count = (fate: string) => derivation.fates.filter((one) => one.fate === fate).length;
  const counts = `${count("written")} written, ${count("unchanged")} unchanged, ${count("skipped")} skipped`;
  return `knowledge derive: ${counts} for episode ${derivation.episode}`;
}

function derivationJson(derivation: Derivation): object {
  const paths = (fate: string) => derivation.fates.filter((one) => one.fate === fate).map((one) => one.path);
  return {
    schema: 1,
    episode: derivation.episode,
    dry_run: derivation.dryRun,
    written: paths("written"),
    unchanged: paths("unchanged"),
    skipped: derivation.fates.flatMap((one) => (one.fate === "skipped" ? [{ path: one.path, reason: one.reason }] : [])),
  };
}
