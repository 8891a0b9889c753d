// The library: the README's example type-checks and runs, from a package and from the source.
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { deriveRecords, flattenYaml, readFrontMatter, readRecord, readYaml, recordText, Refusal, reviewQueue, scalar } from "../../src/index.ts";
import type { CandidateRecord } from "../../src/index.ts";
import { needing, program } from "../needs.ts";
import { freshFolder, run, withEpisode } from "../support/repository.ts";

const tsc = join(home, "node_modules/typescript/bin/tsc");

/** The example of the README, as its reader copies it. */
function example(): string {
  const [, code] = /## As a library\n[^#]*?```js\n([\s\S]*?)```/.exec(fs.readFileSync(join(home, "README.md"), "utf8")) ?? [];
  if (code === undefined) throw new Error("the README has no example of the library");
  return code;
}

describe("library: the README's example", () => {
  let ledger = "";
  let printed = "";
  let folder = "";

  beforeAll(() => {
    const repository = withEpisode();
    repository.done("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "it prints “wrold” 😀");
    repository.done("knowledge", "derive");
    ledger = repository.path(".ai/local/state/ledger.jsonl");
    repository.git("checkout", "-q", "--detach");
    printed = repository.done("knowledge", "candidates").replace(/ main {21}/, ` -${" ".repeat(24)}`);
    folder = freshFolder();
    fs.mkdirSync(join(folder, "node_modules"));
    fs.mkdirSync(join(folder, ".ai/local/state"), { recursive: true });
    fs.copyFileSync(ledger, join(folder, ".ai/local/state/ledger.jsonl"));
    // What a package has, as npm would install it.
    const installed = join(folder, "node_modules/majordomus-knowledge");
    fs.mkdirSync(installed);
    fs.cpSync(join(home, "dist"), join(installed, "dist"), { recursive: true });
    fs.copyFileSync(join(home, "package.json"), join(installed, "package.json"));
    fs.symlinkSync(join(home, "node_modules/@types"), join(folder, "node_modules/@types"));
    fs.writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    fs.writeFileSync(join(folder, "example.mjs"), example());
    fs.writeFileSync(join(folder, "example.mts"), example());
  });

  const expectPrinted = (ended: ReturnType<typeof run>) => {
    expect(ended).toMatchObject({ status: 0, stderr: "" });
    const [first = "", ...rest] = ended.stdout.split("\n");
    expect(first).toMatch(/^s-[0-9]{14}-[0-9a-f]{4}-[0-9a-f]{12}: [0-9]+ characters$/);
    expect(rest.join("\n")).toBe(`${printed}\n`);
  };

  test("has ten lines", () => {
    expect(example().trim().split("\n").length).toBeLessThanOrEqual(10);
  });

  for (const types of ["nodenext", "bundler"]) {
    test(`type-checks in the strictest settings, ${types}`, () => {
      const resolution = types === "bundler" ? ["--module", "esnext", "--moduleResolution", "bundler"] : ["--module", "nodenext"];
      const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--verbatimModuleSyntax", "--noEmit"];
      const ended = run(process.execPath, [tsc, "--ignoreConfig", "--target", "es2022", "--types", "node", ...resolution, ...strict, "example.mts"], { cwd: folder });
      expect(ended).toMatchObject({ status: 0, stdout: "" });
    });
  }

  test("a wrong use does not type-check", () => {
    fs.writeFileSync(join(folder, "wrong.mts"), 'import { deriveRecords } from "majordomus-knowledge";\nexport const n: number = deriveRecords(1).records;\n');
    const ended = run(process.execPath, [tsc, "--ignoreConfig", "--module", "nodenext", "--target", "es2022", "--types", "node", "--strict", "--noEmit", "wrong.mts"], { cwd: folder });
    expect(ended.status).not.toBe(0);
    expect(ended.stdout.match(/error TS/g)).toHaveLength(2);
  });

  for (const name of ["node20", "node22", "node24", "node26", "bun"]) {
    needing(name)(`${name}: runs, and prints what the command prints`, () => {
      expectPrinted(run(program(name) ?? "", ["example.mjs"], { cwd: folder }));
    });
  }

  needing("deno")("deno: runs from the package, and from the source with its types checked", () => {
    const env = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" };
    const deno = (...args: readonly string[]) => run(program("deno") ?? "", args, { cwd: folder, env });
    expectPrinted(deno("run", "--no-remote", "--no-prompt", "--allow-read", "--allow-env", "example.mjs"));
    const source = `${dirname(join(home, "src/index.ts"))}/index.ts`;
    fs.writeFileSync(join(folder, "source.ts"), example().replace("majordomus-knowledge", source));
    expectPrinted(deno("run", "--no-config", "--no-remote", "--no-npm", "--no-prompt", "--allow-read", "--allow-env", "source.ts"));
  });
});

describe("library: text in, text out", () => {
  const line = (fields: object) =>
    `${JSON.stringify({ ts: "2026-10-09T10:00:00Z", event: "observation.recorded", head: "NONE", branch: "main", by: "x", session: "s-20261009100000-1a2b", task_id: "none", ...fields })}\n`;
  const observed = (subject: string, statement: string, session = "s-20261009100000-1a2b") =>
    line({ session, kind: "defect", subject, statement, evidence: ["file:a"] });

  test("deriveRecords: each episode, or one; damaged lines counted; references as the caller resolves them; routes", () => {
    const ledger = `${observed("docs/ä.md", "one")}{"torn\n${observed("gate:x", "two", "s-20261010100000-1a2b")}${observed("docs/ä.md", "messages: a talk")}`;
    const all = deriveRecords(ledger);
    expect(all.damaged).toBe(1);
    expect(all.records.map(({ episode, record }) => [episode, record.evidence.title, record.route])).toEqual([
      ["s-20261009100000-1a2b", "one", "documentation"],
      ["s-20261010100000-1a2b", "two", "enforcement"],
    ]);
    const resolve = ({ reference }: { readonly reference: string }) => `${reference}@1`;
    const one = deriveRecords(ledger, { episode: "s-20261010100000-1a2b", resolve, route: { vendoredRules: "rules" } });
    expect(one.records.map((record) => record.record.derivedFrom)).toEqual([["session:s-20261010100000-1a2b", "file:a@1"]]);
    expect(deriveRecords("")).toEqual({ records: [], damaged: 0 });
    expect(deriveRecords("\n").damaged).toBe(1);
  });

  test("a derived file is what recordText emits, and readRecord reads it back", () => {
    const [file] = deriveRecords(observed("lib/é😀.sh", 'it "prints" \\ ～')).records;
    if (file === undefined) throw new Error("nothing was derived");
    expect(recordText(file.record)).toBe(file.text);
    expect(readRecord(file)).toMatchObject({ id: file.id, about: "lib/é😀.sh", title: 'it "prints" \\ ～', episode: file.episode, path: file.path });
    expect(readFrontMatter(file.text).leaves.get("title")).toBe('it "prints" \\ ～');
    expect(readFrontMatter(file.text).body).toContain("# it");
  });

  test("reviewQueue: groups, unreadable files, branches, the listing as text and JSON", () => {
    const { records } = deriveRecords(observed("lib/é.sh", "one") + observed("lib/é.sh", "two", "s-20261010100000-1a2b"));
    const queue = reviewQueue([...records, { path: "ü.md", text: "no front matter" }], new Map([["s-20261009100000-1a2b", "ä"]]));
    expect(queue.groups.map(({ about, episodes }) => [about, episodes.length])).toEqual([["lib/é.sh", 2]]);
    expect(queue.unreadable).toEqual([{ path: "ü.md", reason: "no front matter" }]);
    expect(queue.text).toContain("unreadable ü.md: no front matter\n");
    expect(queue.text).toMatch(/ ä +one\n/);
    expect((JSON.parse(queue.json) as { readonly candidates: CandidateRecord[] }).candidates).toHaveLength(2);
    expect(reviewQueue([]).text).toBe("knowledge candidates: 0 awaiting review\n");
  });

  test("YAML: read, flattened, emitted; what leaves the subset is a Refusal with its line", () => {
    expect([...readYaml("\ufeffk: ü\nlist: []\n")]).toEqual([["k", "ü"], ["list", null]]);
    expect(flattenYaml("a:\n  - ü\n")).toBe("a.0=ü\n");
    expect(readYaml(`a: ${scalar("- ü: #")}\n`).get("a")).toBe("- ü: #");
    for (const [read, message] of [
      [() => readYaml("a: 1\nb: &x 2\n"), "line 2: anchor"],
      [() => readYaml("a: \0\n"), "NUL byte"],
      [() => readFrontMatter("x"), "no front matter"],
    ] as const) {
      expect(read).toThrow(Refusal);
      expect(read).toThrow(message);
    }
  });
});
