import { expect, test } from "vitest";
import { isPathSubject, matchesGlob, routeOf } from "../../../src/knowledge/route.ts";
import type { RouteFacts } from "../../../src/knowledge/route.ts";

const facts: RouteFacts = {
  vendoredRules: ".ai/repo/rules/vendor",
  share: "vendor/majordomus/share",
  generatedPaths: ["dist/", "docs/api/**", "lib/a.gen.ts"],
  generatedNames: ["*.lock", "generated_*"],
  isDerived: (path) => path === "CHANGELOG.md" || path === "docs/derived.md",
};

test.each([
  ["command:start", "platform"],
  ["capability:x", "platform"],
  ["rule:majordomus.x", "platform"],
  ["rule:majordomusx", "enforcement"],
  ["rule:majordomus", "enforcement"],
  ["rule:local.majordomus.x", "enforcement"],
  ["gate:x", "enforcement"],
  [".ai/repo/rules/vendor/a.md", "platform"],
  [".ai/repo/rules/vendor", "project"],
  [".ai/repo/rules/vendored/a.md", "project"],
  [".ai/repo/rules/a.md", "project"],
  ["vendor/majordomus/share", "platform"],
  ["vendor/majordomus/share/x/y", "platform"],
  ["vendor/majordomus/shared", "project"],
  ["vendor/majordomus", "project"],
  ["dist/a.js", "generator"],
  ["dist", "project"],
  ["docs/api/x/y.md", "generator"],
  ["lib/a.gen.ts", "generator"],
  ["package.lock", "generator"],
  ["a/b/c.lock", "generator"],
  ["c.lock/a", "project"],
  ["docs/generated_x", "generator"],
  ["CHANGELOG.md", "generator"],
  ["docs/derived.md", "generator"],
  ["docs", "documentation"],
  ["docs/a.md", "documentation"],
  ["docs.md", "project"],
  ["Docs/a.md", "project"],
  ["src/docs/a.md", "project"],
  ["lib/a.sh", "project"],
  ["commands/x", "project"],
])("routeOf: %s is %s's", (subject, route) => {
  expect(routeOf(subject, facts)).toBe(route);
});

test("routeOf: no toolkit inside, nothing declared: a path is the project's", () => {
  const plain = { ...facts, share: null, generatedPaths: [], generatedNames: [], isDerived: () => false };
  for (const path of ["vendor/majordomus/share/x", "dist/a.js", "package.lock"]) expect(routeOf(path, plain)).toBe("project");
});

test("isPathSubject: what begins like an identifier is none", () => {
  for (const identifier of ["capability:a", "rule:a", "command:a", "gate:a"]) expect(isPathSubject(identifier)).toBe(false);
  for (const path of ["a", "gate", "gates:a", "Rule:a"]) expect(isPathSubject(path)).toBe(true);
});

test.each([
  ["a", "a", true], ["a", "a/b", true], ["a", "ab", false], ["a", "b/a", false], ["a/b", "a/b/c", true],
  ["a/", "a/b", true], ["a/", "a/b/c", true], ["a/", "a", false], ["a/", "b/a/c", false],
  ["*.md", "a.md", true], ["*.md", "b/a.md", false], ["*.md", "a.md/b", false],
  ["**/*.md", "a.md", true], ["**/*.md", "b/c/a.md", true], ["a/**/b", "a/b", true], ["a/**/b", "a/x/y/b", true], ["a/**/b", "axb", false],
  ["a/**", "a/b/c", true], ["a/**", "a", false], ["**", "a/b", true], ["a**", "ab/c", true], ["**b", "a/xb", true],
  ["a?c", "abc", true], ["a?c", "a/c", false], ["?", "😀", true], ["[a-c]x", "bx", true], ["[a-c]x", "dx", false], ["[!a]", "b", true], ["[^a]", "a", false], ["[!a]", "/", false],
  ["[]a]", "]", true], ["[a-]", "-", true], ["[a", "[a", true], ["a[b", "a[b", true], ["[é-ü]", "ö", true], ["[a/b]", "/", false],
  ["*/", "a/b", true], ["*/", "a/b/c", true], ["*/", "a", false], ["", "a", false], ["a.b", "axb", false], ["a+(b)", "a+(b)", true],
] as const)("matchesGlob: '%s' on '%s' is %s", (glob, path, matches) => {
  expect(matchesGlob(glob, path)).toBe(matches);
});

/** The contract's words, by trying every way: slow, and like the matcher in nothing. */
function simple(glob: string, path: string): boolean {
  if (!/[*?[]/.test(glob)) return glob !== "" && (path.startsWith(glob.endsWith("/") ? glob : `${glob}/`) || path === glob);
  return tries(glob.endsWith("/") ? `${glob}**` : glob, path, true);
}

function tries(glob: string, path: string, atSegment: boolean): boolean {
  if (glob === "") return path === "";
  const rests = (of: string, allowed: RegExp) => {
    const found = [of];
    for (let at = 0; at < of.length && allowed.test(of[at] as string); at += 1) found.push(of.slice(at + 1));
    return found;
  };
  if (atSegment && glob.startsWith("**/")) {
    const rest = glob.slice(3);
    if (tries(rest, path, true)) return true;
    return [...path].some((character, at) => character === "/" && tries(rest, path.slice(at + 1), true));
  }
  if (glob.startsWith("**")) return rests(path, /[^]/).some((rest) => tries(glob.slice(2), rest, false));
  if (glob.startsWith("*")) return rests(path, /[^/]/).some((rest) => tries(glob.slice(1), rest, false));
  if (path === "") return false;
  if (glob.startsWith("?")) return path[0] !== "/" && tries(glob.slice(1), path.slice(1), false);
  return glob[0] === path[0] && tries(glob.slice(1), path.slice(1), glob[0] === "/");
}

test("matchesGlob: every glob of up to five of a * ? / against every path of up to four of a b /, as the contract's words say", () => {
  const all = (letters: readonly string[], length: number): string[] =>
    length === 0 ? [""] : ["", ...letters.flatMap((letter) => all(letters, length - 1).map((rest) => letter + rest))];
  const paths = [...new Set(all(["a", "b", "/"], 4))].filter((path) => path !== "" && !/^\/|\/\/|\/$/.test(path));
  const globs = [...new Set(all(["a", "*", "?", "/"], 5))];
  const wrong: string[] = [];
  for (const glob of globs) for (const path of paths) if (matchesGlob(glob, path) !== simple(glob, path)) wrong.push(`${glob} on ${path}`);
  expect(wrong.slice(0, 10)).toEqual([]);
});

test("matchesGlob: stars without end against a long path take no longer than a second", () => {
  const started = process.hrtime.bigint();
  expect(matchesGlob(`${"*a".repeat(50)}b`, "a".repeat(1000))).toBe(false);
  expect(matchesGlob(`${"**/".repeat(100)}x`, "a/".repeat(400) + "a")).toBe(false);
  expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(1000);
});
