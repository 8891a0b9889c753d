/** Values of records: their order, what is shown of them, large ones, and the groups. */
import { awaiting, candidates, layer, queueLine, recordOf } from "../cases.ts";
import type { ParityCase } from "../cases.ts";

const call = ["knowledge", "candidates"];

/** Records by their ids, in files named after them. */
const records = (list: readonly Readonly<Record<string, string>>[]) =>
  layer(Object.fromEntries(list.map((values, index) => [`${candidates}/${String(index).padStart(3, "0")}.md`, recordOf(values)])));

const derived = (...items: string[]) => `\n  derived_from:\n${items.map((item) => `    - ${item}\n`).join("")}`.slice(0, -1);

const ids = ["10", "9", "1e1", "010", "0x9", "A", "a", "B", "b", "a-b", "ab", "a_b", "a.b", "é", "e\u0301", "～", "😀", "\ufb01", "Z", "_", "~x", "a b", "%s", "-1", "+1", ".5", "1", "01", "1.0", "inf", "nan"];
const names = ids.filter((id) => !id.startsWith("."));
const ordered = [...ids].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));

const long = "x".repeat(20_480);

/** Values with what text shows of them. */
const shown: readonly (readonly [value: string, text: string])[] = [
  ["plain", "plain"],
  ["''", "-"],
  ['"\\t\\n\\r\\e\\x07\\x7f"', "\\x09\\x0a\\x0d\\x1b\\x07\\x7f"],
  ['"\\N\\x80\\x9f\\xa0"', "\\xc2\\x85\\xc2\\x80\\xc2\\x9f\u00a0"],
  ['"\\L\\P\\uFEFF\\uFFFE"', "\u2028\u2029\ufeff\ufffe"],
  ['"\\\\x1b"', "\\x1b"],
  ["'%s %d %%'", "%s %d %%"],
  ["a\\tb", "a\\tb"],
  ['"\\x01\\x02\\x03\\x04\\x05\\x06\\x0b\\x0c\\x0e\\x0f\\x1f"', "\\x01\\x02\\x03\\x04\\x05\\x06\\x0b\\x0c\\x0e\\x0f\\x1f"],
  ["[x]", "-"],
  ["x &amp; \\& $1 `x`", "x &amp; \\& $1 `x`"],
  ["日本語 é 😀", "日本語 é 😀"],
  ['"\\U0001F600\\U0010FFFF"', "😀\u{10ffff}"],
  [`"${"\\n".repeat(1500)}"`, "\\x0a".repeat(1500)],
  [`"${"\\x85é".repeat(800)}"`, "\\xc2\\x85é".repeat(800)],
];

export const valueCases: readonly ParityCase[] = [
  {
    title: "values: records in the byte order of their ids",
    files: records(ids.map((id) => ({ id: `"${id}"` }))),
    call,
    stdout: `${ordered.map((id) => queueLine({ id })).join("")}${awaiting(ids.length)}`,
    everywhere: true,
  },
  {
    title: "values: records of one id in the byte order of their paths",
    files: layer(Object.fromEntries(names.map((name) => [`${candidates}/${name}.md`, recordOf({ id: "same", title: `"${name}"` })]))),
    call,
    stdout: `${names
      .map((name) => `${name}.md`)
      .sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)))
      .map((name) => queueLine({ id: "same", title: name.slice(0, -3) }))
      .join("")}${awaiting(names.length)}`,
    everywhere: true,
  },
  {
    title: "values: what text shows in each field, padded by the bytes shown",
    files: records(shown.map(([value], index) => ({ id: `a${String(index).padStart(2, "0")}`, class: value, date: value, title: value }))),
    call,
    stdout: `${shown.map(([, text], index) => queueLine({ id: `a${String(index).padStart(2, "0")}`, class: text, date: text, title: text })).join("")}${awaiting(shown.length)}`,
    everywhere: true,
  },
  {
    title: "values: JSON escapes as JSON.stringify does",
    files: records(shown.map(([value], index) => ({ id: `a${String(index).padStart(2, "0")}`, class: value, epistemics: value, about: value, route: value }))),
    call: [...call, "--json"],
    sameAs: "toolkit",
    everywhere: true,
  },
  {
    title: "values: the whole of a record in JSON, and a group with a route that is absent",
    files: layer({
      [`${candidates}/a.md`]: recordOf({
        ...{ id: "a", class: "lesson", title: '"say \\"x\\" \\\\ y"', epistemics: "observed", date: "2026-10-09", about: "lib/a.sh", route: "project" },
        provenance: derived("task:t", "session:s-1", "session:s-2"),
      }),
      [`${candidates}/b.md`]: recordOf({ id: "b", about: "lib/a.sh" }),
    }),
    call: [...call, "--json"],
    stdout:
      `{"schema":1,"candidates":[{"id":"a","class":"lesson","status":"candidate","epistemics":"observed","date":"2026-10-09","episode":"s-1","branch":null,"path":"${candidates}/a.md",` +
      `"title":"say \\"x\\" \\\\ y","about":"lib/a.sh","route":"project"},{"id":"b","class":"","status":"candidate","epistemics":"","date":"","episode":"","branch":null,"path":"${candidates}/b.md",` +
      `"title":"","about":"lib/a.sh"}],"groups":[{"about":"lib/a.sh","route":"","candidates":["a","b"],"rejected":[],"episodes":["s-1"]}],"unreadable":[]}\n`,
    everywhere: true,
  },
  {
    title: "values: groups in the byte order of what they are about, their records by id, episodes by first appearance, the last route",
    files: records([
      { id: "c", about: "10", route: "project", status: "superseded", provenance: derived("session:s-2") },
      { id: "a", about: "10", provenance: derived("session:s-3") },
      { id: "b", about: "10", route: "platform", provenance: derived("session:s-2") },
      { id: "d", about: "9", status: "superseded" },
      { id: "e", about: '"～"', provenance: derived("file:x", '"session:s-1"') },
      { id: "f", about: '"😀"', provenance: "\n  derived_from: [file:x, session:s-9]" },
      { id: "g", about: "Z", status: "verified" },
      { id: "h", about: "''" },
      { id: "i", about: "[x]" },
      { id: "j", about: '"a\\nb"', route: '"\\e"', provenance: derived('"session:\\n"') },
      { id: "k", about: "1e1", provenance: "\n  derived_from: session:s-8" },
      { id: "l", about: "1e1", provenance: "\n  derived_from: []" },
      { id: "m", about: "1e1", provenance: derived("k: session:s-7", "[session:s-6]", "session:", "session:s-5") },
    ]),
    call,
    stdout:
      ["a", "b", "e", "f", "h", "i", "j", "k", "l", "m"].map((id) => queueLine({ id })).join("") +
      awaiting(10) +
      "about 10  route project  awaiting 2  rejected 1  episodes 2\n  awaiting  a\n  awaiting  b\n  rejected  c\n  episodes  s-3 s-2\n" +
      "about 1e1  route -  awaiting 3  rejected 0  episodes 1\n  awaiting  k\n  awaiting  l\n  awaiting  m\n  episodes  s-5\n" +
      "about 9  route -  awaiting 0  rejected 1  episodes 0\n  rejected  d\n  episodes  -\n" +
      "about a\\x0ab  route \\x1b  awaiting 1  rejected 0  episodes 1\n  awaiting  j\n  episodes  \\x0a\n" +
      "about ～  route -  awaiting 1  rejected 0  episodes 1\n  awaiting  e\n  episodes  s-1\n" +
      "about 😀  route -  awaiting 1  rejected 0  episodes 1\n  awaiting  f\n  episodes  s-9\n",
    everywhere: true,
  },
  {
    title: "values: a title of 20 KB, a list of 6 KB, a comment of 20 KB, a body of 200 KB",
    files: layer({
      [`${candidates}/a.md`]:
        `---\n# ${long}\nid: a\ntitle: ${long}\nstatus: candidate\ntags:\n${"  - entry of a list\n".repeat(300)}flow: [${"x, ".repeat(2000)}y]\n` +
        `quoted: "${"\\\\ \\\"".repeat(3000)}"\nsingle: '${"''".repeat(5000)}'\nabout: "${long}"\n---\n${"body\n".repeat(40_000)}`,
    }),
    call,
    stdout: `${queueLine({ title: long })}${awaiting(1)}about ${long}  route -  awaiting 1  rejected 0  episodes 0\n  awaiting  a\n  episodes  -\n`,
    everywhere: true,
  },
  {
    title: "values: long ones in JSON, each with something to escape",
    files: layer({
      [`${candidates}/a.md`]: recordOf({ title: `"${`${"x".repeat(1023)}\\n\\"`.repeat(20)}"`, about: `"${"\\\\".repeat(9000)}"`, route: `"${"\\x85é\\x01".repeat(3000)}"` }),
    }),
    call: [...call, "--json"],
    sameAs: "toolkit",
    everywhere: true,
  },
  {
    title: "values: many records",
    files: layer(
      Object.fromEntries(
        Array.from({ length: 600 }, (_, index) => [
          `${candidates}/${index}.md`,
          recordOf({ id: String((index * 7919) % 600), about: String(index % 13), status: index % 3 === 0 ? "superseded" : "candidate", provenance: derived(`session:s-${index % 7}`) }),
        ]),
      ),
    ),
    call,
    sameAs: "toolkit",
    everywhere: true,
  },
  {
    title: "values: keys that are words of JavaScript or awk, and look like paths",
    files: layer({
      [`${candidates}/a.md`]: "---\nid: a\nstatus: candidate\n__proto__: x\nconstructor: y\nlength: 1\nprovenance:\n  derived_from:\n    - length\n  hasOwnProperty: z\n---\n",
      [`${candidates}/b.md`]: "---\nid: __proto__\nstatus: candidate\nabout: __proto__\nprovenance:\n  derived_from:\n    - session:__proto__\n---\n",
      [`${candidates}/c.md`]: "---\nid: constructor\nstatus: candidate\nabout: constructor\nroute: toString\n---\n",
    }),
    call,
    stdout:
      `${queueLine({ id: "__proto__" })}${queueLine({ id: "a" })}${queueLine({ id: "constructor" })}${awaiting(3)}` +
      "about __proto__  route -  awaiting 1  rejected 0  episodes 1\n  awaiting  __proto__\n  episodes  __proto__\n" +
      "about constructor  route toString  awaiting 1  rejected 0  episodes 0\n  awaiting  constructor\n  episodes  -\n",
    everywhere: true,
  },
];
