/** Small repositories as data, and how they are put on disk. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ByteString } from "../../src/ground/bytes.ts";

/** What stands at a path: a file's content, or something that is no file. */
export type Thing =
  | string
  | { readonly link: string }
  | { readonly folder: true }
  | { readonly pipe: true }
  /** A file or folder that nobody but root may read. */
  | { readonly closed: string | null };

/** Things by their paths below the root. Folders on the way are made. */
export type Tree = ReadonlyMap<string, Thing>;

/**
 * The bytes of a text: its UTF-8, where U+DC80 to U+DCFF each stand for one byte that is no UTF-8 (0x80 to 0xFF), as
 * Python's `surrogateescape` has it. So any bytes can be written as a text.
 */
export function bytesOf(text: string): ByteString {
  if (!/[^\x00-\x7f]/.test(text)) return text;
  let bytes = "";
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    bytes += code >= 0xdc80 && code <= 0xdcff ? String.fromCharCode(code - 0xdc00) : Buffer.from(character, "utf8").toString("latin1");
  }
  return bytes;
}

/** The text of bytes, so that `bytesOf` gives them back. */
export function textOf(bytes: ByteString): string {
  if (!/[^\x00-\x7f]/.test(bytes)) return bytes;
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const found = /^(?:[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})/.exec(
      bytes.slice(at, at + 4),
    );
    text += found === null ? String.fromCharCode(0xdc00 + bytes.charCodeAt(at)) : Buffer.from(found[0], "latin1").toString("utf8");
    at += found === null ? 1 : found[0].length;
  }
  return text;
}

/** A tree of texts as a tree of bytes. */
export function bytesTree(files: Readonly<Record<string, Thing>>): Tree {
  const tree = new Map<string, Thing>();
  for (const [path, thing] of Object.entries(files)) tree.set(bytesOf(path), bytesThing(thing));
  return tree;
}

function bytesThing(thing: Thing): Thing {
  if (typeof thing === "string") return bytesOf(thing);
  if ("link" in thing) return { link: bytesOf(thing.link) };
  if ("closed" in thing) return { closed: thing.closed === null ? null : bytesOf(thing.closed) };
  return thing;
}

/** Puts a tree of bytes below a folder, which is made. */
export function writeTree(root: string, tree: Tree): void {
  const made = new Set<string>();
  const makeFolder = (path: ByteString) => {
    if (made.has(path)) return;
    made.add(path);
    mkdirSync(raw(root, path), { recursive: true });
  };
  makeFolder("");
  for (const [path, thing] of tree) {
    makeFolder(path.slice(0, Math.max(path.lastIndexOf("/"), 0)));
    const place = raw(root, path);
    if (typeof thing === "string") writeFileSync(place, thing, "latin1");
    else if ("link" in thing) symlinkSync(Buffer.from(thing.link, "latin1"), place);
    else if ("folder" in thing) makeFolder(path);
    else if ("pipe" in thing) execFileSync("mkfifo", ["--", join(root, path)]);
    else {
      if (thing.closed === null) makeFolder(path);
      else writeFileSync(place, thing.closed, "latin1");
      chmodSync(place, 0);
    }
  }
}

function raw(root: string, path: ByteString): Buffer {
  return Buffer.concat([Buffer.from(`${root}/`, "utf8"), Buffer.from(path, "latin1")]);
}

/** The files below a folder as a tree of texts. */
export function readTree(root: string, folder = ""): Record<string, Thing> {
  const files: Record<string, Thing> = {};
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) Object.assign(files, readTree(root, path));
    else files[path] = textOf(readFileSync(join(root, path), "latin1"));
  }
  return files;
}
