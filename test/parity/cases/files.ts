/** Which files are records, what their names may be, and every reason for which one is unreadable. */
import { unreadableWords, yamlWords } from "../../../src/ground/tables.ts";
import { awaiting, candidates, layer, queueLine, recordOf, unreadable } from "../cases.ts";
import type { ParityCase } from "../cases.ts";

const call = ["knowledge", "candidates"];
const record = (id: string) => recordOf({ id });

/** Files, each with the reason for which it cannot be a record; in the order of their names. */
const reasons: readonly (readonly [name: string, content: string, reason: string])[] = [
  ["a0-nul", "\u0000", unreadableWords.nul],
  ["a1-nul-in-body", `${record("x")}\u0000`, unreadableWords.nul],
  ["a2-nul-before-utf-8", "\udcff\u0000", unreadableWords.nul],
  ["a3-nul-after-much", `${record("x")}${"x".repeat(70_000)}\u0000`, unreadableWords.nul],
  ["b0-stray-byte", `${record("x")}\udc80`, unreadableWords.utf8],
  ["b1-overlong", `${record("x")}\udcc0\udc80`, unreadableWords.utf8],
  ["b2-surrogate", `${record("x")}\udced\udca0\udc80`, unreadableWords.utf8],
  ["b3-beyond", `${record("x")}\udcf4\udc90\udc80\udc80`, unreadableWords.utf8],
  ["b4-cut", `${record("x")}\udce2\udc82`, unreadableWords.utf8],
  ["b5-cut-before-lf", "\udcf0\udc9f\udc98\n", unreadableWords.utf8],
  ["b6-five-bytes", `${record("x")}\udcf8\udc88\udc80\udc80\udc80`, unreadableWords.utf8],
  ["b7-overlong-three", `${record("x")}\udce0\udc9f\udcbf`, unreadableWords.utf8],
  ["b8-overlong-four", `${record("x")}\udcf0\udc8f\udcbf\udcbf`, unreadableWords.utf8],
  ["b9-one-too-many", `${record("x")}\udcc3\udca9\udca9`, unreadableWords.utf8],
  ["c0-empty", "", unreadableWords["no-front-matter"]],
  ["c1-line-feed", "\n", unreadableWords["no-front-matter"]],
  ["c2-text", "# t\n", unreadableWords["no-front-matter"]],
  ["c3-blank-first", `\n${record("x")}`, unreadableWords["no-front-matter"]],
  ["c4-four-dashes", "----\nid: x\n---\n", unreadableWords["no-front-matter"]],
  ["c5-text-behind", "--- x\nid: x\n---\n", unreadableWords["no-front-matter"]],
  ["c6-two-cr", "---\r\r\nid: x\n---\n", unreadableWords["no-front-matter"]],
  ["c7-blank-after-cr", "---\r \nid: x\n---\n", unreadableWords["no-front-matter"]],
  ["c8-two-marks", `\ufeff\ufeff${record("x")}`, unreadableWords["no-front-matter"]],
  ["c9-mark-alone", "\ufeff", unreadableWords["no-front-matter"]],
  ["ca-one-mark", "\u0001", unreadableWords["no-front-matter"]],
  ["d0-fence", "---", unreadableWords.endless],
  ["d1-fence-lf", "---\n", unreadableWords.endless],
  ["d2-no-end", "---\nid: x\nstatus: candidate\n", unreadableWords.endless],
  ["d3-longer", "---\nid: x\n----\n", unreadableWords.endless],
  ["d4-cr-cr", "---\nid: x\n---\r\r\n", unreadableWords.endless],
  ["d5-mark-within", "---\nid: x\n\ufeff---\n", unreadableWords.endless],
  ["d6-tab-before", "---\n\tid: x\n", unreadableWords.endless],
  ["d7-end-marked", "---\nid: x\n---\u0001", unreadableWords.endless],
  ["e0-line", "---\nid: x\nstatus\n---\n", `line 3: ${yamlWords["no-key"]}`],
  ["e1-mark-within", "---\nid: x\n--- x\n---\n", `line 3: ${yamlWords["second-document"]}`],
  ["e2-first-wins", "---\na: \u0001\n\tb\nid: x\n---\n", `line 2: ${yamlWords.control}`],
  ["e3-crlf", "---\r\nid: x\r\n\tb\r\n---\r\n", `line 3: ${yamlWords.tab}`],
  ["e4-conflict", "---\nid: x\n<<<<<<< ours\nstatus: candidate\n=======\nstatus: superseded\n>>>>>>> theirs\n---\n", `line 3: ${yamlWords.conflict}`],
  ["e5-cr-alone", "---\nid: x\ry: z\n---\n", `line 2: ${yamlWords["carriage-return"]}`],
  ["e6-far", `---\n${"# c\n".repeat(3000)}id: x\nid: y\n---\n`, `line 3003: ${yamlWords["repeated-key"]}`],
  ["f0-nothing", "---\n---\n", unreadableWords["no-id"]],
  ["f1-no-id", "---\nstatus: candidate\n---\n", unreadableWords["no-id"]],
  ["f2-empty-id", recordOf({ id: "''" }), unreadableWords["no-id"]],
  ["f3-listed-id", recordOf({ id: "[x]" }), unreadableWords["no-id"]],
  ["f4-no-list", recordOf({ id: "[]" }), unreadableWords["no-id"]],
  ["f5-id-below", "---\nid:\n  x: y\nstatus: candidate\n---\n", unreadableWords["no-id"]],
  ["f6-both", "---\ntitle: x\n---\n", unreadableWords["no-id"]],
  ["g0-no-status", "---\nid: x\n---\n", unreadableWords.status],
  ["g1-unknown", recordOf({ status: "candidates" }), unreadableWords.status],
  ["g2-empty", recordOf({ status: "" }), unreadableWords.status],
  ["g3-list", recordOf({ status: "[candidate]" }), unreadableWords.status],
  ["g4-case", recordOf({ status: "Candidate" }), unreadableWords.status],
  ["g5-word-of-javascript", recordOf({ status: "constructor" }), unreadableWords.status],
  ["g6-with-blank", recordOf({ status: '"candidate "' }), unreadableWords.status],
];

/** Front matter that is there, though it does not look so at once. */
const accepted: Readonly<Record<string, string>> = {
  a: "---\nid: a\nstatus: candidate\n---",
  b: "\ufeff---\nid: b\nstatus: candidate\n---\n",
  c: "--- \t\nid: c\nstatus: candidate\n---\t \n",
  d: "---\r\nid: d\r\nstatus: candidate\r\n---\r\n",
  e: "--- \r\nid: e\nstatus: candidate\n---\r",
  f: "---\nid: f\nstatus: candidate\n---\n---\n\tnot: yaml\n",
  g: "---\nid: g\nstatus: candidate\n---\n\u0001\u0085\u2028\ufeff\n",
  h: "---\nid: h\nstatus: candidate\n---\nno line feed at the end",
  i: "---\n# c\n\n  \nid: i\n\nstatus: candidate\n# ---\n---\n",
  j: "---\nid: j\nstatus: candidate\nx: ---\n---\n",
  k: "---\nid: k\nstatus: candidate\n---\n\u0001",
  l: "---\nid: l\nstatus: candidate\n---\n\n\u0001",
  m: `---\nid: m\nstatus: candidate\n---\n${"\u0001\n".repeat(20)}`,
  n: "---\r\nid: n\nstatus: candidate\r\n---",
};

/** Names that a shell, find or awk might trip over: all of them are records. */
const names = [
  "\n.md", "\nlead.md", "\t.md", " .md", " blank.md", "!.md", '"q".md', "#.md", "$HOME.md", "$(x).md", "%s.md", "&.md", "'.md", "(.md", "*.md", "+.md", "-.md", "--help.md",
  "-dash.md", "-print.md", "1.md", ":.md", ";.md", "<x.md", "=.md", "?.md", "@.md", "A.md", "Z.md", "[a].md", "\\.md", "\\n.md", "\\x41.md", "a b  c.md", "a\nb\nc.md", "a=b.md", "a.md", "a.md.md",
  "back\\slash.md", "com,ma.md", "é.md", "e\u0301.md", "link x.md", "new\nline.md", "nul x.md", "README.md.md", "readme.md", "trail \n.md", "x=1 y.md", "{}.md", "|.md", "~.md", "\u007f.md", "\u0085.md", "\u001b[0m.md",
  "日本語.md", "～.md", "😀.md", "\ufeff.md", `${"n".repeat(250)}.md`,
];

const shown = (text: string) =>
  text.replace(/[\u0000-\u001f\u007f]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, "0")}`).replace(/[\u0080-\u009f]/g, (unit) => `\\xc2\\x${unit.charCodeAt(0).toString(16)}`);
const byBytes = (left: string, right: string) => Buffer.compare(Buffer.from(left), Buffer.from(right));

const named = [...names].sort(byBytes);

/** The records are told apart by their titles, which are the numbers of their names; they have one id, so that their paths order them. */
const nameCase = (form: readonly string[]): ParityCase => ({
  title: `names of records${form.length === 0 ? "" : ", JSON"}`,
  files: layer(Object.fromEntries(named.map((name, index) => [`${candidates}/${name}`, recordOf({ title: `"${index}"` })]))),
  call: [...call, ...form],
  stdout:
    form.length === 0
      ? `${named.map((_, index) => queueLine({ title: String(index) })).join("")}${awaiting(named.length)}`
      : `${JSON.stringify({
          schema: 1,
          candidates: named.map((name, index) => ({
            ...{ id: "a", class: "", status: "candidate", epistemics: "", date: "", episode: "", branch: null },
            ...{ path: `${candidates}/${name}`, title: String(index) },
          })),
          groups: [],
          unreadable: [],
        })}\n`,
  everywhere: true,
});

/** The same names on files that cannot be read: their paths are printed. */
const unreadableNames: ParityCase = {
  title: "names of unreadable files",
  files: layer(Object.fromEntries(named.map((name) => [`${candidates}/${name}`, ""]))),
  call,
  stdout: `${awaiting(0)}${named.map((name) => `unreadable ${candidates}/${shown(name)}: ${unreadableWords["no-front-matter"]}\n`).join("")}`,
  stderr: unreadable(named.length),
  status: 10,
  everywhere: true,
};

/** Files with NUL among others that hold none, under names that might pass for what `wc` prints. */
const nulls: readonly (readonly [name: string, content: string])[] = [
  ["\n 12 total\n.md", "\u0000"],
  ["12 a.md", ""],
  ["a\n3 b.md", "\u0000\u0000"],
  ["b.md", "\n\n"],
  ["c.md", "\u0000\n"],
  ["d.md", ""],
  ["e.md", `x\n${"y".repeat(9000)}\u0000${"é\n".repeat(9000)}\u0000`],
  ["f\n 9 total.md", "xx\u0000xx"],
  ["g.md", "x"],
];

const nullNames: ParityCase = {
  title: "names of files with NUL",
  files: layer(Object.fromEntries(nulls.map(([name, content]) => [`${candidates}/${name}`, content]))),
  call,
  stdout: `${awaiting(0)}${nulls
    .map(([name, content]) => `unreadable ${candidates}/${shown(name)}: ${unreadableWords[content.includes("\u0000") ? "nul" : "no-front-matter"]}\n`)
    .join("")}`,
  stderr: unreadable(nulls.length),
  status: 10,
  everywhere: true,
};

/** Names that are no UTF-8, by their raw bytes, and how they are shown. */
const illFormed: readonly (readonly [name: string, shown: string])[] = [
  ["A\udcff.md", "A\\xff.md"],
  ["a\udc80.md", "a\\x80.md"],
  ["a\udcc3.md", "a\\xc3.md"],
  ["é\udca9.md", "é\\xa9.md"],
  ["\udce2\udc82.md", "\\xe2\\x82.md"],
  ["\udced\udca0\udc80.md", "\\xed\\xa0\\x80.md"],
  ["\udcf0\udc9f\udc98x😀.md", "\\xf0\\x9f\\x98x😀.md"],
  ["\udcf4\udc90\udc80\udc80.md", "\\xf4\\x90\\x80\\x80.md"],
  ["\udcff\n\\.md", "\\xff\\x0a\\.md"],
];

const illFormedCase = (form: readonly string[]): ParityCase => {
  const reason = unreadableWords.name;
  const jsonName = (text: string) => text.replace("\\x0a", "\n");
  return {
    title: `names that are no UTF-8${form.length === 0 ? "" : ", JSON"}`,
    files: layer({
      ...Object.fromEntries(illFormed.map(([name]) => [`${candidates}/${name}`, record("x")])),
      [`${candidates}/.\udcff.md`]: record("x"),
      [`${candidates}/\udcff.txt`]: record("x"),
    }),
    call: [...call, ...form],
    stdout:
      form.length === 0
        ? `${awaiting(0)}${illFormed.map(([, name]) => `unreadable ${candidates}/${name}: ${reason}\n`).join("")}`
        : `${JSON.stringify({ schema: 1, candidates: [], groups: [], unreadable: illFormed.map(([, name]) => ({ path: `${candidates}/${jsonName(name)}`, reason })) })}\n`,
    stderr: unreadable(illFormed.length),
    status: 10,
    everywhere: true,
  };
};

export const fileCases: readonly ParityCase[] = [
  {
    title: "every reason for an unreadable file, the first that holds",
    files: layer(Object.fromEntries(reasons.map(([name, content]) => [`${candidates}/${name}.md`, content]))),
    call,
    stdout: `${awaiting(0)}${reasons.map(([name, , reason]) => `unreadable ${candidates}/${name}.md: ${reason}\n`).join("")}`,
    stderr: unreadable(reasons.length),
    status: 10,
    everywhere: true,
  },
  {
    title: "every reason for an unreadable file, JSON",
    files: layer(Object.fromEntries(reasons.map(([name, content]) => [`${candidates}/${name}.md`, content]))),
    call: [...call, "--json"],
    stdout: `${JSON.stringify({ schema: 1, candidates: [], groups: [], unreadable: reasons.map(([name, , reason]) => ({ path: `${candidates}/${name}.md`, reason })) })}\n`,
    stderr: unreadable(reasons.length),
    status: 10,
  },
  {
    title: "front matter in every form that is allowed",
    files: layer(Object.fromEntries(Object.entries(accepted).map(([name, content]) => [`${candidates}/${name}.md`, content]))),
    call,
    stdout: `${Object.keys(accepted).map((id) => queueLine({ id })).join("")}${awaiting(Object.keys(accepted).length)}`,
    everywhere: true,
  },
  nameCase([]),
  nameCase(["--json"]),
  unreadableNames,
  nullNames,
  illFormedCase([]),
  illFormedCase(["--json"]),
  {
    title: "what is no record: other names, folders, pipes, contexts; links are unreadable wherever they lead",
    files: layer({
      [`${candidates}/a.md`]: record("a"),
      [`${candidates}/README.md`]: "no front matter",
      [`${candidates}/.hidden.md`]: "no front matter",
      [`${candidates}/.#x.md`]: "no front matter",
      [`${candidates}/.md`]: "no front matter",
      [`${candidates}/.x.md.swp`]: "no front matter",
      [`${candidates}/note.txt`]: "no front matter",
      [`${candidates}/x.md~`]: "no front matter",
      [`${candidates}/x.md.orig`]: "no front matter",
      [`${candidates}/x.MD`]: "no front matter",
      [`${candidates}/x.mdx`]: "no front matter",
      [`${candidates}/x.yaml`]: "no front matter",
      [`${candidates}/md`]: "no front matter",
      [`${candidates}/folder.md/inner.md`]: "no front matter",
      [`${candidates}/folder/inner.md`]: "no front matter",
      [`${candidates}/empty.md`]: { folder: true },
      [`${candidates}/pipe.md`]: { pipe: true },
      [`${candidates}/context.md`]: "---\nkind: context\n---\n",
      [`${candidates}/context-quoted.md`]: "---\nkind: 'context'\n---\n",
      [`${candidates}/context-broken.md`]: "---\nkind: context\n\tx\n---\n",
      [`${candidates}/context-listed.md`]: "---\nkind: [context]\n---\n",
      [`${candidates}/link.md`]: { link: "a.md" },
      [`${candidates}/link-dangling.md`]: { link: "nowhere" },
      [`${candidates}/link-folder.md`]: { link: "folder" },
      [`${candidates}/link-loop.md`]: { link: "link-loop.md" },
      [`${candidates}/link-nul.md`]: { link: "/dev/zero" },
      [`${candidates}/link.txt`]: { link: "a.md" },
      [`${candidates}/.link.md`]: { link: "a.md" },
    }),
    call,
    stdout:
      queueLine({ id: "a" }) +
      awaiting(1) +
      `unreadable ${candidates}/context-broken.md: line 3: ${yamlWords.tab}\n` +
      `unreadable ${candidates}/context-listed.md: ${unreadableWords["no-id"]}\n` +
      ["link-dangling", "link-folder", "link-loop", "link-nul", "link"].map((name) => `unreadable ${candidates}/${name}.md: ${unreadableWords.link}\n`).join(""),
    stderr: unreadable(7),
    status: 10,
    everywhere: true,
  },
  {
    title: "a README.md that is a link is no record",
    files: layer({ [`${candidates}/README.md`]: { link: "nowhere" } }),
    call,
    stdout: awaiting(0),
  },
  {
    title: "a file that may not be read",
    files: layer({ [`${candidates}/a.md`]: record("a"), [`${candidates}/b.md`]: { closed: record("b") } }),
    call,
    stdout: `${queueLine({ id: "a" })}${awaiting(1)}unreadable ${candidates}/b.md: ${unreadableWords.closed}\n`,
    stderr: unreadable(1),
    status: 10,
    asUser: true,
  },
  {
    title: "candidates that may not be listed",
    files: layer({ [candidates]: { closed: null } }),
    call,
    stderr: `majordomus: cannot read '${candidates}': permission denied\n`,
    status: 13,
    asUser: true,
  },
  { title: "no folder of candidates", files: layer({}), call, stdout: awaiting(0), everywhere: true },
  { title: "no folder of candidates, JSON", files: layer({}), call: [...call, "--json"], stdout: '{"schema":1,"candidates":[],"groups":[],"unreadable":[]}\n' },
  { title: "an empty folder of candidates", files: layer({ [candidates]: { folder: true } }), call, stdout: awaiting(0) },
  { title: "a file where the candidates should be", files: layer({ [candidates]: "x" }), call, stdout: awaiting(0) },
  { title: "a pipe where the candidates should be", files: layer({ [candidates]: { pipe: true } }), call, stdout: awaiting(0) },
];
