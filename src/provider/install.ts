/** Wiring a provider's events to us, in its own settings of this repository (contract, section 10). */
import { isUtf8 } from "node:buffer";
import { dirname } from "node:path";
import { compareBytes } from "../ground/bytes.ts";
import { refuse } from "../ground/errors.ts";
import type { Refusal } from "../ground/errors.ts";
import { readBytes, removeEmptyFolder, removeFile, removeTemporaries, replaceFile } from "../host/files.ts";
import { fileStatus, isFile, nameExists, readNamed, realPath } from "../host/folder.ts";
import { makeInside } from "../host/inside.ts";
import { isBelow } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { isObject } from "../ledger/events.ts";
import { underLedger } from "../ledger/ledger.ts";
import type { Place } from "../episode/act.ts";
import { providerEvents } from "./events.ts";
import { stateOf, withEntries, withoutEntries } from "./settings.ts";
import type { Entry, Plan } from "./settings.ts";
import { programPath, shellWord } from "./toolkit.ts";

/** What the toolkit knows of a provider's settings: `share/provider/<provider>.json`. */
export interface ProviderSettings {
  /** The file, from the repository's root. */
  readonly settings: string;
  /** What the provider's timeouts count, `null` where it has none. */
  readonly timeout?: "seconds" | "milliseconds" | null;
  /** The variable that gives a hook the repository's root, `null` where the provider sets none. */
  readonly directory?: string | null;
  /** What a settings file of this provider has beside `hooks`. */
  readonly others?: Readonly<Record<string, unknown>>;
  /** Our entries; `{command}` stands for the command. */
  readonly events?: readonly { readonly event: string; readonly name: string; readonly entry: Readonly<Record<string, unknown>> }[];
  /** A plugin of our own instead of entries, beside this file; `{commands}` stands for the command of each event. */
  readonly plugin?: string;
  /** What the user has to do beside. */
  readonly note?: string;
}

const dataPath = "share/provider";

export function readProviderSettings(home: string, provider: string): ProviderSettings {
  const path = `${dataPath}/${provider}.json`;
  return JSON.parse(readNamed(`${home}/${path}`, path).toString("utf8")) as ProviderSettings;
}

export interface Installed {
  /** The settings file, from the root. */
  readonly path: string;
  readonly done: "installed" | "removed" | "unchanged";
  readonly note?: string;
}

/** Merges our entries into a provider's settings. Refused (10): a file that is no strict JSON, or lies outside. */
export function installProvider(place: Place, provider: string): Installed {
  const target = targetOf(place, provider);
  const { path, note } = target;
  const text = target.with(target.text);
  if (text !== target.text) underLedger(place.layout, () => write(place.layout, target, text), place.wait);
  return { path, done: text === target.text ? "unchanged" : "installed", ...(note === undefined ? {} : { note }) };
}

/** Takes our entries out again; the file has the bytes from before, or is gone where it was ours alone. */
export function removeProvider(place: Place, provider: string): Installed {
  const target = targetOf(place, provider);
  const { path, text } = target;
  const rest = text === null ? null : target.without(text);
  if (rest === text) return { path, done: "unchanged" };
  underLedger(place.layout, () => (rest === null ? removeOurs(place.layout, target) : write(place.layout, target, rest)), place.wait);
  return { path, done: "removed" };
}

/** Refuses as drift (11) where our entries are missing or other than they should be. */
export function checkProvider(place: Place, provider: string): Installed {
  const target = targetOf(place, provider);
  const { path } = target;
  const state = target.state(target.text);
  if (state === "installed") return { path, done: "unchanged" };
  const what = state === "missing" ? `our entries are missing from '${path}'` : `our entries in '${path}' are other than they should be`;
  throw refuse("drift", what, `run 'majordomus capture install --provider ${provider}'`);
}

/** How a shell calls us for an event; nothing is said and nothing done where the toolkit is gone. */
export function eventCommand(place: Place, provider: string, event: string): string {
  return commandOf(place, readProviderSettings(place.home, provider).directory ?? null, provider, event);
}

interface Target {
  /** As the settings name it. */
  readonly path: string;
  /** Where it is, links followed. */
  readonly file: string;
  /** What it holds; `null` where there is none. */
  readonly text: string | null;
  readonly note?: string;
  readonly state: (text: string | null) => "installed" | "missing" | "different";
  readonly with: (text: string | null) => string;
  readonly without: (text: string) => string | null;
}

function targetOf(place: Place, provider: string): Target {
  const { layout, home } = place;
  const settings = readProviderSettings(home, provider);
  const path = settings.settings;
  const file = fileOf(layout, path);
  const bytes = nameExists(file) ? readBytes(file) : null;
  if (bytes !== null && !isUtf8(bytes)) throw outOf(path, "it is not UTF-8");
  const text = bytes?.toString("utf8") ?? null;
  const target = { path, file, text, ...(settings.note === undefined ? {} : { note: settings.note }) };
  if (settings.plugin !== undefined) return { ...target, ...ownFile(place, provider, path, settings.plugin) };
  const plan = planOf(place, provider, settings);
  return {
    ...target,
    state: (given) => stateOf(given, plan, path),
    with: (given) => withEntries(given, plan, path),
    without: (given) => withoutEntries(given, plan, path),
  };
}

function planOf(place: Place, provider: string, { events = [], others = {}, directory = null }: ProviderSettings): Plan {
  const entries: Entry[] = events.map(({ event, name, entry }) => {
    const command = commandOf(place, directory, provider, event);
    return { name, value: filled(entry, command) as Record<string, unknown> };
  });
  const call = `capture session --provider ${provider} --event `;
  return { entries, others, isOurs: (command) => command.includes("majordomus") && command.includes(call) };
}

/** An entry with the command in its place. */
function filled(value: unknown, command: string): unknown {
  if (typeof value === "string") return value === "{command}" ? command : value;
  if (Array.isArray(value)) return value.map((item) => filled(item, command));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, filled(member, command)]));
}

/**
 * One command of a POSIX shell, whichever shell the provider takes: inside the repository the launcher by its path below
 * the root, elsewhere through PATH. `${…:-.}` is none of the placeholders that a provider fills in by itself.
 */
function commandOf(place: Place, directory: string | null, provider: string, event: string): string {
  const call = `capture session --provider ${provider} --event ${event}`;
  const path = programPath(place.layout, place.home);
  if (path === null) return `sh -c ${shellWord(`command -v majordomus >/dev/null 2>&1 && exec majordomus ${call}; exit 0`)}`;
  if (directory !== null) return `sh -c ${shellWord(`m="\${${directory}:-.}"/${shellWord(path)}; [ -x "$m" ] && exec "$m" ${call}; exit 0`)}`;
  const below = shellWord(place.position().prefix + path);
  const find = `r=$(git rev-parse --show-toplevel 2>/dev/null) || exit 0; m=$r/${below}`;
  return `sh -c ${shellWord(`${find}; [ -x "$m" ] && exec "$m" ${call}; exit 0`)}`;
}

const pluginMark = "majordomus capture install --provider";

/** A file that is ours as a whole. */
function ownFile(place: Place, provider: string, path: string, template: string): Pick<Target, "state" | "with" | "without"> {
  const commands = providerEvents.map((event) => [event, commandOf(place, null, provider, event)]);
  const name = `${dataPath}/${template}`;
  const wanted = readNamed(`${place.home}/${name}`, name).toString("utf8").replace("{commands}", () => JSON.stringify(Object.fromEntries(commands), null, 2));
  const insistOurs = (text: string) => {
    if (!(text.split("\n")[0] ?? "").includes(pluginMark)) throw outOf(path, "it is somebody else's");
  };
  return {
    state: (text) => (text === null ? "missing" : text === wanted ? "installed" : "different"),
    with: (text) => {
      if (text !== null) insistOurs(text);
      return wanted;
    },
    without: (text) => {
      insistOurs(text);
      return null;
    },
  };
}

/** Where a settings file is. A link is followed, so that it stays one, but never out of the repository. */
function fileOf(layout: Layout, path: string): string {
  const file = `${layout.root}/${path}`;
  const root = realPath(layout.root) ?? layout.root;
  const real = realPath(file);
  if (real === null && nameExists(file)) throw outOf(path, "it is a link that leads nowhere");
  if (real !== null && !isBelow(root, real)) throw outOf(path, "leads outside the repository");
  if (real !== null && !isFile(real)) throw outOf(path, "it is no regular file");
  return real ?? file;
}

function outOf(path: string, detail: string): Refusal {
  return refuse("refused", `cannot use '${path}'`, detail);
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

function write(layout: Layout, { path, file, text }: Target, wanted: string): void {
  if (text === null) makeInside(layout, folderOf(path));
  removeTemporaries(dirname(file));
  // Somebody may have saved the file since it was read.
  const now = nameExists(file) ? readBytes(file) : null;
  if (compareBytes(now?.toString("utf8") ?? "", text ?? "") !== 0) throw outOf(path, "it changed meanwhile; try again");
  replaceFile(file, Buffer.from(wanted, "utf8"), { mode: fileStatus(file)?.mode ?? 0o644 });
}

/** Removes a file that is ours alone, and the folders above it that nothing else is in. */
function removeOurs(layout: Layout, { path, file }: Target): void {
  removeFile(file);
  if (file !== `${layout.root}/${path}`) removeFile(`${layout.root}/${path}`);
  for (let folder = folderOf(path); folder !== "" && removeEmptyFolder(`${layout.root}/${folder}`); ) folder = folderOf(folder);
}
