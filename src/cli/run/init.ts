import { textOfLines } from "../../ground/bytes.ts";
import { initLayer } from "../../episode/init.ts";
import { absolute } from "../../host/layout.ts";
import type { Call, Outcome } from "../call.ts";

export function init(call: Call): Outcome {
  const start = call.repository === undefined ? call.workingDirectory : absolute(call.workingDirectory, call.repository);
  const { made, root } = initLayer(start, call.home, call.repository !== undefined);
  const lines = made.map((path) => `created ${path}`);
  return {
    text: textOfLines([...lines, `init: ${made.length === 0 ? "the layer is there already" : `${made.length} created`}`]),
    json: { schema: 1, root, created: made },
  };
}
