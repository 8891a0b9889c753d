import { expect, test } from "vitest";
import { answer } from "../../../src/cli/answer.ts";
import { parseArguments } from "../../../src/cli/args.ts";
import { commands, commonOptions } from "../../../src/cli/commands.ts";
import { helpText, usageOf } from "../../../src/cli/help.ts";
import { version } from "../../../src/ground/version.ts";

function parsed(...args: readonly string[]): { readonly words: string; readonly operands: readonly string[]; readonly values: Readonly<Record<string, readonly string[]>> } {
  const call = parseArguments(args);
  if ("request" in call) throw new Error(`a request for ${call.request}`);
  return { words: call.command.words, operands: call.operands, values: Object.fromEntries(call.values) };
}

test.each([
  [["session", "start"], "session start", [], {}],
  [["--repo", "x", "session", "start"], "session start", [], { repo: ["x"] }],
  [["session", "--repo", "x", "start"], "session start", [], { repo: ["x"] }],
  [["--json", "session", "--repo=x", "start", "--owner", "o"], "session start", [], { repo: ["x"], json: [""], owner: ["o"] }],
  [["session", "start", "--owner=a=b", "--worker", "--json"], "session start", [], { owner: ["a=b"], worker: ["--json"] }],
  [["session", "start", "--owner="], "session start", [], { owner: [""] }],
  [["start", "--scope", "a", "task", "--scope=b"], "start", ["task"], { scope: ["a", "b"] }],
  [["start", "--scope", "a", "--", "--task"], "start", ["--task"], { scope: ["a"] }],
  [["yaml", "flatten", "--", "-x.yaml"], "yaml flatten", ["-x.yaml"], {}],
  [["yaml", "flatten", "-"], "yaml flatten", ["-"], {}],
  [["decision", "add", "--why", "w", "--", "--"], "decision add", ["--"], { why: ["w"] }],
  [["knowledge", "candidates", "--json", "--json"], "knowledge candidates", [], { json: ["", ""] }],
  [["knowledge", "observe", "--kind", "a\n=b", "--subject=\n", "s"], "knowledge observe", ["s"], { kind: ["a\n=b"], subject: ["\n"] }],
  [["--repo", "knowledge", "knowledge", "candidates"], "knowledge candidates", [], { repo: ["knowledge"] }],
] as const)("parseArguments: %j", (args, words, operands, values) => {
  expect(parsed(...args)).toEqual({ words, operands, values });
});

test.each([
  [[], "no command"],
  [["--"], "no command"],
  [["--", "session", "start"], "no command"],
  [["--repo"], "no command"],
  [["--repo", "x"], "no command"],
  [[""], "no command"],
  [["sessions"], "unknown command 'sessions'"],
  [["session"], "unknown command 'session'"],
  [["session", "begin"], "unknown command 'session begin'"],
  [["session", "--owner", "start"], "unknown command 'session'"],
  [["session", "start", "--"], null],
  [["session", "start", "--", "x"], "unexpected argument 'x'"],
  [["session", "start", "--Owner", "o"], "unknown option '--Owner'"],
  [["session", "start", "--=x"], "unknown option '--'"],
  [["session", "start", "-owner", "o"], "unknown option '-owner'"],
  [["session", "start", "--__proto__", "o"], "unknown option '--__proto__'"],
  [["session", "start", "--json=1"], "option '--json' takes no value"],
  [["session", "start", "--owner", "a", "--owner=b"], "option '--owner' is given twice"],
  [["--repo", "a", "session", "start", "--repo", "b"], "option '--repo' is given twice"],
  [["session", "start", "--owner"], "missing value of '--owner'"],
  [["finish"], "missing option '--outcome'"],
  [["start", "--scope", "x"], "missing <task>"],
  [["start", "a", "b", "--scope", "x"], "unexpected argument 'b'"],
] as const)("parseArguments: %j is a wrong call: %s", (args, message) => {
  if (message === null) expect(parsed(...args).operands).toEqual([]);
  else expect(() => parseArguments(args)).toThrowError(expect.objectContaining({ status: 2, what: message }) as Error);
});

test("parseArguments: help and version where they stand before --", () => {
  expect(parseArguments(["--help"])).toEqual({ request: "help", words: "" });
  expect(parseArguments(["-h"])).toEqual({ request: "help", words: "" });
  expect(parseArguments(["session", "start", "--owner", "--help"])).toEqual({ request: "help", words: "session start" });
  expect(parseArguments(["--version"])).toEqual({ request: "version", words: "" });
  expect(parsed("decision", "add", "--why", "w", "--", "--help").operands).toEqual(["--help"]);
});

const nowhere = () => undefined;
const call = (...args: readonly string[]) => answer({ home: ".", workingDirectory: () => "/", terminal: { print: nowhere, tell: nowhere, progress: nowhere } }, args);

test.each(commands.map((command) => command.words))("%s --help: its usage, every option of its own and of every command", async (words) => {
  const { status, output, complaints } = await call(...words.split(" "), "--help");
  expect([status, complaints]).toEqual([0, []]);
  const text = output.toString("utf8");
  const command = commands.find((one) => one.words === words);
  if (command === undefined) throw new Error("no such command");
  expect(text.startsWith(`usage: ${usageOf(command)}\n\n`)).toBe(true);
  for (const { name, help } of [...(command.options ?? []), ...commonOptions]) expect(text).toMatch(new RegExp(`--${name}\\b[^\\n]*  ${help.slice(0, 20).replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`));
  expect(text.endsWith("\n") && !text.includes("undefined")).toBe(true);
});

test("help on all, on a group, on what does not exist", async () => {
  const all = helpText("");
  for (const command of commands) expect(all).toContain(`  ${command.words}`);
  expect(helpText("session")).not.toContain("knowledge observe");
  expect((await call("frobnicate", "--help")).status).toBe(2);
  expect((await call("--version")).output.toString()).toBe(`majordomus ${version}\n`);
});

test("commands: words, options and arity are such that a call can be told apart", () => {
  expect(new Set(commands.map((command) => command.words)).size).toBe(commands.length);
  for (const command of commands) {
    const names = [...(command.options ?? []), ...commonOptions].map((option) => option.name);
    expect(new Set(names).size, command.words).toBe(names.length);
    expect(command.operands === undefined, command.words).toBe((command.arity?.[1] ?? 0) === 0);
    expect(command.words.split(" ").length).toBeLessThanOrEqual(2);
    expect(command.summary).toMatch(/^[a-z]/);
  }
});
