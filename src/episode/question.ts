/** Questions: opened and resolved in the ledger, the open ones in a readable store beside it (contract, section 5). */
import { refuse } from "../ground/errors.ts";
import { attempt, readBytes, removeFile, replaceFile } from "../host/files.ts";
import { ledgerPath, questionsPath } from "../host/layout.ts";
import type { Layout } from "../host/layout.ts";
import { textField } from "../ledger/events.ts";
import { archivesOf, eachEntry, needlesOf } from "../ledger/ledger.ts";
import { act } from "./act.ts";
import type { Place } from "./act.ts";
import { activeTask } from "./task.ts";

export interface OpenQuestion {
  readonly ts: string;
  /** The task under which it was asked. */
  readonly task: string;
  readonly question: string;
}

/** The questions that are open in this checkout, oldest first, numbered from 1 as `resolve` takes them. */
export function openQuestions(layout: Layout): OpenQuestion[] {
  const open: OpenQuestion[] = [];
  for (const path of [...archivesOf(layout), ledgerPath]) {
    eachEntry(
      `${layout.root}/${path}`,
      (entry) => {
        const event = textField(entry, "event");
        const asked = { ts: textField(entry, "ts"), task: textField(entry, "task_id"), question: textField(entry, "question") };
        if (event === "question.opened") open.push(asked);
        if (event !== "question.resolved") return;
        const at = answeredBy(open, asked);
        if (at !== -1) open.splice(at, 1);
      },
      needlesOf("question."),
    );
  }
  return open;
}

/** Which of the open questions an answer to `asked` closes: the first of this text under this task, else of this text; -1 for none. */
function answeredBy(open: readonly OpenQuestion[], asked: OpenQuestion): number {
  const same = (question: OpenQuestion) => question.question === asked.question;
  const at = open.findIndex((question) => same(question) && question.task === asked.task);
  return at === -1 ? open.findIndex(same) : at;
}

/** Asks a question under the active task; without one it is refused (12). */
export function addQuestion(place: Place, question: string): void {
  const { layout } = place;
  act(place, "cannot record a question", ({ episode, line, write }) => {
    const task = activeTask(layout, episode);
    if (task === null) {
      throw refuse("missing", "cannot record a question", "no task is active here; run 'majordomus start' first");
    }
    withStore(layout, [...openQuestions(layout), { ts: place.now, task: task.id, question }], () => {
      write(line("question.opened", { task_id: task.id, question }));
    });
  });
}

/**
 * Answers an open question, named by its number or its text. No match is missing (12), several are a wrong call (2).
 * The answer is recorded under the task that asked.
 */
export function resolveQuestion(place: Place, named: string, answer: string): OpenQuestion {
  const { layout } = place;
  const what = `cannot resolve '${named}'`;
  return act(place, what, ({ line, write }) => {
    const open = openQuestions(layout);
    const numbered = /^[1-9][0-9]{0,8}$/.test(named) ? open[Number(named) - 1] : undefined;
    const matches = numbered === undefined ? open.filter((question) => question.question === named) : [numbered];
    const [match] = matches;
    if (match === undefined) throw refuse("missing", what, "no open question has this number or text; see 'majordomus question list'");
    if (matches.length > 1) throw refuse("wrong-call", what, `${matches.length} open questions have this text; give its number`);
    const at = answeredBy(open, match);
    withStore(layout, open.filter((_, index) => index !== at), () => {
      write(line("question.resolved", { task_id: match.task, question: match.question, answer }));
    });
    return match;
  });
}

/**
 * Writes the store of these questions, then their line; the store goes back where the line fails. In this order, because
 * the act that is done again after a kill makes the store anew: after the line it would find nothing left to do.
 */
function withStore(layout: Layout, open: readonly OpenQuestion[], writeLine: () => void): void {
  const lines = open.map((question, index) => `${index + 1}. ${question.question} (${question.task}, ${question.ts})\n`);
  const text = `# Open questions\n\n${lines.length === 0 ? "None.\n" : lines.join("")}`;
  const path = `${layout.root}/${questionsPath}`;
  const before = readBytes(path, { regular: true });
  try {
    replaceFile(path, Buffer.from(text, "utf8"));
    writeLine();
  } catch (error) {
    attempt(() => void (before === null ? removeFile(path) : replaceFile(path, before)));
    throw error;
  }
}
