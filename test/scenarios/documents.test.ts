/** The documents of scenarios/ hold; each that is made to expect something else fails and says what. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { isDocumentName, readDocument } from "../../src/scenario/document.ts";
import { program } from "../needs.ts";
import { newFolder, scenario, written } from "./support.ts";

const folder = join(home, "scenarios");
const names = readdirSync(folder).filter(isDocumentName);

test("scenarios/ has what the issue asks for, and its README links every page", () => {
  expect(names.length).toBeGreaterThanOrEqual(13);
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  for (const name of names) expect(readme).toContain(`](${name})`);
  for (const name of names) {
    const page = readFileSync(join(folder, name), "utf8");
    expect([name, page.match(/^## /gm)?.length]).toEqual([name, 3]);
    for (const [, target = ""] of page.matchAll(/\]\(([^)]+\.md)\)/g)) expect(names).toContain(target);
  }
});

test.concurrent.each(names)("%s passes", async (name) => {
  const { stdout, stderr, status } = await scenario(["run", join(folder, name)]);
  expect([stderr, status === 0 ? "" : stdout]).toEqual(["", ""]);
  const steps = stepsOf(name);
  expect(stdout).toMatch(new RegExp(`: ${steps} passed, 0 failed, 0 not run$`, "m"));
}, 60_000);

const readerHas = /^knowledge (?:candidates|guess)$|^yaml flatten$/;

function stepsOf(name: string): number {
  return stepsIn(name).length;
}

function stepsIn(name: string) {
  const result = readDocument(name, readFileSync(join(folder, name)));
  if ("fault" in result) throw new Error(`${name}: ${result.fault.words}`);
  return result.scenario.steps;
}

const readable = names.filter((name) => stepsIn(name).some((step) => readerHas.test(step.run.slice(0, 2).join(" "))));
const allReadable = readable.filter((name) => stepsIn(name).every((step) => readerHas.test(step.run.slice(0, 2).join(" "))));

test.concurrent.each(allReadable)("%s passes with the shell reader alone", async (name) => {
  const { stdout, status } = await scenario(["run", "--with", join(home, "shell/majordomus"), join(folder, name)]);
  expect(status === 0 ? "" : stdout).toBe("");
}, 60_000);

/** The pages whose queues say most; each costs as much again as its own run. */
const mixed = ["observe-and-group.md", "reject-and-observe-again.md", "two-worktrees.md"];

test.concurrent.each(mixed)("%s passes where the shell reader runs the steps that it has", async (name) => {
  const { stdout, status } = await scenario(["run", "--with", join(home, "test/scenarios/reader-first"), join(folder, name)]);
  expect(status === 0 ? "" : stdout).toBe("");
}, 60_000);

test("the shell reader has steps to run", () => {
  expect(allReadable).not.toEqual([]);
  expect(readable).toEqual(expect.arrayContaining(mixed));
});

/** One expectation of the page's last step that has one of this kind, turned wrong. */
const turns: readonly (readonly [kind: string, from: RegExp, to: string, said: string])[] = [
  ["an exit status", /exit: 0(?![^]*exit: 0)/, "exit: 11", "expected exit: 11; it ended with 0"],
  ["a pattern of standard output", /(stdout_contains: \[')[^']*'(?![^]*stdout_contains: \[')/, "$1TURNED WRONG'", "matches 'TURNED WRONG'"],
];

for (const [kind, from, to, said] of turns) {
  test.concurrent.each(["read-with-nothing-but-a-shell.md", "keep-what-an-episode-learned.cs.md"])(`%s fails with ${kind} turned wrong, and says so`, async (name) => {
    const page = readFileSync(join(folder, name), "utf8");
    const turned = page.replace(from, to);
    expect(turned).not.toBe(page);
    const { stdout, status } = await scenario(["run", written(name, turned)]);
    expect(status).toBe(10);
    expect(stdout).toContain(said);
    expect(stdout).toMatch(/^scenario run: 1 scenario, [0-9]+ steps: [0-9]+ passed, 1 failed, [0-9]+ not run$/m);
  }, 60_000);
}

/** The seed's own text: prose, steps as they were published, prose. */
const plainText = `Udržet, co se stalo

Situace

Něco se stalo a nikdo to nezapsal.

Scénář

setup: session-open
given:
  - 'Majordomus installed, with one execution episode open in this worktree'
steps:
  - id: decide-something
    run: ['decision', 'add', 'A candidate is reviewed by a person', '--why', 'a record only one machine can read']
    expect:
      exit: 0
  - id: derive-it
    run: ['knowledge', 'derive']
    note: 'one candidate record, status candidate, origin extracted: provenance names the episode'
    expect:
      exit: 0
      stdout_contains: ['^written \\.ai/repo/knowledge/candidates/', 'knowledge derive: 1 written']
  - id: derive-it-again
    run: ['knowledge', 'derive']
    expect:
      exit: 0
      stdout_contains: ['^unchanged \\.ai/repo/knowledge/candidates/', 'knowledge derive: 0 written. 1 unchanged']
then:
  - 'verified is still nobody''s'

Výsledek

knowledge derive mění řádky ledgeru na záznamy.
`;

test("a scenario runs from the plain text that it was published as, from a page, and as YAML", async () => {
  const block = plainText.slice(plainText.indexOf("setup:"), plainText.indexOf("\nVýsledek"));
  const files = [
    written("published.txt", plainText),
    written("page.md", plainText.replace(block, `\`\`\`yaml\n${block}\`\`\`\n`)),
    written("bare.yml", block),
  ];
  const { stdout, stderr, status } = await scenario(["run", ...files]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^scenario run: 3 scenarios, 9 steps: 9 passed, 0 failed, 0 not run$/m);
}, 60_000);

for (const runtime of ["deno", "bun"] as const) {
  test.skipIf(program(runtime) === null)(`a scenario runs under ${runtime}`, async () => {
    const { stdout, status } = await scenario(["run", join(folder, "refuse-without-an-episode.md")], {
      MAJORDOMUS_RUNTIME: program(runtime) ?? "",
    });
    expect([status, status === 0 ? "" : stdout]).toEqual([0, ""]);
  }, 60_000);
}

test("a directory is run with what lies below it, in byte order, without its README", async () => {
  const root = newFolder();
  const { stdout, status, stderr } = await scenario(["run", root]);
  expect([status, stdout, stderr]).toEqual([2, "", `majordomus: no scenario in '${root}': they are .yaml, .yml and .md files\n`]);
});
