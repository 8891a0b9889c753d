// What must hold after a call that failed or was killed, and after the clean call that follows.
import { call, leftOvers, noFault, restore, treeOf } from "./machine.ts";
import type { Fault, Tree } from "./machine.ts";
import { argumentsIn } from "./commands.ts";
import type { Writing } from "./commands.ts";

const ledgerPath = ".ai/local/state/ledger.jsonl";
const firstSeed = 1;
const secondSeed = 2;
const thirdSeed = 3;

/** A command tried without a fault: what it found, and what it makes of it. */
export interface Plain {
  readonly root: string;
  readonly writing: Writing;
  readonly args: readonly string[];
  readonly before: Tree;
  readonly after: Tree;
  readonly count: number;
}

export async function plain(root: string, writing: Writing, before: Tree): Promise<Plain> {
  const args = argumentsIn(before, writing);
  restore(root, before);
  const ended = await call({ root, args, seed: firstSeed, ...inputOf(writing) }, noFault);
  if (ended.status !== 0) throw new Error(`${writing.title}: ${ended.complaints.join("; ")}`);
  return { root, writing, args, before, after: treeOf(root), count: ended.count };
}

function inputOf(writing: Writing): { readonly input?: string } {
  return writing.input === undefined ? {} : { input: writing.input };
}

/** What is wrong after one fault; nothing, where all is well. */
export async function faultsOf(plainly: Plain, fault: Fault): Promise<string[]> {
  const { root, writing, args, before, after } = plainly;
  const wrong: string[] = [];
  restore(root, before);
  const ended = await call({ root, args, seed: firstSeed, ...inputOf(writing) }, fault);
  const where = `${writing.title}: ${fault.kind} ${fault.code} at ${fault.at} (${ended.failed ?? "nothing"}), status ${ended.status} ${JSON.stringify(ended.complaints)}`;
  const say = (what: string) => wrong.push(`${where}: ${what}`);
  const seen = treeOf(root);
  if (fault.kind !== "kill") {
    if (ended.status !== 0 && ended.status !== 13) say(`ended with ${ended.status}`);
    if (ended.status === 13 && ended.complaints.length !== 1) say("not one line");
    if (ended.status === 13 && ended.output !== "") say("a result");
    if (ended.complaints.some((line) => line.includes("internal fault"))) say("an internal fault");
    if (ended.status === 13 && fault.kind === "once") {
      for (const path of leftOvers(root)) if (!isForLater(path)) say(`left '${path}'`);
      if (writing.takesBack) for (const path of differing(before, seen)) say(`'${path}' is not as it was`);
    }
    if (ended.complaints.some((line) => line.startsWith("knowledge not derived"))) {
      // A failed derivation never fails the close: the next start derives.
      await call({ root, args: ["session", "start", "--if-open", "keep"], seed: secondSeed }, noFault);
      const derived = treeOf(root);
      for (const path of after.keys()) if (path.includes("/candidates/") && derived.get(path) !== after.get(path)) say(`'${path}' is not derived later`);
      return wrong;
    }
    if (ended.status === 0) for (const path of differing(after, seen)) say(`'${path}' is not as it should be`);
  }
  for (const path of differing(before, seen)) {
    if (path.split("/").at(-1)?.startsWith(".tmp.") === true || path.includes(".lock")) continue;
    const [old, is, is_to_be] = [before.get(path), seen.get(path), after.get(path)];
    if (is === is_to_be || (old === undefined && is === "644 " && path === ledgerPath) || (path === ledgerPath && isBetween(old, is, is_to_be))) continue;
    if (path.endsWith(".closing") && is === before.get(path.slice(0, -".closing".length))) continue;
    if (writing.title.startsWith("knowledge promote") && is === undefined) continue;
    say(`'${path}' is neither old nor new: ${JSON.stringify(is)}`);
  }
  // The clean call after it.
  if (ended.status === 0 && fault.kind !== "kill") return wrong;
  const second = await call({ root, args, seed: secondSeed, ...inputOf(writing) }, noFault);
  const last = treeOf(root);
  const same = normal(last, before, writing);
  const wanted = normal(after, before, writing);
  if (second.status !== 0 && !(writing.doneAlready?.includes(second.status) === true)) {
    say(`then ${second.status} ${JSON.stringify(second.complaints)}`);
  }
  for (const path of differing(wanted, same)) say(`in the end '${path}' is ${JSON.stringify(same.get(path))}, not ${JSON.stringify(wanted.get(path))}`);
  // What the same call need not touch, the next one that does clears.
  if (leftOvers(root).length > 0) {
    for (const later of [["session", "start", "--if-open", "keep"], ["knowledge", "derive"]]) await call({ root, args: later, seed: thirdSeed }, noFault);
  }
  for (const path of leftOvers(root)) say(`in the end '${path}' is left`);
  return wrong;
}

/** What stays for whoever holds the lock next: an end at its last steps, a record that the ledger names and that is not in its place. */
function isForLater(path: string): boolean {
  return path.endsWith(".closing") || /\/candidates\/\.tmp\.mj\w{6}$/.test(path);
}

function differing(left: Tree, right: Tree): string[] {
  return [...new Set([...left.keys(), ...right.keys()])].filter((path) => left.get(path) !== right.get(path) && !path.includes(".lock"));
}

/** Whether a ledger has what it had and some of the whole lines that it will have. */
function isBetween(old = "", is = "", toBe = ""): boolean {
  return is.startsWith(old) && toBe.startsWith(is) && is.endsWith("\n");
}

/** A tree without what chance and repetition make: new ids, the digest in a session record's name, lines that may stand twice. */
function normal(tree: Tree, before: Tree, writing: Writing): Tree {
  const known = new Set([...before].flatMap(([path, value]) => (path + value).match(ids) ?? []));
  const plainText = (text: string) =>
    text.replace(ids, (id) => (known.has(id) ? id : `${id.slice(0, -4)}NEW`)).replace(/(?<=--)[0-9a-f]{16}(?=\.md)/g, "DIGEST");
  const found = new Map<string, string>();
  for (const [path, value] of tree) {
    const text = plainText(value);
    const isStore = writing.again !== undefined && /(?:decisions|open-questions)\.md$/.test(path);
    found.set(plainText(path), path === ledgerPath ? linesOf(text, writing) : isStore ? onceEach(text) : text);
  }
  return found;
}

/** A store without the entries that stand twice because the act was done twice. */
function onceEach(text: string): string {
  return [...new Set(text.split(/\n(?=## |[0-9]+\. )/).map((entry) => entry.trim().replace(/^[0-9]+\. /, "")))].join("\n");
}

const ids = /[st]-[0-9]{14}-[0-9a-f]{4}/g;

function linesOf(text: string, { again = [] }: Writing): string {
  const seen = new Set<string>();
  const kept = text.split("\n").filter((line) => {
    const event = /"event":"([^"]*)"/.exec(line)?.[1] ?? "";
    const name = again.includes(event) ? event === "knowledge.derived" ? event : line : "";
    if (name !== "" && seen.has(name)) return false;
    seen.add(name);
    return true;
  });
  return kept.map((line) => (line.includes("knowledge.derived") ? line.replace(/"written".*/, "") : line)).join("\n");
}
