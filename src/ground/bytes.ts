/**
 * Bytes and their order. A `ByteString` is a string in which each character is one byte (latin1), so that
 * lengths are bytes and `<` is byte order, as in awk under `LC_ALL=C`: what both programs read is held so.
 * A plain `string` is text as JavaScript has it.
 */
export type ByteString = string;

/** The UTF-8 bytes of a text, one character a byte. A lone surrogate becomes EF BF BD, as everywhere in JavaScript. */
export function bytesOfText(text: string): ByteString {
  return isAscii(text) ? text : Buffer.from(text, "utf8").toString("latin1");
}

/** The text whose UTF-8 bytes these are. */
export function textOfBytes(bytes: ByteString): string {
  return isAscii(bytes) ? bytes : Buffer.from(bytes, "latin1").toString("utf8");
}

function isAscii(text: string): boolean {
  return !/[^\x00-\x7f]/.test(text);
}

/** The number of bytes of a text in UTF-8. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/**
 * The only comparator: the order of the UTF-8 bytes of two texts, which is that of their code points and not that
 * of their UTF-16 units (U+1F600 stands after U+FF5E). Right for byte strings as well.
 */
export function compareBytes(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const a = left.charCodeAt(index);
    const b = right.charCodeAt(index);
    if (a !== b) return codePointWeight(a) - codePointWeight(b);
  }
  return left.length - right.length;
}

/** A UTF-16 unit's place among the code points: surrogates belong to code points above every single unit. */
function codePointWeight(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** A new list in byte order, of texts or of what `key` gives; equal keys keep their order. */
export function sortedBytes<Item>(items: Iterable<Item>, key?: (item: Item) => string): Item[] {
  const list = [...items];
  if (key === undefined) return list.sort((left, right) => compareBytes(String(left), String(right)));
  return list.sort((left, right) => compareBytes(key(left), key(right)));
}

/** Only the first of equal texts, in the order given. */
export function distinct(texts: Iterable<string>): string[] {
  return [...new Set(texts)];
}

/** Each control character (C0, DEL, C1) of a byte string as `\xNN`, one per byte (contract, section 2). */
export function showControlBytes(bytes: ByteString): ByteString {
  if (!/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/.test(bytes)) return bytes;
  return bytes.replace(/[\x00-\x1f\x7f]|\xc2[\x80-\x9f]/g, (found) => {
    let shown = "";
    for (let index = 0; index < found.length; index += 1) shown += hexByte(found.charCodeAt(index));
    return shown;
  });
}

/** The same for a text. */
export function showControls(text: string): string {
  return /[\x00-\x1f\x7f-\x9f]/.test(text) ? textOfBytes(showControlBytes(bytesOfText(text))) : text;
}

/** Lines of text output, each ended: a line feed in what they say is shown, so that it makes no line of its own. */
export function textOfLines(lines: readonly string[]): string {
  return lines.map((line) => `${showControls(line)}\n`).join("");
}

const wellFormed =
  /[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}|([\x80-\xff])/g;

/** Each byte that belongs to no well-formed UTF-8 sequence as `\xNN` (contract, section 8); the rest as it is. */
export function showIllFormed(bytes: ByteString): ByteString {
  if (isAscii(bytes)) return bytes;
  return bytes.replace(wellFormed, (found, stray: string | undefined) =>
    stray === undefined ? found : hexByte(stray.charCodeAt(0)),
  );
}

/** Whether a byte string is well-formed UTF-8. */
export function isWellFormed(bytes: ByteString): boolean {
  return isAscii(bytes) || showIllFormed(bytes) === bytes;
}

function hexByte(byte: number): string {
  return `\\x${byte < 16 ? "0" : ""}${byte.toString(16)}`;
}

/**
 * A string from a ledger line or a note, as it is used and digested: each control character (C0, DEL, C1), LS, PS,
 * U+FEFF, U+FFFE and U+FFFF becomes one space (contract, section 7).
 */
export function cleaned(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, " ");
}
