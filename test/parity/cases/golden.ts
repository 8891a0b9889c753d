/** The repositories of test/golden. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { home } from "../../../build/bundle.mjs";
import { unreadableWords, yamlWords } from "../../../src/ground/tables.ts";
import { candidates, unreadable } from "../cases.ts";
import type { ParityCase } from "../cases.ts";
import { readTree } from "../tree.ts";

const golden = join(home, "test/golden");

function expected(name: string, file: string): string {
  return readFileSync(join(golden, name, file), "utf8");
}

const whole = ["candidates-empty", "candidates-order", "candidates-recurrence"].flatMap((name): ParityCase[] => {
  const files = readTree(join(golden, name, "repo"));
  return [
    { title: `golden: ${name}`, files, call: ["knowledge", "candidates"], stdout: expected(name, "expected.txt"), everywhere: true },
    { title: `golden: ${name}, JSON`, files, call: ["knowledge", "candidates", "--json"], stdout: expected(name, "expected.json"), everywhere: true },
  ];
});

/** Why each of the files cannot be read, by the number that its name begins with. */
const reasons: Readonly<Record<string, string>> = {
  "10": unreadableWords.nul,
  "11": unreadableWords.nul,
  "20": unreadableWords.utf8,
  "21": unreadableWords.utf8,
  "30": unreadableWords["no-front-matter"],
  "31": unreadableWords["no-front-matter"],
  "32": unreadableWords["no-front-matter"],
  "33": unreadableWords["no-front-matter"],
  "34": unreadableWords["no-front-matter"],
  "40": unreadableWords.endless,
  "41": unreadableWords.endless,
  "42": unreadableWords.endless,
  "50": yamlWords.tab,
  "51": yamlWords.conflict,
  "52": yamlWords["repeated-key"],
  "53": yamlWords["flow-mapping"],
  "54": yamlWords["open-quote"],
  "55": yamlWords.escape,
  "56": yamlWords.control,
  "57": yamlWords.anchor,
  "58": yamlWords["multi-line"],
  "59": yamlWords.indentation,
  "5a": yamlWords["nested-entry"],
  "5b": yamlWords["byte-order-mark"],
  "5c": yamlWords.colon,
  "5d": yamlWords["repeated-key"],
  "5e": yamlWords["block-scalar"],
  "5f": yamlWords.separator,
  "60": unreadableWords["no-id"],
  "61": unreadableWords["no-id"],
  "62": unreadableWords["no-id"],
  "63": unreadableWords["no-id"],
  "70": unreadableWords.status,
  "71": unreadableWords.status,
  "72": unreadableWords.status,
};

/** The expected text with the reasons, and with the line of the link that is made there. */
function unreadableText(): string {
  const lines = new Map<string, string>();
  for (const line of expected("candidates-unreadable", "lines.txt").trimEnd().split("\n")) {
    const [path = "", said = ""] = line.split(": ");
    lines.set(path, said);
  }
  const text = expected("candidates-unreadable", "expected.txt").replace(/^unreadable (.*)$/gm, (shown, path: string) => {
    const reason = reasons[path.slice(candidates.length + 1, candidates.length + 3)] ?? "";
    const line = lines.get(path) ?? "";
    return `${shown}: ${line === "no line" ? reason : `${line}: ${reason}`}`;
  });
  return `${text}unreadable ${candidates}/zz-link.md: ${unreadableWords.link}\n`;
}

const broken: ParityCase = {
  title: "golden: candidates-unreadable",
  files: { ...readTree(join(golden, "candidates-unreadable/repo")), [`${candidates}/zz-link.md`]: { link: "10-nul.md" } },
  call: ["knowledge", "candidates"],
  stdout: unreadableText(),
  stderr: unreadable(36),
  status: 10,
  everywhere: true,
};

export const goldenCases: readonly ParityCase[] = [...whole, broken];
