/** Who should look at an observation first: decided by what its subject is, never by its words (contract, section 7). Pure. */
import type { routeWords } from "../ground/tables.ts";

export type Route = keyof typeof routeWords;

/** What a route depends on beside the subject. Paths are relative to the repository's root. */
export interface RouteFacts {
  readonly vendoredRules: string;
  /** The toolkit's own `share/`, `null` where it does not lie in the repository. */
  readonly share: string | null;
  /** Globs of the scope's `out.generated.paths` and `out.generated.names`. */
  readonly generatedPaths: readonly string[];
  readonly generatedNames: readonly string[];
  /** Whether git's attributes give the path `merge=derived`. */
  readonly isDerived: (path: string) => boolean;
}

const identifierForm = /^(?:capability|rule|command|gate):/;

/** Whether a subject is a path and not an identifier. */
export function isPathSubject(subject: string): boolean {
  return !identifierForm.test(subject);
}

/** The route of a subject: the first rule that matches. */
export function routeOf(subject: string, facts: RouteFacts): Route {
  if (!isPathSubject(subject)) return identifierRoute(subject);
  if (subject.startsWith(`${facts.vendoredRules}/`)) return "platform";
  if (facts.share !== null && isAtOrBelow(facts.share, subject)) return "platform";
  if (isGenerated(subject, facts)) return "generator";
  return isAtOrBelow("docs", subject) ? "documentation" : "project";
}

function identifierRoute(subject: string): Route {
  return /^(?:command:|capability:|rule:majordomus\.)/.test(subject) ? "platform" : "enforcement";
}

function isGenerated(path: string, facts: RouteFacts): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return (
    facts.generatedPaths.some((glob) => matchesGlob(glob, path)) ||
    facts.generatedNames.some((glob) => matchesGlob(glob, name)) ||
    facts.isDerived(path)
  );
}

function isAtOrBelow(directory: string, path: string): boolean {
  return path === directory || path.startsWith(`${directory}/`);
}

/**
 * Whether a glob of the scope matches a path. A trailing slash means everything below; two stars and a slash, any number
 * of segments; two stars, anything; one star and `?` stop at a slash; `[…]` is a class; without a wildcard, the path and
 * all below it. All ways are followed at once, so that the time grows with the product of the two lengths and no worse.
 */
export function matchesGlob(glob: string, path: string): boolean {
  if (glob === "") return false;
  if (!/[*?[]/.test(glob)) return glob.endsWith("/") ? path.startsWith(glob) : isAtOrBelow(glob, path);
  const tokens = tokensOf(glob.endsWith("/") ? `${glob}**` : glob);
  /** The tokens that may come next, after the characters read so far. */
  let reached = withSkips(tokens, new Set([0]), true);
  for (const character of path) {
    const next = new Set<number>();
    for (const at of reached) {
      const token = tokens[at];
      if (token === undefined) continue;
      if (token.kind === "any" || (token.kind === "star" && character !== "/")) next.add(at);
      if (token.kind === "segments") next.add(at);
      if (token.kind === "one" && token.matches(character)) next.add(at + 1);
    }
    reached = withSkips(tokens, next, character === "/");
  }
  return reached.has(tokens.length);
}

type Token =
  | { readonly kind: "any" | "star" | "segments" }
  | { readonly kind: "one"; readonly matches: (character: string) => boolean };

/** Adds what is reached by letting stars match nothing more; `segments` is left only at the beginning of one. */
function withSkips(tokens: readonly Token[], reached: ReadonlySet<number>, atSegment: boolean): Set<number> {
  const all = new Set(reached);
  for (const at of all) {
    const kind = tokens[at]?.kind;
    if (kind === "any" || kind === "star" || (kind === "segments" && atSegment)) all.add(at + 1);
  }
  return all;
}

function tokensOf(glob: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...glob];
  // Where one bracket does not close, no later one does: each would else be looked for to the end.
  let mayClose = true;
  for (let at = 0; at < characters.length; ) {
    const character = characters[at] as string;
    if (character === "*") {
      const isDouble = characters[at + 1] === "*";
      const startsSegment = at === 0 || characters[at - 1] === "/";
      if (isDouble && startsSegment && characters[at + 2] === "/") {
        tokens.push({ kind: "segments" });
        at += 3;
      } else {
        tokens.push({ kind: isDouble ? "any" : "star" });
        at += isDouble ? 2 : 1;
      }
      continue;
    }
    const bracket = character === "[" && mayClose ? classOf(characters, at) : null;
    if (character === "[" && bracket === null) mayClose = false;
    if (bracket !== null) {
      tokens.push({ kind: "one", matches: bracket.matches });
      at = bracket.end;
      continue;
    }
    tokens.push({ kind: "one", matches: character === "?" ? (given) => given !== "/" : (given) => given === character });
    at += 1;
  }
  return tokens;
}

/** A bracket expression from its `[` on; `null` where it does not close and so stands for itself. */
function classOf(
  characters: readonly string[],
  start: number,
): { readonly end: number; readonly matches: (character: string) => boolean } | null {
  let at = start + 1;
  const negated = characters[at] === "!" || characters[at] === "^";
  if (negated) at += 1;
  const ranges: (readonly [string, string])[] = [];
  for (let first = true; ; first = false) {
    const low = characters[at];
    if (low === undefined) return null;
    if (low === "]" && !first) break;
    const high = characters[at + 1] === "-" ? characters[at + 2] : undefined;
    if (high !== undefined && high !== "]") {
      ranges.push([low, high]);
      at += 3;
    } else {
      ranges.push([low, low]);
      at += 1;
    }
  }
  const point = (character: string) => character.codePointAt(0) ?? 0;
  const holds = (given: string) => ranges.some(([low, high]) => point(low) <= point(given) && point(given) <= point(high));
  return { end: at + 1, matches: (given) => given !== "/" && holds(given) !== negated };
}
