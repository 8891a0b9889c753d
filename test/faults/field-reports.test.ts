// Reports from the field that no other test holds, and the page that names the test of each (test/FIELD-REPORTS.md).
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { cleaned } from "../../src/ground/bytes.ts";
import { candidatesPath, ledgerPath, run, statePath, withEpisode } from "../support/repository.ts";
import type { Repository, Run } from "../support/repository.ts";
import { everyPair, presentPairs } from "../parity/readers.ts";

const reader = join(home, "shell/majordomus");

/** What both programs print of the queue: the same bytes and status, or the test fails. */
function listed(repository: Repository, env: Readonly<Record<string, string>> = {}, ...args: readonly string[]): Run {
  const first = repository.mjWith({ env }, "knowledge", "candidates", ...args);
  const second = run(reader, ["knowledge", "candidates", ...args], { cwd: repository.root, env });
  expect([second.status, second.stdout]).toEqual([first.status, first.stdout]);
  return first;
}

const envelope = { ts: "2026-10-09T10:00:00Z", event: "observation.recorded", head: "NONE", branch: "main", by: "x" };

/** A ledger line of an observation as somebody else may have written it. */
function observation(session: string, subject: string, statement: string): string {
  return `${JSON.stringify({ ...envelope, session, task_id: "none", kind: "defect", subject, statement, evidence: [] })}\n`;
}

function recordFile(fields: Readonly<Record<string, string>>): string {
  return `---\n${Object.entries(fields).map(([key, value]) => `${key}: ${value}\n`).join("")}---\n`;
}

const awkward = [
  "018561471342", "083", "007", "0o7", "0x1F", "0b11", "00", "10:00", "22:22", "190:20:30", "1:2", "2026-10-08", "2026-10-08T09:52:53Z", "2026-10-08 09:52:53 -5",
  "Turn: the page", "ends with colon:", "#hash first", "a #b", "a#b", "a:b", "- dash", "? q", "@at", "`tick`", "%p", "!bang", "&a", "*b", "|", ">", "[x", "{x", "]", ",x", '"', "'",
  "an issue's fix: don't 'quote'", "a\u0085b", "a\u2028b", "a\u2029\nb", "a\u007fb", "\ufffe", "\ufeff mid", "😀 \u{1f468}\u200d\u{1f469}\u200d\u{1f466} \u{1f1e9}\u{1f1ea}",
  "a\u000bb\u000cc", "C:\\new\\table", "\\d+", "a\\\\b", "&", "[x]", "*", "a\\tb\\\\n\\.c", "héllo 日本語", "null", "true", "~", "<<", "yes", ".inf", "1e3", "__proto__",
];

test("B01 B03 B04 B06 B07 B09 B11 B25 B48 B50: every awkward text comes back as it was recorded, cleaned, as title and as subject, from both readers", () => {
  const repository = withEpisode();
  const before = repository.read(ledgerPath);
  repository.write(ledgerPath, Buffer.concat([Buffer.from(before, "latin1"), Buffer.from(awkward.map((text, index) => observation(repository.episode, text, `${text} ${index}`)).join("") + awkward.map((text) => observation(repository.episode, "lib/a.sh", text)).join(""), "utf8")]));
  repository.done("knowledge", "derive");
  expect(repository.done("knowledge", "derive")).toContain(" 0 written, ");
  const { stdout } = listed(repository, {}, "--json");
  const queue = JSON.parse(Buffer.from(stdout, "latin1").toString("utf8")) as { candidates: { title: string }[]; groups: { about: string }[] };
  const titles = new Set(queue.candidates.map((one) => one.title));
  const subjects = new Set(queue.groups.map((one) => one.about));
  for (const text of awkward) {
    expect([text, subjects.has(cleaned(text))]).toEqual([text, true]);
    expect([text, titles.has(cleaned(text))]).toEqual([text, true]);
  }
  expect(listed(repository).stdout.split("\n").length).toBeGreaterThan(2 * awkward.length);
}, 60_000);

test("B11: a lone surrogate makes a line no evidence, in every run alike", () => {
  const repository = withEpisode();
  const line = observation(repository.episode, "lib/a.sh", "MARK").replace("MARK", "\\ud83d");
  repository.write(ledgerPath, repository.read(ledgerPath) + line);
  for (let round = 0; round < 2; round += 1) {
    const derived = repository.mj("knowledge", "derive");
    expect(derived.stdout).toContain("0 written");
    expect(derived.stderr).toContain("1 damaged line");
  }
});

const good = { id: "a", status: "candidate", title: "t", about: "lib/a.sh" };

test("B12 B13 B15 B19 B57 B83: every form of a file is listed as the plain one, or named as unreadable, by both readers", () => {
  const repository = withEpisode();
  const plain = recordFile(good);
  const accepted: Readonly<Record<string, string>> = {
    "bom.md": `\ufeff${plain}`,
    "crlf.md": plain.replaceAll("\n", "\r\n"),
    "no-last-line-feed.md": plain.slice(0, -1),
    "blanks.md": plain.replaceAll("---\n", "---  \n"),
    "long.md": plain.replace("title:", `tags:\n${"  - a long list of tags\n".repeat(300)}note: "${"x".repeat(20_000)}"\ntitle:`),
    "markers-in-body.md": `${plain}<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n`,
  };
  for (const [name, text] of Object.entries(accepted)) repository.write(`${candidatesPath}/${name}`, text.replace("id: a", `id: ${name}`));
  for (let at = 0; at < 200; at += 1) repository.write(`${candidatesPath}/good-${at}.md`, recordFile({ ...good, id: `good-${at}` }));
  const clean = listed(repository);
  expect(clean.status).toBe(0);
  expect(clean.stdout).not.toContain("\r");
  expect(clean.stdout).toContain(`knowledge candidates: ${200 + Object.keys(accepted).length} awaiting review`);
  const ignored = ["note.txt", "x.md~", ".x.md.swp", ".#x.md", "x.md.orig"];
  for (const name of ignored) repository.write(`${candidatesPath}/${name}`, "x");
  repository.write(`${candidatesPath}/y.md/inner.md`, plain);
  expect(listed(repository).stdout).toBe(clean.stdout);
  repository.write(`${candidatesPath}/endless.md`, plain.slice(0, -4));
  repository.write(`${candidatesPath}/conflict.md`, plain.replace("title: t\n", "<<<<<<< HEAD\ntitle: t\n=======\ntitle: u\n>>>>>>> x\n"));
  const bad = listed(repository);
  expect(bad.status).toBe(10);
  expect(bad.stdout.startsWith(clean.stdout)).toBe(true);
  expect(bad.stdout).toContain(`unreadable ${candidatesPath}/endless.md: front matter does not end\n`);
  expect(bad.stdout).toContain(`unreadable ${candidatesPath}/conflict.md: line 4: merge conflict marker\n`);
}, 60_000);

test("B20 B26: a torn last line, and lines that are none in the middle, cost themselves alone and are counted", () => {
  const repository = withEpisode();
  const odd = ['{"type":}', "42", "null", "[]", "", "   "].map((line) => `${line}\n`).join("");
  repository.write(ledgerPath, `${repository.read(ledgerPath)}${odd}${observation(repository.episode, "lib/a.sh", "between")}{"type":"observation.recorded","te`);
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "lib/b.sh", "after");
  const ended = repository.mj("knowledge", "derive");
  expect(ended.stdout).toContain("2 written");
  expect(repository.read(ledgerPath)).toContain('{"type":"observation.recorded","te\n{"ts"');
  expect(repository.mj("history", "--all").stderr).toContain("skipped 7 damaged lines, the first is line 2");
});

test("B44: record files and open files stay apart where a file system knows no case", () => {
  const repository = withEpisode();
  for (const subject of ["README.md", "readme.md"]) repository.done("knowledge", "observe", "--kind", "defect", "--subject", subject, "x");
  for (const session of ["Ab1", "aB1"]) repository.done("session", "start", "--provider", "generic", "--provider-session", session);
  repository.mjWith({ env: { MJ_SESSION_KEY: "hand" } }, "knowledge", "derive");
  const names = repository.names(candidatesPath);
  expect(names).toHaveLength(2);
  for (const name of names) expect(name).toBe(name.toLowerCase());
  // Two such sessions at once have one file on such a system, whose `provider_session` gives the second another name.
  expect(repository.names(`${statePath}/sessions-open`)).toHaveLength(3);
});

test("B52 B53: the locale moves nothing, in any shell and awk", () => {
  const repository = withEpisode();
  for (const id of ["a-b", "ab", "a_b", "A-b", "Ä", "I", "ı"]) repository.write(`${candidatesPath}/${id}.md`, recordFile({ ...good, id: `"${id}"`, about: id }));
  const plain = listed(repository).stdout;
  for (const env of [{ LC_ALL: "en_US.UTF-8" }, { LC_ALL: "C.UTF-8" }, { LC_ALL: "", LC_COLLATE: "de_DE.UTF-8", LANG: "C.UTF-8" }, { LC_ALL: "", LANG: "tr_TR.UTF-8" }]) {
    expect(listed(repository, env).stdout).toBe(plain);
  }
  const pairs = presentPairs();
  expect(everyPair.length).toBeGreaterThanOrEqual(pairs.length);
  for (const { shell, awk } of pairs.filter((_, index) => index % 7 === 0)) {
    const [name = "", ...options] = shell.split(" ");
    const ended = run(name, [...options, reader, "knowledge", "candidates"], { cwd: repository.root, env: { LC_ALL: "C.UTF-8", MAJORDOMUS_AWK: awk } });
    expect([shell, awk, ended.stdout]).toEqual([shell, awk, plain]);
  }
}, 60_000);

test("B54: thousands of long names, and few files that may be open at once", () => {
  const repository = withEpisode();
  const count = process.env["MAJORDOMUS_TEST_FULL"] === undefined ? 3_000 : 30_000;
  const names = Array.from({ length: count }, (_, at) => `${"n".repeat(115)}${String(at).padStart(5, "0")}`);
  for (const name of names) repository.write(`${candidatesPath}/${name}.md`, recordFile({ ...good, id: name }));
  const few = run("sh", ["-c", 'ulimit -n 64; exec "$0" "$@"', reader, "knowledge", "candidates"], { cwd: repository.root });
  const plain = repository.mj("knowledge", "candidates");
  expect([few.status, few.stderr]).toEqual([0, ""]);
  expect(few.stdout).toBe(plain.stdout);
  expect(plain.stdout).toContain(`${count} awaiting review`);
}, 300_000);

test("B85: reading writes nothing, not even the time of a folder", () => {
  const repository = withEpisode();
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "x");
  repository.done("knowledge", "derive");
  const folders = [".ai", ".ai/repo", candidatesPath, statePath, `${statePath}/sessions-open`, ".git"];
  const times = () => folders.map((folder) => statSync(repository.path(folder)).mtimeMs);
  const before = times();
  for (const words of [["knowledge", "candidates"], ["knowledge", "status"], ["knowledge", "check"], ["history"], ["session", "status"], ["session", "list"], ["decision", "list"], ["question", "list"]]) {
    repository.mj(...words);
  }
  listed(repository);
  expect(times()).toEqual(before);
}, 60_000);

describe("test/FIELD-REPORTS.md", () => {
  const page = readFileSync(join(home, "test/FIELD-REPORTS.md"), "utf8");
  const lines = page.split("\n").filter((line) => line.startsWith("- **B"));

  test("has each report once, in order, each with the test that holds it or why it cannot occur", () => {
    const numbers = lines.map((line) => Number(/^- \*\*B([0-9]{2})\*\*/.exec(line)?.[1]));
    expect(numbers).toEqual([...new Set(numbers)].sort((left, right) => left - right));
    expect(numbers).toHaveLength(59);
    for (const line of lines) expect(line).toMatch(/`test\/[^`]+`, "|cannot occur: /);
  });

  test("names only tests that are there, by their titles", () => {
    const missing: string[] = [];
    for (const line of lines) {
      for (const [, path = "", titles = ""] of line.matchAll(/`(test\/[^`]+)`((?:, "[^"]+")+)/g)) {
        const text = existsSync(join(home, path)) ? readFileSync(join(home, path), "utf8") : "";
        for (const [, title = ""] of titles.matchAll(/"([^"]+)"/g)) if (!text.includes(title)) missing.push(`${path}: ${title}`);
      }
    }
    expect(missing).toEqual([]);
  });
});

