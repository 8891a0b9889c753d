// The program as it is, but that it kills itself before the file operation whose number MAJORDOMUS_TEST_KILL_AT says.
import { fileOperations } from "../../src/host/files.ts";
import { main } from "../../src/cli/main.ts";

const at = Number(process.env["MAJORDOMUS_TEST_KILL_AT"]);
const table = fileOperations as unknown as Record<string, (...values: unknown[]) => unknown>;
let count = 0;
for (const [name, real] of Object.entries({ ...table })) {
  table[name] = (...values) => {
    count += 1;
    if (count === at) {
      process.kill(process.pid, "SIGKILL");
      // The signal may come a moment later: nothing is done until then.
      for (;;);
    }
    return real(...values);
  };
}

void main(process.env["MAJORDOMUS_TEST_HOME"] ?? "", process.argv.slice(2));
