/** The emitter of the YAML subset (contract, sections 7 and 11). Pure: texts in, scalars out. */

/** A text in double quotes: `"` and `\` get a backslash, everything else stands as it is (contract, section 7). */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

/**
 * A text as a scalar: plain, and double-quoted where a YAML reader, 1.1 or 1.2, would not give the same string back;
 * what the subset refuses in raw form is escaped then.
 */
export function scalar(text: string): string {
  if (isPlain(text)) return text;
  return quoted(text).replace(/[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, (found) => {
    const code = found.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** What a processor takes for null, a truth, a number, a time or a merge key. */
const otherTypes = new RegExp(
  [
    /~|null|true|false|yes|no|on|off|y|n|<<|=/,
    /[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?/,
    /[-+]?0[xob][0-9a-f_]+/,
    /[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?/,
    /[-+]?\.inf|\.nan/,
    /[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[t\s].*)?/,
  ]
    .map((form) => `(?:${form.source})`)
    .join("|")
    .replace(/^/, "^(?:")
    .replace(/$/, ")$"),
  "i",
);

function isPlain(text: string): boolean {
  if (text === "" || text.startsWith(" ") || text.endsWith(" ")) return false;
  if (/[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/.test(text)) return false;
  if (/^[-?:,[\]{}#&*!|>'"%@`]/.test(text)) return false;
  if (/: | #|:$/.test(text)) return false;
  return !otherTypes.test(text);
}
