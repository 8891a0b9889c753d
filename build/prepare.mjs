// The "prepare" script, which `npm ci` runs in a checkout.
import { build } from "./bundle.mjs";

await build().catch((error) => {
  process.stderr.write(`build: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
