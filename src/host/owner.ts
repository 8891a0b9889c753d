/**
 * Who holds a lock, and whether that process has ended (contract, section 3).
 *
 * Linux tells by files. Where it does not (macOS; Deno, which keeps `/proc` from a program without all permissions),
 * one shell is asked. What nobody tells is `-`, and `-` is never a ground to call a process ended.
 *
 * Not covered: two machines of one name that share a disk (the other one's boot is taken for an earlier one here); a
 * process in another time namespace (its start reads otherwise there); a host whose name changes while a lock is held
 * (its lock is kept, and a person has to remove it).
 */
import { createRequire } from "node:module";
import { bytesOfText } from "../ground/bytes.ts";
import { Refusal } from "../ground/errors.ts";
import { errorCode, fileOperations, readBytes } from "./files.ts";

/** What stands for a value that the system does not tell. */
export const unknown = "-";

/** Where and when a process runs. Each value is of letters, digits, `.` and `-`, or `unknown`. */
export interface Place {
  readonly start: string;
  readonly namespace: string;
  readonly boot: string;
  readonly host: string;
}

export interface Owner extends Place {
  readonly pid: number;
  readonly nonce: string;
}

/** What is seen of a process now. */
export interface Seen {
  readonly exists: boolean;
  readonly start: string;
}

/** `<pid>_<start>_<pid namespace>_<boot>_<host>_<nonce>`. */
export function ownerName({ pid, start, namespace, boot, host, nonce }: Owner): string {
  return [pid, start, namespace, boot, host, nonce].join("_");
}

/** The owner of that name; `null` for a name of another form. */
export function ownerOf(name: string): Owner | null {
  const found = /^([1-9][0-9]{0,9})_([A-Za-z0-9.-]+)_([A-Za-z0-9.-]+)_([A-Za-z0-9.-]+)_([A-Za-z0-9.-]+)_([A-Za-z0-9.-]+)$/.exec(name);
  if (found === null) return null;
  const [, pid = "", start = "", namespace = "", boot = "", host = "", nonce = ""] = found;
  return { pid: Number(pid), start, namespace, boot, host, nonce };
}

/** Whether this process may judge that owner: the same host and, on Linux, the same known process namespace. */
export function canJudge(owner: Owner, here: Place, namespaces = isLinux): boolean {
  if (owner.host === unknown || owner.host !== here.host) return false;
  return owner.namespace === here.namespace && !(namespaces && owner.namespace === unknown);
}

/** Whether that owner has certainly ended: another boot, no such process, or another start. Age never counts. */
export function hasEnded(owner: Owner, here: Place, look: (pid: number) => Seen, namespaces = isLinux): boolean {
  if (!canJudge(owner, here, namespaces)) return false;
  if (differs(owner.boot, here.boot)) return true;
  const seen = look(owner.pid);
  return !seen.exists || differs(owner.start, seen.start);
}

function differs(left: string, right: string): boolean {
  return left !== unknown && right !== unknown && left !== right;
}

/** A value as it stands in an owner's name: each byte but letters, digits, `.` and `-` as `-`, at most 64. */
export function nameValue(text: string): string {
  const value = bytesOfText(text.trim()).replace(/[^A-Za-z0-9.-]/g, "-").slice(0, 64);
  return value === "" ? unknown : value;
}

/** A process as a line of `/proc/<pid>/stat` has it, with the process's own number; `null` for another form. */
export function seenInStat(text: string): (Seen & { readonly pid: number }) | null {
  // The name between the parentheses may hold anything, parentheses and line ends too.
  const fields = text.slice(text.lastIndexOf(")") + 1).trim().split(" ");
  const [state, start] = [fields[0], fields[19]];
  const pid = Number.parseInt(text, 10);
  if (state === undefined || start === undefined || !/^[0-9]+$/.test(start) || !(pid > 0)) return null;
  return { pid, exists: lives(state), start };
}

/** A process as `ps -o stat= -o lstart=` prints it: `S+   Mon Nov 30 20:23:01 2026`; empty where there is none. */
export function seenInPs(text: string): Seen | null {
  const found = /^\s*(\S+)\s+(\S.*\S)\s*$/.exec(text);
  if (found === null) return null;
  const [, state = "", start = ""] = found;
  return { exists: lives(state), start: nameValue(start.replace(/\s+/g, " ")) };
}

/** A process that has ended and waits for its parent (Z), or is going (X), holds nothing. */
function lives(state: string): boolean {
  return !/^[ZXx]/.test(state);
}

/** Where this process runs, from what a system prints: three lines (namespace link, boot, host), then the process itself. */
export function placeIn(text: string, seenIn: (text: string) => Seen | null): Place {
  const [namespace = "", boot = "", host = "", ...rest] = text.split("\n");
  return {
    start: seenIn(rest.join("\n"))?.start ?? unknown,
    namespace: nameValue(/[0-9]+/.exec(namespace)?.[0] ?? ""),
    boot: nameValue(boot),
    host: nameValue(host),
  };
}

const isLinux = process.platform === "linux";

/** For `/bin/sh`: what `placeIn` reads, then the process `$1`. */
const scripts = isLinux
  ? {
      // A /proc of another process namespace numbers processes otherwise than we do: then it tells nothing of any process.
      place: `
        read -r boot </proc/sys/kernel/random/boot_id; read -r host </proc/sys/kernel/hostname
        printf '%s\\n' "$(readlink /proc/self/ns/pid)" "$boot" "$host"
        read -r self rest </proc/self/stat && [ "$self" = "$$" ] && exec cat "/proc/$1/stat"`,
      process: `exec cat "/proc/$1/stat"`,
    }
  : {
      place: `
        printf '%s\\n' '' "$(sysctl -n kern.bootsessionuuid)" "$(uname -n)"
        exec ps -o stat= -o lstart= -p "$1"`,
      process: `exec ps -o stat= -o lstart= -p "$1"`,
    };
const seenInText = isLinux ? seenInStat : seenInPs;

/** Whether the files of /proc are not there, or may not be read. */
let askingShell = !isLinux;
let place: Place | undefined;

/** Where this process runs; asked once. */
export function here(): Place {
  place ??= lookHere();
  return place;
}

function lookHere(): Place {
  const found = (askingShell ? null : placeByFiles()) ?? placeByShell();
  return found.host === unknown ? { ...found, host: nameOfHost() } : found;
}

/** Where this process runs, by the files of Linux; `null`, from then on, where the runtime denies them. */
function placeByFiles(): Place | null {
  try {
    const namespace = told(() => fileOperations.readlinkSync("/proc/self/ns/pid"));
    const boot = textOf("/proc/sys/kernel/random/boot_id").trim();
    const host = textOf("/proc/sys/kernel/hostname").trim();
    const stat = textOf("/proc/self/stat");
    return placeIn([namespace, boot, host, seenInStat(stat)?.pid === process.pid ? stat : ""].join("\n"), seenInStat);
  } catch {
    askingShell = true;
    return null;
  }
}

/** Where this process runs, as a shell tells it. */
export function placeByShell(): Place {
  return placeIn(shell(scripts.place, process.pid), seenInText);
}

/** What a shell tells of a process; `null` where nothing. */
export function seenByShell(pid: number): Seen | null {
  return seenInText(shell(scripts.process, pid));
}

/** What is seen of a process from here. One that we may not signal exists. */
export function look(pid: number): Seen {
  const seen = lookAtOnce(pid);
  const askMore = askingShell && seen.exists && here().start !== unknown;
  return (askMore ? seenByShell(pid) : null) ?? seen;
}

/** The same without a shell: where only a shell tells starts, a number in use is all that is seen. */
export function lookAtOnce(pid: number): Seen {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) === "ESRCH") return { exists: false, start: unknown };
  }
  const alive: Seen = { exists: true, start: unknown };
  if (here().start === unknown || askingShell) return alive;
  return seenInStat(textOf(`/proc/${pid}/stat`)) ?? alive;
}

/** What the system says; empty where it says an error. What a runtime denies is thrown. */
function told(ask: () => string): string {
  try {
    return ask();
  } catch (error) {
    if (errorCode(error) === undefined && !(error instanceof Refusal)) throw error;
    return "";
  }
}

function textOf(path: string): string {
  return told(() => readBytes(path)?.toString("latin1") ?? "");
}

// Loaded only where it is needed: child_process costs a start of Node 3 ms.
const load = createRequire("/") as {
  (name: "node:child_process"): typeof import("node:child_process");
  (name: "node:os"): typeof import("node:os");
};

function nameOfHost(): string {
  try {
    return nameValue(load("node:os").hostname());
  } catch {
    return unknown;
  }
}

/** What a script prints about a process; where it fails, as far as it came. */
function shell(script: string, pid: number): string {
  try {
    const { stdout } = load("node:child_process").spawnSync("/bin/sh", ["-c", script, "sh", String(pid)], {
      encoding: "latin1",
      // A start is compared as it is printed: in one language and time zone for all.
      env: { LC_ALL: "C", TZ: "UTC0", PATH: "/usr/bin:/bin:/usr/sbin:/sbin" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 5_000,
    });
    return typeof stdout === "string" ? stdout : "";
  } catch {
    return "";
  }
}
