import { expect, test } from "vitest";
import { withOnly } from "../../../src/host/environment.ts";

test("withOnly: a program sees the names given and no other; afterwards ours are as they were, also when it throws", () => {
  process.env["MAJORDOMUS_TEST_OTHER"] = "x";
  process.env["MAJORDOMUS_TEST_KEPT"] = "y";
  const before = { ...process.env };
  try {
    const kept = { MAJORDOMUS_TEST_KEPT: "z" };
    expect(withOnly(kept, () => Object.entries(process.env).filter(([name]) => name !== "__CF_USER_TEXT_ENCODING"))).toEqual([["MAJORDOMUS_TEST_KEPT", "y"]]);
    expect({ ...process.env }).toEqual(before);
    expect(() => withOnly(kept, () => { throw new Error("it did not start"); })).toThrow("it did not start");
    expect({ ...process.env }).toEqual(before);
  } finally {
    delete process.env["MAJORDOMUS_TEST_OTHER"];
    delete process.env["MAJORDOMUS_TEST_KEPT"];
  }
});
