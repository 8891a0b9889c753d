/** Reads the project's own source, for the tests that keep its shape. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { home } from "../build/bundle.mjs";

/** The text files below these folders of the project, by their paths from its root, in the order of bytes. */
export function filesBelow(folders: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const folder of folders) {
    for (const entry of readdirSync(join(home, folder), { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) for (const [below, text] of filesBelow([path])) files.set(below, text);
      else if (entry.isFile()) files.set(path, readFileSync(join(home, path), "utf8"));
    }
  }
  return files;
}

/**
 * TypeScript with its comments, and the insides of strings, templates and regular expressions, blanked out: line feeds
 * stay, so that lines keep their numbers. What a template holds in `${}` is code and stays. With `strings`, strings stay.
 */
export function codeOf(text: string, { strings = false }: { readonly strings?: boolean } = {}): string {
  let code = "";
  let at = 0;
  /** For each template that is open: how many braces are open inside its `${}`. */
  const templates: number[] = [];

  const blank = (end: number): void => {
    code += text.slice(at, end).replace(/[^\n]/g, " ");
    at = end;
  };
  const copy = (end: number): void => {
    code += text.slice(at, end);
    at = end;
  };
  /** Past the part of a template that begins here: to its end, or into the next `${`. */
  const template = (): void => {
    let end = at;
    while (end < text.length && text[end] !== "`" && !text.startsWith("${", end)) end += text[end] === "\\" ? 2 : 1;
    blank(Math.min(end, text.length));
    if (text.startsWith("${", at)) {
      templates.push(0);
      copy(at + 2);
    } else copy(Math.min(at + 1, text.length));
  };

  while (at < text.length) {
    const here = text[at] ?? "";
    const rest = text.slice(at, at + 2);
    if (rest === "//") blank(endOr(text.indexOf("\n", at), text));
    else if (rest === "/*") blank(endOr(text.indexOf("*/", at + 2) + 2, text, 2));
    else if (here === '"' || here === "'") {
      let end = at + 1;
      while (end < text.length && text[end] !== here && text[end] !== "\n") end += text[end] === "\\" ? 2 : 1;
      if (strings) copy(Math.min(end + 1, text.length));
      else {
        copy(at + 1);
        blank(Math.min(end, text.length));
        copy(Math.min(at + 1, text.length));
      }
    } else if (here === "`") {
      copy(at + 1);
      template();
    } else if (here === "/" && beginsExpression(code)) {
      let end = at + 1;
      let inClass = false;
      while (end < text.length && text[end] !== "\n" && (inClass || text[end] !== "/")) {
        if (text[end] === "[") inClass = true;
        else if (text[end] === "]") inClass = false;
        end += text[end] === "\\" ? 2 : 1;
      }
      copy(at + 1);
      blank(Math.min(end, text.length));
      copy(Math.min(at + 1, text.length));
    } else {
      const open = templates.at(-1);
      if (open !== undefined && here === "{") templates[templates.length - 1] = open + 1;
      if (open !== undefined && here === "}") {
        if (open === 0) {
          templates.pop();
          copy(at + 1);
          template();
          continue;
        }
        templates[templates.length - 1] = open - 1;
      }
      copy(at + 1);
    }
  }
  return code;
}

function endOr(end: number, text: string, shift = 0): number {
  return end === -1 + shift ? text.length : end;
}

/** Whether a `/` that follows this code begins a regular expression rather than divides. */
function beginsExpression(code: string): boolean {
  const before = code.trimEnd();
  return before === "" || /[-(,=:[!&|?{};+*%~^<>]$/.test(before) || /\b(?:return|typeof|case|in|of|do|else|void)$/.test(before);
}

export interface Import {
  readonly specifier: string;
  /** An `import()`: not followed at start-up. */
  readonly lazy: boolean;
  /** Of types alone: gone when the program runs. */
  readonly types: boolean;
}

/** What a TypeScript file imports or exports from elsewhere, in its order. */
export function importsOf(text: string): Import[] {
  const code = codeOf(text, { strings: true });
  const found: (Import & { readonly index: number })[] = [];
  const statements = /\b(import|export)\s+(type\s+)?(?:[\w$*{},\s]*?\bfrom\s*)?["']([^"'\n]+)["']/g;
  for (const match of code.matchAll(statements)) {
    found.push({ specifier: match[3] ?? "", lazy: false, types: match[2] !== undefined, index: match.index });
  }
  for (const match of code.matchAll(/\b(typeof\s+)?import\s*\(\s*["']([^"'\n]+)["']/g)) {
    found.push({ specifier: match[2] ?? "", lazy: true, types: match[1] !== undefined, index: match.index });
  }
  return found.sort((a, b) => a.index - b.index).map(({ specifier, lazy, types }) => ({ specifier, lazy, types }));
}
