/** Seeded chance for tests: the seed is printed by the test that fails, and MAJORDOMUS_TEST_SEED gives another. */

export const seed = Number(process.env["MAJORDOMUS_TEST_SEED"] ?? 20_261_009);

export interface Random {
  /** A whole number from 0 up to and without `limit`. */
  below(limit: number): number;
  pick<Item>(items: readonly Item[]): Item;
  /** `length` items of `items`, joined. */
  text(items: readonly string[], length: number): string;
}

/** A generator of its own (mulberry32): the same seed gives the same numbers on every machine. */
export function randomFrom(start: number): Random {
  let state = start >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const pick = <Item>(items: readonly Item[]) => items[below(items.length)] as Item;
  return {
    below,
    pick,
    text: (items, length) => {
      let text = "";
      for (let count = 0; count < length; count += 1) text += pick(items);
      return text;
    },
  };
}
