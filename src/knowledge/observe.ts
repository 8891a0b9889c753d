/** Recording what an episode met, as one typed line (contract, section 6). */
import { refuse } from "../ground/errors.ts";
import { opensLikeConversation } from "../ground/ids.ts";
import { nameExists } from "../host/folder.ts";
import { act, lineFault } from "../episode/act.ts";
import type { Place } from "../episode/act.ts";
import { insistNoSecret } from "../episode/secrets.ts";
import { activeTaskId } from "../episode/task.ts";
import { isPathSubject } from "./route.ts";

export const observationKinds = ["friction", "workaround", "defect", "drift", "repetition"] as const;

export interface Observation {
  readonly kind: string;
  readonly subject: string;
  readonly statement: string;
  readonly evidence: readonly string[];
}

const subjectLimit = 1024;
const statementLimit = 4096;
const identifier = /^(?:capability|rule|command|gate):(.*)$/;

/** Refuses an observation that the contract's table refuses, the first part first. Pure but for the refusal. */
export function insistObservation(observation: Observation, secretAllowed: boolean): void {
  const { kind, subject, statement, evidence } = observation;
  const wrong = (what: string, detail: string) => refuse("wrong-call", what, detail);
  if (!(observationKinds as readonly string[]).includes(kind)) {
    throw wrong(`unknown kind '${kind}'`, `one of ${observationKinds.join(", ")}`);
  }
  const subjectWrong = subjectFault(subject);
  if (subjectWrong !== null) throw wrong(`cannot use subject '${subject}'`, subjectWrong);
  const statementWrong = lineFault(statement) ?? statementFault(statement);
  if (statementWrong !== null) throw wrong("cannot use the statement", statementWrong);
  for (const reference of evidence) {
    const referenceWrong = referenceFault(reference);
    if (referenceWrong !== null) throw wrong(`cannot use evidence '${reference}'`, referenceWrong);
  }
  insistNoSecret({ "the subject": subject, "the statement": statement, "the evidence": evidence.join("\n") }, secretAllowed);
}

/** Why a text is no subject of an observation, or `null` (contract, section 6). */
export function subjectFault(subject: string): string | null {
  const fault = lineFault(subject);
  if (fault !== null) return fault;
  if (Buffer.byteLength(subject, "utf8") > subjectLimit) return `it has more than ${subjectLimit} bytes`;
  const name = identifier.exec(subject)?.[1];
  if (name !== undefined) {
    return /^[A-Za-z0-9][A-Za-z0-9._/@-]*$/.test(name) ? null : "after the colon comes a letter or digit, then letters, digits and . _ / @ -";
  }
  if (subject.startsWith(" ") || subject.endsWith(" ")) return "a path has no space at its ends";
  if (subject.includes(":")) return "a path has no ':'; an identifier begins with capability:, rule:, command: or gate:";
  const right = subject
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")
    .join("/");
  if (subject.split("/").includes("..")) return "a path stays in the repository: no '..' segment";
  if (right !== subject) return right === "" ? "a path has a name" : `a path in its one form is '${right}'`;
  return null;
}

function statementFault(statement: string): string | null {
  if (Buffer.byteLength(statement, "utf8") > statementLimit) return `it has more than ${statementLimit} bytes`;
  return opensLikeConversation(statement) ? "it opens like a conversation; say what was met" : null;
}

function referenceFault(reference: string): string | null {
  const fault = lineFault(reference);
  if (fault !== null) return fault;
  const name = /^(?:file|test|commit|issue|claim):(.*)$/.exec(reference)?.[1];
  if (name === undefined || name === "") return "it begins with file:, test:, commit:, issue: or claim: and names something";
  if (/\s/.test(name)) return "it has white space";
  return reference.startsWith("commit:") && !/^[0-9a-fA-F]{4,64}$/.test(name) ? "a commit has 4 to 64 hex digits" : null;
}

/** Records an observation in this process's open episode; without one it is refused (10). Refuse it first with `insistObservation`. */
export function observe(place: Place, observation: Observation): void {
  const { layout } = place;
  const { kind, subject, statement, evidence } = observation;
  act(
    place,
    "cannot observe",
    ({ episode, line, write }) => {
      const payload = { task_id: activeTaskId(layout, episode), kind, subject, statement, evidence: [...evidence] };
      write(line("observation.recorded", payload));
    },
    { needsEpisode: true },
  );
}

/** Whether a subject is a path that nothing here has: worth a note, never a refusal. */
export function isMissingPath(place: Place, subject: string): boolean {
  return isPathSubject(subject) && !nameExists(`${place.layout.root}/${subject}`);
}
