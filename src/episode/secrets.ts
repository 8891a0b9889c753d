/** Refusing texts that carry a credential before they are recorded (contract, section 6). */
import { refuse } from "../ground/errors.ts";
import { secretShape } from "../ground/secrets.ts";

/** Texts by what the refusal calls them; `undefined` for one that was not given. */
export type NamedTexts = Readonly<Record<string, string | undefined>>;

/** Refuses (10) the first text that carries a credential's shape: names the shape, never the value. */
export function insistNoSecret(texts: NamedTexts, allowed: boolean): void {
  if (allowed) return;
  for (const [name, text] of Object.entries(texts)) {
    const shape = text === undefined ? null : secretShape(text);
    if (shape !== null) {
      throw refuse("refused", `cannot record ${name}`, `it carries the shape of ${shape}; --allow-secret if that is a false alarm`);
    }
  }
}
