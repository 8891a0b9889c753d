/** The command that proves a task completed (contract, section 5). */
import { refuse } from "../ground/errors.ts";
import { runCommand } from "../host/command.ts";
import type { Verification } from "./task.ts";

/** Runs a task's verify command at the root. One that cannot fail, or that fails, refuses the finish (10). */
export async function runVerification(root: string, task: string, command: string): Promise<Verification> {
  const what = `cannot finish ${task} completed`;
  if (cannotFail(command)) throw refuse("refused", what, `'${command}' cannot fail, and so proves nothing`);
  const { status, seconds } = await runCommand(root, command);
  if (status !== 0) throw refuse("refused", what, `the verify command ended with ${status}`);
  return { command, exit: status, seconds };
}

/** Whether a command can never fail: nothing but `true`, `:`, `exit 0`, `echo` and `printf`, or one of them as the last resort. */
export function cannotFail(command: string): boolean {
  if (/[|][|]\s*(?:true|:|exit\s+0)\s*;?\s*$/.test(command)) return true;
  if (/[`$<>]|[^|][|][^|]/.test(command)) return false;
  const parts = command.split(/&&|\|\||[;&\n]/).map((part) => part.trim());
  return parts.every((part) => part === "" || /^(?:true|:|exit(?:\s+0)?|echo(?:\s.*)?|printf\s.*)$/.test(part));
}
