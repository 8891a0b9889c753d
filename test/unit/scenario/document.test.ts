import { expect, test } from "vitest";
import { isDocumentName, readDocument } from "../../../src/scenario/document.ts";
import type { DocumentFault, Scenario } from "../../../src/scenario/document.ts";

const whole = `setup: session-open
given:
  - 'one episode open'
steps:
  - id: first
    run: ['knowledge', 'derive', '--dry-run']
    note: 'a note'
    stdin: "a line\\n"
    expect:
      exit: 0
      stdout_contains: ['^a$', "b"]
      stdout_not_contains:
        - 'c'
      stderr_contains: 'd'
      files_exist: ['.ai/manifest.yaml']
      files_contain:
        - path: 'README.md'
          pattern: '^# '
  - run: []
    expect:
      exit: 2
then:
  - 'a claim'
`;

function scenarioIn(name: string, text: string | Buffer): Scenario {
  const result = readDocument(name, Buffer.from(text));
  if ("fault" in result) throw new Error(`${result.fault.line ?? "-"}: ${result.fault.words}`);
  return result.scenario;
}

function faultIn(name: string, text: string | Buffer): DocumentFault {
  const result = readDocument(name, Buffer.from(text));
  return "fault" in result ? result.fault : { line: null, words: "it is a scenario" };
}

test("readDocument: every part of a YAML file", () => {
  const scenario = scenarioIn("a.yaml", whole);
  expect({ setup: scenario.setup, given: scenario.given, then: scenario.then, title: scenario.title }).toEqual({
    setup: "session-open",
    given: ["one episode open"],
    then: ["a claim"],
    title: "",
  });
  const [first, second] = scenario.steps;
  expect(first).toMatchObject({ id: "first", run: ["knowledge", "derive", "--dry-run"], note: "a note", stdin: "a line\n" });
  expect(first?.expect.exit).toBe(0);
  expect(first?.expect.stdoutContains.map((pattern) => pattern.source)).toEqual(["^a$", "b"]);
  expect(first?.expect.stdoutNotContains.map((pattern) => pattern.source)).toEqual(["c"]);
  expect(first?.expect.stderrContains.map((pattern) => pattern.source)).toEqual(["d"]);
  expect(first?.expect.filesExist).toEqual([".ai/manifest.yaml"]);
  expect(first?.expect.filesContain.map(({ path, pattern }) => [path, pattern.source])).toEqual([["README.md", "^# "]]);
  expect(second).toMatchObject({ id: "2", run: [], stdin: "" });
});

const fenced = (block: string, fence = "```") => `# A title\n\nProse.\n\n${fence}yaml\n${block}${fence}\n\nMore prose.\n`;

test("readDocument: the first fenced yaml block of a page, in prose of any language", () => {
  const pages = [
    fenced(whole),
    fenced(whole, "~~~~"),
    `# A title\n\n\`\`\`\`text\n\`\`\`yaml\nsetup: nonsense\n\`\`\`\n\`\`\`\`\n\n${fenced(whole)}`,
    `# A title\n\n\`\`\`sh\nmajordomus init\n\`\`\`\n${fenced(whole)}\n\`\`\`yaml\nanother: one\n\`\`\`\n`,
    `# A title\n\n   \`\`\`yaml title="x"\n${whole.replace(/^/gm, "   ").replace(/ +$/, "")}   \`\`\`\n`,
    `# A title\nPříliš žluťoučký kůň.\n${fenced(whole)}`,
  ];
  for (const page of pages) {
    expect(scenarioIn("a.md", page)).toMatchObject({ title: "A title", setup: "session-open" });
    expect(scenarioIn("a.md", page).steps).toHaveLength(2);
    expect(scenarioIn("a.md", `\ufeff${page}`).steps).toHaveLength(2);
    expect(scenarioIn("a.md", page.replaceAll("\n", "\r\n")).steps).toHaveLength(2);
  }
  expect(scenarioIn("a.yaml", `\ufeff${whole.replaceAll("\n", "\r\n")}`).steps).toHaveLength(2);
});

test("readDocument: a page whose fences were lost where it was copied as plain text", () => {
  const page = `Název\n\nSituace\n\nNěco se stalo.\n\nScénář\n\n${whole}\nVýsledek\n\nVšechno je zapsáno: majordomus to ví.\n`;
  expect(scenarioIn("page.txt", page).steps).toHaveLength(2);
  expect(scenarioIn("page.md", page).then).toEqual(["a claim"]);
  expect(faultIn("page.yaml", page).words).not.toBe("it is a scenario");
});

/** A document with one thing wrong: what to replace, by what, on which line it is said, in which words. */
const faults: readonly (readonly [from: string | RegExp, to: string, line: number | null, words: RegExp])[] = [
  [/^setup.*\n/, "", null, /^no setup: one of bare, repository, installed, session-open, task-active$/],
  ["setup: session-open", "setup: nonsense", 1, /unknown setup 'nonsense'/],
  ["setup: session-open", "setup:\n  - bare", 1, /setup is no text/],
  [/^steps:[^]*?(?=^then:)/m, "", null, /^no steps$/],
  [/^steps:[^]*?(?=^then:)/m, "steps: []\n", 4, /^no steps$/],
  [/^steps:[^]*?(?=^then:)/m, "steps:\n", 4, /no list/],
  [/^steps:[^]*?(?=^then:)/m, "steps:\n  - 'derive'\n", 5, /step 1 has none of the keys/],
  ["then:", "title: x\nthen:", 22, /^unknown key 'title' in the scenario$/],
  ["    note:", "    notes:", 7, /^unknown key 'notes' in step 1$/],
  ["stdout_contains:", "stdot:", 11, /^unknown key 'stdot' in expect of step 'first'$/],
  ["          pattern:", "          patern:", 18, /unknown key 'patern'/],
  [/ {10}pattern: .*\n/, "", 17, /needs a path and a pattern/],
  ["      exit: 0\n", "", 9, /^no exit in expect of step 'first'$/],
  ["      exit: 0", "      exit: zero", 10, /exit 'zero'.*no exit status/],
  ["      exit: 0", "      exit: 256", 10, /no exit status/],
  ["      exit: 0", "      exit: -1", 10, /no exit status/],
  ["      exit: 0", "      exit:", 10, /no exit status/],
  ["      exit: 0", "      exit: [0]", 10, /no text/],
  ["  - run: []", "  - id: second", 19, /^no run in step 'second'$/],
  ["    run: ['knowledge', 'derive', '--dry-run']", "    run: knowledge derive", 6, /run of step 'first' is no list/],
  [/ {4}expect:\n {6}exit: 2\n/, "", 19, /^no expect in step 2/],
  ["['^a$', \"b\"]", "['^a(']", 11, /^pattern '\^a\(' in .* does not compile: /],
  ["['^a$', \"b\"]", "['']", 11, /does not compile: an empty pattern/],
  ["'^# '", "'[z-a]'", 18, /does not compile/],
  ["['.ai/manifest.yaml']", "['/etc/passwd']", 15, /path '\/etc\/passwd' .*none below/],
  ["['.ai/manifest.yaml']", "['a/../../b']", 15, /none below/],
  ["  - run: []", "  - id: first\n    run: []", 19, /two steps with the id 'first'/],
  ["  - id: first", "  - id: ''", 5, /empty id/],
  ["setup: session-open", "setup: session-open\nsetup: bare", 2, /^repeated key$/],
  ["'a claim'", "{a: b}", 23, /^flow mapping$/],
  ["    note: 'a note'", "\tnote: 'a note'", 7, /^tab character$/],
];

for (const [from, to, line, words] of faults) {
  test(`readDocument refuses ${String(from).slice(0, 50)} as ${to.slice(0, 40)}`, () => {
    const broken = whole.replace(from, () => to);
    expect(broken).not.toBe(whole);
    const fault = faultIn("a.yml", broken);
    expect(fault.words).toMatch(words);
    expect(fault.line).toBe(line);
    const inPage = faultIn("a.md", fenced(broken));
    expect(inPage).toEqual({ words: fault.words, line: line === null ? null : line + 5 });
  });
}

test("readDocument: what is no document at all", () => {
  expect(faultIn("a.md", "# A page\n\nProse alone.\n")).toEqual({ line: null, words: "no fenced yaml block" });
  expect(faultIn("a.md", `\`\`\`text\n${whole}\`\`\`\n`).words).toBe("no fenced yaml block");
  expect(faultIn("a.md", `Prose\n\`\`\`yaml\n${whole}`)).toEqual({ line: 2, words: "a fenced block that does not end" });
  expect(faultIn("a.yaml", "").words).toMatch(/no setup/);
  expect(faultIn("a.yaml", Buffer.from([0x61, 0x00])).words).toBe("NUL byte");
  expect(faultIn("a.yaml", Buffer.from([0x61, 0xff])).words).toBe("invalid UTF-8");
});

test("isDocumentName: YAML files and pages, but no directory's own README and no dot file", () => {
  for (const name of ["a.yaml", "a.yml", "a.md", "b.cs.md", "A.YAML"]) expect([name, isDocumentName(name)]).toEqual([name, true]);
  for (const name of ["README.md", ".a.md", "a.txt", "a", "a.yaml.orig"]) expect([name, isDocumentName(name)]).toEqual([name, false]);
});
