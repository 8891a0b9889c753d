import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { layoutOf } from "../../../src/host/layout.ts";
import type { Layout } from "../../../src/host/layout.ts";
import { checkGithub, checkJson, checkSarif, checkText, uriOf } from "../../../src/knowledge/check-report.ts";
import { awaitingReview, checkRecords } from "../../../src/knowledge/check.ts";
import type { CheckResult } from "../../../src/knowledge/check.ts";
import { checkRules } from "../../../src/knowledge/inspect.ts";
import { freshFolder } from "../../support/repository.ts";

const episode = "s-20261009100000-1a2b";
const id = `${episode}-7581bba9d5e8`;
const other = `${episode}-000000000001`;
const candidate = `.ai/repo/knowledge/candidates/${id}.md`;
const curated = `.ai/repo/knowledge/curated/${id}.md`;

function record(changes: Readonly<Record<string, string>> = {}, from: readonly string[] = [`session:${episode}`], body = "\n# t\n\nd\n"): string {
  const fields: Record<string, string> = {
    schema: "knowledge/v1",
    id,
    kind: "knowledge",
    class: "lesson",
    title: '"t"',
    description: '"d"',
    status: "candidate",
    epistemics: "observed",
    date: "2026-10-09",
    tags: "[derived, observation]",
    about: '"lib/a.sh"',
    route: "project",
    ...changes,
  };
  const lines = Object.entries(fields).flatMap(([key, value]) => (value === "-" ? [] : [`${key}: ${value}`]));
  const derived = from.length === 0 ? [] : ["  derived_from:", ...from.map((reference) => `    - "${reference}"`)];
  return `---\n${lines.join("\n")}\nprovenance:\n  origin: extracted\n${derived.join("\n")}\n---\n${body}`;
}

function world(files: Readonly<Record<string, string>> = {}): Layout {
  const root = freshFolder("check-");
  const all = { ".ai/manifest.yaml": "schema: ai-repository/v1\n", ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, "latin1");
  }
  return layoutOf(root);
}

function messages(result: CheckResult, path: string): string[] {
  return result.records.filter((record) => record.path === path).flatMap((record) => record.faults.map(({ rule, message }) => `${rule}: ${message}`));
}

test.each<readonly [string, string]>([
  [record(), ""],
  [record({ schema: "knowledge/v2" }), "shape: schema is not knowledge/v1"],
  [record({ kind: "note" }), "shape: kind is not knowledge"],
  [record({ class: "-", title: '""' }), "shape: no class, title"],
  [record({ title: "[a]" }), "shape: title is no text"],
  [record({ tags: "a" }), "tags: no tags"],
  [record({ tags: "-" }), "tags: no tags"],
  [record({ tags: "[a, 'b c']" }), "tags: a tag is no word"],
  [record({ reviewer: "me" }), "unknown-key: unknown key 'reviewer'"],
  [record({ id: other }), `file-name: its id is '${other}'`],
  [record({ class: "rumour" }), "class: unknown class 'rumour'"],
  [record({ status: "done" }), "status: unknown status 'done'"],
  [record({ epistemics: "guessed" }), "epistemics: unknown epistemics 'guessed'"],
  [record({ date: "9 October" }), "date: date '9 October' is not YYYY-MM-DD"],
  [record({}, []), "provenance: derived_from names nothing"],
  [record({ status: "superseded", superseded_by: other }), `supersession: superseded_by '${other}' names no record`],
  [record({ status: "superseded", superseded_by: id }), `supersession: superseded_by '${id}' comes back to itself`],
  [record({ title: '"assistant: hello"' }), "conversation: the title opens like a conversation"],
  [record({ description: '"transcript of it"' }), "conversation: the description opens like a conversation"],
  [record({}, undefined, "\n# t\n\nresponse: 1\n"), "conversation: a line of the body opens like a conversation"],
  [record({ status: "verified" }), "place: a verified record under candidates"],
  [record({ about: '"lib//a.sh"' }), "about: about 'lib//a.sh': a path in its one form is 'lib/a.sh'"],
  [record({ about: '""' }), "about: about '': it is empty"],
  [record({ route: "elsewhere" }), "route: unknown route 'elsewhere'"],
  [record({}, ["file:lib/none"]), "reference: 'file:lib/none': no such file"],
  [record({}, ["file:../x"]), "reference: 'file:../x': no path below the root"],
  [record({}, ["rule:none"]), "reference: 'rule:none': no rule has this id"],
  [record({}, ["adr:none"]), "reference: 'adr:none': no decision record has this id"],
  [record({}, ["knowledge:none"]), "reference: 'knowledge:none': no such record"],
  [record({}, ["session:yesterday"]), "reference: 'session:yesterday': no episode's id"],
  [record({}, ["commit:xyz"]), "reference: 'commit:xyz': no commit: 4 to 64 hex digits"],
  [record({}, ["mail:x"]), "reference: 'mail:x': unknown kind of reference"],
  ["no front matter\n", "unreadable: no front matter"],
  [record({ title: "a: b" }), "unreadable: line 6: plain scalar with a colon before a blank or at its end"],
])("checkRecords of %j", (text, wanted) => {
  const result = checkRecords(world({ [candidate]: text, "lib/a.sh": "" }));
  expect(messages(result, candidate)).toEqual(wanted === "" ? [] : [wanted]);
  expect(result.failing).toBe(wanted === "" ? 0 : 1);
});

test("checkRecords names faults in the contract's order", () => {
  const text = record({ route: "x", status: "verified", title: '"messages: a"', reviewer: "me", date: "x", class: "x", schema: "x" }, ["file:none"]);
  const rules = checkRecords(world({ [candidate]: text })).records[0]?.faults.map(({ rule }) => rule);
  expect(rules).toEqual(["shape", "unknown-key", "class", "date", "reference", "conversation", "place", "route"]);
});

test("checkRecords: an id in both directories fails both; a candidate under curated fails; a context and README are no records", () => {
  const layout = world({
    [candidate]: record(),
    [curated]: record({ status: "verified" }),
    [`.ai/repo/knowledge/curated/${other}.md`]: record({ id: other }),
    ".ai/repo/knowledge/curated/README.md": "# no record\n",
    ".ai/repo/knowledge/candidates/context.md": "---\nkind: context\n---\n",
  });
  const result = checkRecords(layout);
  expect(result.records).toHaveLength(3);
  expect(messages(result, candidate)).toEqual([`unique-id: its id stands also in '${curated}'`]);
  expect(messages(result, curated)).toEqual([`unique-id: its id stands also in '${candidate}'`]);
  expect(messages(result, `.ai/repo/knowledge/curated/${other}.md`)).toEqual(["place: a candidate under curated"]);
});

test("checkRecords: a successor without status superseded fails", () => {
  const layout = world({ [candidate]: record({ superseded_by: other }), [`.ai/repo/knowledge/curated/${other}.md`]: record({ id: other, status: "verified" }) });
  const result = checkRecords(layout);
  expect(messages(result, candidate)).toEqual(["supersession: superseded_by without status superseded"]);
});

test("checkRecords: a circle of successors fails all that are on it, and what leads there resolves", () => {
  const ids = ["000000000001", "000000000002", "000000000003"].map((digits) => `${episode}-${digits}`);
  const [a = "", b = "", c = ""] = ids;
  const file = (own: string, by: string) => ({ [`.ai/repo/knowledge/candidates/${own}.md`]: record({ id: own, status: "superseded", superseded_by: by }) });
  const result = checkRecords(world({ ...file(a, b), ...file(b, a), ...file(c, a) }));
  expect(result.records.map((one) => one.faults.map(({ message }) => message))).toEqual([
    [`superseded_by '${b}' comes back to itself`],
    [`superseded_by '${a}' comes back to itself`],
    [],
  ]);
});

test("checkRecords: sessions, tasks and decisions are found in ledger, archives, open files, notes and session records; else told, or failed where this ledger has the episode", () => {
  const line = (fields: object) => `${JSON.stringify({ ts: "2026-10-09T10:00:00Z", ...fields })}\n`;
  const sid = (digits: string) => `s-20261009100000-${digits}`;
  const tid = (digits: string) => `t-20261009100000-${digits}`;
  const refer = (own: string, from: readonly string[]) => ({
    [`.ai/repo/knowledge/candidates/${own}.md`]: record({ id: own }, from),
  });
  const known = [sid("0001"), sid("0002"), sid("0003"), sid("0004")];
  const [inLedger = "", inArchive = "", isOpen = "", isRecorded = ""] = known;
  const result = checkRecords(
    world({
      ".ai/local/state/ledger.jsonl":
        line({ event: "decision.recorded", session: inLedger, task_id: tid("0001"), decision: "d" }) +
        line({ event: "session.started", session: sid("dead") }).replace("Z", "X") +
        "torn",
      ".ai/local/state/ledger.20261009T100000Z.jsonl.archived": line({ event: "task.started", session: inArchive, task_id: tid("0002") }),
      ".ai/local/state/sessions-open/hand.yaml": `session_id: ${isOpen}\n`,
      [`.ai/local/state/completed/${tid("0003")}.md`]: "",
      ".ai/repo/sessions/x.md": `---\nsession_id: ${isRecorded}\ntasks:\n  - ${tid("0004")}\n---\n`,
      ...refer(other, [...known.map((one) => `session:${one}`), ...["0001", "0002", "0003", "0004"].map((one) => `task:${tid(one)}`), `decision:${tid("0001")}`]),
      ...refer(`${episode}-000000000002`, [`session:${inLedger}`, `task:${tid("9999")}`, `decision:${tid("0002")}`, `session:${sid("dead")}`]),
      ...refer(`${episode}-000000000003`, [`session:${isRecorded}`, `task:${tid("9999")}`, `decision:${tid("0004")}`, "issue:I1", "claim:x"]),
    }),
  );
  const found = result.records.map(({ faults, notes }) => ({ faults: faults.map(({ message }) => message), notes: notes.map(({ message }) => message) }));
  expect(found).toEqual([
    { faults: [], notes: [] },
    {
      faults: [`'task:${tid("9999")}': no such task is known here`, `'decision:${tid("0002")}': no decision of such a task is known here`],
      notes: [`'session:${sid("dead")}': no such episode is known here`],
    },
    {
      faults: [],
      notes: [
        `'task:${tid("9999")}': no such task is known here`,
        `'decision:${tid("0004")}': no decision of such a task is known here`,
        "'issue:I1': an issue that is not kept here",
        "'claim:x': a claim is looked up nowhere",
      ],
    },
  ]);
});

test("checkRecords: rules, decision records and issues resolve by id; commits by git, whole or cut, and are told where there is no git or history is shallow", () => {
  const layout = world({
    ".ai/repo/rules/a.md": "---\nid: r1\n---\n",
    ".ai/repo/rules/vendor/deep/b.yaml": "id: majordomus.r2\n",
    ".ai/repo/adrs/0001.md": "---\nid: adr-1\n---\n",
    ".ai/repo/issues/1.md": "---\nid: I1\n---\n",
  });
  const put = (from: readonly string[]) => {
    mkdirSync(join(layout.root, dirname(candidate)), { recursive: true });
    writeFileSync(join(layout.root, candidate), record({}, from));
    const result = checkRecords(layout).records[0];
    return [...(result?.faults ?? []), ...(result?.notes ?? [])].map(({ rule, message }) => `${rule} ${message}`);
  };
  expect(put(["rule:r1", "rule:majordomus.r2", "adr:adr-1", "decision:adr-1", "issue:I1"])).toEqual([]);
  const lost = "0123456789012345678901234567890123456789";
  expect(put([`commit:${lost}`])).toEqual([`unresolved 'commit:${lost}': there is no git repository here to ask`]);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: layout.root, encoding: "utf8", stdio: "pipe" }).trim();
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "one");
  const commit = git("rev-parse", "HEAD");
  git("branch", "abcd1234");
  const tree = git("rev-parse", "HEAD^{tree}");
  expect(put([`commit:${commit}`, `commit:${commit.slice(0, 8).toUpperCase()}`])).toEqual([]);
  expect(put([`commit:${lost}`, "commit:abcd1234", `commit:${tree}`])).toEqual(
    [lost, "abcd1234", tree].map((name) => `reference 'commit:${name}': git has no such commit`),
  );
  writeFileSync(join(layout.root, ".git/shallow"), `${commit}\n`);
  expect(put([`commit:${lost}`])).toEqual([`unresolved 'commit:${lost}': git has no such commit, and its history is shallow`]);
});

test("checkRecords: a rule is found in a folder of any name, and by its id alone where its YAML goes beyond the subset", () => {
  const rules = ".ai/repo/rules";
  const layout = world({
    [candidate]: record({}, [`session:${episode}`, "rule:r.one", "rule:r.two", "rule:r.three", "rule:r.none"]),
    [`${rules}/pravidla-\u010d/one.md`]: "---\nid: r.one\n---\n",
    [`${rules}/two.md`]: "---\r\nid: 'r.two' # mine\r\ndescription: |\r\n  a\r\n  id: r.none\r\n---\r\nid: r.none\r\n",
    [`${rules}/deep/er/three.yaml`]: "description: >-\n  x\nid: r.three\n",
    [`${rules}/four.md`]: "---\nid: { a: b }\n---\n",
  });
  expect(messages(checkRecords(layout), candidate)).toEqual(["reference: 'rule:r.none': no rule has this id"]);
});

test("checkRecords refuses promoted records behind a link out of the repository, as every command does (10)", () => {
  const layout = world();
  mkdirSync(join(layout.root, ".ai/repo/knowledge"), { recursive: true });
  symlinkSync(freshFolder("elsewhere-"), join(layout.root, ".ai/repo/knowledge/curated"));
  expect(() => checkRecords(layout)).toThrow(/leads outside the repository/);
});

test("an awaiting record is shown at the file that it is about; where that is missing, a folder or git's own, at its own file", () => {
  const place = (about: string) => {
    const layout = world({ "lib/a.sh": "", ".git/config": "", [candidate]: record({ about }) });
    return awaitingReview(layout, checkRecords(layout).records).map((one) => one.place);
  };
  expect(place("lib/a.sh")).toEqual(["lib/a.sh"]);
  for (const about of ["lib/gone.sh", "lib", ".git/config", "../../etc/passwd"]) expect([about, ...place(about)]).toEqual([about, candidate]);
  expect(place('"rule:a"')).toEqual([]);
  const layout = world({ [candidate]: record({ about: "lib/gone.sh" }) });
  expect(checkGithub(reportOf(layout))).toContain(`file=${candidate},line=1,title=knowledge candidate::awaits review: about 'lib/gone.sh': t (${id})\n`);
});

test("checkRecords tells of a credential's shape with its line, of names no reader takes, and fails a link", () => {
  const token = `ghp_${"a1B2c3".repeat(6)}`;
  const layout = world({ [candidate]: record({}, undefined, `\n# t\n\nthe token ${token}\n`), ".ai/repo/knowledge/candidates/x.md~": "" });
  mkdirSync(join(layout.root, ".ai/repo/knowledge/curated/dir.md"), { recursive: true });
  symlinkSync(join(layout.root, candidate), join(layout.root, curated));
  const result = checkRecords(layout);
  expect(checkText(result).split("\n")).toEqual([
    `OK   knowledge   ${candidate} — candidate lesson`,
    `note knowledge   ${candidate} — line 22: it carries the shape of a GitHub token`,
    `note knowledge   ${candidate} — '${`session:${episode}`}': no such episode is known here`,
    `FAIL knowledge   ${curated} — symbolic link`,
    "note knowledge   .ai/repo/knowledge/candidates/x.md~ — not read: its name does not end in .md",
    "note knowledge   .ai/repo/knowledge/curated/dir.md — not read: it is no regular file",
    "knowledge check: 2 record(s), 1 failing",
    "",
  ]);
  expect(JSON.stringify(checkJson(result))).not.toContain(token);
});

/** A repository whose check has an error, a warning, notes and an awaiting record about a path with odd characters. */
function oddLayout(): Layout {
  const about = 'do%c,sx/é "a".md';
  return world({
    [candidate]: record({ about: `'${Buffer.from(about, "utf8").toString("latin1")}'`, title: '"50%, really: yes"' }, ["claim:x"]),
    [`.ai/repo/knowledge/candidates/${other}.md`]: record({ id: other, title: "a: b" }),
    [about]: "",
    ".ai/repo/knowledge/curated/s%,:x.md": record({ id: "s" }),
  });
}

function reportOf(layout: Layout, prefix = "") {
  const result = checkRecords(layout);
  return { ...result, awaiting: awaitingReview(layout, result.records), prefix };
}

test("checkGithub prints workflow commands alone, escaped as GitHub reads them, the gravest first", () => {
  const text = checkGithub(reportOf(oddLayout(), "sub/"));
  const lines = text.trimEnd().split("\n");
  for (const line of lines) expect(line).toMatch(/^::(?:error|warning|notice) file=[^:,]+,line=[1-9][0-9]*,title=[^:,]+::[^\n\r]+$/);
  expect(lines.map((line) => /^::([a-z]+)/.exec(line)?.[1])).toEqual(["error", "error", "error", "notice", "notice", "notice"]);
  expect(lines[0]).toBe(`::error file=sub/.ai/repo/knowledge/candidates/${other}.md,line=6,title=knowledge unreadable::line 6: plain scalar with a colon before a blank or at its end`);
  expect(text).toContain("file=sub/.ai/repo/knowledge/curated/s%25%2C%3Ax.md,");
  expect(lines.at(-1)).toBe(`::notice file=sub/do%25c%2Csx/é "a".md,line=1,title=knowledge candidate::awaits review: 50%25, really: yes (${id})`);
});

interface Sarif {
  $schema: string;
  version: string;
  runs: { tool: { driver: { name: string; rules: { id: string; shortDescription: { text: string } }[] } }; results: SarifResult[] }[];
}
interface SarifResult {
  ruleId: string;
  ruleIndex: number;
  level: string;
  message: { text: string };
  locations: { physicalLocation: { artifactLocation: { uri: string; uriBaseId: string }; region: { startLine: number } } }[];
}

test("checkSarif is a SARIF 2.1.0 log: version, schema, rules without doubles, results with a known rule, a level, a text and a relative, encoded URI", () => {
  const log = JSON.parse(JSON.stringify(checkSarif(reportOf(oddLayout())))) as Sarif;
  expect(Object.keys(log)).toEqual(["$schema", "version", "runs"]);
  expect(log.version).toBe("2.1.0");
  expect(log.$schema).toMatch(/sarif-schema-2\.1\.0\.json$/);
  expect(log.runs).toHaveLength(1);
  const [run] = log.runs;
  const rules = run?.tool.driver.rules ?? [];
  expect(run?.tool.driver.name).toBe("majordomus");
  expect(rules.map((rule) => rule.id)).toEqual(Object.keys(checkRules));
  expect(rules.every((rule) => rule.shortDescription.text !== "")).toBe(true);
  expect(run?.results).toHaveLength(6);
  for (const result of run?.results ?? []) {
    expect(rules[result.ruleIndex]?.id).toBe(result.ruleId);
    expect(["none", "note", "warning", "error"]).toContain(result.level);
    expect(result.message.text).not.toBe("");
    const [location] = result.locations;
    expect(location?.physicalLocation.artifactLocation.uri).toMatch(/^(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+$/);
    expect(location?.physicalLocation.artifactLocation.uri).not.toMatch(/^\/|\/\.\.?\//);
    expect(location?.physicalLocation.region.startLine).toBeGreaterThan(0);
  }
  expect(run?.results.at(-1)).toMatchObject({ ruleId: "candidate", level: "note" });
  expect(run?.results.at(-1)?.locations[0]?.physicalLocation.artifactLocation.uri).toBe("do%25c%2Csx/%C3%A9%20%22a%22.md");
});

test("uriOf encodes every byte that is not plain, of names that are no UTF-8 too", () => {
  expect(uriOf("é/", "a b\xff:#?.md")).toBe("%C3%A9/a%20b%FF%3A%23%3F.md");
});
