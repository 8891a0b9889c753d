/** Running a user's own command. */
import { spawn } from "node:child_process";
import { milliseconds } from "../ground/clock.ts";
import { refuse } from "../ground/errors.ts";

export interface CommandEnd {
  /** The exit status; 128 and the signal's number for one that a signal ended, as a shell says it. */
  readonly status: number;
  /** How long it ran, in whole seconds. */
  readonly seconds: number;
}

const signals = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Runs a command with `sh -c` in a directory: empty standard input, what it prints on our standard error, a process group of its
 * own that ends with us.
 */
export function runCommand(directory: string, command: string): Promise<CommandEnd> {
  const started = milliseconds();
  return new Promise((resolve, reject) => {
    const child = spawn("sh", ["-c", command], { cwd: directory, detached: true, stdio: ["ignore", 2, 2] });
    const endGroup = (signal: NodeJS.Signals) => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, signal);
      } catch {
        // It has ended already.
      }
    };
    const names = Object.keys(signals) as (keyof typeof signals)[];
    const handlers = names.map((name) => {
      const handler = () => {
        endGroup("SIGKILL");
        process.exit(128 + signals[name]);
      };
      process.on(name, handler);
      return () => process.off(name, handler);
    });
    const end = () => {
      for (const off of handlers) off();
    };
    child.on("error", (error) => {
      end();
      reject(refuse("could-not-write", `cannot run '${command}'`, error.message));
    });
    child.on("exit", (code, signal) => {
      end();
      // What it left running in the background ends with it.
      endGroup("SIGKILL");
      const status = code ?? 128 + (signal === null ? 0 : (signals[signal as keyof typeof signals] ?? 9));
      resolve({ status, seconds: Math.round((milliseconds() - started) / 1000) });
    });
  });
}
