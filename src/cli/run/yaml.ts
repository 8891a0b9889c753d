import { isUtf8 } from "node:buffer";
import { frontMatterOf } from "../../format/front-matter.ts";
import { flattened, leavesJson, readYaml, readYamlFile } from "../../format/yaml-read.ts";
import { refuse } from "../../ground/errors.ts";
import { unreadableWords, yamlWords } from "../../ground/tables.ts";
import { readNamed } from "../../host/folder.ts";
import { absolute } from "../../host/layout.ts";
import { isGiven } from "../call.ts";
import type { Call, Outcome } from "../call.ts";

export function flatten(call: Call): Outcome {
  const [name = ""] = call.operands;
  const file = readNamed(absolute(call.workingDirectory, name), name);
  const refused = (reason: string) => refuse("refused", name, reason);
  if (file.includes(0)) throw refused(unreadableWords.nul);
  if (!isUtf8(file)) throw refused(unreadableWords.utf8);
  const text = file.toString("latin1");
  const matter = isGiven(call, "front") ? frontMatterOf(text) : null;
  if (typeof matter === "string") throw refused(unreadableWords[matter]);
  const { leaves, refusal } = matter === null ? readYamlFile(text) : readYaml(matter.yaml, matter.firstLine, true);
  if (refusal !== null) throw refused(`line ${refusal.line}: ${yamlWords[refusal.reason]}`);
  return { bytes: call.json ? leavesJson(leaves) : flattened(leaves) };
}
