/** Where two answers part. */
import type { Said } from "./readers.ts";

/** Null where they are the same, else the first difference in words. */
export function difference(toolkit: Said, shell: Said): string | null {
  if (toolkit.status !== shell.status) return `exit status ${String(toolkit.status)} and ${String(shell.status)}: ${JSON.stringify(shell.stderr)}`;
  for (const stream of ["stdout", "stderr"] as const) {
    const [left, right] = [toolkit[stream], shell[stream]];
    if (left === right) continue;
    const lefts = left.split("\n");
    const rights = right.split("\n");
    const line = lefts.findIndex((text, index) => text !== rights[index]);
    const at = line === -1 ? lefts.length : line;
    const byte = firstDifference(lefts[at] ?? "", rights[at] ?? "");
    const near = (text: string | undefined) => (text === undefined ? "nothing" : JSON.stringify(text.slice(Math.max(byte - 60, 0), byte + 60)));
    return `${stream}, line ${at + 1}, byte ${byte + 1}: ${near(lefts[at])} and ${near(rights[at])}`;
  }
  return null;
}

function firstDifference(left: string, right: string): number {
  let at = 0;
  while (at < left.length && left[at] === right[at]) at += 1;
  return at;
}
