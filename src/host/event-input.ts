/**
 * Standard input of a program that may not wait for its end: who starts it may never close the pipe, or never write.
 *
 * A pipe of Linux is opened anew so that reading it does not wait; a file is read to its end. Anything else that is no terminal
 * (a socket, which Node hands to what it starts; every pipe under Deno) is read as a stream, which is given up afterwards, so
 * that nothing keeps the process alive.
 */
import { milliseconds, sleep } from "../ground/clock.ts";
import { attempt, errorCode, fileOperations } from "./files.ts";
import { constants } from "node:fs";

/** Takes the next bytes, valid during the call only; `true` when no more are wanted. */
type Take = (piece: Buffer) => boolean;

/** Gives standard input to `take` until it wants no more, the input ends, or so many milliseconds have passed. Never throws. */
export async function readSoon(wait: number, take: Take): Promise<void> {
  const kind = kindOfInput();
  if (kind === "none") return;
  if (kind === "file") return readFile(take);
  const pipe = kind === "pipe" && process.platform === "linux" ? openPipe() : null;
  if (pipe === null) return readStream(wait, take);
  try {
    readPipe(pipe, wait, take);
  } finally {
    attempt(() => fileOperations.closeSync(pipe));
  }
}

/** A terminal, or a device such as /dev/null, gives nothing; neither does an input that is closed. */
function kindOfInput(): "none" | "file" | "pipe" | "other" {
  try {
    const status = fileOperations.fstatSync(0);
    if (status.isFile()) return "file";
    if (status.isFIFO()) return "pipe";
    return status.isCharacterDevice() || status.isDirectory() || status.isBlockDevice() ? "none" : "other";
  } catch {
    return "none";
  }
}

const pieceSize = 65_536;

function readFile(take: Take): void {
  attempt(() => {
    const buffer = Buffer.allocUnsafe(pieceSize);
    for (;;) {
      const count = fileOperations.readSync(0, buffer, 0, buffer.length, null);
      if (count === 0 || take(buffer.subarray(0, count))) return;
    }
  });
}

function openPipe(): number | null {
  try {
    return fileOperations.openSync("/proc/self/fd/0", constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

function readPipe(pipe: number, wait: number, take: Take): void {
  const buffer = Buffer.allocUnsafe(pieceSize);
  const started = milliseconds();
  while (milliseconds() - started < wait) {
    try {
      const count = fileOperations.readSync(pipe, buffer, 0, buffer.length, null);
      if (count === 0 || take(buffer.subarray(0, count))) return;
    } catch (error) {
      if (errorCode(error) !== "EAGAIN") return;
      sleep(1);
    }
  }
}

function readStream(wait: number, take: Take): Promise<void> {
  return new Promise((resolve) => {
    try {
      const input = process.stdin;
      const end = () => {
        clearTimeout(timer);
        input.removeListener("data", onData);
        attempt(() => input.pause());
        attempt(() => input.destroy());
        // Deno goes on waiting for what a stream that was given up had asked for.
        attempt(() => input.unref());
        resolve();
      };
      const onData = (piece: Buffer) => {
        if (take(piece)) end();
      };
      const timer = setTimeout(end, wait);
      input.on("data", onData);
      input.on("end", end);
      // Stays: what a stream says after it was given up must not end the process.
      input.on("error", end);
    } catch {
      resolve();
    }
  });
}
