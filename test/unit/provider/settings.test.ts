import { describe, expect, test } from "vitest";
import { stateOf, withEntries, withoutEntries } from "../../../src/provider/settings.ts";
import type { Plan } from "../../../src/provider/settings.ts";
import { randomFrom, seed } from "../../support/random.ts";
import type { Random } from "../../support/random.ts";

const command = (event: string) => `sh -c 'm=tools/majordomus/bin/majordomus; exec "$m" capture session --provider p --event ${event}'`;
const group = (event: string, timeout = 10) => ({ hooks: [{ type: "command", command: command(event), timeout }] });

const grouped: Plan = {
  entries: [
    { name: "SessionStart", value: group("start") },
    { name: "PreCompact", value: group("compact") },
    { name: "SessionEnd", value: group("end") },
  ],
  others: {},
  isOurs: (text) => text.includes("majordomus") && text.includes("capture session --provider p --event "),
};

const flat: Plan = {
  ...grouped,
  entries: [
    { name: "sessionStart", value: { command: command("start") } },
    { name: "sessionEnd", value: { command: command("end") } },
  ],
  others: { version: 1 },
};

const put = (text: string | null, plan = grouped) => withEntries(text, plan, "s.json");
const taken = (text: string, plan = grouped) => withoutEntries(text, plan, "s.json");
const state = (text: string | null, plan = grouped) => stateOf(text, plan, "s.json");

/** Other people's files, in styles that are met. */
const foreign: Readonly<Record<string, string>> = {
  "tabs, a schema, foreign hooks, no final line end":
    '{\n\t"$schema": "https://example.org/s.json",\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{ "matcher": "compact", "hooks": [ { "type": "command", "command": "theirs" } ] }\n\t\t],\n\t\t"PreCompact": [{"hooks":[]}],\n\t\t"Stop": [ ]\n\t},\n\t"z": 1, "a": [1,2 , 3]\n}',
  "CRLF": '{\r\n    "model": "x",\r\n    "hooks": {\r\n        "SessionEnd": [\r\n            {"hooks": []}\r\n        ]\r\n    }\r\n}\r\n',
  "empty object": "{}",
  "empty object with blanks": " { \n\n } \n",
  "empty hooks": '{\n  "hooks": {}\n}\n',
  "empty hooks on lines": '{\n  "hooks": {\n  }\n}\n',
  "empty lists": '{ "hooks": { "SessionStart": [], "PreCompact": [ ], "SessionEnd": [\n] } }',
  "one line": '{"a":1,"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
  "one line with gaps": '{ "a": 1, "hooks": { "SessionStart": [ { "hooks": [] } ] } }\n',
  "one line without hooks": '{"a":[],"b":{}}',
  "byte order mark": '\ufeff{\n  "a": 1\n}\n',
  "keys that need escapes": '{\n  "a\\"b": "\\u00e9 \\\\ }{][,",\n  "é": "\u2028",\n  "": -1.5e+3\n}\n',
  "no indentation": '{\n"a": 1,\n"b": {\n"c": null\n}\n}\n',
  "a marker-like blank": '{ \n  "a": 1 \n }\n',
};

describe("settings: entries among other people's", () => {
  for (const [name, text] of Object.entries(foreign)) {
    for (const [style, plan] of [["groups", grouped], ["flat", flat]] as const) {
      test(`withEntries, withoutEntries: ${name}, ${style}: put in once, read back, taken out to the same bytes`, () => {
        const with_ = put(text, plan);
        expect(state(text, plan)).toBe("missing");
        expect(state(with_, plan)).toBe("installed");
        expect(put(with_, plan)).toBe(with_);
        expect(taken(with_, plan)).toBe(text);
        const before = JSON.parse(text.replace(/^\ufeff/, "")) as Record<string, Record<string, unknown[]>>;
        const after = JSON.parse(with_.replace(/^\ufeff/, "")) as Record<string, Record<string, unknown[]>>;
        for (const key of Object.keys(before)) if (key !== "hooks") expect(after[key]).toEqual(before[key]);
        for (const { name: event, value } of plan.entries) {
          expect(after["hooks"]?.[event]).toEqual([...(before["hooks"]?.[event] ?? []), value]);
        }
      });
    }
  }

  test("withEntries: what stood there stands there still, in order and byte for byte", () => {
    for (const text of Object.values(foreign)) {
      // Taking away what was added, piece by piece, must be possible from left to right.
      let at = 0;
      for (const character of put(text)) if (at < text.length && character === text[at]) at += 1;
      expect(at).toBe(text.length);
    }
  });

  test("withEntries: a new file is strict JSON, ends in one line end, and is ours to remove", () => {
    for (const plan of [grouped, flat]) {
      const text = put(null, plan);
      expect(text.endsWith("}\n")).toBe(true);
      expect(state(text, plan)).toBe("installed");
      expect(taken(text, plan)).toBeNull();
    }
    expect(JSON.parse(put(null, flat))).toHaveProperty("version", 1);
  });

  test("withoutEntries: a file of ours that somebody added to stays", () => {
    const text = put(null, flat).replace(/\n\}\n$/, ',\n  "mine": true\n}\n');
    expect(JSON.parse(taken(text, flat) ?? "")).toEqual({ version: 1, mine: true });
  });

  test("withoutEntries: hooks that others added behind ours stay", () => {
    const text = put('{\n  "a": 1\n}\n').replace('"SessionEnd": [', '"SessionEnd": [\n      { "hooks": [{ "type": "command", "command": "theirs" }] },');
    expect(JSON.parse(taken(text) ?? "")).toEqual({ a: 1, hooks: { SessionEnd: [{ hooks: [{ type: "command", command: "theirs" }] }] } });
  });

  test("withoutEntries: a command of ours among others' in one group goes alone", () => {
    const theirs = { type: "command", command: "theirs" };
    const text = JSON.stringify({ hooks: { SessionEnd: [{ hooks: [theirs, group("end").hooks[0]] }] } }, null, 2);
    expect(state(text)).toBe("different");
    expect(JSON.parse(taken(text) ?? "")).toEqual({ hooks: { SessionEnd: [{ hooks: [theirs] }] } });
  });

  test("stateOf, withEntries: an entry of another version, one that stands twice, one under another event are put right", () => {
    const expected = JSON.parse(put(null)) as unknown;
    const old = put(null).replaceAll("tools/majordomus", "vendor/majordomus");
    const twice = put(null).replace('"SessionEnd": [', `"SessionEnd": [\n      ${JSON.stringify(group("end"))},`);
    const elsewhere = put(null).replace('"SessionEnd"', '"Stop"');
    const other = put(null).replace('"timeout": 10', '"timeout": 11');
    for (const text of [old, twice, elsewhere, other]) {
      expect(text).not.toBe(put(null));
      expect(state(text)).toBe("different");
      expect(JSON.parse(put(text))).toEqual(expected);
    }
    // In place, so that a file under review shows one change.
    expect(put(old)).toBe(put(null));
  });

  test("stateOf: the order of members does not matter, other providers' entries do not count", () => {
    const turned = JSON.stringify({
      hooks: { SessionEnd: [turn(group("end"))], PreCompact: [group("compact")], SessionStart: [group("start")] },
    });
    expect(state(turned)).toBe("installed");
    expect(state(put(null).replaceAll("--provider p ", "--provider q "))).toBe("missing");
  });

  for (const [name, text] of Object.entries({
    "a comment": '{\n  // mine\n  "a": 1\n}',
    "a trailing comma": '{"a": 1,}',
    "a key twice": '{"hooks": {"PreCompact": [], "PreCompact": []}}',
    "the same key, escaped": '{"a": 1, "\\u0061": 2}',
    "a list": "[]",
    "nothing": "",
    "blanks": "  \n",
    "text behind": "{} {}",
    "single quotes": "{'a': 1}",
    "hooks that are a list": '{"hooks": []}',
    "an event that is an object": '{"hooks": {"SessionStart": {}}}',
    "deep nesting": `{"a": ${"[".repeat(5000)}${"]".repeat(5000)}}`,
  })) {
    test(`withEntries: refuses (10) ${name}`, () => {
      expect(() => put(text)).toThrow(expect.objectContaining({ status: 10 }));
    });
  }

  test(`withEntries, withoutEntries: 150 random files give their bytes back (seed ${seed})`, () => {
    const random = randomFrom(seed);
    for (let round = 0; round < 150; round += 1) {
      const text = randomSettings(random);
      const plan = random.pick([grouped, flat]);
      const with_ = put(text, plan);
      expect({ text, state: state(with_, plan) }).toEqual({ text, state: "installed" });
      expect(put(with_, plan)).toBe(with_);
      expect(taken(with_, plan)).toBe(text);
    }
  });
});

function turn(value: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member) ? Object.fromEntries(Object.entries(member).reverse()) : member,
  );
}

/** A settings object as text, with white space of any kind anywhere it may stand. */
function randomSettings(random: Random): string {
  const line = random.pick(["\n", "\r\n"]);
  const blanks = random.pick([["", " "], [line, `${line}  `, `${line}\t`], ["", " ", line, `${line}  `, "  "]]);
  const blank = () => random.pick(blanks);
  const list = (items: string[]) => `[${blank()}${items.join(`${blank()},${blank()}`)}${items.length === 0 ? "" : blank()}]`;
  const object = (members: [string, string][]) =>
    `{${blank()}${members.map(([key, value]) => `${JSON.stringify(key)}${blank()}:${blank()}${value}`).join(`${blank()},${blank()}`)}${members.length === 0 ? "" : blank()}}`;
  const handler = () => object([["type", '"command"'], ["command", '"theirs, {\\"x\\"} ]"']]);
  const entry = () => object([["matcher", '"a|b"'], ["hooks", list(random.pick([[], [handler()], [handler(), handler()]]))]]);
  const events = ["SessionStart", "PreCompact", "SessionEnd", "Stop", "sessionStart", "sessionEnd"].filter(() => random.below(2) === 0);
  const hooks = object(events.map((name) => [name, list(random.pick([[], [entry()], [entry(), entry()]]))]));
  const members: [string, string][] = [["a", "1"], ["b", list(["true", "null"])]];
  if (random.below(3) > 0) members.splice(random.below(3), 0, ["hooks", hooks]);
  if (random.below(2) === 0) members.splice(random.below(members.length + 1), 0, ["version", "1"]);
  return `${blank()}${object(random.below(6) === 0 ? [] : members)}${blank()}`;
}
