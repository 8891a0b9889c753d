import { textOfLines } from "../../ground/bytes.ts";
import { refuse } from "../../ground/errors.ts";
import { isDirectory, isFile, realPath } from "../../host/folder.ts";
import { absolute } from "../../host/layout.ts";
import { faultWords, findDocuments, isScenario } from "../../scenario/find.ts";
import type { Document } from "../../scenario/find.ts";
import {
  callText,
  countsOf,
  countsText,
  formats,
  isPassed,
  reportsJson,
  reportsJunit,
  reportTap,
  reportText,
  seconds,
} from "../../scenario/report.ts";
import type { Format, Report } from "../../scenario/report.ts";
import { runScenario } from "../../scenario/run.ts";
import type { RunRequest, RunWatch } from "../../scenario/run.ts";
import { choiceOf, isGiven, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

const timeLimitSeconds = 30;

export async function run(call: Call): Promise<Outcome> {
  const given = choiceOf(call, "format", formats, call.json ? "json" : "text");
  if (call.json && given !== "json") throw refuse("wrong-call", `cannot use --json and --format ${given} together`);
  const request: RunRequest = {
    home: realPath(call.home) ?? call.home,
    program: programOf(call),
    keep: isGiven(call, "keep"),
    timeLimit: timeLimitOf(call) * 1000,
  };
  const documents = findDocuments(call.workingDirectory, call.operands);
  const reports = await runAll(call, documents, request, given);
  const counts = countsOf(reports);
  const status = counts.faults > 0 ? 2 : reports.every((report) => "result" in report && isPassed(report.result)) ? 0 : 10;
  const notes = faultNotes(documents);
  if (given === "json") return { bytes: bytesOf(`${JSON.stringify(reportsJson(reports))}\n`), status, notes };
  if (given === "junit") return { text: reportsJunit(reports), status, notes };
  const last = given === "tap" ? `1..${counts.steps + counts.faults}\n# ${countsText(counts)}` : countsText(counts);
  return { text: last, status, notes };
}

function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

/** Runs documents one by one and prints what each came to as soon as it is known, where the format lets it. */
async function runAll(call: Call, documents: readonly Document[], request: RunRequest, format: Format): Promise<Report[]> {
  const reports: Report[] = [];
  let points = 1;
  if (format === "tap") call.terminal.print("TAP version 13\n");
  for (const document of documents) {
    const report = await runOne(call, document, request, format);
    call.terminal.progress("");
    if (format === "text") call.terminal.print(reportText(report));
    if (format === "tap") {
      const tap = reportTap(report, points);
      call.terminal.print(tap.text);
      points += tap.points;
    }
    reports.push(report);
  }
  return reports;
}

async function runOne(call: Call, { path, content }: Document, request: RunRequest, format: Format): Promise<Report> {
  if (!isScenario(content)) return { path, fault: faultWords(content) };
  const total = content.steps.length;
  const watch: RunWatch = {
    begun: (step, number) => call.terminal.progress(`${path}: step ${number} of ${total}, ${step.id}`),
    ended: (result, number) => {
      if (!isGiven(call, "verbose")) return;
      call.terminal.progress("");
      const word = result.outcome === "passed" ? "ok  " : "FAIL";
      const line = `${word}  ${number}/${total} ${result.step.id}  ${seconds(result.milliseconds)} s  ${callText(result.step.run)}\n`;
      if (format === "text") call.terminal.print(`  ${line}`);
      else if (format === "tap") call.terminal.print(`# ${line}`);
      else call.terminal.tell(line);
    },
  };
  return { path, scenario: content, result: await runScenario(content, request, watch) };
}

/** One line on standard error for each document that is no scenario. */
function faultNotes(documents: readonly Document[]): string[] {
  return documents.flatMap(({ path, content }) => (isScenario(content) ? [] : [`cannot use '${path}': ${faultWords(content)}`]));
}

function timeLimitOf(call: Call): number {
  const value = valueOf(call, "time-limit");
  if (value === undefined) return timeLimitSeconds;
  if (!/^[1-9][0-9]{0,3}$/.test(value)) throw refuse("wrong-call", `cannot use --time-limit '${value}'`, "whole seconds, from 1 to 9999");
  return Number(value);
}

/** The program that steps run: a path from where the call stands, or a name in PATH. */
function programOf(call: Call): string | null {
  const name = valueOf(call, "with");
  if (name === undefined) return null;
  const missing = (detail: string) => refuse("missing", `cannot run '${name}'`, detail);
  if (name.includes("/")) {
    const place = absolute(call.workingDirectory, name);
    if (isDirectory(place) || realPath(place) === null) throw missing("no such program");
    return place;
  }
  for (const folder of (process.env["PATH"] ?? "").split(":")) {
    const place = absolute(call.workingDirectory, `${folder}/${name}`);
    const real = realPath(place);
    if (folder !== "" && name !== "" && real !== null && isFile(real)) return place;
  }
  throw missing("no such program in PATH; a path has a slash");
}

export function check(call: Call): Outcome {
  const documents = findDocuments(call.workingDirectory, operandsOf(call));
  const lines = documents.map(({ path, content }) =>
    isScenario(content) ? `OK   scenario   ${path} — ${stepsText(content.steps.length)}` : `FAIL scenario   ${path} — ${faultWords(content)}`,
  );
  const failing = documents.filter(({ content }) => !isScenario(content)).length;
  return {
    text: textOfLines([...lines, `scenario check: ${documents.length} document(s), ${failing} failing`]),
    json: {
      schema: 1,
      documents: documents.map(({ path, content }) =>
        isScenario(content)
          ? { path, setup: content.setup, steps: content.steps.length, fault: null }
          : { path, fault: content.words, line: content.line },
      ),
    },
    status: failing === 0 ? 0 : 2,
    notes: faultNotes(documents),
  };
}

function stepsText(count: number): string {
  return `${count} step${count === 1 ? "" : "s"}`;
}

/** Without paths, the toolkit's own scenarios. */
function operandsOf(call: Call): readonly string[] {
  return call.operands.length === 0 ? [`${realPath(call.home) ?? call.home}/scenarios`] : call.operands;
}

export function list(call: Call): Outcome {
  const documents = findDocuments(call.workingDirectory, operandsOf(call));
  const lines = documents.flatMap(({ path, content }) =>
    isScenario(content) ? [`${path}  ${content.setup}  ${stepsText(content.steps.length)}  ${content.title}`.trimEnd()] : [],
  );
  return {
    text: textOfLines(lines),
    json: {
      schema: 1,
      scenarios: documents.flatMap(({ path, content }) =>
        isScenario(content)
          ? [{ path, title: content.title, setup: content.setup, steps: content.steps.map((step) => step.id) }]
          : [],
      ),
    },
    status: documents.every(({ content }) => isScenario(content)) ? 0 : 2,
    notes: faultNotes(documents),
  };
}
