/** What can be refused, and the exit status it gives (contract, section 2). Closed: nothing else is thrown on purpose. */
export const refusals = {
  "wrong-call": 2,
  "refused": 10,
  "drift": 11,
  "missing": 12,
  "could-not-write": 13,
  "locked": 13,
  "fault": 13,
  "wrong-state": 15,
} as const;

export type RefusalCode = keyof typeof refusals;

/**
 * A refusal of the world or of the call, never a fault in our own reasoning.
 * Printed as `majordomus: <what>: <detail>` on one line (contract, section 2).
 */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  readonly what: string;
  readonly detail: string;

  constructor(code: RefusalCode, what: string, detail: string) {
    super(detail === "" ? what : `${what}: ${detail}`);
    this.name = "Refusal";
    this.code = code;
    this.status = refusals[code];
    this.what = what;
    this.detail = detail;
  }
}

/** Makes a refusal to throw. `what` says what failed first, its subject quoted; `detail` says why and what mends it. */
export function refuse(code: RefusalCode, what: string, detail = ""): Refusal {
  return new Refusal(code, what, detail);
}
