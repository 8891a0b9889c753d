/**
 * Random YAML, records and repositories, in bytes: mostly whole, in every style that the subset has, and damaged here and
 * there. Everything is drawn from the generator given, so that a seed names a repository.
 */
import type { ByteString } from "../../src/ground/bytes.ts";
import type { Random } from "../support/random.ts";
import { bytesOf } from "./tree.ts";
import type { Thing, Tree } from "./tree.ts";

const episodes = ["s-20261008090000-77aa", "s-20261008143000-0c2d", "s-20261009100000-1a2b", "s-20261010110000-ffff", "s\u00e9", "10", "9"];

/** Words and marks that readers disagree about. */
const words = [
  "a", "b c", "lib/a.sh", "no", "null", "~", "1e3", "010", "0x1F", "2026-10-09", "12:30:45", "10", "9", "1.0", "true", "-1", "+1", ".5", ".inf",
  "<<", "=", "é", "日本語", "😀", "～", "\u00a0", "a#b", "a:b", "http://x/y", "-a", "?a", ":a", "--", "---", "...", "a'b", 'a"b', "a\\b", "\\n", "%s", "%d", "$x", "`x",
  "{x}", "[x]", "x]", "a,b", "a, b", "&", "a & b", "|", "a|b", "* x", "x:", "x: y", "# x", "x #y", "@x", "!x", "%x", " x", "x ", "*", "session:x", "candidate", "1 2",
].map(bytesOf);

const keys = ["a", "b", "c", "id", "kind", "status", "title", "_x", "A-b_9", "k1", "key", "__proto__", "constructor", "length"];

/** Bytes that are put in when something is damaged. */
const marks = [
  " ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", "-", "- ", "?", "? ", ":", ": ", ",", ", ", "[", "]", "{", "}", "#", " #", "&", "*", "!", "|", ">", "'", "''", '"', '\\"', "%", "@", "`",
  "---\n", "---", "...\n", "...", "%YAML 1.2\n", "<<<<<<< HEAD\n", "=======\n", ">>>>>>> b\n", "\\", "\\\\", "\\x41", "\\u0041", "\\U0001F600", "\\ud83d", "\\0", "\\x00", "\\q", "\\N", "\\/",
  "\x00", "\x01", "\x02", "\x07", "\x0b", "\x0c", "\x1b", "\x7f", "\xc2\x85", "\xc2\x9f", "\xc2\xa0", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xef\xbb\xbf", "\xef\xbf\xbe", "\xef\xbf\xbf", "\xef\xbf\xbd",
  "\x80", "\xbf", "\xc0\x80", "\xc1", "\xc2", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x9f\x98\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5", "\xfe", "\xff", "\xe2\x80", "\xef\xbf",
  "a", "0", "key: value\n", "key:\n", "- x\n", "  - x\n", "  x: y\n", "id: x\n", "status: superseded\n", "[]", "[a, b]", "''", '""',
];

const simpleEscapes = ["\\a", "\\b", "\\t", "\\n", "\\v", "\\f", "\\r", "\\e", "\\ ", '\\"', "\\/", "\\\\", "\\N", "\\_", "\\L", "\\P", "\\x7f", "\\x01", "\\u00e9", "\\u2028", "\\uFEFF", "\\U0001f600", "\\\t"];

const chance = (random: Random, percent: number) => random.below(100) < percent;

/** A scalar in a style of its own. Not always one that the subset has: the words are drawn without a look. */
export function scalar(random: Random): ByteString {
  const text = chance(random, 80) ? random.pick(words) : random.text(words, 1 + random.below(3));
  switch (random.below(10)) {
    case 0:
    case 1:
      return `'${text.replace(/'/g, "''")}'`;
    case 2:
    case 3:
      return `"${text.replace(/["\\]/g, "\\$&")}"`;
    case 4:
      return `"${text.replace(/["\\]/g, "\\$&")}${random.text(simpleEscapes, 1 + random.below(3))}${random.below(2) === 0 ? "" : "x"}"`;
    case 5:
      return random.below(2) === 0 ? "" : `"${random.text(["\t", "x", "\\\\", '\\"', "''", "# "], random.below(4))}"`;
    case 6:
      return random.text(["a", "1", "-", ".", "/", "_", "é", "x y"].map(bytesOf), 1 + random.below(6));
    default:
      return text;
  }
}

function flow(random: Random): ByteString {
  const blank = () => (chance(random, 20) ? " " : "");
  const items: ByteString[] = [];
  for (let left = random.below(4); left > 0; left -= 1) items.push(`${blank()}${scalar(random) || "''"}${blank()}`);
  return `[${items.join(chance(random, 80) ? ", " : ",")}${blank()}]`;
}

function comment(random: Random): ByteString {
  return chance(random, 8) ? `${" ".repeat(1 + random.below(3))}# ${random.pick(words)}` : chance(random, 5) ? "  " : "";
}

/** Lines of a mapping at a column. */
function mapping(random: Random, column: number, depth: number, lead: ByteString): ByteString[] {
  const lines: ByteString[] = [];
  const indent = " ".repeat(column);
  let first = lead;
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const key = random.below(30) === 0 ? random.text(["k", "-", "_", "9"], 2) : random.pick(keys);
    const start = `${first === "" ? indent : first}${key}:`;
    first = "";
    lines.push(...entry(random, start, column, depth));
    if (chance(random, 6)) lines.push(random.pick(["", "   ", `${indent}# c`, "# c", "  # \t"]));
  }
  return lines;
}

function entry(random: Random, start: ByteString, column: number, depth: number): ByteString[] {
  const kind = depth > 3 ? random.below(6) : random.below(10);
  if (kind < 5) return [`${start}${" ".repeat(1 + (random.below(8) === 0 ? 1 : 0))}${scalar(random)}${comment(random)}`];
  if (kind === 5) return [`${start} ${flow(random)}${comment(random)}`];
  const head = `${start}${comment(random)}`;
  if (kind < 8) return [head, ...mapping(random, column + 2 + random.below(3), depth + 1, "")];
  return [head, ...sequence(random, column + random.below(4), depth + 1)];
}

function sequence(random: Random, column: number, depth: number): ByteString[] {
  const lines: ByteString[] = [];
  const indent = " ".repeat(column);
  for (let left = 1 + random.below(3); left > 0; left -= 1) {
    const blanks = " ".repeat(1 + (random.below(6) === 0 ? random.below(3) : 0));
    const kind = random.below(8);
    if (kind < 4) lines.push(`${indent}-${blanks}${scalar(random)}${comment(random)}`);
    else if (kind === 4) lines.push(`${indent}-${blanks}${flow(random)}${comment(random)}`);
    else if (kind === 5) lines.push(`${indent}-${comment(random)}`);
    else if (kind === 6 && depth < 4) lines.push(`${indent}-`, ...mapping(random, column + 2 + random.below(2), depth + 1, ""));
    else lines.push(...mapping(random, column + 1 + blanks.length, depth + 1, `${indent}-${blanks}`));
    if (chance(random, 4)) lines.push(random.pick(["", `${indent}# c`]));
  }
  return lines;
}

function joined(random: Random, lines: readonly ByteString[]): ByteString {
  const ending = chance(random, 15) ? "\r\n" : "\n";
  const text = lines.map((line) => line + (chance(random, 1) ? "\r\n" : ending)).join("");
  return chance(random, 5) ? text.slice(0, -1) : text;
}

/** A YAML document, damaged once in a while. */
export function document(random: Random): ByteString {
  const lead = `${chance(random, 5) ? "\xef\xbb\xbf" : ""}${chance(random, 8) ? random.pick(["---\n", "---  \n", "# c\n---\n", "---\r\n", "\n---\n"]) : ""}`;
  const text = lead + joined(random, mapping(random, 0, 0, ""));
  return chance(random, 40) ? damaged(random, text) : text;
}

/** A text with one to three things wrong with it, or not. */
export function damaged(random: Random, text: ByteString): ByteString {
  let changed = text;
  for (let left = 1 + (chance(random, 25) ? 1 + random.below(2) : 0); left > 0; left -= 1) changed = mutant(random, changed);
  return changed;
}

/** A text that differs from this one in one place: bytes or lines deleted, doubled, swapped, replaced, put in. */
export function mutant(random: Random, text: ByteString): ByteString {
  const at = random.below(text.length + 1);
  const put = (from: number, to: number, piece: ByteString) => text.slice(0, from) + piece + text.slice(to);
  switch (random.below(14)) {
    case 0:
      return put(at, Math.min(at + 1 + (chance(random, 20) ? random.below(6) : 0), text.length), "");
    case 1:
      return put(at, at, text.slice(at, at + 1 + random.below(3)));
    case 2:
      return at + 1 < text.length ? put(at, at + 2, `${text[at + 1] ?? ""}${text[at] ?? ""}`) : text.slice(0, -1);
    case 3:
    case 4:
    case 5:
    case 6:
      return put(at, at, random.pick(marks));
    case 7:
    case 8:
      return put(at, at + 1, random.pick(marks));
    case 9:
      return chance(random, 30) ? text.slice(0, at) : text.slice(at > 200 ? 0 : at);
    default:
      return withLines(random, text);
  }
}

function withLines(random: Random, text: ByteString): ByteString {
  const lines = text.split("\n");
  const at = random.below(lines.length);
  const other = random.below(lines.length);
  const line = lines[at] ?? "";
  switch (random.below(9)) {
    case 0:
      lines.splice(at, 1);
      break;
    case 1:
      lines.splice(other, 0, line);
      break;
    case 2:
      lines[at] = lines[other] ?? "";
      lines[other] = line;
      break;
    case 3:
      lines[at] = `${" ".repeat(1 + random.below(3))}${line}`;
      break;
    case 4:
      lines[at] = line.replace(/^ {1,2}/, "");
      break;
    case 5:
      lines.splice(at, 2, `${line}${lines[at + 1] ?? ""}`);
      break;
    case 6:
      lines[at] = `${line}${random.pick([" ", "\t", "\r", " #", " # c", "#", ":", " :", "'", '"', "]", ","])}`;
      break;
    case 7:
      lines.splice(at, 0, `${/^ */.exec(line)?.[0] ?? ""}${random.pick(["- ", "-", "", "k: ", "# "])}${scalar(random)}`);
      break;
    default:
      lines[at] = line.replace(/^( *(?:- )?[\w-]+:).*$/s, (_, head: string) => `${head} ${scalar(random)}`);
  }
  return lines.join("\n");
}

const bodies = ["\n# t\n\nd\n", "", "\n", "body\n---\nmore\n", "\n---\n", "\x01\n", "a\x00b\n", "\xff\n", "no line feed", "\r\n", "x\x01", "\x01"];

/** A record, whole as a rule. */
export function record(random: Random): ByteString {
  const fields: ByteString[] = [];
  const id = chance(random, 80) ? `${random.pick(episodes).replace("\u00e9", "e")}-${random.text(["a", "1", "f", "0"], 3)}` : scalar(random);
  const add = (key: string, value: ByteString) => fields.push(`${key}: ${value}${comment(random)}`);
  const style = (value: ByteString) => random.pick([value, `"${value}"`, `'${value}'`]);
  if (chance(random, 80)) add("schema", "knowledge/v1");
  if (chance(random, 97)) add("id", style(id));
  add("kind", chance(random, 95) ? "knowledge" : random.pick(["context", "'context'", "[context]", "Context"]));
  if (chance(random, 90)) add("class", chance(random, 80) ? "lesson" : scalar(random));
  if (chance(random, 90)) add("title", scalar(random));
  if (chance(random, 97)) {
    add("status", style(random.pick(["candidate", "candidate", "candidate", "superseded", "superseded", "verified", random.pick(words)])));
  }
  if (chance(random, 80)) add("epistemics", "observed");
  if (chance(random, 90)) add("date", chance(random, 85) ? "2026-10-09" : scalar(random));
  if (chance(random, 60)) fields.push(...entry(random, "tags:", 0, 2));
  if (chance(random, 75)) add("about", chance(random, 70) ? random.pick(["lib/a.sh", '"lib/a.sh"', "lib/b", "10", "9", '"～"', '"😀"'].map(bytesOf)) : scalar(random));
  if (chance(random, 70)) add("route", random.pick(["project", "platform", "generator", scalar(random)]));
  if (chance(random, 85)) fields.push(...provenance(random));
  if (chance(random, 15)) fields.push(...mapping(random, 0, 2, ""));
  if (chance(random, 10)) {
    const at = random.below(fields.length);
    fields.splice(at, 0, ...fields.splice(random.below(fields.length), 1));
  }
  const fence = () => `---${chance(random, 5) ? random.pick([" ", "\t", "  \t", "\r"]) : ""}`;
  const text = joined(random, [fence(), ...fields, fence()]);
  return (chance(random, 4) ? "\xef\xbb\xbf" : "") + text + (chance(random, 80) ? "\n# t\n\nd\n" : random.pick(bodies));
}

function provenance(random: Random): ByteString[] {
  const from = [random.pick(episodes), random.pick(episodes)].map((episode) => bytesOf(`session:${episode}`));
  const items = [...from.slice(0, random.below(3)), "task:t-20261009101500-0a1b", "file:lib/a.sh"].slice(0, 1 + random.below(4));
  if (chance(random, 20)) items.reverse();
  const head = ["provenance:", "  origin: extracted"];
  if (chance(random, 20)) return [...head, `  derived_from: [${items.join(", ")}]`];
  if (chance(random, 5)) return [...head, "  derived_from: []"];
  if (chance(random, 5)) return [...head, `  derived_from: ${items[0] ?? ""}`];
  if (chance(random, 5)) return [...head, "  derived_from:", `    - ${items[0] ?? ""}`, "    - k: session:x", "    - [session:y]", `    - ${items[1] ?? ""}`];
  const indent = random.pick(["  ", "    ", "   "]);
  return [...head, "  derived_from:", ...items.map((item) => `${indent}- ${chance(random, 85) ? item : `"${item}"`}`)];
}

/** Front matter or YAML that names an episode and its branch. */
function naming(random: Random): ByteString {
  const lines: ByteString[] = [];
  const episode = bytesOf(random.pick(episodes));
  if (chance(random, 90)) lines.push(`session_id: ${chance(random, 80) ? episode : `"${episode}"`}`);
  if (chance(random, 90)) lines.push(`branch: ${chance(random, 70) ? random.pick(["main", "trunk", "feature/x"]) : scalar(random)}`);
  if (chance(random, 40)) lines.push(...mapping(random, 0, 2, ""));
  if (chance(random, 20)) lines.reverse();
  return joined(random, lines);
}

export function sessionRecord(random: Random): ByteString {
  const text = `---\n${naming(random)}---\n${chance(random, 80) ? "\n# t\n" : random.pick(bodies)}`;
  return chance(random, 20) ? damaged(random, text) : text;
}

export function openFile(random: Random): ByteString {
  const text = naming(random);
  return chance(random, 20) ? damaged(random, text) : text;
}

const jsonMarks = [
  '"', "\\", "{", "}", "[", "]", ",", ":", " ", "\t", "\r", "\x00", "\x01", "\x1f", "\x7f", "\xff", "\xc2\x85", "\xe2\x80\xa8", "\xef\xbb\xbf", "\\u0000", "\\ud83d", "\\udc00", "\\ud83d\\ude00",
  "\\u0073", "\\x", "\\n", "null", "true", "1", "-", "-0", "01", "1.", "1e5", "1E+", ".5", "NaN", "'", "//", '"session":"10",', '"branch":"b",', "session.started",
];

/** A value in JSON, spelled in one of its ways. */
function jsonValue(random: Random, depth: number): ByteString {
  const kind = random.below(depth > 2 ? 5 : 8);
  if (kind < 2) return jsonText(random, random.pick(words));
  if (kind === 2) return random.pick(["0", "-0", "10", "-1.5", "1e3", "1E-3", "2.50e+10", "12345678901234567890"]);
  if (kind < 5) return random.pick(["true", "false", "null", '""', "{}", "[]"]);
  const blank = () => (chance(random, 20) ? random.pick([" ", "\t", "  "]) : "");
  const items: ByteString[] = [];
  for (let left = random.below(3); left > 0; left -= 1) {
    items.push(kind < 6 ? blank() + jsonValue(random, depth + 1) : `${jsonText(random, random.pick(words))}${blank()}:${jsonValue(random, depth + 1)}${blank()}`);
  }
  return kind < 6 ? `[${items.join(",")}${blank()}]` : `{${blank()}${items.join(",")}}`;
}

/** A JSON string of this text, some of it escaped. */
function jsonText(random: Random, bytes: ByteString): ByteString {
  const text = Buffer.from(bytes, "latin1").toString("utf8");
  if (chance(random, 70)) return bytesOf(JSON.stringify(text));
  let spelled = "";
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const escape = `\\u${unit.toString(16).padStart(4, "0")}`;
    if (chance(random, 40)) spelled += chance(random, 50) ? escape : escape.replace(/[a-f]/g, (digit) => digit.toUpperCase());
    else if (unit >= 0xd800 && unit <= 0xdfff) spelled += escape;
    else spelled += JSON.stringify(text[at] ?? "").slice(1, -1);
  }
  return bytesOf(`"${spelled}"`);
}

/** A line of the ledger, without its line feed. */
export function ledgerLine(random: Random): ByteString {
  const members: [string, ByteString][] = [
    ["ts", chance(random, 92) ? '"2026-10-08T14:30:00Z"' : random.pick(['"2026-10-08"', "5", '"2026-10-08T14:30:00z"', '"2026-99-99T99:99:99Z"', '""'])],
    ["event", chance(random, 85) ? jsonText(random, "session.started") : random.pick(['"session.closed"', '"x"', "null", '["session.started"]'])],
    ["head", '"NONE"'],
    ["branch", chance(random, 85) ? jsonText(random, random.pick(["main", "trunk", "x y"])) : jsonValue(random, 1)],
    ["session", chance(random, 92) ? jsonText(random, bytesOf(random.pick(episodes))) : jsonValue(random, 1)],
    ["owner", jsonValue(random, 0)],
  ];
  if (chance(random, 15)) members.splice(random.below(members.length), 1);
  if (chance(random, 15)) members.splice(random.below(members.length), 0, random.pick(members));
  if (chance(random, 15)) members.splice(random.below(members.length), 0, ["session", jsonText(random, bytesOf(random.pick(episodes)))]);
  if (chance(random, 10)) members.splice(random.below(members.length), 0, ["nested", `{"session":"9","x":${jsonValue(random, 1)}}`]);
  const blank = () => (chance(random, 3) ? random.pick([" ", "\t", "\r"]) : "");
  const line = `${blank()}{${members
    .map(([key, value]) => `${blank()}${chance(random, 95) ? `"${key}"` : jsonText(random, key)}${blank()}:${blank()}${value}${blank()}`)
    .join(",")}}${blank()}`;
  if (!chance(random, 25)) return line;
  const at = random.below(line.length + 1);
  const cut = random.below(3);
  return line.slice(0, at) + (chance(random, 70) ? random.pick(jsonMarks) : "") + line.slice(at + cut);
}

const names = ["a", "b", "c", "d", "e", "x y", "-dash", "a=b", "z'q", 'q"', "back\\slash", "new\nline", "\nlead", "é", "日本", "\udcff", "\udce9x", "tab\t", "*", "[a]", "$(x)", "a.md", "A", "~", "#x", "%s", "esc\x1b[0m", "\u0085"].map(
  bytesOf,
);

/** A whole repository. */
export function repository(random: Random): Tree {
  const tree = new Map<ByteString, Thing>();
  const places = chance(random, 94)
    ? { knowledge: "repo/knowledge", sessions: "repo/sessions" }
    : { knowledge: random.pick(["repo/k", "k", "./repo//knowledge/", "repo/knowledge/."]), sessions: random.pick(["repo/s", "s/t", "repo/sessions/"]) };
  const manifest = `schema: ai-repository/v1\nsections:\n  policy: repo/policy.yaml\n  knowledge: ${places.knowledge}\n  sessions: ${places.sessions}\n`;
  tree.set(".ai/manifest.yaml", chance(random, 97) ? manifest : damaged(random, manifest));
  const normal = (path: string) => `.ai/${path.split("/").filter((part) => part !== "" && part !== ".").join("/")}`;
  const candidates = `${normal(places.knowledge)}/candidates`;
  const sessions = normal(places.sessions);
  const open = ".ai/local/state/sessions-open";
  for (let left = random.below(7); left > 0; left -= 1) tree.set(`${candidates}/${fileName(random, ".md")}`, candidateThing(random));
  for (let left = random.below(4); left > 0; left -= 1) tree.set(`${sessions}/${fileName(random, ".md")}`, other(random) ?? sessionRecord(random));
  for (let left = random.below(3); left > 0; left -= 1) tree.set(`${open}/${fileName(random, ".yaml")}`, other(random) ?? openFile(random));
  if (chance(random, 70)) {
    let ledger = "";
    for (let left = random.below(6); left > 0; left -= 1) ledger += `${chance(random, 95) ? ledgerLine(random) : random.pick(["", "42", "null", "[]", "   ", "{}"])}\n`;
    tree.set(".ai/local/state/ledger.jsonl", chance(random, 85) ? ledger : ledger.slice(0, -1));
  }
  return tree;
}

function fileName(random: Random, ending: string): ByteString {
  if (chance(random, 3)) return random.pick(["README.md", ".hidden.md", "note.txt", "x.md~", ".md", "x.MD", ".yaml", "README.yaml"]);
  return `${random.pick(names)}${random.below(3)}${ending}`;
}

function candidateThing(random: Random): Thing {
  const special = other(random);
  if (special !== null) return special;
  const text = record(random);
  if (chance(random, 30)) return damaged(random, text);
  return chance(random, 3) ? document(random) : text;
}

/** What is no file, once in a while. */
function other(random: Random): Thing | null {
  const kind = random.below(100);
  if (kind === 0) return { folder: true };
  return kind < 4 ? { link: random.pick(["a0.md", "nowhere", "/etc/passwd", "."]) } : null;
}
