// What the processes of the load observe.

/** The statement of an observation: one in eight makes a line near the limit. */
export function statementOf(process: number, number: number): string {
  return `process ${process} observation ${number}${number % 8 === 0 ? ` ${"x".repeat(4_000)}` : ""}`;
}

/** References that fill a line up to near its limit. */
export function evidenceOf(number: number): string[] {
  return number % 8 === 0 ? Array.from({ length: 14 }, (_, index) => `issue:I${index}-${"y".repeat(4_000)}`) : [];
}
