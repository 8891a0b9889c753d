/**
 * The table of the YAML subset (test/support/yaml-cases.ts): each document as front matter of a record, all of them as files of one
 * repository; and `yaml flatten` of a few by itself.
 */
import { flattened } from "../../../src/format/yaml-read.ts";
import { yamlWords } from "../../../src/ground/tables.ts";
import { bytesOfText, textOfBytes } from "../../../src/ground/bytes.ts";
import { acceptedYaml, refusedYaml } from "../../support/yaml-cases.ts";
import { awaiting, candidates, layer, queueLine, unreadable } from "../cases.ts";
import type { ParityCase } from "../cases.ts";

const number = (index: number) => String(index).padStart(4, "0");

/** What opens a document cannot stand behind a fence: a mark there is a second document. */
const asFront = (text: string) => !/^\ufeff|^---|^#? ?c?\n?---/.test(text) && text.endsWith("\n") && !/^(?:---|\.\.\.)/m.test(text);

const fronts = refusedYaml.filter(({ text }) => asFront(text));

const refusedFronts: ParityCase = {
  title: "yaml: everything that is refused, as front matter",
  files: layer(Object.fromEntries(fronts.map(({ text }, index) => [`${candidates}/${number(index)}.md`, `---\n${text}---\n`]))),
  call: ["knowledge", "candidates"],
  stdout: `${awaiting(0)}${fronts
    .map(({ line, reason }, index) => `unreadable ${candidates}/${number(index)}.md: line ${line + 1}: ${yamlWords[reason]}\n`)
    .join("")}`,
  stderr: unreadable(fronts.length),
  status: 10,
  everywhere: true,
};

const whole = acceptedYaml.filter(({ text, leaves }) => asFront(text) && !leaves.some(([path]) => path === "id" || path === "status"));

const acceptedFronts: ParityCase = {
  title: "yaml: everything that is accepted, as front matter",
  files: layer(
    Object.fromEntries(whole.map(({ text }, index) => [`${candidates}/${number(index)}.md`, `---\nid: "${number(index)}"\nstatus: candidate\n${text}---\n`])),
  ),
  call: ["knowledge", "candidates"],
  stdout: `${whole.map((_, index) => queueLine({ id: number(index) })).join("")}${awaiting(whole.length)}`,
  everywhere: true,
};

/** A document by itself, what it gives and what is said of it. */
function flattenCase(index: number, text: string, gives: Pick<ParityCase, "stdout" | "stderr" | "status">): ParityCase {
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
  const file = `${number(index)}.yaml`;
  return { title: `yaml flatten: ${shown}`, files: { [file]: text }, call: ["yaml", "flatten", file], ...gives };
}

/** Those that the front matter of the repositories above could not hold: marks, byte order marks, last lines without LF. */
const refusedFlattened = refusedYaml
  .filter(({ text }) => !asFront(text))
  .map(({ text, line, reason }, index) =>
    flattenCase(index, text, { status: 10, stderr: `majordomus: ${number(index)}.yaml: line ${line}: ${yamlWords[reason]}\n` }),
  );
const acceptedFlattened = acceptedYaml
  .filter(({ text }) => !asFront(text))
  .map(({ text, leaves }, index) => {
    const bytes = new Map(leaves.map(([path, value]) => [path, value === null ? null : bytesOfText(value)]));
    return flattenCase(500 + index, text, { stdout: textOfBytes(flattened(bytes)) });
  });

export const yamlCases: readonly ParityCase[] = [refusedFronts, acceptedFronts, ...refusedFlattened, ...acceptedFlattened];
