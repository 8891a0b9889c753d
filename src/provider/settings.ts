/**
 * Entries of ours in a settings file that is somebody else's (contract, section 10). Pure: text in, text out. What is not
 * ours stays byte for byte, and taking our entries out gives back the bytes from before.
 *
 * An entry is put behind the last one there, in the file's own style. Where a container has to be made for it, taking the
 * last entry out takes the container as well. A container that was there and empty must stay; the file alone has to
 * tell the two apart, in every clone. So one space marks it: it stands behind what the empty container held, before our
 * first entry (`{ ` and a line end). Made containers never have it. An editor that reformats the file removes the
 * mark; then there are no bytes from before to give back, and the emptied container goes.
 */
import { sortedBytes } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import { isObject } from "../ledger/events.ts";

/** One of our entries: a member of the list that `hooks` has under this name. */
export interface Entry {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface Plan {
  readonly entries: readonly Entry[];
  /** Members that stand behind `hooks` where we make it, unless the file has them. */
  readonly others: Readonly<Record<string, unknown>>;
  /** Whether a command is one of ours, of this version or another. */
  readonly isOurs: (command: string) => boolean;
}

/** A value in the text: where it stands, and what it holds. */
interface Node {
  readonly start: number;
  readonly end: number;
  /** The items of an array and the members of an object, in order. */
  readonly items?: readonly Item[];
  readonly isObject: boolean;
}

/** An item with its key, where it has one. */
interface Item {
  readonly key?: string;
  readonly start: number;
  readonly end: number;
  readonly value: Node;
}

/** A way down to an item: each container, and which of its items is meant. */
type Way = readonly (readonly [container: Node, index: number])[];

/** How our entries stand in a text: as they should, not at all, or otherwise. `null` is no file. */
export function stateOf(text: string | null, plan: Plan, path: string): "installed" | "missing" | "different" {
  const found = text === null ? [] : oursIn(text, scan(text, path), plan);
  if (found.length === 0) return "missing";
  return staleOf(found, plan).length === 0 && found.length === plan.entries.length ? "installed" : "different";
}

/** The text with our entries in it: the same text where they are there already. `null` is no file. */
export function withEntries(text: string | null, plan: Plan, path: string): string {
  if (text === null) return newText(plan);
  if (stateOf(text, plan, path) === "installed") return text;
  let current = text;
  for (const entry of plan.entries) {
    const found = oursIn(current, scan(current, path), plan).filter((one) => one.name === entry.name);
    const [only] = found;
    if (found.length === 1 && only !== undefined && only.isWhole) current = replaced(current, only, entry);
  }
  for (;;) {
    const found = oursIn(current, scan(current, path), plan);
    const [stale] = staleOf(found, plan);
    if (stale === undefined) break;
    const rest = without(current, stale.way, plan);
    if (rest === null) return newText(plan);
    current = rest;
  }
  for (const entry of plan.entries) {
    const found = oursIn(current, scan(current, path), plan);
    if (!found.some((one) => one.name === entry.name)) current = inserted(current, scan(current, path), entry, plan, path);
  }
  return current;
}

/** The text without our entries; `null` where nothing but what we made would be left: then the file is ours to remove. */
export function withoutEntries(text: string, plan: Plan, path: string): string | null {
  let current = text;
  for (;;) {
    // From the last one on, so that what was put in first, with its containers, goes last.
    const last = oursIn(current, scan(current, path), plan).at(-1);
    if (last === undefined) return current;
    const rest = without(current, last.way, plan);
    if (rest === null) return null;
    current = rest;
  }
}

function newText(plan: Plan): string {
  const hooks: Record<string, unknown[]> = {};
  for (const { name, value } of plan.entries) hooks[name] = [...(hooks[name] ?? []), value];
  return `${JSON.stringify({ hooks, ...plan.others }, null, 2)}\n`;
}

/** Something of ours that was found. */
interface Found {
  readonly name: string;
  readonly way: Way;
  /** Whether the whole entry is ours; else it is one command among others'. */
  readonly isWhole: boolean;
  readonly value: unknown;
}

/** What is ours, in the order of the text. */
function oursIn(text: string, root: Node, plan: Plan): Found[] {
  const hooks = root.items?.findIndex((item) => item.key === "hooks") ?? -1;
  const list = root.items?.[hooks]?.value;
  const found: Found[] = [];
  if (root.items === undefined || list?.items === undefined || !list.isObject) return found;
  list.items.forEach((event, at) => {
    if (event.value.isObject || event.value.items === undefined) return;
    event.value.items.forEach((item, index) => {
      const way: Way = [[root, hooks], [list, at], [event.value, index]];
      const name = event.key ?? "";
      const value = valueOf(text, item.value);
      const handlers = item.value.items?.find((member) => member.key === "hooks")?.value;
      if (handlers?.items === undefined || handlers.isObject) {
        if (isOurs(value, plan)) found.push({ name, way, isWhole: true, value });
        return;
      }
      const own = handlers.items.map((handler) => isOurs(valueOf(text, handler.value), plan));
      if (own.length > 0 && own.every(Boolean)) found.push({ name, way, isWhole: true, value });
      else if (own.includes(true)) {
        const member = item.value.items?.findIndex((one) => one.key === "hooks") ?? -1;
        own.forEach((ours, handler) => {
          if (ours) found.push({ name, way: [...way, [item.value, member], [handlers, handler]], isWhole: false, value });
        });
      }
    });
  });
  return found;
}

/** Whether a handler runs a command of ours, whatever its provider calls the command. */
function isOurs(handler: unknown, plan: Plan): boolean {
  return isObject(handler) && Object.values(handler).some((value) => typeof value === "string" && plan.isOurs(value));
}

/** What was found and is not as it should be, twice the same among it. */
function staleOf(found: readonly Found[], plan: Plan): Found[] {
  const wanted = plan.entries.map((entry) => `${entry.name}\n${canonical(entry.value)}`);
  return found.filter((one) => {
    const at = one.isWhole ? wanted.indexOf(`${one.name}\n${canonical(one.value)}`) : -1;
    if (at !== -1) wanted.splice(at, 1);
    return at === -1;
  });
}

/** A value as a text that does not depend on the order of its members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${sortedBytes(members).join(",")}}`;
}

function replaced(text: string, found: Found, entry: Entry): string {
  const [container, index] = found.way.at(-1) as Way[number];
  const item = container.items?.[index] as Item;
  if (canonical(found.value) === canonical(entry.value)) return text;
  const style = styleOf(text, container);
  return text.slice(0, item.start) + rendered(entry.value, style, lineIndent(text, item.start)) + text.slice(item.end);
}

/** Takes out an item, and the containers that were made for it. `null` where the whole file was. */
function without(text: string, way: Way, plan: Plan): string | null {
  for (let level = way.length - 1; level >= 0; level -= 1) {
    const [container, index] = way[level] as Way[number];
    const items = container.items as readonly Item[];
    const item = items[index] as Item;
    const held = text.slice(container.start + 1, (items[0] as Item).start);
    // What was put in with `hooks` goes with it.
    const last = level === 0 && isOthers(text, items.slice(index + 1), plan) ? items.length - 1 : index;
    if (index > 0 && last === items.length - 1) return text.slice(0, (items[index - 1] as Item).end) + text.slice((items[last] as Item).end);
    if (last < items.length - 1) return text.slice(0, item.start) + text.slice((items[last + 1] as Item).start);
    if (isMarked(held)) return text.slice(0, container.start + 1) + beforeMark(held) + text.slice(container.end - 1);
  }
  return null;
}

/** Whether members are those that stand behind a `hooks` of ours. */
function isOthers(text: string, items: readonly Item[], plan: Plan): boolean {
  if (items.length === 0) return false;
  const held = Object.fromEntries(items.map((item) => [item.key ?? "", valueOf(text, item.value)]));
  return canonical(held) === canonical(plan.others);
}

/** What stands between a container's opening and our mark's line end: all but the last line. */
function markedPart(held: string): string {
  const end = held.lastIndexOf("\n");
  return end === -1 ? held : held.slice(0, held[end - 1] === "\r" ? end - 1 : end);
}

function isMarked(held: string): boolean {
  return markedPart(held).endsWith(" ");
}

function beforeMark(held: string): string {
  return markedPart(held).slice(0, -1);
}

/** Puts an entry behind the last one of its list; makes the list, and `hooks`, where they are missing. */
function inserted(text: string, root: Node, entry: Entry, plan: Plan, path: string): string {
  const hooks = root.items?.find((item) => item.key === "hooks")?.value;
  if (hooks === undefined) {
    let made = appended(text, root, "hooks", { [entry.name]: [entry.value] });
    for (const [key, value] of Object.entries(plan.others)) {
      if (!root.items?.some((item) => item.key === key)) made = appended(made, scan(made, path), key, value);
    }
    return made;
  }
  if (!hooks.isObject) throw refuse("refused", `cannot use '${path}'`, '"hooks" is no object');
  const list = hooks.items?.find((item) => item.key === entry.name)?.value;
  if (list === undefined) return appended(text, hooks, entry.name, [entry.value]);
  if (list.isObject || list.items === undefined) throw refuse("refused", `cannot use '${path}'`, `"hooks.${entry.name}" is no list`);
  return appended(text, list, undefined, entry.value);
}

/** How a container is laid out: on lines of its own, or on one. */
interface Style {
  readonly isBlock: boolean;
  /** One step of indentation. */
  readonly unit: string;
  readonly lineEnd: string;
  /** What stands behind a colon and a comma on one line. */
  readonly gap: string;
}

function styleOf(text: string, container: Node): Style {
  const first = container.items?.[0];
  const isBlock = first === undefined ? text.trim().includes("\n") : text.slice(container.start, first.start).includes("\n");
  return {
    isBlock,
    // The file's own step: the indentation of the first line that has one.
    unit: /\n([ \t]+)["{[}\]]/.exec(text)?.[1] ?? "  ",
    lineEnd: /\r\n/.test(text) ? "\r\n" : "\n",
    gap: /":\S/.test(text) ? "" : " ",
  };
}

function appended(text: string, container: Node, key: string | undefined, value: unknown): string {
  const style = styleOf(text, container);
  const items = container.items ?? [];
  const last = items.at(-1);
  const indent = last === undefined ? lineIndent(text, container.start) + style.unit : lineIndent(text, last.start);
  const name = key === undefined ? "" : `${JSON.stringify(key)}:${style.isBlock ? " " : style.gap}`;
  const item = name + rendered(value, style, indent);
  if (last !== undefined) {
    const separator = style.isBlock ? `,${style.lineEnd}${indent}` : `,${style.gap}`;
    return text.slice(0, last.end) + separator + item + text.slice(last.end);
  }
  const held = text.slice(container.start + 1, container.end - 1);
  const opening = style.isBlock ? `${style.lineEnd}${indent}` : "";
  const closing = style.isBlock ? `${style.lineEnd}${lineIndent(text, container.start)}` : "";
  return `${text.slice(0, container.start + 1)}${held} ${opening}${item}${closing}${text.slice(container.end - 1)}`;
}

/** A value as text, its first line where it is put, the others indented. */
function rendered(value: unknown, style: Style, indent: string): string {
  if (style.isBlock) return JSON.stringify(value, null, style.unit).replaceAll("\n", style.lineEnd + indent);
  return onOneLine(value, style.gap);
}

function onOneLine(value: unknown, gap: string): string {
  if (Array.isArray(value)) return `[${value.map((item) => onOneLine(item, gap)).join(`,${gap}`)}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${gap}${onOneLine(member, gap)}`).join(`,${gap}`)}}`;
}

/** The white space that the line of a place begins with. */
function lineIndent(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", at - 1) + 1, at))?.[0] ?? "";
}

function valueOf(text: string, node: Node): unknown {
  return JSON.parse(text.slice(node.start, node.end)) as unknown;
}

/** Settings nest a few levels; what nests deeper is none. */
const depthLimit = 64;

/** Finds where everything stands in a strict JSON object. Refused (10): anything else, and a key that stands twice. */
function scan(text: string, path: string): Node {
  const refused = (detail: string) => refuse("refused", `cannot use '${path}'`, detail);
  try {
    JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    throw refused("it is no strict JSON (a comment, a trailing comma, or worse); add the entries by hand");
  }
  let at = text.startsWith("\ufeff") ? 1 : 0;
  const blanks = () => {
    while (/[ \t\r\n]/.test(text[at] ?? "")) at += 1;
  };
  const string = (): string => {
    const start = at;
    for (at += 1; text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
    at += 1;
    return JSON.parse(text.slice(start, at)) as string;
  };
  const value = (depth: number): Node => {
    if (depth > depthLimit) throw refused(`it nests deeper than ${depthLimit}`);
    const start = at;
    const opening = text[at];
    if (opening === '"') {
      string();
      return { start, end: at, isObject: false };
    }
    if (opening !== "{" && opening !== "[") {
      while (!/[,\]}\s]/.test(text[at] ?? ",")) at += 1;
      return { start, end: at, isObject: false };
    }
    const items: Item[] = [];
    const keys = new Set<string>();
    at += 1;
    for (blanks(); text[at] !== "}" && text[at] !== "]"; blanks()) {
      if (text[at] === ",") {
        at += 1;
        blanks();
      }
      const from = at;
      if (opening === "[") {
        const item = value(depth + 1);
        items.push({ start: from, end: item.end, value: item });
        continue;
      }
      const key = string();
      if (keys.has(key)) throw refused(`the key ${JSON.stringify(key)} stands twice in one object`);
      keys.add(key);
      blanks();
      at += 1;
      blanks();
      const member = value(depth + 1);
      items.push({ key, start: from, end: member.end, value: member });
    }
    at += 1;
    return { start, end: at, items, isObject: opening === "{" };
  };
  blanks();
  const root = value(0);
  if (!root.isObject) throw refused("it is no JSON object");
  return root;
}
