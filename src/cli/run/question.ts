import { showControls, textOfLines } from "../../ground/bytes.ts";
import { insistRecordable } from "../../episode/act.ts";
import { addQuestion, openQuestions, resolveQuestion } from "../../episode/question.ts";
import { layoutFor, valueOf } from "../call.ts";
import type { Call, Outcome } from "../call.ts";
import { insistTexts, placeFor } from "./place.ts";

export function addOne(call: Call): Outcome {
  const question = call.operands[0] ?? "";
  insistTexts(call, { "the question": question });
  addQuestion(placeFor(call), question);
  return { text: `asked: ${question}\n`, json: { schema: 1, asked: question } };
}

export function resolve(call: Call): Outcome {
  const answer = valueOf(call, "answer") ?? "";
  insistTexts(call, { "the answer": answer });
  insistRecordable("the answer", answer);
  const { question } = resolveQuestion(placeFor(call), call.operands[0] ?? "", answer);
  return { text: `resolved: ${showControls(question)} — ${answer}\n`, json: { schema: 1, resolved: question, answer } };
}

export function list(call: Call): Outcome {
  const open = openQuestions(layoutFor(call));
  return {
    text: textOfLines(open.map((one, index) => `${index + 1}. ${one.question}`)),
    json: { schema: 1, questions: open.map((one) => ({ ts: one.ts, task_id: one.task, question: one.question })) },
  };
}
