// Completion of each shell and the manual page, made from the command table.
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { commands } from "../../src/cli/commands.ts";
import { needing, program } from "../needs.ts";
import { freshFolder, launcher, run } from "../support/repository.ts";

/** What a command line is, to its cursor, and words that are offered there, or are not. */
const cases: readonly { readonly line: readonly string[]; readonly offered: readonly string[]; readonly not: readonly string[] }[] = [
  { line: [""], offered: ["init", "session", "knowledge", "vendor"], not: ["observe", "--json"] },
  { line: ["know"], offered: ["knowledge"], not: ["init"] },
  { line: ["session", ""], offered: ["start", "recover"], not: ["session", "init"] },
  { line: ["session", "start", "--"], offered: ["--if-open", "--repo", "--json"], not: ["--outcome"] },
  { line: ["session", "start", "--if-open", ""], offered: ["refuse", "keep"], not: ["--json"] },
  { line: ["--repo", "session", "knowledge", "c"], offered: ["candidates", "check"], not: ["close"] },
  { line: ["vendor", "--ch"], offered: ["--check"], not: ["--diff"] },
];

function script(shell: string): string {
  const path = join(freshFolder(), `_${shell}`);
  const ended = run(launcher, ["completion", shell]);
  expect(ended).toMatchObject({ status: 0, stderr: "" });
  fs.writeFileSync(path, ended.stdout, "latin1");
  return path;
}

const askBash = `. "$0"; COMP_WORDS=(majordomus "$@"); COMP_CWORD=$#; _majordomus; printf '%s\\n' "\${COMPREPLY[@]}"`;

// Its own parts of the completion system are stood in for: what it is given is what a person is offered.
const askZsh = `compdef() { : }; _describe() { print -rl -- "\${(@)\${(@P)3}%%:*}" }; _files() { print files }
. "$0"; words=(majordomus "$@"); CURRENT=\${#words}; typeset -A w; _majordomus | while IFS= read -r line; do case $line in "\${words[CURRENT]}"*) print -r -- "$line";; esac; done`;

const askFish = `source $argv[1]; complete -C (string join ' ' -- majordomus $argv[2..-1]) | string replace -r '\\t.*' ''`;

const shells: Readonly<Record<string, (path: string, line: readonly string[]) => string>> = {
  bash: (path, line) => run(program("bash") ?? "", ["--norc", "-c", askBash, path, ...line]).stdout,
  zsh: (path, line) => run(program("zsh") ?? "", ["-f", "-c", askZsh, path, ...line]).stdout,
  fish: (path, line) => run(program("fish") ?? "", ["--no-config", "-c", askFish, path, ...line]).stdout,
};

describe("completion", () => {
  for (const [shell, ask] of Object.entries(shells)) {
    needing(shell)(`${shell}: offers words of commands, options and their values`, () => {
      const path = script(shell);
      for (const { line, offered, not } of cases) {
        const words = ask(path, line).split("\n").filter((word) => word !== "");
        for (const word of offered) expect({ line, words }).toEqual({ line, words: expect.arrayContaining([word]) as string[] });
        for (const word of not) expect({ line, words }).not.toEqual({ line, words: expect.arrayContaining([word]) as string[] });
      }
    });

    needing(shell)(`${shell}: offers every command`, () => {
      const path = script(shell);
      const firsts = ask(path, [""]).split("\n");
      for (const { words } of commands) {
        const [first = "", second] = words.split(" ");
        expect(firsts).toContain(first);
        if (second !== undefined && shell === "bash") expect(ask(path, [first, second]).split("\n")).toContain(second);
      }
    });
  }

  test("another shell is a wrong call (2)", () => {
    expect(run(launcher, ["completion", "csh"])).toEqual({
      status: 2,
      signal: null,
      stdout: "",
      stderr: "majordomus: cannot complete in 'csh': one of bash, zsh, fish\n",
    });
  });
});

describe("manual page", () => {
  const page = fs.readFileSync(join(home, "share/man/majordomus.1"), "utf8");

  test("has every command and every option, and no line that roff takes for a request of its own", () => {
    for (const { words, options } of commands) {
      expect(page).toContain(`.SS ${words.replaceAll("-", "\\-")}\n`);
      for (const { name } of options ?? []) expect(page).toContain(`\\fB\\-\\-${name.replaceAll("-", "\\-")}\\fR`);
    }
    const requests = new Set(page.split("\n").filter((line) => /^[.']/.test(line)).map((line) => line.replace(/ .*/, "")));
    expect([...requests].sort()).toEqual(['.PP', '.SH', '.SS', '.TH', '.TP', '.\\"', '.hy', '.nh']);
  });
});
