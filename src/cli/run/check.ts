import { checkGithub, checkJson, checkSarif, checkText } from "../../knowledge/check-report.ts";
import type { CheckReport } from "../../knowledge/check-report.ts";
import { awaitingReview, checkRecords } from "../../knowledge/check.ts";
import type { CheckResult } from "../../knowledge/check.ts";
import { refuse, Refusal } from "../../ground/errors.ts";
import { gitPosition } from "../../host/git.ts";
import type { Layout } from "../../host/layout.ts";
import { choiceOf, layoutFor, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

export function check(call: Call): Outcome {
  const format = valueOf(call, "format") === undefined ? "text" : choiceOf(call, "format", ["github", "sarif"], "github");
  if (call.json && format !== "text") throw refuse("wrong-call", `cannot use --format '${format}' with --json`, "each is a form of the result");
  const layout = layoutFor(call);
  const result = checkRecords(layout);
  const { failing, records } = result;
  const status = failing === 0 ? {} : { status: 10, notes: [`knowledge check: ${failing} of ${records.length} records fail`] };
  if (format === "text") return { ...status, text: checkText(result), json: checkJson(result) };
  const report = reportOf(layout, result);
  return { ...status, text: format === "github" ? checkGithub(report) : `${JSON.stringify(checkSarif(report))}\n` };
}

function reportOf(layout: Layout, result: CheckResult): CheckReport {
  return { ...result, awaiting: awaitingReview(layout, result.records), prefix: prefixOf(layout) };
}

/** Without git the root is where paths begin. */
function prefixOf(layout: Layout): string {
  try {
    return gitPosition(layout.root).prefix;
  } catch (error) {
    if (error instanceof Refusal && error.code === "missing") return "";
    throw error;
  }
}
