/** Differential fuzzing: what both readers are given, where they part, and the smallest case of it. */
import { spawnSync } from "node:child_process";
import { isUtf8 } from "node:buffer";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { frontMatterOf } from "../../src/format/front-matter.ts";
import { flattened, readYaml, readYamlFile } from "../../src/format/yaml-read.ts";
import type { YamlLeaves, YamlResult } from "../../src/format/yaml-read.ts";
import { bytesOfText } from "../../src/ground/bytes.ts";
import type { ByteString } from "../../src/ground/bytes.ts";
import { unreadableWords, yamlWords } from "../../src/ground/tables.ts";
import { defaultLayout, layoutOf, ledgerPath, openEpisodesPath } from "../../src/host/layout.ts";
import type { Layout } from "../../src/host/layout.ts";
import { isUnreadable, readRecord } from "../../src/knowledge/candidates.ts";
import { randomFrom } from "../support/random.ts";
import { document, mutant, record, repository } from "./generate.ts";
import { presentPairs, readersSay, shellReader, toolkitSays } from "./readers.ts";
import type { Pair, Said } from "./readers.ts";
import { difference } from "./same.ts";
import { textOf, writeTree } from "./tree.ts";
import type { Thing, Tree } from "./tree.ts";

export const kinds = ["repositories", "listings", "mutants", "documents"] as const;
export type Kind = (typeof kinds)[number];

/** How many of a kind one seed stands for. */
export const batchSizes: Readonly<Record<Kind, number>> = { repositories: 1, listings: 1000, mutants: 2000, documents: 5000 };

/** What both readers were given, and the smallest that they still differ about. */
export interface Finding {
  readonly kind: Kind;
  readonly seed: number;
  readonly pair: Pair;
  readonly args: readonly string[];
  readonly difference: string;
  readonly smallest: Tree;
  /** What the toolkit says of the smallest. */
  readonly toolkit: Said;
}

export interface FuzzOptions {
  readonly kind: Kind;
  /** The first seed; the batches after it have the next ones. */
  readonly seed: number;
  /** How many repositories, mutants or documents at least. */
  readonly count: number;
  /** The shell reader to run. */
  readonly reader?: string;
  readonly pairs?: readonly Pair[];
  /** How many findings are enough. */
  readonly enough?: number;
  readonly onProgress?: (done: number) => void;
}

export interface FuzzResult {
  readonly done: number;
  readonly findings: readonly Finding[];
}

/** Runs batches until `count` is reached or enough is found. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { kind, count, reader = shellReader, pairs = presentPairs(), enough = 1, onProgress } = options;
  const findings: Finding[] = [];
  const scratch = mkdtempSync(join(tmpdir(), "parity-"));
  let done = 0;
  try {
    for (let seed = options.seed; done < count && findings.length < enough; ) {
      // Many repositories are handed to one driver; the other kinds are batches as they are.
      const seeds = kind === "repositories" ? Math.min(200, count - done) : 1;
      const batch = { scratch, reader, pairs, enough: enough - findings.length, seeds: Array.from({ length: seeds }, (_, index) => seed + index) };
      const size = Math.min(batchSizes[kind], count - done);
      if (kind === "repositories") findings.push(...(await fuzzRepositories(batch)));
      else if (kind === "listings") findings.push(...(await fuzzListings(batch, size)));
      else if (kind === "mutants") findings.push(...(await fuzzMutants(batch, size)));
      else findings.push(...fuzzDocuments(batch, size));
      seed += seeds;
      done += kind === "repositories" ? seeds : size;
      onProgress?.(done);
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return { done, findings };
}

interface Batch {
  readonly scratch: string;
  readonly reader: string;
  readonly pairs: readonly Pair[];
  readonly seeds: readonly number[];
  /** How many findings are enough: to make one small takes long. */
  readonly enough: number;
}

const candidatesPath = ".ai/repo/knowledge/candidates";

/** The pair and the form that a seed is run with. */
function planOf(seed: number, pairs: readonly Pair[]): { readonly pair: Pair; readonly args: readonly string[] } {
  const form = Math.floor(seed / pairs.length) % 2 === 0 ? [] : ["--json"];
  return { pair: pairs[seed % pairs.length] as Pair, args: ["knowledge", "candidates", ...form] };
}

async function fuzzRepositories({ scratch, reader, pairs, seeds, enough }: Batch): Promise<Finding[]> {
  const folder = freshIn(scratch);
  const trees = seeds.map((seed) => repository(randomFrom(seed)));
  for (const [index, tree] of trees.entries()) writeTree(join(folder, String(index)), tree);
  const calls = seeds.map((seed, index) => ({ directory: join(folder, String(index)), ...planOf(seed, pairs) }));
  const said = await readersSay(calls, { reader });
  const findings: Finding[] = [];
  for (const [index, tree] of trees.entries()) {
    if (findings.length === enough) break;
    const seed = seeds[index] as number;
    const { pair, args } = planOf(seed, pairs);
    const found = difference(await toolkitSays(join(folder, String(index)), args), said[index] as Said);
    if (found !== null) findings.push(await shrunkTree({ kind: "repositories", seed, pair, args, scratch, reader }, tree));
  }
  rmSync(folder, { recursive: true, force: true });
  return findings;
}

/**
 * Repositories by thousands: what find would say of each is handed to one awk, which reads them all. It proves nothing of the
 * shell's own part, which the repositories do.
 */
async function fuzzListings({ scratch, reader, pairs, seeds, enough }: Batch, size: number): Promise<Finding[]> {
  const [first = 0] = seeds;
  const folder = freshIn(scratch);
  const { awk } = pairs[first % pairs.length] as Pair;
  const pair = pairs.find((one) => one.awk === awk) as Pair;
  const trees = Array.from({ length: size }, (_, index) => repository(randomFrom(first * size + index)));
  for (const [index, tree] of trees.entries()) writeTree(join(folder, String(index)), tree);
  const formOf = (index: number) => (index % 2 === 0 ? [] : ["--json"]);
  const asked = trees.map((tree, index) => listedBy(`${folder}/${index}`, formOf(index), tree));
  const said = listingsByAwk(awk, reader, scratch, asked);
  const findings: Finding[] = [];
  for (const [index, tree] of trees.entries()) {
    if (findings.length === enough) break;
    const args = ["knowledge", "candidates", ...formOf(index)];
    const directory = join(folder, String(index));
    const found = difference(await toolkitSays(directory, args), said[index] as Said);
    if (found !== null) findings.push(await shrunkTree({ kind: "listings", seed: first, pair, args, scratch, reader }, tree));
  }
  rmSync(folder, { recursive: true, force: true });
  return findings;
}

/** One repository as listings-many.awk takes it. */
function listedBy(root: string, form: readonly string[], tree: Tree): ByteString {
  const manifest = tree.get(".ai/manifest.yaml");
  const layout = layoutIn(root);
  const [candidates, knowledge, sessions] = [layout.candidates, layout.knowledge, layout.sessions].map(bytesOfText) as [string, string, string];
  const listed = [...tree].map(([path, thing]) => {
    const at = path.lastIndexOf("/");
    const name = path.slice(at + 1);
    const start = { [candidates]: "", [sessions]: "./", [openEpisodesPath]: "././" }[path.slice(0, at)];
    if (start === undefined || !/\.(?:md|yaml)$/.test(name) || name.startsWith(".") || name === "README.md") return "";
    const spelled = `${start}${path.slice(0, at)}/./${name}\n`;
    if (typeof thing === "string") return `${thing.includes("\0") ? `nul ${spelled}` : ""}${spelled}`;
    return "link" in thing ? `link ${spelled}` : "";
  });
  const nul = typeof manifest === "string" && manifest.includes("\0") ? "nul .ai/manifest.yaml\n" : "";
  const asked = [`${root}/`, form.length === 0 ? "text" : "json", tree.has(ledgerPath) ? ledgerPath : "", knowledge, sessions].join("\t");
  return `\x02${asked}\n${listed.join("")}${nul}.ai/manifest.yaml\n`;
}

/** Where a manifest that is refused puts the sections is all one: then nothing is listed. */
function layoutIn(root: string): Layout {
  try {
    return layoutOf(root);
  } catch {
    return defaultLayout(root);
  }
}

/** What awk prints on each stream for repositories; a file that forgets a repository's globals is made for it in `scratch`. */
function listingsByAwk(awk: string, reader: string, scratch: string, asked: readonly ByteString[]): Said[] {
  const reset = join(scratch, "many-reset.awk");
  const sources = ["candidates", "queue", "layout", "bytes"].map((name) => readFileSync(join(dirname(reader), "awk", `${name}.awk`), "latin1"));
  writeFileSync(reset, resetOf(sources.join("")));
  const { stdout, stderr } = awkSays(awk, reader, [reset, join(import.meta.dirname, "listings-many.awk")], asked.join(""));
  const errors = stderr.split("\x02");
  return [...stdout.matchAll(/([^\x02]*)\x02(\d+)\n/g)].map(([, text = "", status], index) => ({ status: Number(status), stdout: text, stderr: errors[index] ?? "" }));
}

/** The source of many_reset(): every global that says something of one repository becomes as it was at the start. */
function resetOf(source: string): string {
  const text = source.replace(/#.*|"(?:[^"\\\n]|\\.)*"/g, "");
  const globals = new Set(text.match(/\b(?:QUEUE|LISTED|LAYOUT|BYTES_WITH)[A-Z_]*\b/g));
  const lists = new Set([...text.matchAll(/\b([A-Z_]+)\[|\bin ([A-Z_]+)\b|\b([A-Z_]+_ORDER)\b/g)].flatMap(([, ...names]) => names));
  const lines = [...globals].map((name) => (lists.has(name) ? `\tsplit("", ${name})\n` : `\t${name} = none\n`));
  return `function many_reset(   none) {\n${lines.join("")}}\n`;
}

/** A record that can be read, and many mutants of it as files of one repository. */
export function mutantsOf(seed: number, count: number): Tree {
  const random = randomFrom(seed);
  const tree = new Map<ByteString, Thing>([[".ai/manifest.yaml", "schema: ai-repository/v1\n"]]);
  let whole = record(random);
  while (!isWhole(whole)) whole = record(random);
  for (let index = 0; index < count; index += 1) {
    let text = mutant(random, whole);
    if (random.below(4) === 0) text = mutant(random, text);
    tree.set(`${candidatesPath}/${String(index).padStart(5, "0")}.md`, text);
  }
  return tree;
}

function isWhole(text: ByteString): boolean {
  const read = readRecord("", Buffer.from(text, "latin1"));
  return read !== null && !isUnreadable(read);
}

async function fuzzMutants({ scratch, reader, pairs, seeds }: Batch, size: number): Promise<Finding[]> {
  const [seed = 0] = seeds;
  const folder = freshIn(scratch);
  const tree = mutantsOf(seed, size);
  writeTree(folder, tree);
  const pair = pairs[seed % pairs.length] as Pair;
  const findings: Finding[] = [];
  const forms = [["knowledge", "candidates"], ["knowledge", "candidates", "--json"]];
  const said = await readersSay(forms.map((args) => ({ pair, directory: folder, args })), { reader });
  for (const [index, args] of forms.entries()) {
    if (difference(await toolkitSays(folder, args), said[index] as Said) === null) continue;
    findings.push(await shrunkTree({ kind: "mutants", seed, pair, args, scratch, reader }, tree));
    break;
  }
  rmSync(folder, { recursive: true, force: true });
  return findings;
}

/** What `yaml flatten` says of a document; a refusal behind `!`. Both programs' answers are brought to this. */
export function flattenedBy(text: ByteString, front: boolean): { readonly said: ByteString; readonly leaves: YamlLeaves | null } {
  const refused = (reason: string) => ({ said: `!${reason}`, leaves: null });
  if (!isUtf8(Buffer.from(text, "latin1"))) return refused(unreadableWords.utf8);
  const matter = front ? frontMatterOf(text) : null;
  if (typeof matter === "string") return refused(unreadableWords[matter]);
  const result: YamlResult = matter === null ? readYamlFile(text) : readYaml(matter.yaml, matter.firstLine, true);
  if (result.refusal !== null) return refused(`line ${result.refusal.line}: ${yamlWords[result.refusal.reason]}`);
  return { said: flattened(result.leaves), leaves: result.leaves };
}

/** What the shell reader's awk says of many documents in one process. None may hold NUL, \002 or \377, which the way there does not carry. */
export function flattenedByAwk(awk: string, reader: string, texts: readonly ByteString[], front: boolean): ByteString[] {
  const input = texts.map((text) => `${text}\x02`).join("");
  return awkSays(awk, reader, [join(import.meta.dirname, "flatten-many.awk")], input, { MAJORDOMUS_FRONT: front ? "front" : "" }).stdout.split("\x02").slice(0, -1);
}

/** One awk with the shell reader's libraries and programs of these tests. */
function awkSays(awk: string, reader: string, programs: readonly string[], input: ByteString, environment: Readonly<Record<string, string>> = {}): Said {
  const libraries = ["tables", "bytes", "yaml", "json", "layout", "queue", "candidates"].map((name) => join(dirname(reader), "awk", `${name}.awk`));
  const [name = "", ...options] = awk.split(" ");
  const ended = spawnSync(name, [...options, ...[...libraries, ...programs].flatMap((path) => ["-f", path])], {
    input: Buffer.from(input, "latin1"),
    env: { ...process.env, LC_ALL: "C", ...environment },
    maxBuffer: 1 << 30,
  });
  const [stdout, stderr] = [ended.stdout.toString("latin1"), ended.stderr.toString("latin1")];
  if (ended.status !== 0) throw new Error(`${awk} ended with ${String(ended.status)}: ${stderr}`);
  return { status: 0, stdout, stderr };
}

/** Documents, half of them mutants of the one before. */
export function documentsOf(seed: number, count: number): ByteString[] {
  const random = randomFrom(seed);
  const texts: ByteString[] = [];
  let last = "";
  while (texts.length < count) {
    let text = random.below(2) === 0 ? document(random) : mutant(random, last);
    if (isFront(seed) && !text.startsWith("---")) text = `---\n${text}---\n`;
    if (/[\x00\x02\xff]/.test(text)) continue;
    texts.push(text);
    last = text;
  }
  return texts;
}

function isFront(seed: number): boolean {
  return seed % 3 === 0;
}

function fuzzDocuments({ reader, pairs, seeds }: Batch, size: number): Finding[] {
  const [seed = 0] = seeds;
  const pair = pairs[seed % pairs.length] as Pair;
  const front = isFront(seed);
  const texts = documentsOf(seed, size);
  const awked = flattenedByAwk(pair.awk, reader, texts, front);
  const at = texts.findIndex((text, index) => flattenedBy(text, front).said !== awked[index]);
  if (at === -1) return [];
  const differs = (text: ByteString) => flattenedByAwk(pair.awk, reader, [text], front)[0] !== flattenedBy(text, front).said;
  // What differs only after other documents cannot be made smaller than that.
  const text = differs(texts[at] as ByteString) ? shrunkText(texts[at] as ByteString, differs) : (texts[at] as ByteString);
  const { said } = flattenedBy(text, front);
  const refused = said.startsWith("!");
  return [
    {
      kind: "documents",
      seed,
      pair,
      args: ["yaml", "flatten", ...(front ? ["--front"] : []), "a.yaml"],
      difference: `${JSON.stringify(said)} and ${JSON.stringify(flattenedByAwk(pair.awk, reader, [text], front)[0])}`,
      smallest: new Map([["a.yaml", text]]),
      toolkit: {
        status: refused ? 10 : 0,
        stdout: refused ? "" : said,
        stderr: refused ? `majordomus: a.yaml: ${said.slice(1)}\n` : "",
      },
    },
  ];
}

interface Shrinking {
  readonly kind: Kind;
  readonly seed: number;
  readonly pair: Pair;
  readonly args: readonly string[];
  readonly scratch: string;
  readonly reader: string;
}

async function shrunkTree({ kind, seed, pair, args, scratch, reader }: Shrinking, tree: Tree): Promise<Finding> {
  let toolkit: Said = { status: null, stdout: "", stderr: "" };
  let runs = 0;
  const look = async (candidate: Tree): Promise<string | null> => {
    runs += 1;
    const folder = freshIn(scratch);
    writeTree(folder, candidate);
    const left = await toolkitSays(folder, args);
    const [right] = await readersSay([{ pair, directory: folder, args }], { reader });
    rmSync(folder, { recursive: true, force: true });
    const found = difference(left, right as Said);
    if (found !== null) toolkit = left;
    return found;
  };
  const differs = async (candidate: Tree) => runs < shrinkLimit && (await look(candidate)) !== null;
  const kept = [...tree].filter(([path]) => path === ".ai/manifest.yaml");
  const rest = [...tree].filter(([path]) => path !== ".ai/manifest.yaml");
  let smallest = new Map([...kept, ...(await shrunkList(rest, (part) => differs(new Map([...kept, ...part]))))]);
  for (const [path, thing] of smallest) {
    if (typeof thing !== "string") continue;
    const withText = (text: ByteString) => new Map([...smallest, [path, text]]);
    const lines = await shrunkList(thing.split(/(?<=\n)/), (part) => differs(withText(part.join(""))));
    const bytes = await shrunkList([...lines.join("")], (part) => differs(withText(part.join(""))));
    smallest = withText(bytes.join(""));
  }
  const found = await look(smallest);
  return { kind, seed, pair, args, difference: found ?? "no difference when it is run again", smallest, toolkit };
}

/** How many times the readers are run to make one finding smaller. */
const shrinkLimit = 1000;

/** The smallest part of a list that this way finds: pieces are left out while what is left still differs. */
async function shrunkList<Item>(items: readonly Item[], differs: (part: readonly Item[]) => Promise<boolean>): Promise<readonly Item[]> {
  let left = items;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const part = [...left.slice(0, at), ...left.slice(at + size)];
      if (await differs(part)) left = part;
      else at += size;
    }
  }
  return left;
}

function shrunkText(text: ByteString, differs: (text: ByteString) => boolean): ByteString {
  let left = text;
  for (let size = Math.ceil(left.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < left.length; ) {
      const part = left.slice(0, at) + left.slice(at + size);
      if (differs(part)) left = part;
      else at += size;
    }
  }
  return left;
}

let folders = 0;

function freshIn(scratch: string): string {
  folders += 1;
  const folder = join(scratch, String(folders));
  mkdirSync(folder);
  return folder;
}

/** A finding as a case of test/parity/cases. */
export function caseOf({ kind, seed, args, smallest, toolkit }: Finding): string {
  const files: Record<string, unknown> = {};
  for (const [path, thing] of smallest) files[textOf(path)] = typeof thing === "string" ? textOf(thing) : thing;
  const { status, stdout, stderr } = toolkit;
  return JSON.stringify(
    { title: `fuzz: ${kind}, seed ${seed}`, files, call: args, status, stdout: textOf(stdout), stderr: textOf(stderr) },
    null,
    2,
  ).replace(/[\ud800-\udfff](?![\udc00-\udfff])/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`);
}
