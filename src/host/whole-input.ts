/** Standard input that a person or a pipe gives as a whole. */
import { isatty } from "node:tty";
import { sleep } from "../ground/clock.ts";
import { errorCode, fileOperations, worldError } from "./files.ts";
import { refuse } from "../ground/errors.ts";

/** Standard input to its end; `null` where it is a terminal. A closed one is empty; more than `limit` bytes are refused (10). */
export function readInput(limit: number): Buffer | null {
  if (isatty(0)) return null;
  const what = "cannot read standard input";
  const chunks: Buffer[] = [];
  let length = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    const count = readSome(what, chunk);
    if (count === 0) return Buffer.concat(chunks);
    length += count;
    if (length > limit) throw refuse("refused", what, `it has more than ${limit} bytes`);
    chunks.push(chunk.subarray(0, count));
  }
}

function readSome(what: string, chunk: Buffer): number {
  for (;;) {
    try {
      return fileOperations.readSync(0, chunk, 0, chunk.length, null);
    } catch (error) {
      const code = errorCode(error);
      if (code === "EOF" || code === "EBADF") return 0;
      // A pipe that is set not to block has nothing yet.
      if (code !== "EAGAIN") throw worldError(what, error);
      sleep(5);
    }
  }
}
