/**
 * The only reader of time and chance.
 *
 * Chance is `Math.random`: every runtime seeds it from the system's entropy in each process, and the first use of
 * Web Crypto costs a start of Node 20 about 6 ms. It names things (four digits of an id, a lock's nonce, a temporary
 * file) that are drawn again, or are unique without it, where two agree; it keeps no secret.
 */
import { refuse } from "./errors.ts";

/** `YYYY-MM-DDTHH:MM:SSZ` (contract, section 3). The form alone counts, not the calendar. */
export const timestampPattern = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/;

/** The time as `YYYY-MM-DDTHH:MM:SSZ`, UTC. `MAJORDOMUS_NOW` is used as it is; of another form: refused, "wrong-call". */
export function now(): string {
  const given = process.env["MAJORDOMUS_NOW"];
  if (given === undefined) return `${new Date().toISOString().slice(0, 19)}Z`;
  if (timestampPattern.test(given)) return given;
  throw refuse("wrong-call", `cannot use MAJORDOMUS_NOW '${given}'`, "the form is YYYY-MM-DDTHH:MM:SSZ");
}

/** Seconds since 1970 of a timestamp, `null` for another form. A day or an hour outside the calendar counts on from it. */
export function secondsOf(timestamp: string): number | null {
  if (!timestampPattern.test(timestamp)) return null;
  const part = (from: number, to: number) => Number(timestamp.slice(from, to));
  // Not Date.UTC, which takes the years 0 to 99 for 1900 to 1999.
  const midnight = new Date(0).setUTCFullYear(part(0, 4), part(5, 7) - 1, part(8, 10));
  return midnight / 1000 + part(11, 13) * 3600 + part(14, 16) * 60 + part(17, 19);
}

/** Milliseconds, with fractions, from a point of no meaning; never turned back. For waiting only. */
export function milliseconds(): number {
  // The first use of `performance` costs a start of Node 20 nearly 1 ms.
  return Number(process.hrtime.bigint()) / 1_000_000;
}

let sleeper: Int32Array | undefined;

/** Stops this thread for so many milliseconds; none for 0 and less. */
export function sleep(duration: number): void {
  if (duration <= 0) return;
  sleeper ??= new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(sleeper, 0, 0, duration);
}

/** A whole number from 0 up to and without `limit`. */
export function chance(limit: number): number {
  return Math.floor(Math.random() * limit);
}

/** So many lower hex digits. */
export function randomHex(digits: number): string {
  let text = "";
  while (text.length < digits) text += chance(16).toString(16);
  return text;
}
