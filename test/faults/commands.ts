// Every command that writes, with a repository in which it has something to do.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "../support/repository.ts";
import { call, noFault, restore, treeOf } from "./machine.ts";
import type { Tree } from "./machine.ts";

export interface Writing {
  readonly title: string;
  readonly args: readonly string[];
  readonly input?: string;
  /** Makes what the command finds, in a repository with a layer or, with `bare`, without. */
  readonly prepare: (at: Preparing) => Promise<void>;
  readonly bare?: boolean;
  /** Exit statuses of a second call where the first was killed when it had done all but say so. */
  readonly doneAlready?: readonly number[];
  /** Events that a second call may add once more. */
  readonly again?: readonly string[];
  /** Whether a failure takes back everything, so that no file differs. */
  readonly takesBack: boolean;
}

export interface Preparing {
  readonly root: string;
  /** Runs majordomus, which must succeed. */
  mj(...args: readonly string[]): Promise<string>;
  write(path: string, text: string): void;
  remove(path: string): void;
}

const times = { value: 0 };

/** The time of the next call: each a second later, the same in every run. */
function nextTime(): void {
  times.value += 1;
  process.env["MAJORDOMUS_NOW"] = `2026-10-09T10:${String(Math.floor(times.value / 60)).padStart(2, "0")}:${String(times.value % 60).padStart(2, "0")}Z`;
}

/** Makes the repository of a command below a folder, and gives what it holds. */
export async function prepared(root: string, writing: Writing): Promise<Tree> {
  times.value = 0;
  mkdirSync(root, { recursive: true });
  run("git", ["init", "-q", "-b", "main"], { cwd: root });
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const mj = async (...args: readonly string[]) => {
    nextTime();
    const ended = await call({ root, args, seed: times.value }, noFault);
    if (ended.status !== 0) throw new Error(`majordomus ${args.join(" ")}: ${ended.complaints.join("; ")}`);
    return ended.output;
  };
  write("lib/a.sh", "echo a\n");
  if (writing.bare !== true) await mj("init");
  run("git", ["add", "-A"], { cwd: root });
  run("git", ["commit", "-q", "-m", "layer"], { cwd: root });
  await writing.prepare({ root, mj, write, remove: (path) => rmSync(join(root, path), { recursive: true }) });
  nextTime();
  const tree = treeOf(root);
  restore(root, tree);
  return tree;
}

const open = async ({ mj }: Preparing) => {
  await mj("session", "start", "--owner", "o");
};

const observed = async (at: Preparing) => {
  await open(at);
  await at.mj("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "--evidence", "file:lib/a.sh", "a.sh prints the wrong word");
  await at.mj("decision", "add", "Tests run in disposable repositories", "--why", "they write");
};

const busy = async (at: Preparing) => {
  await observed(at);
  await at.mj("start", "Mend a.sh", "--scope", "lib");
  await at.mj("question", "add", "Which port?");
  at.write("note.md", "# Reason\n\nNo such port.\n\n# Next Action\n\nAsk.\n");
};

const derived = async (at: Preparing) => {
  await observed(at);
  await at.mj("knowledge", "derive");
};

const candidate = "s-20261009100002-PLACE-7581bba9d5e8";

export const writings: readonly Writing[] = [
  { title: "init", args: ["init"], bare: true, prepare: async () => undefined, takesBack: false },
  { title: "session start", args: ["session", "start", "--owner", "o"], prepare: async () => undefined, doneAlready: [15], takesBack: true },
  { title: "session start, keep", args: ["session", "start", "--owner", "o", "--if-open", "keep"], prepare: async () => undefined, takesBack: true },
  {
    title: "knowledge observe",
    args: ["knowledge", "observe", "--kind", "drift", "--subject", "lib/b.sh", "b.sh is gone"],
    prepare: observed,
    again: ["observation.recorded"],
    takesBack: true,
  },
  {
    title: "knowledge observe, a torn ledger",
    args: ["knowledge", "observe", "--kind", "drift", "--subject", "lib/b.sh", "b.sh is gone"],
    prepare: async (at) => {
      await observed(at);
      const path = join(at.root, ".ai/local/state/ledger.jsonl");
      writeFileSync(path, '{"ts":"2026-10-09T10:00', { flag: "a" });
    },
    again: ["observation.recorded"],
    takesBack: true,
  },
  { title: "decision add", args: ["decision", "add", "Two", "--why", "three"], prepare: observed, again: ["decision.recorded"], takesBack: true },
  { title: "start", args: ["start", "Mend it", "--scope", "lib"], prepare: observed, doneAlready: [15], takesBack: true },
  { title: "question add", args: ["question", "add", "Which host?"], prepare: busy, again: ["question.opened"], takesBack: true },
  { title: "question resolve", args: ["question", "resolve", "Which port?", "--answer", "8080"], prepare: busy, doneAlready: [12], takesBack: true },
  { title: "finish", args: ["finish", "--outcome", "blocked", "--note", "note.md"], prepare: busy, doneAlready: [12], takesBack: true },
  { title: "knowledge derive, the first", args: ["knowledge", "derive"], prepare: busy, again: ["knowledge.derived"], takesBack: false },
  {
    title: "knowledge derive, more",
    args: ["knowledge", "derive"],
    prepare: async (at) => {
      await derived(at);
      await at.mj("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "--evidence", "issue:I1", "a.sh prints the wrong word");
      await at.mj("knowledge", "observe", "--kind", "friction", "--subject", "gate:fast", "the gate is slow");
    },
    again: ["knowledge.derived"],
    takesBack: false,
  },
  { title: "session end", args: ["session", "end"], prepare: busy, doneAlready: [12], again: ["knowledge.derived"], takesBack: false },
  {
    title: "session recover",
    args: ["session", "recover", "--all"],
    prepare: async (at) => {
      await busy(at);
      process.env["CLAUDE_CODE_SESSION_ID"] = "c1";
      await at.mj("session", "start", "--provider", "claude-code");
      delete process.env["CLAUDE_CODE_SESSION_ID"];
    },
    again: ["knowledge.derived"],
    takesBack: false,
  },
  {
    title: "knowledge promote",
    args: ["knowledge", "promote", candidate, "--class", "fact"],
    input: "Seen again on main.\n",
    prepare: derived,
    doneAlready: [12],
    takesBack: false,
  },
  { title: "knowledge reject", args: ["knowledge", "reject", candidate, "--reason", "as designed"], prepare: derived, doneAlready: [10], takesBack: true },
  {
    title: "history --rotate",
    args: ["history", "--rotate"],
    prepare: async (at) => {
      await derived(at);
      await at.mj("session", "end");
      await at.mj("session", "start", "--owner", "o");
      at.write(".ai/repo/policy.yaml", "ledger:\n  retention_max_lines: 2\n");
    },
    again: ["ledger.rotated"],
    takesBack: false,
  },
  { title: "capture install", args: ["capture", "install", "--provider", "claude-code"], prepare: async () => undefined, takesBack: false },
  {
    title: "capture install --remove",
    args: ["capture", "install", "--provider", "claude-code", "--remove"],
    prepare: async (at) => {
      at.write(".claude/settings.json", '{\n  "model": "m"\n}\n');
      await at.mj("capture", "install", "--provider", "claude-code");
    },
    takesBack: false,
  },
];

/** The arguments of a call, with the id that its repository gave the episode. */
export function argumentsIn(tree: Tree, writing: Writing): readonly string[] {
  const episode = /"event":"session.started".*?"session":"(s-[0-9]{14}-[0-9a-f]{4})"/.exec(tree.get(".ai/local/state/ledger.jsonl") ?? "")?.[1] ?? "";
  return writing.args.map((word) => (word === candidate ? `${episode}-7581bba9d5e8` : word));
}
