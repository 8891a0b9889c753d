import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../../build/bundle.mjs";
import { frontMatterOf } from "../../../src/format/front-matter.ts";
import { readYaml } from "../../../src/format/yaml-read.ts";
import { bytesOfText, cleaned, textOfBytes } from "../../../src/ground/bytes.ts";
import type { Evidence } from "../../../src/knowledge/evidence.ts";
import { derivedFromOf, recordText } from "../../../src/knowledge/record.ts";
import { randomFrom, seed } from "../../support/random.ts";

const sid = "s-20261009100000-1a2b";
const tid = "t-20261009101500-0a1b";

const evidence: Evidence = {
  identity: [],
  title: "a.sh prints the wrong word",
  description: `Observed as defect about lib/a.sh in episode ${sid}.`,
  class: "lesson",
  epistemics: "observed",
  tag: "observation",
  date: "2026-10-09",
  task: tid,
  subject: "lib/a.sh",
  references: [
    { reference: "file:lib/a.sh", head: "NONE" },
    { reference: "issue:I2091", head: "NONE" },
  ],
};

test("recordText: the contract's own example, to the byte", () => {
  const contract = readFileSync(join(home, "docs/contract.md"), "utf8");
  const example = /### The record\n[^`]*```\n([^]*?)```/.exec(contract)?.[1];
  const id = `${sid}-7581bba9d5e8`;
  const derivedFrom = derivedFromOf(sid, evidence, [], ({ reference }) => (reference.startsWith("file:") ? reference : null));
  expect(recordText({ id, evidence, route: "project", derivedFrom, relatedPaths: [] })).toBe(example);
});

test("recordText: relations stand after provenance, a value that is no plain scalar is quoted", () => {
  const text = recordText({ id: "i", evidence, route: "project", derivedFrom: ["session:s", "file:a: b"], relatedPaths: ["a b", "c #d", "é"] });
  expect(text).toContain(
    '    - session:s\n    - "file:a: b"\nrelations:\n  - type: relates_to\n    target: file:a b\n  - type: relates_to\n    target: "file:c #d"\n  - type: relates_to\n    target: file:é\n---\n',
  );
});

test("recordText: no references, no evidence section; no subject, no about and no route", () => {
  const { subject: _, ...decided } = { ...evidence, tag: "decision" as const, references: [] };
  const text = recordText({ id: "i", evidence: decided, derivedFrom: ["session:s"], relatedPaths: [] });
  expect(text).not.toMatch(/^(?:about|route|relations):/m);
  expect(text.endsWith(`---\n\n# ${evidence.title}\n\n${evidence.description}\n`)).toBe(true);
});

test("derivedFromOf: the episode, the task by its tag, the commits, what resolves; no value twice", () => {
  const resolved = ({ reference }: { readonly reference: string }) => (reference.startsWith("issue:") ? null : reference);
  expect(derivedFromOf(sid, evidence, ["c1", "c2"], resolved)).toEqual([`session:${sid}`, `task:${tid}`, "commit:c1", "commit:c2", "file:lib/a.sh"]);
  expect(derivedFromOf(sid, { ...evidence, tag: "decision", references: [] }, [], resolved)).toEqual([`session:${sid}`, `decision:${tid}`]);
  expect(derivedFromOf(sid, { ...evidence, tag: "question", references: [] }, [], resolved)).toEqual([`session:${sid}`, `task:${tid}`]);
  expect(derivedFromOf(sid, { ...evidence, task: "none", references: [] }, [], resolved)).toEqual([`session:${sid}`]);
  const twice = { ...evidence, references: [...evidence.references, ...evidence.references, { reference: "commit:c1", head: "NONE" }] };
  expect(derivedFromOf(sid, twice, ["c1"], resolved)).toEqual([`session:${sid}`, `task:${tid}`, "commit:c1", "file:lib/a.sh"]);
});

test(`recordText: whatever the ledger holds, the front matter is read back as it was meant (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const pieces = ["a", "é", "😀", '"', "'", "\\", "\\n", ": ", " #", "#", "---", "- ", "\n", "\r", "\t", "\u0085", "\u2028", "\ufeff", "\uffff", "`", "[", "{", "%", "|", " ", "true", "0"];
  for (let count = 0; count < 2000; count += 1) {
    const text = () => cleaned(random.text(pieces, 1 + random.below(8)));
    const [title, description, subject] = [text(), text(), text()];
    const from = [`session:${sid}`, `file:${text()}`];
    const related = [text()];
    const references = [{ reference: `issue:${text()}`, head: "NONE" }];
    const file = recordText({ id: "i", evidence: { ...evidence, title, description, subject, references }, route: "project", derivedFrom: from, relatedPaths: related });
    const matter = frontMatterOf(bytesOfText(file));
    if (typeof matter === "string") throw new Error(`seed ${seed}: ${matter}: ${file}`);
    const { leaves } = readYaml(matter.yaml, 2, true);
    const value = (path: string) => textOfBytes(leaves?.get(path) ?? "(none)");
    expect(["title", "description", "about", "provenance.derived_from.1", "relations.0.target"].map(value), `seed ${seed}`).toEqual([
      title, description, subject, from[1], `file:${related[0] ?? ""}`,
    ]);
    expect(file.slice(matter.bodyStart).length).toBeGreaterThan(0);
  }
});
