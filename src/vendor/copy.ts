/**
 * The copy of the toolkit that a repository carries: one folder that runs where it lies. What it holds depends on the
 * toolkit alone, never on the machine: no time, no absolute path, exact modes.
 */
import { basename, dirname } from "node:path";
import { sortedBytes } from "../ground/bytes.ts";
import { sha256 } from "../ground/digest.ts";
import { refuse } from "../ground/errors.ts";
import { readBytes } from "../host/files.ts";
import { isDirectory, linkTarget, listFolder, nameExists, realPath } from "../host/folder.ts";
import { isBelow } from "../host/layout.ts";
import { clearStages, isExecutable, stageFolder, treeBelow } from "../host/tree.ts";
import type { TreeFile } from "../host/tree.ts";
import { version } from "../ground/version.ts";
import { differencesOf, manifestName, manifestText, programs, readManifest } from "./manifest.ts";
import type { Difference, Sums } from "./manifest.ts";

/** What a copy takes from the toolkit's folder; what an editor or a system leaves there is passed over. */
const parts: readonly (readonly [folder: string, form: RegExp])[] = [
  ["bin", /^bin\/majordomus$/],
  ["dist", /^dist\/(?:node\/[^/]+\.cjs|lib\/[^.]+(?:\.js|\.d\.ts))$/],
  ["scenarios", /^scenarios\/(?:[^./][^/]*\/)*[^./][^/]*\.md$/],
  ["share", /^share\/(?:[^/]+\/)*(?!\.DS_Store$|\.tmp\.)[^/]*[^/~]$/],
  ["shell", /^shell\/(?:majordomus|lib\/[^./][^/]*\.sh|awk\/[^./][^/]*\.awk)$/],
  ["src", /^src\/(?:[^./][^/]*\/)*[^./][^/]*\.ts$/],
];

const needed = ["dist/node/majordomus.cjs", "src/cli/entry.ts", ...programs] as const;

const readme = `# Majordomus Knowledge, vendored

This folder is a copy of Majordomus Knowledge (version in \`VERSION\`). It runs where it lies: no install, no network, no build.

- \`bin/majordomus\` does everything with Node 20 or later, Deno or Bun: try \`bin/majordomus --help\`.
- \`MAJORDOMUS_RUNTIME\` picks one of them: \`node\`, \`deno\`, \`bun\`, or a path to one.
- \`shell/majordomus\` reads the review queue with a POSIX shell and awk alone.
- Commit the folder as it is and change nothing in it: an update refuses to replace what was changed.
- \`bin/majordomus vendor --check .\`, or \`sha256sum -c MANIFEST.sha256\`, says whether a file differs.
- To update, run \`majordomus vendor DIR\` of a newer Majordomus; \`vendor --diff DIR\` says before what would change.
`;

/** Git keeps the bytes of a copy as they are, whatever the line ends of the machine. */
const attributes = "* -text linguist-vendored\n";

/** Git keeps every file of it: a repository that ignores `dist/` or `lib/` would lose half of it. */
const ignore = "!*\n";

function packageText(): string {
  const content = {
    name: "majordomus-knowledge",
    version,
    description: "Keeps what a repository's working sessions observe: a local ledger, small Markdown records, a review queue",
    license: "MIT",
    type: "module",
    bin: { majordomus: "bin/majordomus" },
    exports: {
      ".": { types: "./dist/lib/index.d.ts", default: "./dist/lib/index.js" },
      "./package.json": "./package.json",
    },
    engines: { node: ">=20" },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** A copy as it is to be: its files with the manifest, and their sums without it. */
export interface Copy {
  readonly files: readonly TreeFile[];
  readonly sums: Sums;
}

/**
 * The copy that this toolkit gives, wherever it runs from: a checkout, an installed package, another copy. One that was
 * never built is missing (12); a copy that differs from its own manifest is drift (11).
 */
export function copyOf(home: string): Copy {
  if (nameExists(`${home}/${manifestName}`)) insistUnchanged(home);
  const content = contentOf(home);
  const sums = new Map(sortedBytes(content, ([path]) => path).map(([path, bytes]) => [path, sha256(bytes)]));
  content.set(manifestName, Buffer.from(manifestText(sums), "utf8"));
  const files = sortedBytes(content, ([path]) => path).map(([path, bytes]) => ({
    path,
    bytes,
    mode: programs.includes(path) ? 0o755 : 0o644,
  }));
  return { files, sums };
}

/** A copy or a package that copies itself is as its manifest lists it, with nothing else in it (11). */
function insistUnchanged(home: string): void {
  const sums = sumsIn(home);
  const [fault] = sums === null ? [{ path: manifestName, what: "changed" }] : faultsOf(home, sums);
  if (sums === null || fault !== undefined) {
    throw refuse("drift", "cannot vendor from this copy", `'${fault?.path ?? manifestName}' is ${fault?.what ?? "changed"}; see 'majordomus vendor --check'`);
  }
}

function contentOf(home: string): Map<string, Uint8Array> {
  const content = new Map<string, Uint8Array>();
  for (const [folder, form] of parts) {
    for (const entry of treeBelow(`${home}/${folder}`)) {
      const path = `${folder}/${entry.path}`;
      const bytes = entry.kind === "file" && form.test(path) ? readBytes(`${home}/${path}`) : null;
      if (bytes !== null) content.set(path, bytes);
    }
  }
  const license = readBytes(`${home}/LICENSE`);
  const missing = license === null ? "LICENSE" : needed.find((path) => !content.has(path));
  if (license === null || missing !== undefined) {
    throw refuse("missing", "cannot vendor from here", `no '${missing ?? ""}' in the toolkit's folder; in a checkout, 'npm ci' builds it`);
  }
  content.set("LICENSE", license);
  content.set(".gitattributes", Buffer.from(attributes, "utf8"));
  content.set(".gitignore", Buffer.from(ignore, "utf8"));
  content.set("README.md", Buffer.from(readme, "utf8"));
  content.set("VERSION", Buffer.from(`${version}\n`, "utf8"));
  content.set("package.json", Buffer.from(packageText(), "utf8"));
  return content;
}

/** The sums that a copy's manifest lists; `null` where it is no manifest of ours. */
function sumsIn(folder: string): Sums | null {
  return readManifest(readBytes(`${folder}/${manifestName}`, { regular: true })?.toString("latin1") ?? "");
}

/** How a file of a copy differs from the manifest. `unknown` is one that the manifest does not list. */
export interface Fault {
  readonly path: string;
  readonly what: "changed" | "missing" | "unknown" | "not executable";
}

function faultsOf(folder: string, sums: Sums): Fault[] {
  const faults: Fault[] = [];
  const seen = new Set<string>([manifestName]);
  for (const { path, kind } of treeBelow(folder)) {
    if (path === manifestName) continue;
    seen.add(path);
    const sum = sums.get(path);
    if (sum === undefined) faults.push({ path, what: "unknown" });
    else if (kind !== "file" || sha256(readBytes(`${folder}/${path}`) ?? "") !== sum) faults.push({ path, what: "changed" });
    else if (programs.includes(path) && !isExecutable(`${folder}/${path}`)) faults.push({ path, what: "not executable" });
  }
  for (const path of sums.keys()) if (!seen.has(path)) faults.push({ path, what: "missing" });
  return sortedBytes(faults, (fault) => fault.path);
}

/**
 * How a copy differs from its own manifest, in the order of bytes. No such folder, or no manifest in it: missing (12). A
 * manifest that is none of ours is itself what differs.
 * @param name the folder as the call names it
 */
export function checkCopy(folder: string, name: string): { readonly files: number; readonly faults: readonly Fault[] } {
  if (!isDirectory(folder)) throw refuse("missing", `cannot check '${name}'`, "no such directory");
  if (!nameExists(`${folder}/${manifestName}`)) {
    throw refuse("missing", `cannot check '${name}'`, `it has no ${manifestName}, which 'majordomus vendor' writes`);
  }
  const sums = sumsIn(folder);
  if (sums === null) return { files: 0, faults: [{ path: manifestName, what: "changed" }] };
  return { files: sums.size, faults: faultsOf(folder, sums) };
}

/** What stands at a copy's place: nothing, or an older copy of ours as its manifest lists it. */
interface Standing {
  readonly sums: Sums;
  /** Its version, `null` where there is none. */
  readonly version: string | null;
}

/** Refuses (10) what is not ours to replace: another file or folder, or a copy in which anything was changed or added. */
function standingAt(folder: string, name: string): Standing {
  const none = { sums: new Map<string, string>(), version: null };
  if (!nameExists(folder)) return none;
  const refused = (detail: string) => refuse("refused", `cannot vendor into '${name}'`, detail);
  if (linkTarget(folder) !== null) throw refused("it is a symbolic link");
  if (!isDirectory(folder)) throw refused("it is no directory");
  if (listFolder(folder).length === 0) return none;
  const sums = nameExists(`${folder}/${manifestName}`) ? sumsIn(folder) : null;
  if (sums === null) throw refused(`it is not empty and no copy of Majordomus: no ${manifestName} of one is in it`);
  const [fault, ...more] = faultsOf(folder, sums);
  if (fault !== undefined) {
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    throw refused(`'${fault.path}' is ${fault.what}${others}; see 'majordomus vendor --check', and restore or move what is yours`);
  }
  return { sums, version: readBytes(`${folder}/VERSION`)?.toString("utf8").trim() ?? null };
}

export interface Update {
  /** The version that stands there, `null` for none, and the one that comes. */
  readonly from: string | null;
  readonly to: string;
  readonly files: number;
  readonly differences: readonly Difference[];
}

/** What vendoring into a folder would change. Refused as `vendor`. */
export function updateOf(home: string, folder: string, name: string): Update {
  return updateFrom(copyOf(home), standingAt(folder, name));
}

function updateFrom(copy: Copy, standing: Standing): Update {
  const differences = differencesOf(standing.sums, copy.sums);
  return { from: standing.version, to: version, files: copy.files.length, differences };
}

/**
 * Writes the copy into a folder, whole: what is there afterwards is the old copy or the new. Nothing is written where the copy
 * is there already. Refused (10): a folder that is the toolkit's own, lies in it or around it; what is not ours to replace.
 * @param name the folder as the call names it
 */
export function vendor(home: string, folder: string, name: string): Update {
  insistApart(home, folder, name);
  clearStages(dirname(folder));
  const standing = standingAt(folder, name);
  const copy = copyOf(home);
  const update = updateFrom(copy, standing);
  if (update.differences.length === 0) return update;
  // Somebody may have changed a file there since it was looked at.
  stageFolder(folder, copy.files).commit((aside) => void standingAt(aside, name));
  return update;
}

function insistApart(home: string, folder: string, name: string): void {
  const toolkit = realPath(home) ?? home;
  const place = realWay(folder);
  if (isBelow(toolkit, place) || isBelow(place, toolkit)) {
    throw refuse("refused", `cannot vendor into '${name}'`, "it is the toolkit's own folder, lies in it or around it");
  }
}

/** A path without links as far as it exists. */
function realWay(path: string): string {
  const real = realPath(path);
  if (real !== null || dirname(path) === path) return real ?? path;
  const above = realWay(dirname(path));
  return `${above === "/" ? "" : above}/${basename(path)}`;
}
