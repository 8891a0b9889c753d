import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { knownAwks, knownShells } from "../../src/host/readers.ts";
import { needing, program } from "../needs.ts";
import { candidatesPath, freshFolder, run } from "../support/repository.ts";
import { writeTree } from "../parity/tree.ts";
import { layer, recordOf } from "../parity/cases.ts";

const launcher = join(home, "bin/majordomus");

function repository(files: Readonly<Record<string, string>>): string {
  const root = freshFolder();
  writeTree(root, new Map(Object.entries(layer(files))));
  return root;
}

const records = {
  [`${candidatesPath}/a.md`]: recordOf({ id: "a", about: "lib/a.sh", title: '"say \\"x\\""' }),
  [`${candidatesPath}/b.md`]: recordOf({ id: "b", about: "lib/a.sh", status: "superseded" }),
  [`${candidatesPath}/x.md`]: "no front matter",
};

/** A copy of the toolkit whose shell reader is changed. */
function toolkitWith(file: string, from: string, to: string): string {
  const copy = freshFolder("toolkit-");
  for (const part of ["bin", "dist", "shell", "share", "package.json"]) cpSync(join(home, part), join(copy, part), { recursive: true });
  const path = join(copy, "shell", file);
  const text = readFileSync(path, "utf8");
  if (!text.includes(from)) throw new Error(`'${from}' is not in ${file}`);
  writeFileSync(path, text.replace(from, to));
  return join(copy, "bin/majordomus");
}

const parity = (cwd: string, args: readonly string[] = [], reader = launcher) => run(reader, ["parity", ...args], { cwd });

describe("majordomus parity", () => {
  test("the machine's sh and awk agree on a repository, unreadable files and all: 0, one line", () => {
    const ended = parity(repository(records));
    expect(ended).toMatchObject({ status: 0, stderr: "", stdout: "same       sh with awk\nparity: 1 pair(s), 0 different\n" });
  });

  needing("dash", "bash", "mawk", "busybox")("--sh and --awk name others, each with each; words are split at spaces", () => {
    const ended = parity(repository(records), ["--sh", "dash", "--sh", "bash --posix", "--awk", "mawk", "--awk=busybox awk"]);
    expect(ended.stdout).toBe(
      "same       dash with mawk\nsame       dash with busybox awk\nsame       bash --posix with mawk\nsame       bash --posix with busybox awk\nparity: 4 pair(s), 0 different\n",
    );
    expect(ended.status).toBe(0);
  });

  test("--all runs every known shell with every known awk that is here", () => {
    const here = (list: readonly string[]) => list.filter((words) => program(words.split(" ")[0] ?? "") !== null);
    const pairs = here(knownShells).flatMap((shell) => here(knownAwks).map((awk) => `same       ${shell} with ${awk}\n`));
    const ended = parity(repository({}), ["--all"]);
    expect(ended.stdout).toBe(`${pairs.join("")}parity: ${pairs.length} pair(s), 0 different\n`);
    expect(ended.status).toBe(0);
  }, 60_000);

  test("MAJORDOMUS_AWK is the machine's awk", () => {
    const ended = run(launcher, ["parity"], { cwd: repository({}), env: { MAJORDOMUS_AWK: "awk" } });
    expect(ended.stdout).toBe("same       sh with awk\nparity: 1 pair(s), 0 different\n");
  });

  test("a difference: 11, the first differing line and byte, and that line of each side", () => {
    const reader = toolkitWith("awk/queue.awk", "  route ", "  rout\u0001 ");
    const ended = parity(repository(records), [], reader);
    expect(ended.status).toBe(11);
    expect(ended.stdout).toBe(
      "different  sh with awk: knowledge candidates: standard output, line 3, byte 21\n" +
        "  toolkit  about lib/a.sh  route -  awaiting 1  rejected 1  episodes 0\n" +
        "  shell    about lib/a.sh  rout\\x01 -  awaiting 1  rejected 1  episodes 0\n" +
        "parity: 1 pair(s), 1 different\n",
    );
  });

  test("a difference in JSON alone is named so; a long line is cut around the byte", () => {
    const reader = toolkitWith("awk/queue.awk", '\\"groups\\":', '\\"group\\":');
    const ended = parity(repository(records), [], reader);
    expect(ended.status).toBe(11);
    expect(ended.stdout).toMatch(/^different {2}sh with awk: knowledge candidates --json: standard output, line 1, byte \d+\n {2}toolkit {2}\.\.\..*"groups":.*\n {2}shell {4}\.\.\..*"group":/);
  });

  test("a difference in standard error or the exit status is one as well", () => {
    const words = toolkitWith("awk/candidates.awk", "cannot read every candidate", "can not read every candidate");
    expect(parity(repository(records), [], words)).toMatchObject({ status: 11, stdout: expect.stringContaining("standard error, line 1, byte 16") as string });
    const status = toolkitWith("lib/majordomus.sh", "  0 | 10 | 12 | 13) exit", "  10) exit 12 ;;\n  0 | 10 | 12 | 13) exit");
    expect(parity(repository(records), [], status)).toMatchObject({ status: 11, stdout: expect.stringContaining("exit status\n  toolkit  10\n  shell    12\n") as string });
  });

  test("--json is one object on one line", () => {
    const reader = toolkitWith("awk/queue.awk", "  route ", "  rout ");
    const ended = parity(repository(records), ["--json"], reader);
    expect(JSON.parse(ended.stdout)).toEqual({
      schema: 1,
      pairs: [
        {
          sh: "sh",
          awk: "awk",
          same: false,
          difference: {
            call: "knowledge candidates",
            where: "standard output",
            line: 3,
            byte: 21,
            toolkit: "about lib/a.sh  route -  awaiting 1  rejected 1  episodes 0",
            shell: "about lib/a.sh  rout -  awaiting 1  rejected 1  episodes 0",
          },
        },
      ],
    });
    expect(ended.status).toBe(11);
  });

  test("both readers refuse a manifest that cannot be read: that is the same", () => {
    const root = repository({});
    writeFileSync(join(root, ".ai/manifest.yaml"), "sections:\n  knowledge: /x\u00e9\n");
    expect(parity(root)).toMatchObject({ status: 0, stdout: "same       sh with awk\nparity: 1 pair(s), 0 different\n" });
  });

  test("refusals: no layer 12, no such program 12, an operand 2, a toolkit without its shell reader 12; one line, no result", () => {
    const bare = freshFolder();
    const root = repository({});
    const whole = toolkitWith("majordomus", "#!/bin/sh", "#!/bin/sh");
    run("rm", ["-r", join(whole, "../../shell")]);
    const ends = [
      [parity(bare), 12, `no layer in '${bare}': run 'majordomus init'`],
      [parity(root, ["--sh", "no-such-shell"]), 12, "cannot run 'no-such-shell': no such program"],
      [parity(root, ["--awk", "no-such-awk -x"]), 12, "cannot run 'no-such-awk -x': no such program"],
      [parity(root, ["--awk", ""]), 12, "cannot run '': no such program"],
      [parity(root, ["x"]), 2, "unexpected argument 'x': see 'majordomus parity --help'"],
      [parity(root, [], whole), 12, "cannot find the shell reader at 'shell/majordomus': the toolkit's folder is not whole"],
    ] as const;
    for (const [ended, status, said] of ends) expect(ended).toMatchObject({ status, stdout: "", stderr: `majordomus: ${said}\n` });
  });

  test("share/ci/parity.yml installs every shell and awk that --all knows", () => {
    const job = readFileSync(join(home, "share/ci/parity.yml"), "utf8");
    const packages: Readonly<Record<string, string>> = { ksh93: "ksh93u+m" };
    for (const words of [...knownShells, ...knownAwks]) {
      const [name = ""] = words.split(" ");
      if (name !== "dash" && name !== "bash") expect(job.split(/\s+/)).toContain(packages[name] ?? name);
    }
    expect(job).toContain("parity --all");
  });
});
