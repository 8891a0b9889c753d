import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { home } from "../../../build/bundle.mjs";
import type { Place } from "../../../src/episode/act.ts";
import { Refusal } from "../../../src/ground/errors.ts";
import { layoutOf } from "../../../src/host/layout.ts";
import { fileOperations } from "../../../src/host/files.ts";
import { evidenceLines, promote, reject } from "../../../src/knowledge/review.ts";
import { freshFolder } from "../../support/repository.ts";
import { failingAt, systemError, withOperations } from "../host/faults.ts";

const id = "s-20261009100000-1a2b-7581bba9d5e8";
const other = "s-20261009100000-1a2b-000000000001";
const candidates = ".ai/repo/knowledge/candidates";
const curated = ".ai/repo/knowledge/curated";
const state = ".ai/local/state";
const head = "0123456789012345678901234567890123456789";

const template = `---
schema: knowledge/v1
id: ${id}
kind: knowledge
class: 'lesson' # mine
title: "a.sh prints the wrong word"
description: "d"
# a comment
status: candidate
reviewer: "Jo \\"X\\" B"
epistemics: observed
date: 2026-10-09
tags: [derived]
provenance:
  origin: extracted
  derived_from:
    - session:s-20261009100000-1a2b
---

# t

d

# Evidence

- \`file:lib/a.sh\`

# Rest

kept`;

interface World {
  readonly root: string;
  readonly place: Place;
  read(path: string): string;
  has(path: string): boolean;
  lines(): Record<string, unknown>[];
}

/** In memory where there is such a place: hundreds of acts flush what they write. */
const memory = existsSync("/dev/shm") ? mkdtempSync("/dev/shm/majordomus-review-") : freshFolder("review-");
afterAll(() => rmSync(memory, { recursive: true, force: true }));

function world(record = template): World {
  const root = mkdtempSync(join(memory, "world-"));
  for (const folder of [candidates, curated, `${state}/sessions-open`]) mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, ".ai/manifest.yaml"), "schema: ai-repository/v1\n");
  for (const folder of [candidates, curated]) writeFileSync(join(root, folder, "README.md"), "# no record\n");
  writeFileSync(join(root, candidates, `${id}.md`), record, "latin1");
  writeFileSync(join(root, candidates, `${other}.md`), template.replaceAll(id, other));
  const place: Place = {
    layout: layoutOf(root),
    home,
    now: "2026-10-10T11:12:13Z",
    position: () => ({ head, branch: "main", prefix: "", commonDirectory: ".git" }),
    wait: 1000,
  };
  const ledger = join(root, state, "ledger.jsonl");
  return {
    root,
    place,
    read: (path) => readFileSync(join(root, path), "latin1"),
    has: (path) => existsSync(join(root, path)),
    lines: () =>
      existsSync(ledger)
        ? readFileSync(ledger, "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => JSON.parse(line) as Record<string, unknown>)
        : [],
  };
}

function openEpisode({ root }: World): string {
  const episode = "s-20261010100000-beef";
  const head = `session_id: ${episode}\nstarted_at: 2026-10-10T10:00:00Z\nowner: o\nworktree: ${root}\nbranch: main\nstart_head: NONE\n`;
  writeFileSync(join(root, state, "sessions-open/hand.yaml"), `${head}start_working_tree: clean\n`);
  symlinkSync("sessions-open/hand.yaml", join(root, state, "session-current.yaml"));
  return episode;
}

const seen = { class: undefined, evidence: () => ["seen twice"] };

/** Runs an act and gives what it refused with. */
function refusal(act: () => unknown): Refusal {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

test("promote changes status, class, date, derived_from and evidence, and no other byte; line by line", () => {
  const here = world();
  const episode = openEpisode(here);
  expect(promote(here.place, id, { ...seen, class: "fact" })).toBe(`${curated}/${id}.md`);
  expect(here.has(`${candidates}/${id}.md`)).toBe(false);
  expect(here.read(`${curated}/${id}.md`)).toBe(
    template
      .replace("status: candidate", "status: verified")
      .replace("class: 'lesson' # mine", "class: fact # mine")
      .replace("date: 2026-10-09", "date: 2026-10-10")
      .replace("-1a2b\n---", `-1a2b\n    - session:${episode}\n---`)
      .replace("- `file:lib/a.sh`\n", "- `file:lib/a.sh`\n\nseen twice\n"),
  );
  expect(here.lines()).toEqual([
    {
      ts: "2026-10-10T11:12:13Z",
      event: "knowledge.promoted",
      head,
      branch: "main",
      by: expect.stringMatching(/^majordomus-ts\//) as string,
      session: episode,
      id,
      path: `${curated}/${id}.md`,
    },
  ]);
});

test("reject changes the status, names its successor on the next line, gives the reason, and no other byte", () => {
  const here = world(template.replaceAll("\n", "\r\n"));
  expect(reject(here.place, id, { reason: "it is meant so", by: other })).toBe(`${candidates}/${id}.md`);
  const expected = `${template.replace("status: candidate", `status: superseded\nsuperseded_by: ${other}`)}\n\n# Rejected\n\nit is meant so`;
  expect(here.read(`${candidates}/${id}.md`)).toBe(expected.replaceAll("\n", "\r\n"));
  expect(here.lines()).toMatchObject([{ event: "knowledge.rejected", id, reason: "it is meant so", superseded_by: other }]);
});

test("promote and reject refuse what the contract refuses, each with its status, and leave every byte", () => {
  const cases: readonly (readonly [name: string, status: number, act: (here: World) => unknown, prepare?: (here: World) => void])[] = [
    ["a class outside the list, before a missing candidate", 10, (here) => promote(here.place, "x", { ...seen, class: "rumour" })],
    ["an id that nobody has", 12, (here) => promote(here.place, id.replace("7581", "0000"), seen)],
    ["an id of another form", 12, (here) => promote(here.place, "../candidates/../../policy", seen)],
    ["an id with a path before it", 12, (here) => promote(here.place, `./${id}`, seen)],
    ["no evidence", 10, (here) => promote(here.place, id, { ...seen, evidence: () => evidenceLines(Buffer.from(" \n\t\n")) })],
    ["a rejection of a missing one", 12, (here) => reject(here.place, "README", { reason: "r", by: undefined })],
    ["a successor that is no record", 10, (here) => reject(here.place, id, { reason: "r", by: id.replace("7581", "0000") })],
    ["a successor of another form", 10, (here) => reject(here.place, id, { reason: "r", by: "../candidates/README" })],
    ["a record as its own successor", 10, (here) => reject(here.place, id, { reason: "r", by: id })],
  ];
  const prepared = (record: string): ((here: World) => void) => (here) => writeFileSync(join(here.root, candidates, `${id}.md`), record, "latin1");
  const records: readonly (readonly [name: string, record: string])[] = [
    ["a record that is rejected", template.replace("status: candidate", "status: superseded")],
    ["a record that is verified", template.replace("status: candidate", "status: verified")],
    ["a record that does not parse", template.replace('description: "d"', "description: a: b")],
    ["a record with a conflict", template.replace("# a comment", "<<<<<<< HEAD")],
    ["a record without an end", template.replace("\n---\n", "\n")],
    ["a record with NUL", template.replace("kept", "ke\0pt")],
    ["a record that is no UTF-8", template.replace("kept", "ke\xffpt")],
    ["a record of another id", template.replace(`id: ${id}`, `id: ${other}`)],
    ["a context", template.replace("kind: knowledge", "kind: context")],
  ];
  const acts = [
    (here: World) => promote(here.place, id, seen),
    (here: World) => reject(here.place, id, { reason: "r", by: undefined }),
  ];
  for (const [name, record] of records) for (const act of acts) check(name, 10, act, prepared(record));
  check("no provenance.origin", 10, acts[0] as (here: World) => unknown, prepared(template.replace("  origin: extracted\n", "")));
  check("a class of its own outside the list", 10, acts[0] as (here: World) => unknown, prepared(template.replace("'lesson'", "rumour")));
  for (const act of acts) {
    check("a link", 10, act, (here) => {
      renameSync(join(here.root, candidates, `${id}.md`), join(here.root, "elsewhere.md"));
      symlinkSync(join(here.root, "elsewhere.md"), join(here.root, candidates, `${id}.md`));
    });
    check("a directory", 10, act, (here) => {
      rmSync(join(here.root, candidates, `${id}.md`));
      mkdirSync(join(here.root, candidates, `${id}.md`));
    });
    check("a curated file of that name which is no promotion of it", 10, act, (here) => {
      writeFileSync(join(here.root, curated, `${id}.md`), template.replace("status: candidate", "status: verified").replace("kept", "lost"));
    });
  }
  for (const [name, status, act, prepare] of cases) check(name, status, act, prepare);

  function check(name: string, status: number, act: (here: World) => unknown, prepare?: (here: World) => void): void {
    const here = world();
    prepare?.(here);
    const before = treeOf(here.root);
    expect(refusal(() => act(here)).status, name).toBe(status);
    expect(treeOf(here.root), name).toEqual(before);
  }
});

test("a rejection that would make a circle of successors is refused (10), however long the way", () => {
  const here = world();
  const record = (name: string) => join(here.root, candidates, `${name}.md`);
  const third = id.replace("7581", "0003");
  writeFileSync(record(third), template.replace(`id: ${id}`, `id: ${third}`).replace("status: candidate", `status: superseded\nsuperseded_by: ${id}`), "latin1");
  writeFileSync(record(other), template.replace(`id: ${id}`, `id: ${other}`).replace("status: candidate", `status: superseded\nsuperseded_by: ${third}`), "latin1");
  const before = treeOf(here.root);
  expect(refusal(() => reject(here.place, id, { reason: "r", by: other }))).toMatchObject({ status: 10, detail: `--by '${other}' stands itself superseded by it` });
  expect(treeOf(here.root)).toEqual(before);
});

test("a rejected file keeps its mode, and what cannot be changed is named by its path", () => {
  const here = world();
  const record = join(here.root, candidates, `${id}.md`);
  chmodSync(record, 0o755);
  reject(here.place, id, { reason: "r", by: undefined });
  expect(statSync(record).mode & 0o777).toBe(0o755);
  const list = world(template.replace(/derived_from:\n.*/, "derived_from: x\n---"));
  expect(refusal(() => promote(list.place, id, seen)).what).toContain(`'${candidates}/${id}.md'`);
});

/** Every file below a folder with its bytes; folders that hold nothing say nothing. */
function treeOf(root: string, path = ""): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .flatMap((entry) => {
      const at = join(path, entry.name);
      if (entry.isDirectory()) return treeOf(root, at);
      return [`${at} ${entry.isFile() ? readFileSync(join(root, at), "latin1") : "link"}`];
    })
    .sort();
}

test("evidenceLines refuses a terminal, blanks, a conversation, invalid UTF-8 and control characters, and trims what it takes", () => {
  expect(evidenceLines(Buffer.from("\ufeff\n\n a \r\n\nb\t\n\n"))).toEqual([" a", "", "b"]);
  for (const input of [null, "", " \n\t", "ok\nassistant: hello", "transcript of it", "a\u001bb", "a\rb", "a\0b"]) {
    expect(refusal(() => evidenceLines(input === null ? null : Buffer.from(input))).status, String(input)).toBe(10);
  }
  expect(refusal(() => evidenceLines(Buffer.from([0x61, 0xff]))).status).toBe(10);
});

test("promote finishes what was begun, with the first one's class and evidence, and reads no evidence again", () => {
  for (const hasLine of [false, true]) {
    const here = world();
    promote(here.place, id, { class: "constraint", evidence: () => ["first", "", "- words"] });
    const promoted = here.read(`${curated}/${id}.md`);
    writeFileSync(join(here.root, candidates, `${id}.md`), template, "latin1");
    if (!hasLine) rmSync(join(here.root, state, "ledger.jsonl"));
    const again = { class: "fact", evidence: () => Promise.reject(new Error("read")) as unknown as string[] };
    expect(promote({ ...here.place, now: "2026-11-11T00:00:00Z" }, id, again)).toBe(`${curated}/${id}.md`);
    expect(here.read(`${curated}/${id}.md`)).toBe(promoted);
    expect(here.has(`${candidates}/${id}.md`)).toBe(false);
    expect(here.lines()).toHaveLength(1);
    expect(refusal(() => promote(here.place, id, seen))).toMatchObject({ status: 12, detail: `it is promoted already, as '${curated}/${id}.md'` });
  }
});

test("promote takes no edited candidate for the one that was promoted", () => {
  const here = world();
  promote(here.place, id, seen);
  const edited = template.replace('description: "d"', 'description: "more"');
  writeFileSync(join(here.root, candidates, `${id}.md`), edited);
  expect(refusal(() => promote(here.place, id, seen)).status).toBe(10);
  expect(here.read(`${candidates}/${id}.md`)).toBe(edited);
});

test("reject adds the line that is missing where the record stands rejected for this reason, and refuses another reason", () => {
  const here = world();
  reject(here.place, id, { reason: "so", by: other });
  const rejected = here.read(`${candidates}/${id}.md`);
  expect(refusal(() => reject(here.place, id, { reason: "so", by: undefined })).status).toBe(10);
  rmSync(join(here.root, state, "ledger.jsonl"));
  expect(refusal(() => reject(here.place, id, { reason: "not so", by: undefined })).status).toBe(10);
  reject(here.place, id, { reason: "so", by: undefined });
  expect(here.lines()).toMatchObject([{ id, reason: "so", superseded_by: other }]);
  expect(here.read(`${candidates}/${id}.md`)).toBe(rejected);
});

const acts = {
  promote: (here: World) => promote(here.place, id, seen),
  reject: (here: World) => reject(here.place, id, { reason: "so", by: undefined }),
};

/** The record stands somewhere, and whole. */
function expectSomewhere(here: World): void {
  const places = [`${candidates}/${id}.md`, `${curated}/${id}.md`].filter((path) => here.has(path));
  expect(places.length).toBeGreaterThan(0);
  for (const path of places) expect(here.read(path).startsWith("---\nschema:") && here.read(path).includes("kept")).toBe(true);
}

function expectDone(here: World, name: keyof typeof acts): void {
  if (name === "promote") {
    expect(here.has(`${candidates}/${id}.md`)).toBe(false);
    expect(here.read(`${curated}/${id}.md`).split("seen twice")).toHaveLength(2);
  } else {
    expect(here.read(`${candidates}/${id}.md`).split("# Rejected\n\nso")).toHaveLength(2);
  }
  expect(here.lines()).toHaveLength(1);
  expect(treeOf(here.root).filter((line) => line.includes(".tmp.mj"))).toEqual([]);
}

test.each(["promote", "reject"] as const)("%s: where any one call of the file system fails, it is as it was or a second call finishes", (name) => {
  for (let n = 1; ; n += 1) {
    const here = world();
    const before = treeOf(here.root);
    const { failed, thrown } = failingAt(n, "EIO", () => acts[name](here));
    expectSomewhere(here);
    if (failed === undefined) {
      expect(n).toBeGreaterThan(20);
      expectDone(here, name);
      return;
    }
    if (thrown !== undefined) {
      expect(thrown, `${n} ${failed}`).toBeInstanceOf(Refusal);
      const own = treeOf(here.root).filter((line) => !line.includes(".lock"));
      // Only the last step of a promotion, after its line, is not taken back.
      if (here.lines().length === 0) expect(own, `${n} ${failed}`).toEqual(before);
      clearLocks(here);
      acts[name](here);
    }
    expectDone(here, name);
  }
});

/** What a killed process does after the call before which it was killed: nothing at all. */
function killedAt(n: number, act: () => void): boolean {
  let count = 0;
  const replaced = Object.fromEntries(
    Object.keys(fileOperations).map((name) => [
      name,
      (real: (...values: unknown[]) => unknown, ...values: unknown[]) => {
        count += 1;
        if (count >= n) throw systemError("EIO");
        return real(...values);
      },
    ]),
  );
  try {
    withOperations(replaced, act);
  } catch {
    // It is dead.
  }
  return count >= n;
}

/** A killed owner's locks, as its death leaves them: held by a process that is no more. */
function dieInLocks({ root }: World): void {
  for (const lock of ["ledger.lock", "knowledge.lock"]) {
    const folder = join(root, state, lock);
    for (const name of existsSync(folder) ? readdirSync(folder) : []) {
      renameSync(join(folder, name), join(folder, name.replace(/^[0-9]+_/, "4194999_")));
    }
  }
}

function clearLocks({ root }: World): void {
  for (const lock of ["ledger.lock", "knowledge.lock"]) rmSync(join(root, state, lock), { recursive: true, force: true });
}

test.each(["promote", "reject"] as const)("%s: killed before any call of the file system, a second call finishes it with one line", (name) => {
  for (let n = 1; ; n += 1) {
    const here = world();
    const killed = killedAt(n, () => acts[name](here));
    if (!killed) {
      expect(n).toBeGreaterThan(20);
      return;
    }
    expectSomewhere(here);
    const begun = name === "promote" && here.has(`${curated}/${id}.md`);
    // A dead owner is met twice before it is judged, which takes its time: now and then, and where it decides.
    if (n % 8 === 0 || here.lines().length === 1) dieInLocks(here);
    else clearLocks(here);
    const lock = join(here.root, state, "knowledge.lock");
    if (here.lines().length === 1 && readdirSync(lock).length === 0) return;
    if (begun) {
      const promoted = here.read(`${curated}/${id}.md`);
      promote(here.place, id, { class: "fact", evidence: () => ["other words"] });
      expect(here.read(`${curated}/${id}.md`)).toBe(promoted);
    } else {
      acts[name](here);
    }
    expectDone(here, name);
  }
});

test("an edit that is saved while an act runs is neither overwritten nor removed", () => {
  for (const name of ["promote", "reject"] as const) {
    const here = world();
    const path = join(here.root, candidates, `${id}.md`);
    const edited = `${template} more`;
    // The fifth reading is past both looks at the record: the act works on what it saw then.
    let reads = 0;
    const readSync = (real: (...values: unknown[]) => unknown, ...values: unknown[]) => {
      const result = real(...values);
      reads += 1;
      if (reads === 5) writeFileSync(path, edited);
      return result;
    };
    const error = refusal(() => withOperations({ readSync }, () => acts[name](here)));
    expect(error.status).toBe(10);
    expect(here.read(`${candidates}/${id}.md`)).toBe(edited);
    expect(here.lines().length + Number(here.has(`${curated}/${id}.md`)), name).toBe(0);
  }
});
