/** The only user of a hash. Apart from the rest, because loading it costs a start 3 ms. */
import { createHash } from "node:crypto";

/** The SHA-256 of bytes, or of a text in UTF-8, in lower hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}
