/** What a check found, as text, JSON, GitHub workflow commands and a SARIF 2.1.0 log (contract, section 9). Pure. */
import { showIllFormed, textOfBytes, textOfLines } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { version } from "../ground/version.ts";
import type { Awaiting, CheckResult } from "./check.ts";
import { checkRules } from "./inspect.ts";
import type { CheckRule, Finding } from "./inspect.ts";

/** What a check comes to, and its awaiting records that are about a path. */
export interface CheckReport extends CheckResult {
  readonly awaiting: readonly Awaiting[];
  /** The root as seen from git's top level: `""`, or ending in a slash. Where CI shows results, paths begin there. */
  readonly prefix: string;
}

/** One line for each record, the notes of each behind it, and the count. */
export function checkText(result: CheckResult): string {
  const lines: string[] = [];
  const note = (path: string, notes: readonly Finding[]) => {
    for (const { message, line } of notes) lines.push(`note knowledge   ${path} — ${placed(message, line)}`);
  };
  for (const record of result.records) {
    const path = shownPath(record.path);
    if (record.faults.length === 0) lines.push(`OK   knowledge   ${path} — ${record.status} ${textOfBytes(record.class)}`);
    else lines.push(`FAIL knowledge   ${path} — ${record.faults.map(({ message, line }) => placed(message, line)).join("; ")}`);
    note(path, record.notes);
  }
  for (const { path, notes } of result.strangers) note(shownPath(path), notes);
  lines.push(`knowledge check: ${result.records.length} record(s), ${result.failing} failing`);
  return textOfLines(lines);
}

/** A message with its line, where the message does not say it itself. */
function placed(message: string, line: number | undefined): string {
  return line === undefined || message.startsWith("line ") ? message : `line ${line}: ${message}`;
}

function shownPath(path: ByteString): string {
  return textOfBytes(showIllFormed(path));
}

export function checkJson(result: CheckResult): object {
  return {
    schema: 1,
    records: result.records.map((record) => ({
      path: shownPath(record.path),
      id: textOfBytes(record.id),
      failures: record.faults,
      notes: record.notes,
    })),
    others: result.strangers.map(({ path, notes }) => ({ path: shownPath(path), notes })),
    checked: result.records.length,
    failing: result.failing,
  };
}

type Level = "error" | "warning" | "note";

interface Result {
  readonly level: Level;
  readonly rule: CheckRule;
  readonly path: ByteString;
  readonly message: string;
  readonly line: number;
}

/** What a reviewer is shown, the gravest first: failures and notes at the record's file, awaiting records at what they are about. */
function resultsOf(report: CheckReport): Result[] {
  const results: Result[] = [];
  const add = (level: Level, path: ByteString, { rule, message, line }: Finding) => {
    results.push({ level, rule, path, message, line: line ?? 1 });
  };
  for (const record of report.records) for (const fault of record.faults) add("error", record.path, fault);
  const noted = [...report.records, ...report.strangers];
  const levelOf = (finding: Finding): Level => (finding.rule === "credential" ? "warning" : "note");
  for (const level of ["warning", "note"] as const) {
    for (const { path, notes } of noted) for (const note of notes) if (levelOf(note) === level) add(level, path, note);
  }
  for (const { record, place } of report.awaiting) {
    const about = place === record.about ? "" : `about '${textOfBytes(record.about)}': `;
    const message = `awaits review: ${about}${textOfBytes(record.title)} (${textOfBytes(record.id)})`;
    add("note", place, { rule: "candidate", message });
  }
  return results;
}

const commandOf = { error: "error", warning: "warning", note: "notice" } as const;

/** GitHub workflow commands, one a line. */
export function checkGithub(report: CheckReport): string {
  const lines = resultsOf(report).map(({ level, rule, path, message, line }) => {
    const file = report.prefix + shownPath(path);
    return `::${commandOf[level]} file=${property(file)},line=${line},title=${property(`knowledge ${rule}`)}::${data(message)}\n`;
  });
  return lines.join("");
}

function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** A SARIF 2.1.0 log of one run. */
export function checkSarif(report: CheckReport): object {
  const ids = Object.keys(checkRules) as CheckRule[];
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "majordomus",
            semanticVersion: version,
            rules: ids.map((id) => ({ id, shortDescription: { text: checkRules[id] } })),
          },
        },
        results: resultsOf(report).map(({ level, rule, path, message, line }) => ({
          ruleId: rule,
          ruleIndex: ids.indexOf(rule),
          level,
          message: { text: message },
          locations: [
            {
              physicalLocation: {
                artifactLocation: { uri: uriOf(report.prefix, path), uriBaseId: "%SRCROOT%" },
                region: { startLine: line },
              },
            },
          ],
        })),
        columnKind: "utf16CodeUnits",
      },
    ],
  };
}

/** A relative reference: each byte that is not plain in a URI is percent-encoded. */
export function uriOf(prefix: string, path: ByteString): string {
  const bytes = Buffer.from(prefix, "utf8").toString("latin1") + path;
  return bytes.replace(/[^A-Za-z0-9._~/-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}
