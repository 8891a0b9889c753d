import { refuse } from "../../ground/errors.ts";
import { completionScript, completionShells } from "../completion.ts";
import type { CompletionTable } from "../completion.ts";
import type { Call, Outcome } from "../call.ts";

export function completionOf(table: CompletionTable): (call: Call) => Outcome {
  return (call) => {
    const [name = ""] = call.operands;
    const shell = completionShells.find((one) => one === name);
    if (shell === undefined) throw refuse("wrong-call", `cannot complete in '${name}'`, `one of ${completionShells.join(", ")}`);
    const script = completionScript(shell, table);
    return { text: script, json: { schema: 1, shell, script } };
  };
}
