/**
 * Changing a record that a person may have edited: only the bytes that an act means change, everything else stands as it was
 * (contract, section 9). Pure: bytes in, bytes out. A record is read by the subset's reader before and after, and the
 * leaves must differ in what was meant and in nothing else; what cannot be changed so is refused (10), never rewritten.
 */
import { frontMatterOf } from "../format/front-matter.ts";
import type { FrontMatter } from "../format/front-matter.ts";
import { readYaml } from "../format/yaml-read.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import type { ByteString } from "../ground/bytes.ts";
import { bytesOfText } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import type { Refusal } from "../ground/errors.ts";
import { unreadableWords, yamlWords } from "../ground/tables.ts";

/** What an act sets in a record's front matter. Values are plain scalars of the subset. */
export interface Amendment {
  /** Keys of the root and their values, in order; one that is missing is put behind the `status` line. */
  readonly fields: readonly (readonly [key: string, value: string])[];
  /** A reference to add to `provenance.derived_from`, where it does not stand there already. */
  readonly derivedFrom: string | null;
  /** What to add to the body: lines under a heading of the first level, joining its section where there is one. */
  readonly section: { readonly heading: string; readonly lines: readonly string[] };
}

/** A record with an amendment made. Refused (10): a record that does not parse, or that cannot be changed in place. */
export function amended(file: ByteString, amendment: Amendment): ByteString {
  const before = leavesOf(file);
  let changed = file;
  for (const [key, value] of amendment.fields) changed = withField(changed, key, value);
  if (amendment.derivedFrom !== null) changed = withDerivedFrom(changed, amendment.derivedFrom);
  insistOnly(before, leavesOf(changed), amendment);
  return withSection(changed, amendment.section.heading, amendment.section.lines.map(bytesOfText));
}

/** Its subject is the act's to say. */
function refused(detail: string): Refusal {
  return refuse("refused", cannotChange, detail);
}

/** What a refusal of these functions says failed. */
export const cannotChange = "cannot change the record";

function matterOf(file: ByteString): FrontMatter {
  const matter = frontMatterOf(file);
  if (typeof matter === "string") throw refused(unreadableWords[matter]);
  return matter;
}

/** The leaves of a record's front matter. */
export function leavesOf(file: ByteString): YamlLeaves {
  const matter = matterOf(file);
  const { leaves, refusal } = readYaml(matter.yaml, matter.firstLine, true);
  if (refusal !== null) throw refused(`line ${refusal.line}: ${yamlWords[refusal.reason]}`);
  return leaves;
}

/** The references that a record is derived from, in order. */
export function derivedFromIn(leaves: YamlLeaves): ByteString[] {
  const values: ByteString[] = [];
  for (let at = 0; ; at += 1) {
    const value = leaves.get(`${derivedFromPath}.${at}`);
    if (value === undefined && !hasBelow(leaves, `${derivedFromPath}.${at}`)) return values;
    if (typeof value === "string") values.push(value);
  }
}

const derivedFromPath = "provenance.derived_from";

function hasBelow(leaves: YamlLeaves, path: string): boolean {
  for (const key of leaves.keys()) if (key.startsWith(`${path}.`)) return true;
  return false;
}

/** The amendment is in the result, and nothing else is changed: else the walk below has misread the file. */
function insistOnly(before: YamlLeaves, after: YamlLeaves, amendment: Amendment): void {
  const expected = new Map(before);
  for (const [key, value] of amendment.fields) expected.set(key, value);
  const { derivedFrom } = amendment;
  if (derivedFrom !== null && !derivedFromIn(before).includes(derivedFrom)) {
    let at = 0;
    while (before.has(`${derivedFromPath}.${at}`) || hasBelow(before, `${derivedFromPath}.${at}`)) at += 1;
    expected.delete(derivedFromPath);
    expected.set(`${derivedFromPath}.${at}`, derivedFrom);
  }
  const isSame = expected.size === after.size && [...expected].every(([path, value]) => after.get(path) === value);
  if (!isSame) throw refused("its front matter cannot be changed in place");
}

/** A line of the front matter: where it stands in the file, and what it holds. */
interface Line {
  /** Where its text begins and ends, without its line end; where the next line begins. */
  readonly start: number;
  readonly end: number;
  readonly next: number;
  /** The column of its first character that is no space. */
  readonly column: number;
  readonly text: ByteString;
}

/** The lines of the front matter that hold entries: no blank line, no comment. */
function contentLines(file: ByteString): Line[] {
  const matter = matterOf(file);
  const lines: Line[] = [];
  for (let start = matter.start; start < matter.end; ) {
    const line = lineAt(file, start);
    if (line.column < line.text.length && line.text[line.column] !== "#") lines.push(line);
    start = line.next;
  }
  return lines;
}

function lineAt(file: ByteString, start: number): Line {
  const lineFeed = file.indexOf("\n", start);
  const next = lineFeed === -1 ? file.length : lineFeed + 1;
  let end = lineFeed === -1 ? file.length : lineFeed;
  if (lineFeed !== -1 && end > start && file[end - 1] === "\r") end -= 1;
  const text = file.slice(start, end);
  return { start, end, next, column: columnOf(text), text };
}

function columnOf(text: ByteString): number {
  let column = 0;
  while (text[column] === " ") column += 1;
  return column;
}

/** Whether a line is the entry of this key at this column. */
function isKey(line: Line, column: number, key: string): boolean {
  if (line.column !== column || !line.text.startsWith(`${key}:`, column)) return false;
  const behind = line.text[column + key.length + 1];
  return behind === undefined || behind === " ";
}

/** The value of a key's line, as places in the file: an empty one stands right behind the colon. */
interface Value {
  readonly kind: "empty" | "plain" | "quoted" | "flow";
  readonly start: number;
  readonly end: number;
}

function valueOf(line: Line, key: string): Value {
  const { text } = line;
  const colon = line.column + key.length + 1;
  let at = colon;
  while (text[at] === " ") at += 1;
  const place = (kind: Value["kind"], start: number, end: number): Value => ({ kind, start: line.start + start, end: line.start + end });
  const first = text[at];
  if (first === undefined || first === "#") return place("empty", colon, colon);
  if (first === '"' || first === "'") return place("quoted", at, quoteEnd(text, at));
  if (first === "[") return place("flow", at, flowEnd(text, at));
  const comment = text.indexOf(" #", at);
  let end = comment === -1 ? text.length : comment;
  while (text[end - 1] === " ") end -= 1;
  return place("plain", at, end);
}

/** Where a quoted scalar that begins at `at` ends; the reader has found that it does. */
function quoteEnd(text: ByteString, at: number): number {
  const quote = text[at];
  for (let index = at + 1; index < text.length; index += 1) {
    if (quote === '"' && text[index] === "\\") index += 1;
    else if (text[index] === quote) {
      if (quote === '"' || text[index + 1] !== "'") return index + 1;
      index += 1;
    }
  }
  return text.length;
}

function flowEnd(text: ByteString, at: number): number {
  for (let index = at + 1; index < text.length; index += 1) {
    // A quote opens a scalar at an item's beginning alone.
    if ((text[index] === '"' || text[index] === "'") && /[[,] *$/.test(text.slice(at, index))) index = quoteEnd(text, index) - 1;
    else if (text[index] === "]") return index + 1;
  }
  return text.length;
}

/** The line end of the line that stands before `at`. */
function lineEndBefore(file: ByteString, at: number): ByteString {
  return file.slice(0, at).endsWith("\r\n") ? "\r\n" : "\n";
}

function spliced(file: ByteString, start: number, end: number, text: ByteString): ByteString {
  return file.slice(0, start) + text + file.slice(end);
}

/** Sets a key of the root: its value where it stands, else a new line behind the status. One that is so already keeps its style. */
function withField(file: ByteString, key: string, value: string): ByteString {
  const lines = contentLines(file);
  const line = lines.find((one) => isKey(one, 0, key));
  const present = leavesOf(file).get(key);
  if (present === value) return file;
  if (line === undefined) {
    const status = lines.find((one) => isKey(one, 0, "status"));
    if (status === undefined) throw refused("it has no status");
    return spliced(file, status.next, status.next, `${key}: ${value}${lineEndBefore(file, status.next)}`);
  }
  const there = valueOf(line, key);
  if (there.kind === "flow" || typeof present !== "string") throw refused(`its ${key} is no text`);
  return spliced(file, there.start, there.end, there.kind === "empty" ? ` ${value}` : value);
}

/** Adds a reference to what a record is derived from, in the style that stands there. */
function withDerivedFrom(file: ByteString, reference: string): ByteString {
  if (derivedFromIn(leavesOf(file)).includes(reference)) return file;
  const lines = contentLines(file);
  const opening = lines.findIndex((line) => isKey(line, 0, "provenance"));
  const column = lines[opening + 1]?.column ?? 0;
  if (opening === -1 || column === 0) throw refused("it has no provenance");
  const behind = lines.findIndex((line, index) => index > opening && line.column === 0);
  const block = lines.slice(opening + 1, behind === -1 ? lines.length : behind);
  const at = block.findIndex((line) => isKey(line, column, "derived_from"));
  const insert = (last: Line, ...texts: string[]) => {
    const end = lineEndBefore(file, last.next);
    return spliced(file, last.next, last.next, texts.map((text) => text + end).join(""));
  };
  const indented = (columns: number, text: string) => " ".repeat(columns) + text;
  const line = block[at];
  if (line === undefined) {
    const last = block[block.length - 1] as Line;
    return insert(last, indented(column, "derived_from:"), indented(column + 2, `- ${reference}`));
  }
  const value = valueOf(line, "derived_from");
  if (value.kind === "flow") return withFlowItem(file, value, reference);
  if (value.kind !== "empty") throw refused("its derived_from is no list");
  const first = block[at + 1];
  if (first === undefined || first.column < column || (first.column === column && !isEntry(first))) {
    return insert(line, indented(column + 2, `- ${reference}`));
  }
  if (!isEntry(first)) throw refused("its derived_from is no list");
  const rest = block.slice(at + 1);
  const end = rest.findIndex((one) => one.column < first.column || (one.column === first.column && !isEntry(one)));
  const entries = end === -1 ? rest : rest.slice(0, end);
  return insert(entries[entries.length - 1] as Line, indented(first.column, `- ${reference}`));
}

function isEntry(line: Line): boolean {
  const behind = line.text[line.column + 1];
  return line.text[line.column] === "-" && (behind === undefined || behind === " ");
}

function withFlowItem(file: ByteString, value: Value, reference: string): ByteString {
  const bracket = value.end - 1;
  let last = bracket;
  while (file[last - 1] === " ") last -= 1;
  if (last - 1 === value.start) return spliced(file, last, last, reference);
  return spliced(file, last, last, `, ${reference}`);
}

/** Where a section of the body stands: its heading, and the end of the text of its last line that is not blank. */
export interface Section {
  readonly start: number;
  readonly end: number;
}

/** The first section of a record's body under a heading of the first level; `null` where there is none. */
export function sectionOf(file: ByteString, heading: string): Section | null {
  let start = -1;
  let end = -1;
  for (const { line, isHeading } of bodyLines(file)) {
    if (isHeading && start !== -1) break;
    if (isHeading && headingText(line.text) === heading) start = line.start;
    if (start !== -1 && !isBlank(line.text)) end = line.start + trimmedLength(line.text);
  }
  return start === -1 ? null : { start, end };
}

function headingText(text: ByteString): ByteString {
  return text.slice(1).replace(/^[ \t]+|[ \t]+$/g, "");
}

interface BodyLine {
  readonly line: Line;
  readonly isHeading: boolean;
  /** What would end the block of code or the comment that the line leaves open; empty where none is. */
  readonly closing: string;
}

/** The lines of the body; those in a fenced block of code or in a comment are no headings. */
function* bodyLines(file: ByteString): Generator<BodyLine> {
  let closing = "";
  for (let start = matterOf(file).bodyStart; start < file.length; ) {
    const line = lineAt(file, start);
    start = line.next;
    const isHeading = closing === "" && /^#[ \t]/.test(line.text);
    closing = closingBehind(line.text, closing);
    yield { line, isHeading, closing };
  }
}

const endOfComment = "-->";

/** The same behind a line as before it, by CommonMark's rules of fences and of comments that begin a line. */
function closingBehind(text: ByteString, closing: string): string {
  if (closing === endOfComment || (closing === "" && /^ {0,3}<!--/.test(text))) {
    return text.includes(endOfComment, closing === "" ? text.indexOf("<!--") + 2 : 0) ? "" : endOfComment;
  }
  const [, mark, rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(text) ?? [];
  if (mark === undefined) return closing;
  if (closing === "") return mark.startsWith("`") && rest.includes("`") ? "" : mark;
  return mark[0] === closing[0] && mark.length >= closing.length && isBlank(rest) ? "" : closing;
}

function isBlank(text: ByteString): boolean {
  return /^[ \t\r]*$/.test(text);
}

/** Blanks at a line's end, a carriage return that no line feed follows among them, are left where they are. */
function trimmedLength(text: ByteString): number {
  return text.replace(/\r+$/, "").length;
}

/** Adds lines under a heading of the body, behind what stands there; what follows, a missing last line end too, stays. */
function withSection(file: ByteString, heading: string, lines: readonly ByteString[]): ByteString {
  const section = sectionOf(file, heading);
  const at = section?.end ?? bodyEnd(file);
  const end = lineEndOf(file);
  const text = section === null ? [`# ${heading}`, "", ...lines] : lines;
  // What is left open runs to the file's end, and would take in what is added.
  const closing = [...bodyLines(file)].pop()?.closing ?? "";
  const closed = closing === "" ? "" : `${end}${closing}`;
  return spliced(file, at, at, `${closed}${end}${end}${text.join(end)}`);
}

/** The end of the text of the last line that is not blank, the closing fence being one. */
function bodyEnd(file: ByteString): number {
  const { end, bodyStart } = matterOf(file);
  let at = end + file.slice(end, bodyStart).replace(/[\r\n]+$/, "").length;
  for (const { line } of bodyLines(file)) if (!isBlank(line.text)) at = line.start + trimmedLength(line.text);
  return at;
}

/** The line end of a file: that of its first line. */
function lineEndOf(file: ByteString): ByteString {
  return lineEndBefore(file, file.indexOf("\n") + 1);
}
