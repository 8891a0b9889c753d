import { basename } from "node:path";
import { textOfLines } from "../../ground/bytes.ts";
import { refuse } from "../../ground/errors.ts";
import { absolute } from "../../host/layout.ts";
import { realPath } from "../../host/folder.ts";
import { checkCopy, updateOf, vendor } from "../../vendor/copy.ts";
import { isGiven } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

export function vendorInto(call: Call): Outcome {
  const [name = ""] = call.operands;
  if (name === "") throw refuse("wrong-call", "cannot vendor into ''", "name a directory");
  if (isGiven(call, "check") && isGiven(call, "diff")) throw refuse("wrong-call", "cannot use --check with --diff", "ask one at a time");
  const folder = placeOf(absolute(call.workingDirectory, name));
  const home = realPath(call.home) ?? call.home;
  if (isGiven(call, "check")) return checked(folder, name);
  const update = isGiven(call, "diff") ? updateOf(home, folder, name) : vendor(home, folder, name);
  const { from, to, files, differences } = update;
  const json = { schema: 1, directory: folder, from, to, files, differences };
  if (!isGiven(call, "diff")) {
    if (differences.length === 0) return { text: `vendor: '${name}' is this copy already: ${to}, ${files} files\n`, json };
    return { text: `vendor: wrote ${to} into '${name}'${from === null ? "" : `, which had ${from}`}: ${files} files\n`, json };
  }
  const lines = differences.map((one) => `${one.what} ${one.path}`);
  const last = differences.length === 0 ? "nothing would change" : `${differences.length} would change, ${from ?? "nothing"} to ${to}`;
  return { text: textOfLines([...lines, `vendor: ${last}`]), json };
}

/** A directory by its own name; `.` and `..` have none. */
function placeOf(path: string): string {
  const place = path.replace(/(?<=.)\/+$/, "");
  return /^\.\.?$/.test(basename(place)) ? (realPath(place) ?? place) : place;
}

function checked(folder: string, name: string): Outcome {
  const { files, faults } = checkCopy(folder, name);
  const json = { schema: 1, directory: folder, files, differences: faults };
  if (faults.length === 0) return { text: `vendor: '${name}' is as its manifest says: ${files} files\n`, json };
  return {
    text: textOfLines(faults.map((fault) => `${fault.what} ${fault.path}`)),
    json,
    status: 11,
    notes: [`'${name}' differs from its manifest: ${faults.length === 1 ? "1 file" : `${faults.length} files`}`],
  };
}
