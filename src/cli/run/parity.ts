/** `parity`: both readers on the present repository, and where they part (contract, section 8). */
import type { ByteString } from "../../ground/bytes.ts";
import { showControlBytes, showIllFormed, textOfBytes } from "../../ground/bytes.ts";
import { refuse } from "../../ground/errors.ts";
import { pathExists } from "../../host/folder.ts";
import { isInstalled, knownAwks, knownShells, runReader } from "../../host/readers.ts";
import { isGiven, rootFor } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

const readerPath = "shell/majordomus";
const forms = [[], ["--json"]] as const;

/** What a reader gave, in bytes. */
interface Said {
  readonly status: number;
  readonly stdout: ByteString;
  readonly stderr: ByteString;
}

/** The first place where two answers differ. */
export interface Difference {
  readonly call: string;
  readonly where: "exit status" | "standard output" | "standard error";
  /** The first differing line and the first differing byte of it, from 1; 0 for an exit status. */
  readonly line: number;
  readonly byte: number;
  /** That line of each side from shortly before the byte, control characters shown; the status for an exit status. */
  readonly toolkit: string;
  readonly shell: string;
}

export async function parity(call: Call): Promise<Outcome> {
  const script = `${call.home}/${readerPath}`;
  if (!pathExists(script)) throw refuse("missing", `cannot find the shell reader at '${readerPath}'`, "the toolkit's folder is not whole");
  const { shells, awks } = programsOf(call);
  // Not the layout: that both refuse a manifest is an agreement as well.
  const root = rootFor(call);
  const calls = forms.map((form) => ["knowledge", "candidates", ...form]);
  const toolkit: Said[] = [];
  for (const words of calls) toolkit.push(await toolkitSays(call, root, words));

  const pairs: { readonly shell: string; readonly awk: string; readonly difference: Difference | null }[] = [];
  for (const shell of shells) {
    for (const awk of awks) {
      let difference: Difference | null = null;
      for (const [index, words] of calls.entries()) {
        difference ??= differenceOf(words.join(" "), toolkit[index] as Said, readerSays(shell, awk, script, words, root));
      }
      pairs.push({ shell, awk, difference });
      if (!call.json) call.terminal.print(pairText(shell, awk, difference));
    }
  }
  const different = pairs.filter((pair) => pair.difference !== null).length;
  const compared = pairs.map(({ shell, awk, difference }) => {
    return { sh: shell, awk, same: difference === null, ...(difference === null ? {} : { difference }) };
  });
  return {
    text: `parity: ${pairs.length} pair(s), ${different} different\n`,
    json: { schema: 1, pairs: compared },
    status: different === 0 ? 0 : 11,
  };
}

/** The shells and awks that a call means: those it names, with --all every known one that is there, else the machine's. */
function programsOf(call: Call): { readonly shells: readonly string[]; readonly awks: readonly string[] } {
  const all = isGiven(call, "all");
  const given = (option: "sh" | "awk") => call.values.get(option) ?? [];
  const chosen = (option: "sh" | "awk", known: readonly string[], usual: string) => {
    const named = given(option);
    const found = all ? known.filter(isInstalled) : [];
    const list = [...new Set([...named, ...found])];
    return list.length === 0 ? [usual] : list;
  };
  const shells = chosen("sh", knownShells, "sh");
  const awks = chosen("awk", knownAwks, process.env["MAJORDOMUS_AWK"] || "awk");
  const missing = [...shells, ...awks].find((words) => !isInstalled(words));
  if (missing !== undefined) throw refuse("missing", `cannot run '${missing}'`, "no such program");
  return { shells, awks };
}

async function toolkitSays(call: Call, root: string, words: readonly string[]): Promise<Said> {
  const { status, output, complaints } = await call.answer([...words, "--repo", root]);
  const stderr = complaints.map((line) => `majordomus: ${line}\n`).join("");
  return { status, stdout: output.toString("latin1"), stderr: shownBytes(stderr) };
}

/** What is said on standard error, in bytes, control characters shown line by line. */
function shownBytes(text: string): ByteString {
  return Buffer.from(text, "utf8").toString("latin1").split("\n").map(showControlBytes).join("\n");
}

function readerSays(shell: string, awk: string, script: string, words: readonly string[], root: string): Said {
  const { status, output, error } = runReader(shell, awk, script, [...words, "--repo", root], root);
  return { status, stdout: output.toString("latin1"), stderr: error.toString("latin1") };
}

/** Where two answers first differ; null where they are the same. */
export function differenceOf(call: string, toolkit: Said, shell: Said): Difference | null {
  const streams = [
    ["standard output", toolkit.stdout, shell.stdout],
    ["standard error", toolkit.stderr, shell.stderr],
  ] as const;
  for (const [where, left, right] of streams) {
    if (left === right) continue;
    const lefts = left.split("\n");
    const rights = right.split("\n");
    let line = 0;
    while (lefts[line] === rights[line]) line += 1;
    const [one = "", two = ""] = [lefts[line], rights[line]];
    let byte = 0;
    while (byte < one.length && one[byte] === two[byte]) byte += 1;
    const near = (text: ByteString | undefined) => (text === undefined ? "" : excerpt(text, byte));
    return { call, where, line: line + 1, byte: byte + 1, toolkit: near(lefts[line]), shell: near(rights[line]) };
  }
  if (toolkit.status === shell.status) return null;
  return { call, where: "exit status", line: 0, byte: 0, toolkit: String(toolkit.status), shell: String(shell.status) };
}

/** A piece of a line around a byte, short enough to look at. */
function excerpt(line: ByteString, byte: number): string {
  const from = byte > 60 ? byte - 40 : 0;
  const to = byte + 80;
  const piece = showControlBytes(showIllFormed(line.slice(from, to)));
  return `${from > 0 ? "..." : ""}${textOfBytes(piece)}${to < line.length ? "..." : ""}`;
}

function pairText(shell: string, awk: string, difference: Difference | null): string {
  if (difference === null) return `same       ${shell} with ${awk}\n`;
  const { call, where, line, byte, toolkit, shell: other } = difference;
  const place = where === "exit status" ? where : `${where}, line ${line}, byte ${byte}`;
  return `different  ${shell} with ${awk}: ${call}: ${place}\n  toolkit  ${toolkit}\n  shell    ${other}\n`;
}
