import { expect, test } from "vitest";
import { readYaml } from "../../../src/format/yaml-read.ts";
import { frontMatterOf } from "../../../src/format/front-matter.ts";
import { amended, derivedFromIn, leavesOf, sectionOf } from "../../../src/knowledge/amend.ts";
import type { Amendment } from "../../../src/knowledge/amend.ts";
import { randomFrom, seed } from "../../support/random.ts";

const added = "session:s-20261010101010-abcd";

function promotion(lines: readonly string[] = ["seen twice"]): Amendment {
  return {
    fields: [
      ["status", "verified"],
      ["class", "fact"],
      ["date", "2026-10-10"],
    ],
    derivedFrom: added,
    section: { heading: "Evidence", lines },
  };
}

function record(matter: readonly string[], body = "\n# t\n\nd\n"): string {
  return `---\n${matter.join("\n")}\n---\n${body}`;
}

const plain = ["id: x", "class: lesson", "status: candidate", "date: 2026-10-09", "provenance:", "  origin: extracted"];

/** What a record becomes, by lines: those taken away and those put in. */
function difference(before: string, after: string): string[] {
  const [old, young] = [before.split("\n"), after.split("\n")];
  const length = old.map(() => new Array<number>(young.length + 1).fill(0)).concat([new Array<number>(young.length + 1).fill(0)]);
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = young.length - 1; j >= 0; j -= 1) {
      const row = length[i] as number[];
      const below = length[i + 1] as number[];
      row[j] = old[i] === young[j] ? (below[j + 1] as number) + 1 : Math.max(below[j] as number, row[j + 1] as number);
    }
  }
  const lines: string[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      i += 1;
      j += 1;
    } else if (i < old.length && (j >= young.length || ((length[i + 1] as number[])[j] as number) >= ((length[i] as number[])[j + 1] as number))) {
      lines.push(`-${old[i] as string}`);
      i += 1;
    } else {
      lines.push(`+${young[j] as string}`);
      j += 1;
    }
  }
  return lines;
}

const derivedStyles: readonly (readonly [name: string, lines: readonly string[], change: readonly string[]])[] = [
  ["absent", [], ["+  derived_from:", `+    - ${added}`]],
  ["empty", ["  derived_from:"], [`+    - ${added}`]],
  ["empty with a comment", ["  derived_from: # none yet"], [`+    - ${added}`]],
  ["an empty flow", ["  derived_from: []"], ["-  derived_from: []", `+  derived_from: [${added}]`]],
  ["an empty flow with blanks", ["  derived_from: [  ] # none"], ["-  derived_from: [  ] # none", `+  derived_from: [${added}  ] # none`]],
  [
    "a flow with quotes and a comment",
    [`  derived_from: [ 'a ]'', b' , "c\\"]", it's ]   # why`],
    [`-  derived_from: [ 'a ]'', b' , "c\\"]", it's ]   # why`, `+  derived_from: [ 'a ]'', b' , "c\\"]", it's, ${added} ]   # why`],
  ],
  ["a block below", ["  derived_from:", "    - a", "    - b"], [`+    - ${added}`]],
  ["a block at the key's column", ["  derived_from:", "  - a"], [`+  - ${added}`]],
  ["a block far out, with comments between", ["  derived_from:  # why", "", "  # c", "         - 'a'", "         # d", "         - b"], [`+         - ${added}`]],
  ["a block of mappings", ["  derived_from:", "    - k: v", "      l: w"], [`+    - ${added}`]],
  ["a block with a bare entry", ["  derived_from:", "    -", "      k: v", "    -"], [`+    - ${added}`]],
];

test.each(derivedStyles)("amended adds to a derived_from that is %s, and keeps every other line", (_name, lines, change) => {
  for (const behind of [[], ["  note: more", "tags: []"]]) {
    const before = record([...plain, ...lines, ...behind]);
    const changes = difference(before, amended(before, promotion()));
    const wanted = [...change, "-class: lesson", "+class: fact", "-status: candidate", "+status: verified", "-date: 2026-10-09", "+date: 2026-10-10"];
    expect([...changes].sort()).toEqual([...wanted, "+", "+# Evidence", "+", "+seen twice"].sort());
    expect(derivedFromIn(leavesOf(amended(before, promotion()))).at(-1)).toBe(added);
  }
});

test("amended adds a reference once", () => {
  for (const lines of [[`  derived_from: ["${added}"]`], ["  derived_from:", `    - '${added}'`, "    - b"]]) {
    const before = record([...plain, ...lines]);
    expect(amended(before, promotion()).split(added)).toHaveLength(2);
  }
});

const statusStyles: readonly (readonly [before: string, after: string])[] = [
  ["status: candidate", "status: verified"],
  ["status:    candidate   # mine", "status:    verified   # mine"],
  ['status: "candidate" #', "status: verified #"],
  ["status: 'candidate'   ", "status: verified   "],
  ['status: "c\\x61ndidate" # x', "status: verified # x"],
];

test.each(statusStyles)("amended rewrites %j in place", (before, after) => {
  const lines = [...plain];
  lines[2] = before;
  const result = amended(record(lines), promotion());
  expect(result.split("\n")[3]).toBe(after);
});

test("amended puts a missing class, date or superseded_by behind the status line, with that line's end", () => {
  const before = "---\r\nid: x\r\nstatus: candidate # s\r\nprovenance:\r\n  origin: o\r\n---\r\n";
  const after = amended(before, promotion());
  expect(after).toContain("status: verified # s\r\ndate: 2026-10-10\r\nclass: fact\r\nprovenance:\r\n");
  const rejection: Amendment = {
    fields: [["status", "superseded"], ["superseded_by", "y"]],
    derivedFrom: null,
    section: { heading: "Rejected", lines: ["no"] },
  };
  expect(amended(before, rejection)).toContain("status: superseded # s\r\nsuperseded_by: y\r\nprovenance:\r\n");
  expect(amended(record(["id: x", "status: candidate", "superseded_by:  # none", "provenance:", "  origin: o"]), rejection)).toContain(
    "superseded_by: y  # none\n",
  );
});

test("amended changes no key of that name that stands deeper", () => {
  const before = record(["more:", "  status: candidate", "  class: lesson", "  provenance:", "    derived_from: []", ...plain]);
  const changes = difference(before, amended(before, promotion()));
  expect(changes.filter((line) => line.startsWith("-"))).toEqual(["-class: lesson", "-status: candidate", "-date: 2026-10-09"]);
});

test.each([
  ["a front matter that does not parse", record([...plain, "title: a: b"]), /line 8: plain scalar with a colon/],
  ["no front matter", "# t\n", /no front matter/],
  ["a front matter that does not end", "---\nid: x\n", /does not end/],
  ["a class that is a list", record(["id: x", "class: [a]", "status: candidate", "provenance:", "  origin: o"]), /its class is no text/],
  ["a class that is a mapping", record(["id: x", "class:", "  a: b", "status: candidate", "provenance:", "  origin: o"]), /its class is no text/],
  ["a date that is an empty list", record(["id: x", "date: []", "status: candidate", "provenance:", "  origin: o"]), /its date is no text/],
  ["no provenance", record(["id: x", "status: candidate"]), /no provenance/],
  ["a derived_from that is a text", record([...plain, "  derived_from: a"]), /derived_from is no list/],
  ["a derived_from that is a quoted nothing", record([...plain, '  derived_from: ""']), /derived_from is no list/],
  ["a derived_from that is a mapping", record([...plain, "  derived_from:", "    a: b"]), /derived_from is no list/],
])("amended refuses %s", (_name, before, words) => {
  expect(() => amended(before, promotion())).toThrow(words);
});

const bodies: readonly (readonly [name: string, body: string, after: string])[] = [
  ["no body", "", "\n\n# Evidence\n\nE\n"],
  ["a body without a last line end", "\n# t\n\nd", "\n# t\n\nd\n\n# Evidence\n\nE"],
  ["blank lines at the end", "\n# t\n\nd\n\n\n", "\n# t\n\nd\n\n# Evidence\n\nE\n\n\n"],
  ["a section at the end", "# Evidence\n\n- a\n", "# Evidence\n\n- a\n\nE\n"],
  ["a section without a last line end", "# Evidence\n\n- a", "# Evidence\n\n- a\n\nE"],
  ["a section in the middle", "# Evidence \t\n\n- a\n\n## b\n\nc\n\n# Rest\n\nd", "# Evidence \t\n\n- a\n\n## b\n\nc\n\nE\n\n# Rest\n\nd"],
  ["an empty section", "# Evidence\n# Rest\n", "# Evidence\n\nE\n# Rest\n"],
  ["the heading in a block of code alone", "```sh\n# Evidence\nx\n```\n", "```sh\n# Evidence\nx\n```\n\n# Evidence\n\nE\n"],
  ["a heading in a block of code of the section", "# Evidence\n\n~~~\n# no\n~~~\n\n# Rest\n", "# Evidence\n\n~~~\n# no\n~~~\n\nE\n\n# Rest\n"],
  ["other headings that begin so", "# Evidences\n\n## Evidence\n\n#Evidence\n", "# Evidences\n\n## Evidence\n\n#Evidence\n\n# Evidence\n\nE\n"],
];

test.each(bodies)("amended adds under the heading of a body with %s", (_name, body, after) => {
  const head = "---\nid: x\nclass: fact\nstatus: verified\ndate: 2026-10-10\nprovenance:\n  origin: o\n";
  for (const end of ["\n", "\r\n"]) {
    const turned = (text: string) => text.replaceAll("\n", end);
    const result = amended(turned(`${head}---\n${body}`), { ...promotion(["E"]), derivedFrom: null });
    // A body that is not there begins behind the fence's own line end.
    expect(result).toBe(turned(body === "" ? `${head}---${after}` : `${head}---\n${after}`));
  }
});

test("amended ends a closing fence that is the file's last bytes", () => {
  const head = "---\nid: x\nclass: fact\nstatus: verified\ndate: 2026-10-10\nprovenance:\n  origin: o\n---";
  expect(amended(head, { ...promotion(["E"]), derivedFrom: null })).toBe(`${head}\n\n# Evidence\n\nE`);
});

test.each<readonly [name: string, body: string, after: string]>([
  ["a heading in a comment is none", "\n<!--\n# Evidence\n-->\n\nprose\n", "\n<!--\n# Evidence\n-->\n\nprose\n\n# Evidence\n\nseen twice\n"],
  ["a section goes on behind a comment in it", "\n# Evidence\n\nold\n\n<!-- no\n# more\n-->\n", "\n# Evidence\n\nold\n\n<!-- no\n# more\n-->\n\nseen twice\n"],
  ["a comment of one line ends there", "\n<!-- a -->\n# Evidence\n\nold\n\n# More\n", "\n<!-- a -->\n# Evidence\n\nold\n\nseen twice\n\n# More\n"],
  ["a comment that is left open is closed", "\n<!-- a\n# Evidence\n", "\n<!-- a\n# Evidence\n-->\n\n# Evidence\n\nseen twice\n"],
  ["code that is left open is closed", "\n~~~~ sh\ncode\n~~~\n", "\n~~~~ sh\ncode\n~~~\n~~~~\n\n# Evidence\n\nseen twice\n"],
  ["so is code in the section", "\n# Evidence\n\n```\ncode\n", "\n# Evidence\n\n```\ncode\n```\n\nseen twice\n"],
])("amended adds what a reader of Markdown sees: %s", (_, body, after) => {
  expect(amended(record(plain, body), { ...promotion(), fields: [], derivedFrom: null })).toBe(record(plain, after));
});

test("sectionOf gives where a section stands, and null where there is none", () => {
  const text = record(plain, "# a\n\nx\n\n\n# b\n");
  expect(sectionOf(text, "c")).toBeNull();
  const section = sectionOf(text, "a");
  expect(text.slice(section?.start, section?.end)).toBe("# a\n\nx");
});

test(`amended keeps what it does not mean, over records in random styles (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const spaces = () => " ".repeat(random.below(3));
  const comment = () => random.pick(["", "", " # c", "   # : [ ' \" -"]);
  const value = (text: string) => random.pick([text, `"${text}"`, `'${text}'`]);
  const noise = () => random.pick<readonly string[]>([[], [], [""], ["# status: candidate"], ["   # - x"]]);
  for (let round = 0; round < 1000; round += 1) {
    const indent = " ".repeat(2 + random.below(3));
    const [, derived] = random.pick(derivedStyles);
    const parts: (readonly string[])[] = [
      [`id:${spaces()} ${value("x")}${comment()}`],
      [`status:${spaces()} ${value("candidate")}${comment()}`],
      random.pick<readonly string[]>([[], [`class: ${value("lesson")}${comment()}`], ["class:"]]),
      random.pick<readonly string[]>([[], [`date: ${value("2026-10-09")}${comment()}`]]),
      random.pick<readonly string[]>([[], ["tags:", "- a", "- status: b"], ["tags: [a, 'status: candidate']"], ["x:", "  status: candidate"]]),
      [`reviewer: "Jo \\"X\\" B"${comment()}`],
      [`provenance:${comment()}`, `${indent}origin: ${value("o")}`, ...derived.map((line) => indent.slice(2) + line)],
    ];
    const ordered = parts.map((part) => ({ part, key: random.below(1 << 30) })).sort((left, right) => left.key - right.key);
    const end = random.pick(["\n", "\r\n"]);
    const matter = ordered.flatMap(({ part }) => [...noise(), ...part]);
    const body = random.pick(["", "\nb\n", "\n# Evidence\n\n- `a`\n\n# Rest\n\nx", "\n```\n# Evidence\n```\n"]);
    const bom = random.pick(["", "\xef\xbb\xbf"]);
    const before = bom + `---\n${matter.join("\n")}\n---\n${body}`.replaceAll("\n", end);
    const front = frontMatterOf(before);
    if (typeof front === "string" || readYaml(front.yaml, 2, true).refusal !== null) throw new Error(`no record: ${before}`);
    const after = amended(before, promotion(["one", "", "two"]));
    const changes = difference(before, after);
    expect(changes.filter((line) => line.startsWith("-")).length, before).toBeLessThanOrEqual(4);
    for (const line of changes) expect(line, before).toMatch(/^[-+](?:\r?$|status|class|date|one|two|# Evidence| *derived_from: *(?:\[|\r?$)| *- session:)/);
    expect(after.includes("\r\n") ? after.replaceAll("\r\n", "").includes("\n") : false, before).toBe(false);
    expect(after.startsWith(bom)).toBe(true);
    expect(after.endsWith("\n"), before).toBe(before.endsWith("\n"));
    // What stands so already is not set again.
    expect(leavesOf(amended(after, promotion()))).toEqual(leavesOf(after));
  }
});
