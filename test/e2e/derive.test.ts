import { expect, test } from "vitest";
import { answerHere, candidatesPath, curatedPath, installed, launcher, ledgerPath, run, snapshot, statePath, withEpisode } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

type Open = Repository & { readonly episode: string };

/** Lines of the open episode, appended as another writer would. */
function addLines(repository: Open, ...payloads: readonly object[]): void {
  const envelope = { ts: "2026-10-09T10:00:00Z", event: "observation.recorded", head: "NONE", branch: "main", by: "x", session: repository.episode };
  const lines = payloads.map((payload) => `${JSON.stringify({ ...envelope, ...payload })}\n`).join("");
  repository.write(ledgerPath, Buffer.concat([Buffer.from(repository.read(ledgerPath), "latin1"), Buffer.from(lines)]));
}

const observed = (statement: string, more: object = {}) => ({ task_id: "none", kind: "defect", subject: "lib/a.sh", statement, evidence: [], ...more });
const summary = (output: string) => output.split("\n").at(-2)?.replace(/^knowledge derive: (.*) for episode .*$/, "$1");

/** Derives inside this process: the launcher's way is in golden.test.ts and race.test.ts. */
async function derive(repository: Open): Promise<string> {
  const ended = await answerHere(repository, ["knowledge", "derive", "--episode", repository.episode]);
  if (ended.status !== 0) throw new Error(ended.stderr);
  return ended.stdout;
}
const only = (repository: Repository) => `${candidatesPath}/${repository.names(candidatesPath)[0] ?? ""}`;

test("a person's edit is never overwritten, open or closed; undone it is written again only while the episode is open", async () => {
  const repository = withEpisode();
  addLines(repository, observed("s"));
  expect(summary(await derive(repository))).toBe("1 written, 0 unchanged, 0 skipped");
  const path = only(repository);
  const ours = repository.read(path);
  const edits = [`${ours}A note.\n`, ours.replace("class: lesson", "class: fact"), ours.replace("tags:", "# mine\ntags:"), `${ours}\n`];
  for (const edited of edits) {
    repository.write(path, edited);
    expect(await derive(repository)).toContain(`skipped ${path} (edited)\n`);
    expect(repository.read(path)).toBe(edited);
  }
  repository.write(path, ours);
  expect(summary(await derive(repository))).toBe("0 written, 1 unchanged, 0 skipped");
  repository.done("session", "end");
  repository.write(path, `${ours}A note.\n`);
  expect(await derive(repository)).toContain(`skipped ${path} (edited)\n`);
  repository.remove(path);
  expect(summary(await derive(repository))).toBe("1 written, 0 unchanged, 0 skipped");
});

test("what an open episode learns moves its record; once it is closed nothing that git says later does", async () => {
  const repository = withEpisode();
  addLines(repository, observed("s", { evidence: ["issue:1"] }));
  await derive(repository);
  addLines(repository, observed("s", { evidence: ["issue:2"], ts: "2026-10-10T10:00:00Z" }));
  expect(summary(await derive(repository))).toBe("1 written, 0 unchanged, 0 skipped");
  expect(repository.read(only(repository))).toContain("date: 2026-10-09\n");
  expect(repository.read(only(repository))).toContain("- `issue:1`\n- `issue:2`\n");
  repository.done("session", "end");
  const before = repository.read(only(repository));
  addLines(repository, observed("s", { evidence: ["issue:3"] }));
  expect(summary(await derive(repository))).toBe("0 written, 1 unchanged, 0 skipped");
  expect(repository.read(only(repository))).toBe(before);
});

test("the skips, each with the first reason that holds", async () => {
  const repository = withEpisode();
  const statements = ["promoted", "superseded", "verified", "broken", "unclosed", "context", "transcript: one", "fresh"];
  addLines(repository, ...statements.map((statement) => observed(statement)));
  await derive(repository);
  const of = (statement: string) => repository.names(candidatesPath).find((name) => repository.read(`${candidatesPath}/${name}`).includes(`# ${statement}\n`)) ?? "";
  const names = Object.fromEntries(statements.map((statement) => [statement, of(statement)]));
  const change = (statement: string, from: string, to: string) => {
    const path = `${candidatesPath}/${names[statement] ?? ""}`;
    repository.write(path, repository.read(path).replace(from, to));
  };
  repository.write(`${curatedPath}/${names["promoted"] ?? ""}`, "anything\n");
  repository.remove(`${candidatesPath}/${names["promoted"] ?? ""}`);
  change("superseded", "status: candidate", "status: superseded");
  change("verified", "status: candidate", "status: verified");
  change("broken", "kind: knowledge", "kind: a: b");
  change("unclosed", "\n---\n\n", "\n\n");
  change("context", "kind: knowledge", "kind: context");
  const before = snapshot(repository.path(".ai/repo"));
  const output = await derive(repository);
  const reasons = [...output.matchAll(/^skipped [^ ]*\/(s-[^ ]*\.md) \((.*)\)$/gm)].map((found) => [found[1], found[2]]);
  expect(new Map(reasons as [string, string][])).toEqual(
    new Map([
      [names["promoted"], "promoted"],
      [names["superseded"], "superseded"],
      [names["verified"], "superseded"],
      [names["broken"], "edited"],
      [names["unclosed"], "edited"],
      [names["context"], "edited"],
      [reasons.find(([, reason]) => reason === "transcript")?.[0], "transcript"],
    ]),
  );
  expect(summary(output)).toBe("0 written, 1 unchanged, 7 skipped");
  expect(snapshot(repository.path(".ai/repo"))).toEqual(before);
  expect(repository.ledger().at(-1)).toMatchObject({ event: "knowledge.derived", written: 0, unchanged: 1, skipped: 7, paths: "", digests: "" });
});

test("equal lines are one record; eleven times the same is one file; lines of others and damaged ones are none", async () => {
  const repository = withEpisode();
  addLines(repository, ...Array.from({ length: 11 }, () => observed("s")), observed("t", { session: "s-20261009100000-ffff" }));
  const bad = `{"torn\n\n42\nnull\n[]\n   \n{"ts":"2026-10-09T10:00:00Z","event":"observation.recorded","session":"${repository.episode}","x":"\\ud800"}\n`;
  repository.write(ledgerPath, repository.read(ledgerPath) + bad);
  addLines(repository, observed("after the damage"));
  const ended = repository.mj("knowledge", "derive");
  expect(summary(ended.stdout)).toBe("2 written, 0 unchanged, 0 skipped");
  expect(ended.stderr).toMatch(/^majordomus: knowledge derive: skipped [0-9]+ damaged lines?, the first is line [0-9]+\n$/);
  expect(repository.mj("history", "--all").stderr).toMatch(/^majordomus: history: skipped 7 damaged lines, the first is line 14\n$/);
  expect(repository.mj("history", "--validate")).toMatchObject({ status: 10, stdout: "", stderr: expect.stringMatching(/line 14/) as string });
  expect(summary(await derive(repository))).toBe("0 written, 2 unchanged, 0 skipped");
});

test("a torn last line costs itself alone: the next act ends it, and all whole lines are derived", async () => {
  const repository = withEpisode();
  addLines(repository, observed("before"));
  const torn = '{"type":"observation.recorded","te';
  repository.write(ledgerPath, repository.read(ledgerPath) + torn);
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "a", "after");
  expect(repository.read(ledgerPath).split("\n").filter((line) => line === torn)).toHaveLength(1);
  expect(repository.mj("session", "end").stderr).toContain("2 written");
});

test("an event that nobody has, and an older Majordomus's, are passed over", async () => {
  const repository = withEpisode();
  addLines(repository, observed("s", { event: "observation.recoded" }), { event: "task.checkpoint", task_id: "t-20261009101500-0a1b" }, { event: "task.gate" }, observed("t"));
  expect(summary(await derive(repository))).toBe("1 written, 0 unchanged, 0 skipped");
});

test("an episode without evidence has no file, and its line with counts of 0", async () => {
  const repository = withEpisode();
  expect(summary(await derive(repository))).toBe("0 written, 0 unchanged, 0 skipped");
  expect(repository.names(candidatesPath)).toEqual([]);
  expect(repository.ledger().at(-1)).toMatchObject({ event: "knowledge.derived", written: 0, unchanged: 0, skipped: 0, paths: "", digests: "" });
});

test("more than 500 records: further lines with counts of 0 carry the rest of the paths, none over the limit", async () => {
  const repository = withEpisode();
  addLines(repository, ...Array.from({ length: 620 }, (_, n) => observed(`number ${n}`)));
  expect(summary(await derive(repository))).toBe("620 written, 0 unchanged, 0 skipped");
  const lines = repository.ledger().filter((line) => line["event"] === "knowledge.derived");
  const paths = lines.flatMap((line) => String(line["paths"]).split(" "));
  expect(lines.map((line) => line["written"])).toEqual([620, ...lines.slice(1).map(() => 0)]);
  expect(new Set(paths).size).toBe(620);
  expect(lines.every((line) => String(line["paths"]).split(" ").length <= 500 && String(line["paths"]).split(" ").length === String(line["digests"]).split(" ").length)).toBe(true);
  expect(summary(await derive(repository))).toBe("0 written, 620 unchanged, 0 skipped");
  const one = repository.names(candidatesPath)[619] ?? "";
  repository.write(`${candidatesPath}/${one}`, `${repository.read(`${candidatesPath}/${one}`)}mine\n`);
  expect(summary(await derive(repository))).toBe("0 written, 619 unchanged, 1 skipped");
});

test("a candidates directory that is not there is made, with its README; staged files that a killed writer left are gone", async () => {
  const repository = withEpisode();
  const readme = repository.read(`${candidatesPath}/README.md`);
  repository.remove(candidatesPath);
  addLines(repository, observed("s"));
  await derive(repository);
  expect(repository.read(`${candidatesPath}/README.md`)).toBe(readme);
  repository.write(`${candidatesPath}/.tmp.mjabc123`, "half");
  repository.write(`${candidatesPath}/.tmp.other`, "not ours");
  await derive(repository);
  expect(run("ls", ["-A", repository.path(candidatesPath)]).stdout.split("\n").filter((name) => name.startsWith("."))).toEqual([".tmp.other"]);
  expect(repository.git("status", "--porcelain", "--untracked-files=all")).not.toContain(".tmp.");
});

test("history --rotate in between: what is kept and archived, and a derivation afterwards takes no record of ours for edited", async () => {
  const repository = withEpisode();
  addLines(repository, observed("s"), observed("t"));
  repository.done("session", "end");
  const second = repository.done("session", "start").slice(8, 29);
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "a", "open one");
  await derive({ ...repository, episode: second });
  addLines({ ...repository, episode: "s-20200101000000-0000" }, ...Array.from({ length: 30 }, (_, n) => ({ event: "question.opened", task_id: "none", question: String(n) })));
  repository.write(".ai/repo/policy.yaml", "ledger:\n  retention_max_lines: 5\n");
  const before = repository.read(ledgerPath).split("\n").slice(0, -1);
  const rotated = repository.mjWith({ env: { MAJORDOMUS_NOW: "2026-10-09T12:00:00Z" } }, "history", "--rotate");
  const archive = `${statePath}/ledger.20261009T120000Z.jsonl.archived`;
  expect(rotated.stdout).toMatch(new RegExp(`^history: [0-9]+ archived to ${archive}, [0-9]+ kept\n$`));
  const kept = repository.read(ledgerPath).split("\n").slice(0, -1);
  const archived = repository.read(archive).split("\n").slice(0, -1);
  expect(JSON.parse(kept.pop() ?? "")).toMatchObject({ event: "ledger.rotated", archived: archived.length, kept: kept.length, archive });
  expect([...kept, ...archived].sort()).toEqual([...before].sort());
  // The open episode's lines stay; the closed and derived one went, with every line of it.
  expect(kept.filter((line) => line.includes(`"session":"${second}"`))).toHaveLength(3);
  expect(kept.some((line) => line.includes(repository.episode))).toBe(false);
  expect(summary(await derive({ ...repository, episode: second }))).toBe("0 written, 1 unchanged, 0 skipped");
  expect(repository.mj("knowledge", "derive", "--episode", repository.episode)).toMatchObject({ status: 12 });
  expect(repository.done("history", "--validate")).toContain("all whole and known");
  expect(repository.done("question", "list").split("\n")).toHaveLength(31);
  repository.done("session", "end");
  expect(repository.names(candidatesPath)).toHaveLength(3);
});

test("history: twenty lines unless told, oldest first, controls shown; filters and their JSON are the ledger's own lines", async () => {
  const repository = withEpisode();
  addLines(repository, ...Array.from({ length: 25 }, (_, n) => ({ event: "decision.recorded", task_id: "none", decision: `d${n}\u001b[31m` })));
  const text = repository.done("history").split("\n");
  expect(text).toHaveLength(21);
  expect(text[19]).toMatch(/^2026-10-09T10:00:00Z {2}decision\.recorded {8}none {19}NONE {5}d24\\x1b\[31m$/);
  expect(repository.done("history", "--limit", "2", "--json")).toBe(`${repository.read(ledgerPath).split("\n").slice(-3, -1).join("\n")}\n`);
  expect(repository.done("history", "--all", "--event", "session.started").split("\n")).toHaveLength(2);
  expect(repository.done("history", "--since", "2027-01-01T00:00:00Z", "--event=decision.recorded")).toBe("");
});

test("texts with control characters from an older ledger drive no terminal in any list", async () => {
  const repository = withEpisode();
  const evil = "a\u001b]0;x\u0007\nb\u009bc";
  addLines(repository, { event: "decision.recorded", task_id: "none", decision: evil }, { event: "question.opened", task_id: "none", question: evil }, observed(evil, { subject: evil }));
  await derive(repository);
  repository.write(`${statePath}/sessions-open/other.yaml`, `session_id: s-20261009100000-0001\nstarted_at: x\nowner: "a\\e[31m\\nb"\nworktree: ${repository.root}\nbranch: "\\e"\n`);
  const shown = Buffer.from("a\\x1b]0;x\\x07\\x0ab\\xc2\\x9bc").toString("latin1");
  expect(repository.done("decision", "list")).toBe(`1. ${shown}\n`);
  expect(repository.done("question", "list")).toBe(`1. ${shown}\n`);
  for (const args of [["history", "--all"], ["knowledge", "candidates"], ["session", "status"], ["session", "list"]]) {
    expect(repository.done(...args), args.join(" ")).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]/);
  }
  expect(repository.done("session", "status").split("\n")).toHaveLength(3);
});

test("a million bytes of others' lines: the episode is found by escapes too", async () => {
  const repository = withEpisode();
  const escaped = [...repository.episode].map((character) => `\\u00${character.charCodeAt(0).toString(16)}`).join("");
  const line = JSON.stringify({ ts: "2026-10-09T10:00:00Z", event: "observation.recorded", head: "NONE", branch: "main", by: "x", session: "@", ...observed("escaped") }).replace("@", escaped);
  const filler = `${JSON.stringify({ ts: "2026-10-09T10:00:00Z", event: "observation.recorded", session: "s-20261009100000-ffff", pad: "p".repeat(900) })}\n`.repeat(1200);
  repository.write(ledgerPath, repository.read(ledgerPath) + filler + line);
  expect(summary(run(launcher, ["knowledge", "derive"], { cwd: repository.root }).stdout)).toBe("1 written, 0 unchanged, 0 skipped");
});

test("nothing that is derived is evidence: a second and a third derivation add only their line", async () => {
  const repository = withEpisode();
  addLines(repository, observed("s"));
  await derive(repository);
  const count = repository.ledger().length;
  await derive(repository);
  await derive(repository);
  expect(repository.ledger()).toHaveLength(count + 2);
  expect(installed().names(candidatesPath)).toEqual([]);
});
