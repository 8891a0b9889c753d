/** What a run came to, for a person and for other programs. Pure. */
import { showControls } from "../ground/bytes.ts";
import type { Scenario } from "./document.ts";
import type { Miss, ScenarioResult, StepOutcome, StepResult } from "./run.ts";

/** A document that was run, or why it is no scenario. */
export type Report =
  | { readonly path: string; readonly scenario: Scenario; readonly result: ScenarioResult }
  | { readonly path: string; readonly fault: string };

export const formats = ["text", "tap", "junit", "json"] as const;

export type Format = (typeof formats)[number];

/** Of what a failed step printed, so many lines are shown, and so many characters of each. */
const shownLines = 40;
const shownErrorLines = 10;
const shownCharacters = 400;

export interface Counts {
  readonly scenarios: number;
  readonly steps: number;
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
  /** Scenarios whose setup could not be made. */
  readonly unset: number;
  /** Documents that are no scenarios. */
  readonly faults: number;
}

export function countsOf(reports: readonly Report[]): Counts {
  const results = reports.flatMap((report) => ("result" in report ? [report.result] : []));
  const steps = results.flatMap((result) => result.steps);
  return {
    scenarios: results.length,
    steps: steps.length,
    passed: countOf(steps, "passed"),
    failed: countOf(steps, "failed"),
    notRun: countOf(steps, "not run"),
    unset: results.filter((result) => result.setupFault !== null).length,
    faults: reports.length - results.length,
  };
}

function countOf(steps: readonly StepResult[], outcome: StepOutcome): number {
  return steps.filter((step) => step.outcome === outcome).length;
}

/** The last line of a run. */
export function countsText(counts: Counts): string {
  const parts = [`${counts.passed} passed`, `${counts.failed} failed`, `${counts.notRun} not run`];
  const beside = [
    counts.unset === 0 ? "" : `; ${number(counts.unset, "setup")} could not be made`,
    counts.faults === 0 ? "" : `; ${number(counts.faults, "document")} not a scenario`,
  ];
  return `scenario run: ${number(counts.scenarios, "scenario")}, ${number(counts.steps, "step")}: ${parts.join(", ")}${beside.join("")}\n`;
}

function number(count: number, name: string): string {
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

export function isPassed(result: ScenarioResult): boolean {
  return result.steps.every((step) => step.outcome === "passed");
}

/** A duration in seconds. */
export function seconds(milliseconds: number): string {
  return (milliseconds / 1000).toFixed(2);
}

/** One line a scenario, and below it why it failed. */
export function reportText(report: Report): string {
  if ("fault" in report) return `ERROR ${report.path}  ${report.fault}\n`;
  const { path, scenario, result } = report;
  const failed = countOf(result.steps, "failed");
  const notRun = countOf(result.steps, "not run");
  const parts = [
    `${countOf(result.steps, "passed")} of ${number(result.steps.length, "step")} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(notRun === 0 ? [] : [`${notRun} not run`]),
  ];
  const line = `${isPassed(result) ? "ok   " : "FAIL "} ${path}  ${parts.join(", ")}, ${seconds(result.milliseconds)} s\n`;
  const details = failureLines(scenario, result).map((detail) => `      ${detail}\n`);
  const kept = result.directory === null ? "" : `      kept ${result.directory}\n`;
  return line + details.join("") + kept;
}

/** Why a scenario failed: the step, each expectation that was not met, and the output that did not meet it. */
export function failureLines(scenario: Scenario, result: ScenarioResult): string[] {
  if (result.setupFault !== null) return [`setup ${scenario.setup}: ${result.setupFault}`];
  const index = result.steps.findIndex((step) => step.outcome === "failed");
  const failed = result.steps[index];
  if (failed === undefined) return [];
  return [
    `step ${index + 1} of ${result.steps.length}, '${failed.step.id}': ${callText(failed.step.run)}`,
    ...failed.misses.map((miss) => `expected ${miss.expectation}: ${miss.words}`),
    ...outputLines(failed),
  ];
}

/** A step's call as a person would type it. */
export function callText(run: readonly string[]): string {
  const words = run.map((word) => (/^[A-Za-z0-9_./:=@,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`));
  return ["majordomus", ...words].join(" ");
}

function outputLines(failed: StepResult): string[] {
  const file = failed.misses.find((miss): miss is Miss & { lines: readonly string[] } => miss.lines !== null);
  if (file !== undefined && failed.misses.every((miss) => miss.lines !== null)) return excerpt("the file", file.lines, shownLines);
  const errors = failed.error.length === 0 ? 0 : Math.min(failed.error.length, Math.max(shownErrorLines, shownLines - failed.output.length));
  return [
    ...excerpt("standard output", failed.output, shownLines - errors),
    ...(errors === 0 ? [] : excerpt("standard error", failed.error, errors)),
  ];
}

/** At most so many lines of an output, from its beginning and its end. */
function excerpt(name: string, lines: readonly string[], most: number): string[] {
  if (lines.length === 0) return [`${name}: empty`];
  const shown = (line: string) => {
    const cut = line.length > shownCharacters ? `${line.slice(0, shownCharacters)} … (${line.length} characters)` : line;
    return `  | ${showControls(cut)}`;
  };
  const head = `${name}, ${number(lines.length, "line")}:`;
  if (lines.length <= most) return [head, ...lines.map(shown)];
  const first = Math.floor(most / 2);
  const last = most - first;
  const left = number(lines.length - most, "line");
  return [head, ...lines.slice(0, first).map(shown), `  … ${left} left out …`, ...lines.slice(-last).map(shown)];
}

/** The points of one document for TAP, numbered on from `from`; a step is a point. */
export function reportTap(report: Report, from: number): { readonly text: string; readonly points: number } {
  if ("fault" in report) {
    return { text: `not ok ${from} - ${tapText(`${report.path}: ${report.fault}`)}\n`, points: 1 };
  }
  const { path, scenario, result } = report;
  const details = failureLines(scenario, result).map((line) => `# ${line}\n`);
  let text = "";
  result.steps.forEach((step, index) => {
    const isUnset = result.setupFault !== null && index === 0;
    const point = `${from + index} - ${tapText(`${path}: ${step.step.id}`)}`;
    if (step.outcome === "passed") text += `ok ${point}\n`;
    else if (step.outcome === "failed" || isUnset) text += `not ok ${point}\n${details.join("")}`;
    else text += `ok ${point} # SKIP not run\n`;
  });
  if (result.directory !== null) text += `# kept ${result.directory}\n`;
  return { text, points: result.steps.length };
}

function tapText(text: string): string {
  return text.replace(/[\\#]/g, "\\$&").replaceAll("\n", " ");
}

/** The whole run as JUnit XML: a suite is a scenario, a case is a step. */
export function reportsJunit(reports: readonly Report[]): string {
  const counts = countsOf(reports);
  const all = `tests="${counts.steps + counts.faults}" failures="${counts.failed}" errors="${counts.unset + counts.faults}" skipped="${counts.notRun}"`;
  const suites = reports.map((report) => ("fault" in report ? faultSuite(report.path, report.fault) : suite(report)));
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="majordomus scenarios" ${all}>\n${suites.join("")}</testsuites>\n`;
}

function faultSuite(path: string, fault: string): string {
  const open = `  <testsuite name="${xml(path)}" tests="1" failures="0" errors="1" skipped="0" time="0.00">\n`;
  return `${open}    <testcase classname="${xml(path)}" name="document"><error message="${xml(fault)}"/></testcase>\n  </testsuite>\n`;
}

function suite({ path, scenario, result }: Extract<Report, { result: ScenarioResult }>): string {
  const { steps } = result;
  const lines = failureLines(scenario, result);
  const isUnset = result.setupFault !== null;
  const counts = `tests="${steps.length}" failures="${countOf(steps, "failed")}" errors="${isUnset ? 1 : 0}" skipped="${countOf(steps, "not run")}"`;
  const cases = steps.map((step) => {
    const open = `    <testcase classname="${xml(path)}" name="${xml(step.step.id)}" time="${seconds(step.milliseconds)}"`;
    if (step.outcome === "passed") return `${open}/>\n`;
    if (step.outcome === "not run") return `${open}><skipped/></testcase>\n`;
    const message = step.misses.map((miss) => `expected ${miss.expectation}: ${miss.words}`).join("; ");
    return `${open}><failure message="${xml(message)}">${xml(lines.join("\n"))}</failure></testcase>\n`;
  });
  const error = isUnset ? `    <system-err>${xml(lines.join("\n"))}</system-err>\n` : "";
  const kept = result.directory === null ? "" : `    <system-out>${xml(`kept ${result.directory}`)}</system-out>\n`;
  return `  <testsuite name="${xml(path)}" ${counts} time="${seconds(result.milliseconds)}">\n${cases.join("")}${kept}${error}  </testsuite>\n`;
}

/** A text as XML 1.0 holds it: characters that it has not are shown as \xNN or replaced. */
function xml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text
    .split("\n")
    .map(showControls)
    .join("\n")
    .replace(/[\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
    .replace(/[&<>"]/g, (found) => entities[found] ?? found)
    .replaceAll("\n", "&#10;");
}

/** The whole run as one object. */
export function reportsJson(reports: readonly Report[]): object {
  const counts = countsOf(reports);
  return {
    schema: 1,
    scenarios: reports.map((report) => {
      if ("fault" in report) return { path: report.path, outcome: "error", fault: report.fault, steps: [] };
      const { path, scenario, result } = report;
      return {
        path,
        title: scenario.title,
        setup: scenario.setup,
        outcome: isPassed(result) ? "passed" : "failed",
        seconds: Number(seconds(result.milliseconds)),
        ...(result.setupFault === null ? {} : { setup_fault: result.setupFault }),
        ...(result.directory === null ? {} : { directory: result.directory }),
        steps: result.steps.map((step) => ({
          id: step.step.id,
          outcome: step.outcome,
          ...(step.outcome === "not run" ? {} : { seconds: Number(seconds(step.milliseconds)) }),
          ...(step.outcome === "failed"
            ? { expected: step.misses.map(({ expectation, words }) => ({ expectation, words })), output: outputLines(step) }
            : {}),
        })),
      };
    }),
    counts: {
      scenarios: counts.scenarios,
      steps: counts.steps,
      passed: counts.passed,
      failed: counts.failed,
      not_run: counts.notRun,
      setups_failed: counts.unset,
      documents_failed: counts.faults,
    },
  };
}
