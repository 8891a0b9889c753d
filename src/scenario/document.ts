/**
 * A scenario as it is written (contract, section 13): a YAML file, or the first fenced `yaml` block of a Markdown page. Pure:
 * bytes in, a scenario out, or why the document is none. What is not known or not whole is a fault of the document, for a
 * step that expects less than its author wrote would pass for nothing.
 */
import { isUtf8 } from "node:buffer";
import { readYaml } from "../format/yaml-read.ts";
import type { YamlLeaves } from "../format/yaml-read.ts";
import { textOfBytes } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import { unreadableWords, yamlWords } from "../ground/tables.ts";
import { compilePattern } from "./pattern.ts";
import type { Pattern } from "./pattern.ts";

/** What stands in a scenario's directory before its first step, each with all of those before it but the first. */
export const setups = ["bare", "repository", "installed", "session-open", "task-active"] as const;

export type Setup = (typeof setups)[number];

export interface Scenario {
  /** The page's first heading; `""` where it has none. */
  readonly title: string;
  readonly setup: Setup;
  readonly given: readonly string[];
  readonly steps: readonly Step[];
  readonly then: readonly string[];
}

export interface Step {
  /** As it is named; its number, from 1, where it has no name. */
  readonly id: string;
  readonly run: readonly string[];
  readonly note: string;
  /** `""` for an empty standard input. */
  readonly stdin: string;
  readonly expect: Expectations;
}

export interface Expectations {
  readonly exit: number;
  readonly stdoutContains: readonly Pattern[];
  readonly stdoutNotContains: readonly Pattern[];
  readonly stderrContains: readonly Pattern[];
  /** Paths below the scenario's directory, as in the two that follow. */
  readonly filesExist: readonly string[];
  readonly filesContain: readonly { readonly path: string; readonly pattern: Pattern }[];
}

/** Why a document is no scenario, and the line of the file that says so; `null` where no line does. */
export interface DocumentFault {
  readonly line: number | null;
  readonly words: string;
}

export type DocumentResult = { readonly scenario: Scenario } | { readonly fault: DocumentFault };

/** Whether a file's name is that of a YAML file; any other is read as a page. */
export function isYamlName(name: string): boolean {
  return /\.ya?ml$/i.test(name);
}

/** Whether a file of a directory is one of its scenarios. */
export function isDocumentName(name: string): boolean {
  return !name.startsWith(".") && name !== "README.md" && (isYamlName(name) || /\.(?:md|markdown)$/i.test(name));
}

/** Reads a document. Its name alone tells YAML from a page. */
export function readDocument(name: string, file: Buffer): DocumentResult {
  try {
    if (file.includes(0)) throw new Fault(null, unreadableWords.nul);
    if (!isUtf8(file)) throw new Fault(null, unreadableWords.utf8);
    const text = file.toString("latin1").replace(/^\xef\xbb\xbf/, "");
    const block = isYamlName(name) ? { yaml: text, firstLine: 1 } : blockOf(text);
    const { leaves, refusal } = readYaml(block.yaml, block.firstLine);
    if (refusal !== null) throw new Fault(refusal.line, yamlWords[refusal.reason]);
    const title = isYamlName(name) ? "" : titleOf(text);
    return { scenario: scenarioOf(treeOf(leaves), title) };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { fault: { line: error.line ?? lineOfPath(name, file, error.path), words: error.message } };
  }
}

class Fault extends Error {
  readonly line: number | null;
  /** The path of the leaf at fault, from which its line is found. */
  readonly path: string;

  constructor(line: number | null, words: string, path = "") {
    super(words);
    this.line = line;
    this.path = path;
  }
}

interface Block {
  readonly yaml: ByteString;
  /** The number in the file of its first line. */
  readonly firstLine: number;
}

/**
 * The scenario's lines in a page: its first fenced `yaml` block. A page without any fence, such as one whose fences were lost
 * where it was copied as plain text, has them from `setup:` at a line's start to the next line of prose.
 */
function blockOf(text: ByteString): Block {
  const lines = text.split("\n");
  let hasFence = false;
  for (let at = 0; at < lines.length; at += 1) {
    const [, indent = "", fence = "", info = ""] = /^( {0,3})(`{3,}|~{3,})(.*)$/.exec(bare(lines[at])) ?? [];
    if (fence === "" || (fence.startsWith("`") && info.includes("`"))) continue;
    hasFence = true;
    const end = closingFence(lines, at, fence);
    if (/^\s*yaml(?:\s|$)/i.test(info)) {
      if (end === -1) throw new Fault(at + 1, "a fenced block that does not end");
      const inner = lines.slice(at + 1, end).map((line) => withoutIndent(line, indent.length));
      return { yaml: whole(inner), firstLine: at + 2 };
    }
    if (end === -1) break;
    at = end;
  }
  const found = hasFence ? null : unfenced(lines);
  if (found === null) throw new Fault(null, "no fenced yaml block");
  return found;
}

function bare(line: ByteString | undefined): ByteString {
  return (line ?? "").replace(/\r$/, "");
}

function closingFence(lines: readonly ByteString[], opening: number, fence: string): number {
  for (let at = opening + 1; at < lines.length; at += 1) {
    const [, closing = ""] = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(bare(lines[at])) ?? [];
    if (closing.length >= fence.length && closing[0] === fence[0]) return at;
  }
  return -1;
}

function withoutIndent(line: ByteString, count: number): ByteString {
  let at = 0;
  while (at < count && line[at] === " ") at += 1;
  return line.slice(at);
}

function unfenced(lines: readonly ByteString[]): Block | null {
  const first = lines.findIndex((line) => /^setup:(?:\s|$)/.test(line));
  if (first === -1) return null;
  const rest = lines.slice(first);
  const end = rest.findIndex((line) => !/^(?:[a-z_]+:(?:\s|$)|[ \t]|- |-?\r?$|#)/.test(line));
  return { yaml: whole(end === -1 ? rest : rest.slice(0, end)), firstLine: first + 1 };
}

/** Lines as a text in which each ends: a CR before the last one's end is then one before a line feed. */
function whole(lines: readonly ByteString[]): ByteString {
  return lines.map((line) => `${line}\n`).join("");
}

function titleOf(text: ByteString): string {
  return textOfBytes(/^# +(.*?)[ \t\r]*$/m.exec(text)?.[1] ?? "");
}

/** A document's values with their shape; `""` is also what a key without a value holds. */
type Tree = string | readonly Tree[] | ReadonlyMap<string, Tree>;
type Growing = string | Growing[] | Map<string, Growing>;

function treeOf(leaves: YamlLeaves): Tree {
  const root = new Map<string, Growing>();
  for (const [path, value] of leaves) {
    const segments = path.split(".");
    let at: Growing[] | Map<string, Growing> = root;
    for (const [index, segment] of segments.entries()) {
      const next = segments[index + 1];
      if (next === undefined) grow(at, segment, value === null ? [] : textOfBytes(value));
      else at = (childOf(at, segment) ?? grow(at, segment, isNumber(next) ? [] : new Map())) as Growing[] | Map<string, Growing>;
    }
  }
  return root;
}

/** Keys begin with a letter or `_`: a segment of digits is a sequence's. */
function isNumber(segment: string): boolean {
  return /^[0-9]/.test(segment);
}

function childOf(parent: Growing[] | Map<string, Growing>, segment: string): Growing | undefined {
  return Array.isArray(parent) ? parent[Number(segment)] : parent.get(segment);
}

function grow(parent: Growing[] | Map<string, Growing>, segment: string, child: Growing): Growing {
  if (Array.isArray(parent)) parent.push(child);
  else parent.set(segment, child);
  return child;
}

/** A value and where it stands: `path` as the leaves name it, `words` as a person does. */
interface Place {
  readonly tree: Tree;
  readonly path: string;
  readonly words: string;
}

function scenarioOf(tree: Tree, title: string): Scenario {
  const root = mappingOf({ tree, path: "", words: "the scenario" }, ["setup", "given", "steps", "then"]);
  const setupPlace = root.get("setup");
  if (setupPlace === undefined) throw new Fault(null, `no setup: one of ${setups.join(", ")}`);
  const name = textOf(setupPlace);
  const setup = setups.find((one) => one === name);
  if (setup === undefined) throw new Fault(null, `unknown setup '${name}': one of ${setups.join(", ")}`, setupPlace.path);
  const stepsPlace = root.get("steps");
  if (stepsPlace === undefined) throw new Fault(null, "no steps");
  const places = listOf(stepsPlace);
  if (places.length === 0) throw new Fault(null, "no steps", stepsPlace.path);
  const steps = places.map(stepOf);
  steps.forEach((step, index) => {
    const isTaken = steps.findIndex((other) => other.id === step.id) !== index;
    if (isTaken) throw new Fault(null, `two steps with the id '${step.id}'`, places[index]?.path);
  });
  return { title, setup, given: textsOf(root.get("given")), steps, then: textsOf(root.get("then")) };
}

function stepOf(place: Place, index: number): Step {
  const step = mappingOf(place, ["id", "run", "note", "stdin", "expect"]);
  const idPlace = step.get("id");
  const id = idPlace === undefined ? String(index + 1) : textOf(idPlace);
  if (id.trim() === "") throw new Fault(null, `an empty id of ${place.words}`, place.path);
  const words = idPlace === undefined ? place.words : `step '${id}'`;
  const runPlace = step.get("run");
  if (runPlace === undefined) throw new Fault(null, `no run in ${words}`, place.path);
  if (!isList(runPlace.tree)) throw new Fault(null, `run of ${words} is no list of arguments`, runPlace.path);
  const expectPlace = step.get("expect");
  if (expectPlace === undefined) throw new Fault(null, `no expect in ${words}, which must have an exit`, place.path);
  const note = step.get("note");
  const stdin = step.get("stdin");
  return {
    id,
    run: listOf(runPlace).map(textOf),
    note: note === undefined ? "" : textOf(note),
    stdin: stdin === undefined ? "" : textOf(stdin),
    expect: expectationsOf({ ...expectPlace, words: `expect of ${words}` }),
  };
}

function expectationsOf(place: Place): Expectations {
  const known = ["exit", "stdout_contains", "stdout_not_contains", "stderr_contains", "files_exist", "files_contain"];
  const expect = mappingOf(place, known);
  const exitPlace = expect.get("exit");
  if (exitPlace === undefined) throw new Fault(null, `no exit in ${place.words}`, place.path);
  const exit = textOf(exitPlace);
  if (!/^(?:0|[1-9][0-9]{0,2})$/.test(exit) || Number(exit) > 255) {
    throw new Fault(null, `exit '${exit}' in ${place.words} is no exit status`, exitPlace.path);
  }
  const patterns = (key: string) => oneOrMore(expect.get(key)).map(patternOf);
  return {
    exit: Number(exit),
    stdoutContains: patterns("stdout_contains"),
    stdoutNotContains: patterns("stdout_not_contains"),
    stderrContains: patterns("stderr_contains"),
    filesExist: oneOrMore(expect.get("files_exist")).map(pathOf),
    filesContain: oneOrMore(expect.get("files_contain")).map((one) => {
      const file = mappingOf(one, ["path", "pattern"]);
      const path = file.get("path");
      const pattern = file.get("pattern");
      if (path === undefined || pattern === undefined) throw new Fault(null, `${one.words} needs a path and a pattern`, one.path);
      return { path: pathOf(path), pattern: patternOf(pattern) };
    }),
  };
}

function patternOf(place: Place): Pattern {
  const source = textOf(place);
  const pattern = compilePattern(source);
  if ("fault" in pattern) throw new Fault(null, `pattern '${source}' in ${place.words} does not compile: ${pattern.fault}`, place.path);
  return pattern;
}

/** A path that a step expects stays in the scenario's directory. */
function pathOf(place: Place): string {
  const path = textOf(place);
  const isInside = path !== "" && !path.startsWith("/") && !path.split("/").includes("..");
  if (!isInside) throw new Fault(null, `path '${path}' in ${place.words} is none below the scenario's directory`, place.path);
  return path;
}

function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree);
}

/** The entries of a mapping, every key a known one. */
function mappingOf(place: Place, keys: readonly string[]): ReadonlyMap<string, Place> {
  const { tree, words } = place;
  if (typeof tree === "string" || isList(tree)) throw new Fault(null, `${words} has none of the keys ${keys.join(", ")}`, place.path);
  const places = new Map<string, Place>();
  for (const [key, value] of tree) {
    const path = place.path === "" ? key : `${place.path}.${key}`;
    if (!keys.includes(key)) throw new Fault(null, `unknown key '${key}' in ${words}`, path);
    places.set(key, { tree: value, path, words: place.path === "" ? key : `${key} of ${words}` });
  }
  return places;
}

function listOf(place: Place): Place[] {
  const { tree, path, words } = place;
  if (!isList(tree)) throw new Fault(null, `${words} is no list`, path);
  return tree.map((one, index) => {
    const name = path === "steps" ? `step ${index + 1}` : words;
    return { tree: one, path: `${path}.${index}`, words: name };
  });
}

/** A list, or one value that stands for a list of itself; none where the key is not there. */
function oneOrMore(place: Place | undefined): Place[] {
  if (place === undefined) return [];
  return isList(place.tree) ? listOf(place) : [place];
}

function textsOf(place: Place | undefined): string[] {
  return oneOrMore(place).map(textOf);
}

function textOf(place: Place): string {
  if (typeof place.tree !== "string") throw new Fault(null, `${place.words} is no text`, place.path);
  return place.tree;
}

/**
 * The line of the file on which a path first stands. The reader gives no positions; but it reads line by line, and a path
 * that it has found it keeps: so the line is the shortest beginning of the block that has it.
 */
function lineOfPath(name: string, file: Buffer, path: string): number | null {
  if (path === "") return null;
  const text = file.toString("latin1").replace(/^\xef\xbb\xbf/, "");
  const { yaml, firstLine } = isYamlName(name) ? { yaml: text, firstLine: 1 } : blockOf(text);
  const lines = yaml.split("\n");
  const has = (count: number) => {
    const { leaves } = readYaml(`${lines.slice(0, count).join("\n")}\n`, 1);
    return leaves !== null && [...leaves.keys()].some((key) => key === path || key.startsWith(`${path}.`));
  };
  let low = 1;
  let high = lines.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (has(middle)) high = middle;
    else low = middle + 1;
  }
  return firstLine + low - 1;
}
