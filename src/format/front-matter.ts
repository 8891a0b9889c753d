/** Where the front matter of a record stands (contract, section 8). Pure. */
import type { ByteString } from "../ground/bytes.ts";

export interface FrontMatter {
  /** The lines between the fences, each ended by its line feed. */
  readonly yaml: ByteString;
  /** The number in the file of their first line. */
  readonly firstLine: number;
  /** Where the lines between the fences begin and end, and where the body begins, in the file. */
  readonly start: number;
  readonly end: number;
  readonly bodyStart: number;
}

const fenceLine = /---[ \t]*\r?(?:\n|$)/y;

/** Finds the front matter, or says why there is none: it does not begin, or does not end. */
export function frontMatterOf(file: ByteString): FrontMatter | "no-front-matter" | "endless" {
  const opening = fenceAt(file, file.startsWith("\xef\xbb\xbf") ? 3 : 0);
  if (opening === -1) return "no-front-matter";
  for (let at = opening; ; ) {
    const bodyStart = fenceAt(file, at);
    if (bodyStart !== -1) return { yaml: file.slice(opening, at), firstLine: 2, start: opening, end: at, bodyStart };
    const lineFeed = file.indexOf("\n---", at);
    if (lineFeed === -1) return "endless";
    at = lineFeed + 1;
  }
}

/** Where the line after a fence begins, or -1 where no fence stands at `at`. */
function fenceAt(file: ByteString, at: number): number {
  fenceLine.lastIndex = at;
  return fenceLine.test(file) ? fenceLine.lastIndex : -1;
}
