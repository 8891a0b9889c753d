/**
 * The reader of the YAML subset (contract, section 11). Pure: bytes in, the leaves of the document out, or the
 * first line that leaves the subset. `shell/awk/yaml.awk` is this same reader, function by function: they move together.
 *
 * The walk is line by line over a stack of open blocks. A line either continues the innermost block at its own
 * column, or opens a block below the entry before it, or closes blocks until one stands at its column.
 */
import type { ByteString } from "../ground/bytes.ts";
import { yamlWords } from "../ground/tables.ts";

export type YamlReason = keyof typeof yamlWords;

/** Where and why a document leaves the subset: `line` counts from 1 in the file. */
export interface YamlRefusal {
  readonly line: number;
  readonly reason: YamlReason;
}

/**
 * The leaves of a document in its order: `tags.0` → a scalar, `tags` → `null` for an empty sequence. A path that is
 * absent is not there at all, or is a mapping or a sequence with entries.
 */
export type YamlLeaves = Map<string, ByteString | null>;

export type YamlResult =
  | { readonly leaves: YamlLeaves; readonly refusal: null }
  | { readonly leaves: null; readonly refusal: YamlRefusal };

/** Blocks open at once, the root among them. */
const depthLimit = 32;
const keyLimit = 128;

/** Characters that stand nowhere, comments included; a carriage return before the line feed is cut before this looks. */
const forbidden = /[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef\xbb\xbf|\xef\xbf[\xbe\xbf]/;
/** What a text must hold for a line of it to hold a forbidden character: a carriage return may only end a line. */
const suspect = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)|\xc2[\x80-\x9f]|\xe2\x80[\xa8\xa9]|\xef(?:\xbb\xbf|\xbf[\xbe\xbf])/;
const quoteOrEscape = /["\\]/g;
const conflictMarker = /^(?:<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|)(?: |$)/;

const space = 0x20;
const tab = 0x09;
const hash = 0x23;
const dash = 0x2d;
const colon = 0x3a;

interface Block {
  readonly sequence: boolean;
  /** The column, counted from 0, at which its keys or dashes stand. */
  readonly column: number;
  /** What its entries' paths begin with: `""` for the root, else ending in a dot. */
  readonly prefix: string;
  entries: number;
}

/** What the entry of the line before leaves open for this one. */
type Open = "none" | "key" | "dash";

/**
 * Reads one document.
 * @param text the lines, after a byte order mark and, for front matter, without its fences
 * @param firstLine the number in the file of the first of them
 * @param opened whether a `---` has opened the document already, as a fence does
 */
export function readYaml(text: ByteString, firstLine = 1, opened = false): YamlResult {
  const reader = new Reader(opened, suspect.test(text));
  let number = firstLine;
  for (let start = 0; start < text.length; number += 1) {
    let end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    if (end === -1) end = text.length;
    else if (end > start && text.charCodeAt(end - 1) === 0x0d) end -= 1;
    const reason = reader.line(text.slice(start, end));
    if (reason !== null) return { leaves: null, refusal: { line: number, reason } };
    start = next;
  }
  return { leaves: reader.leaves, refusal: null };
}

/** Reads a whole file that is YAML: a byte order mark may lead it. */
export function readYamlFile(text: ByteString): YamlResult {
  return readYaml(text.startsWith("\xef\xbb\xbf") ? text.slice(3) : text);
}

class Reader {
  readonly leaves: YamlLeaves = new Map();
  /** The paths of keys that hold a mapping or a sequence: with the leaves, all the keys seen. */
  private readonly opened = new Set<string>();
  private readonly blocks: Block[] = [{ sequence: false, column: 0, prefix: "", entries: 0 }];
  private open: Open = "none";
  private openPath = "";
  private openColumn = 0;
  private begun: boolean;
  private hasEntries = false;

  /** What the last scalar read holds. */
  private value: ByteString = "";

  private readonly isSuspect: boolean;

  constructor(begun: boolean, isSuspect: boolean) {
    this.begun = begun;
    this.isSuspect = isSuspect;
  }

  line(line: ByteString): YamlReason | null {
    const refused = this.isSuspect ? forbidden.exec(line) : null;
    if (refused !== null) return characterReason(refused[0]);
    let column = 0;
    while (line.charCodeAt(column) === space) column += 1;
    if (column === line.length) return null;
    const first = line.charCodeAt(column);
    if (first === hash) return null;
    if (first === tab) return "tab";
    if (column === 0 && !isKeyStart(first)) {
      if (line.startsWith("---") && endsOrBlank(line, 3)) return this.marker(line);
      if (line.startsWith("...") && endsOrBlank(line, 3)) return "document-end";
      if (line.startsWith("%")) return "directive";
      if (conflictMarker.test(line)) return "conflict";
    }
    this.begun = true;
    return this.entry(line, column);
  }

  private marker(line: ByteString): YamlReason | null {
    if (this.begun) return "second-document";
    for (let index = 3; index < line.length; index += 1) {
      const unit = line.charCodeAt(index);
      if (unit === tab) return "tab";
      if (unit !== space) return "marker";
    }
    this.begun = true;
    return null;
  }

  /** Finds or opens the block that a line belongs to, then reads it as an entry of that block. */
  private entry(line: ByteString, column: number): YamlReason | null {
    const isEntry = line.charCodeAt(column) === dash && endsOrBlank(line, column + 1);
    const open = this.open;
    this.open = "none";
    if (open === "key" && (isEntry ? column >= this.openColumn : column > this.openColumn)) {
      if (!isEntry && keyEnd(line, column) === -1) return this.keyReason(line, column, "multi-line");
      if (!isEntry && column < this.openColumn + 2) return "indentation";
      return this.openBlock(isEntry, column) ?? this.content(line, column, isEntry);
    }
    if (open === "dash" && column > this.openColumn) {
      if (isEntry) return "bare-entry";
      if (keyEnd(line, column) === -1) return this.keyReason(line, column, "multi-line");
      if (column < this.openColumn + 2) return "indentation";
      return this.openBlock(false, column) ?? this.content(line, column, false);
    }
    let block = this.blocks[this.blocks.length - 1] as Block;
    if (column > block.column) {
      if (isEntry || keyEnd(line, column) !== -1 || !this.hasEntries) return "indentation";
      return this.keyReason(line, column, "multi-line");
    }
    while (block.column > column || (block.column === column && block.sequence && !isEntry && this.parentAt(column))) {
      this.blocks.pop();
      block = this.blocks[this.blocks.length - 1] as Block;
    }
    if (block.column !== column) return "indentation";
    return this.content(line, column, isEntry);
  }

  /** Whether a mapping at this column holds the innermost block: a sequence may stand at its parent's column. */
  private parentAt(column: number): boolean {
    const parent = this.blocks[this.blocks.length - 2];
    return parent !== undefined && !parent.sequence && parent.column === column;
  }

  private openBlock(sequence: boolean, column: number): YamlReason | null {
    this.leaves.delete(this.openPath);
    this.opened.add(this.openPath);
    return this.push(sequence, column, `${this.openPath}.`);
  }

  private push(sequence: boolean, column: number, prefix: string): YamlReason | null {
    if (this.blocks.length >= depthLimit) return "depth";
    this.blocks.push({ sequence, column, prefix, entries: 0 });
    return null;
  }

  /** Reads a line as an entry of the innermost block, which stands at its column. */
  private content(line: ByteString, column: number, isEntry: boolean): YamlReason | null {
    this.hasEntries = true;
    const block = this.blocks[this.blocks.length - 1] as Block;
    if (!block.sequence) return isEntry ? "entry" : this.keyed(block, line, column, keyEnd(line, column));
    if (!isEntry) return "no-entry";
    const path = block.prefix + String(block.entries);
    block.entries += 1;
    const at = skipSpaces(line, column + 1);
    if (line.charCodeAt(at) === dash && endsOrBlank(line, at + 1)) return "nested-entry";
    const end = keyEnd(line, at);
    if (end !== -1) {
      const reason = this.push(false, at, `${path}.`);
      return reason ?? this.keyed(this.blocks[this.blocks.length - 1] as Block, line, at, end);
    }
    return this.leaf(path, line, at, "dash", column);
  }

  private keyed(block: Block, line: ByteString, column: number, end: number): YamlReason | null {
    if (end === -1) return this.keyReason(line, column, "no-key");
    if (end - column > keyLimit) return "long-key";
    const path = block.prefix + line.slice(column, end);
    if (this.leaves.has(path) || this.opened.has(path)) return "repeated-key";
    return this.leaf(path, line, skipSpaces(line, end + 1), "key", column);
  }

  /** Why a line that should be a key is none; `otherwise` where nothing in it says more. */
  private keyReason(line: ByteString, column: number, otherwise: YamlReason): YamlReason {
    const first = line[column];
    if (first === '"' || first === "'") return otherwise === "no-key" ? "quoted-key" : otherwise;
    if (first === "?" && endsOrBlank(line, column + 1)) return "complex-key";
    if (first === "&") return "anchor";
    if (first === "*") return "alias";
    if (first === "!") return "tag";
    if (first === "{") return "flow-mapping";
    const end = nameEnd(line, column);
    const at = skipBlanks(line, end);
    if (end > column && at > end && line.charCodeAt(at) === colon && endsOrBlank(line, at + 1)) return "blank-before-colon";
    return line.includes("\t", column) ? "tab" : otherwise;
  }

  /** The value of an entry: nothing (its block may follow), a flow sequence, or a scalar. */
  private leaf(path: string, line: ByteString, at: number, open: Open, column: number): YamlReason | null {
    if (at >= line.length || line.charCodeAt(at) === hash) {
      this.leaves.set(path, "");
      this.open = open;
      this.openPath = path;
      this.openColumn = column;
      return null;
    }
    if (line.charCodeAt(at) === 0x5b) return this.flow(path, line, at + 1);
    const reason = this.scalar(line, at);
    if (reason === null) this.leaves.set(path, this.value);
    return reason;
  }

  private scalar(line: ByteString, at: number): YamlReason | null {
    const first = line.charCodeAt(at);
    if (first === 0x22 || first === 0x27) {
      const end = this.quoted(line, at);
      if (typeof end === "string") return end;
      return trailing(line, end, "after-quote");
    }
    const comment = line.indexOf(" #", at);
    const text = trimSpaces(line.slice(at, comment === -1 ? line.length : comment));
    const reason = plainReason(text, false);
    if (reason === null) this.value = text;
    return reason;
  }

  /** Reads a flow sequence of scalars from behind its bracket. */
  private flow(path: string, line: ByteString, from: number): YamlReason | null {
    if (this.blocks.length >= depthLimit) return "depth";
    let at = skipSpaces(line, from);
    if (line[at] === "]") {
      this.leaves.set(path, null);
      return trailing(line, at + 1, "after-bracket");
    }
    this.opened.add(path);
    for (let entries = 0; ; entries += 1) {
      const reason = this.flowItem(line, at);
      if (typeof reason === "string") return reason;
      this.leaves.set(`${path}.${entries}`, this.value);
      at = skipSpaces(line, reason);
      const mark = line[at];
      if (mark === "]") return trailing(line, at + 1, "after-bracket");
      if (mark === "\t") return "tab";
      if (mark !== ",") return at >= line.length || mark === "#" ? "open-flow" : "after-quote";
      at = skipSpaces(line, at + 1);
    }
  }

  /** Reads one item of a flow sequence: where it ends, or why it is none. */
  private flowItem(line: ByteString, at: number): number | YamlReason {
    const first = line[at];
    if (first === undefined) return "open-flow";
    if (first === '"' || first === "'") return this.quoted(line, at);
    if (first === "," || first === "]") return "empty-item";
    let end = at;
    for (; end < line.length; end += 1) {
      const mark = line[end];
      if (mark === "," || mark === "]") break;
      if (mark === "[") return "nested-flow";
      if (mark === "{" || mark === "}") return "flow-mapping";
      if (mark === "#" && line.charCodeAt(end - 1) === space) return "open-flow";
    }
    const text = trimSpaces(line.slice(at, end));
    const reason = plainReason(text, true);
    if (reason !== null) return reason;
    this.value = text;
    return end;
  }

  /** Reads a quoted scalar from its quote: where it ends, or why it is none. */
  private quoted(line: ByteString, at: number): number | YamlReason {
    return line[at] === '"' ? this.doubleQuoted(line, at + 1) : this.singleQuoted(line, at + 1);
  }

  private singleQuoted(line: ByteString, from: number): number | YamlReason {
    let value = "";
    for (let at = from; ; ) {
      const end = line.indexOf("'", at);
      if (end === -1) return "open-quote";
      value += line.slice(at, end);
      if (line[end + 1] !== "'") {
        this.value = value;
        return end + 1;
      }
      value += "'";
      at = end + 2;
    }
  }

  private doubleQuoted(line: ByteString, from: number): number | YamlReason {
    let value = "";
    for (let at = from; ; ) {
      quoteOrEscape.lastIndex = at;
      if (!quoteOrEscape.test(line)) return "open-quote";
      const end = quoteOrEscape.lastIndex - 1;
      value += line.slice(at, end);
      if (line[end] === '"') {
        this.value = value;
        return end + 1;
      }
      const letter = line[end + 1];
      if (letter === undefined) return "open-quote";
      const digits = letter === "x" ? 2 : letter === "u" ? 4 : letter === "U" ? 8 : 0;
      const meant = digits === 0 ? simpleEscapes.get(letter) : hexEscape(line.slice(end + 2, end + 2 + digits), digits);
      if (meant === undefined) return "escape";
      value += meant;
      at = end + 2 + digits;
    }
  }
}

/** The escapes of YAML 1.2 of one letter; the one that gives NUL is none here. */
const simpleEscapes: ReadonlyMap<string, ByteString> = new Map([
  ["a", "\x07"],
  ["b", "\x08"],
  ["t", "\t"],
  ["\t", "\t"],
  ["n", "\n"],
  ["v", "\x0b"],
  ["f", "\x0c"],
  ["r", "\r"],
  ["e", "\x1b"],
  [" ", " "],
  ['"', '"'],
  ["/", "/"],
  ["\\", "\\"],
  ["N", "\xc2\x85"],
  ["_", "\xc2\xa0"],
  ["L", "\xe2\x80\xa8"],
  ["P", "\xe2\x80\xa9"],
]);

function hexEscape(text: ByteString, digits: number): ByteString | undefined {
  if (text.length !== digits || !/^[0-9A-Fa-f]+$/.test(text)) return undefined;
  const code = Number.parseInt(text, 16);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return code < 0x80 ? String.fromCharCode(code) : Buffer.from(String.fromCodePoint(code), "utf8").toString("latin1");
}

/** Why a plain scalar is not in the subset; in a flow sequence more beginnings are refused (contract, section 11). */
function plainReason(text: ByteString, flow: boolean): YamlReason | null {
  switch (text[0]) {
    case "&":
      return "anchor";
    case "*":
      return "alias";
    case "!":
      return "tag";
    case "|":
    case ">":
      return "block-scalar";
    case "{":
      return "flow-mapping";
    case "[":
      return "nested-flow";
    case "@":
    case "`":
    case "%":
    case ",":
    case "]":
    case "}":
    case "#":
      return "indicator";
    case "-":
    case "?":
    case ":":
      if (!flow && text[0] === "-" && text.charCodeAt(1) === space) return "nested-entry";
      if (flow || endsOrBlank(text, 1)) return "indicator";
      break;
    default:
  }
  if (text.includes("\t")) return "tab";
  if (!text.includes(":")) return null;
  return text.includes(": ") || text.endsWith(":") ? "colon" : null;
}

/** Where a key's name ends that begins at `from`: `from` itself where none does. */
function nameEnd(line: ByteString, from: number): number {
  if (!isKeyStart(line.charCodeAt(from))) return from;
  let at = from + 1;
  for (let unit = line.charCodeAt(at); isKeyStart(unit) || unit === dash || (unit >= 0x30 && unit <= 0x39); ) {
    at += 1;
    unit = line.charCodeAt(at);
  }
  return at;
}

function isKeyStart(unit: number): boolean {
  return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || unit === 0x5f;
}

/**
 * Where the colon of a key stands, or -1 where the line has none at `from`: a key, its colon, and then the end or a
 * blank (a tab is a blank here, and is refused as one later).
 */
function keyEnd(line: ByteString, from: number): number {
  const end = nameEnd(line, from);
  return end > from && line.charCodeAt(end) === colon && endsOrBlank(line, end + 1) ? end : -1;
}

function characterReason(found: ByteString): YamlReason {
  if (found === "\r") return "carriage-return";
  if (found === "\xef\xbb\xbf") return "byte-order-mark";
  if (found.startsWith("\xef")) return "noncharacter";
  return found.startsWith("\xe2") ? "separator" : "control";
}

/** What may stand behind a closing quote or bracket: blanks, and after one a comment. */
function trailing(line: ByteString, from: number, otherwise: YamlReason): YamlReason | null {
  const at = skipSpaces(line, from);
  if (at >= line.length) return null;
  if (line.charCodeAt(at) === tab) return "tab";
  return at > from && line.charCodeAt(at) === hash ? null : otherwise;
}

function skipSpaces(line: ByteString, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === space) at += 1;
  return at;
}

function skipBlanks(line: ByteString, from: number): number {
  let at = from;
  while (line.charCodeAt(at) === space || line.charCodeAt(at) === tab) at += 1;
  return at;
}

function trimSpaces(text: ByteString): ByteString {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === space) end -= 1;
  return text.slice(0, end);
}

function endsOrBlank(line: ByteString, at: number): boolean {
  const unit = line.charCodeAt(at);
  return at >= line.length || unit === space || unit === tab;
}

/** The leaves as `path=value` lines; a backslash and control characters are escaped as in JSON (contract, section 11). */
export function flattened(leaves: YamlLeaves): ByteString {
  let text = "";
  for (const [path, value] of leaves) text += `${path}=${value === null ? "[]" : escaped(value)}\n`;
  return text;
}

function escaped(value: ByteString): ByteString {
  if (!/[\\\x00-\x1f\x7f]|\xc2[\x80-\x9f]/.test(value)) return value;
  return value.replace(/[\\\x00-\x1f]|\x7f|\xc2[\x80-\x9f]/g, (found) => {
    if (found.length === 2) return `\\u00${found.charCodeAt(1).toString(16)}`;
    return found === "\x7f" ? "\\u007f" : JSON.stringify(found).slice(1, -1);
  });
}

/** The leaves as one JSON object on one line: paths to strings, or to `[]`. */
export function leavesJson(leaves: YamlLeaves): ByteString {
  const members = [...leaves].map(([path, value]) => `"${path}":${value === null ? "[]" : JSON.stringify(value)}`);
  return `{${members.join(",")}}\n`;
}
