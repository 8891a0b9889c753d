/**
 * `npm start`: the main job as a tour. Four working sessions in a temporary repository, each command with its real
 * output, then the grouped queue. The repository is removed at the end, also when the tour is interrupted.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../bin/majordomus", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "majordomus-tour-"));

/** The world of the tour: nothing of the user's settings or of an agent's session reaches it. */
const environment: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: root,
  USER: "ann",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ann",
  GIT_AUTHOR_EMAIL: "ann@example.org",
  GIT_COMMITTER_NAME: "Ann",
  GIT_COMMITTER_EMAIL: "ann@example.org",
};
const repository = join(root, "repository");

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function chapter(text: string): void {
  say(`\n── ${text}\n`);
}

function run(command: string, args: readonly string[]): string {
  const ran = spawnSync(command, args, { cwd: repository, env: environment, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`${command} ${args.join(" ")}: ${ran.error?.message ?? ran.stderr}`);
  return ran.stdout;
}

/** Runs one command of the tour and shows it with what it prints. */
function show(...args: readonly string[]): string {
  say(`$ majordomus ${args.map((arg) => (/^[A-Za-z0-9_./:=-]+$/.test(arg) ? arg : `'${arg}'`)).join(" ")}`);
  const output = run(program, args);
  process.stdout.write(output);
  return output;
}

function commit(message: string): void {
  run("git", ["add", "--all"]);
  run("git", ["commit", "--quiet", "--message", message]);
}

function tour(): void {
  mkdirSync(join(repository, "lib"), { recursive: true });
  run("git", ["init", "--quiet", "--initial-branch=main"]);
  writeFileSync(join(repository, "lib/a.sh"), "echo wrold\n");
  writeFileSync(join(repository, "build.sh"), "make\n");
  commit("a repository with a fault");

  chapter("A repository takes the layer once");
  show("init");
  commit("add the layer");

  chapter("The first session meets two things and says so; its end turns them into records");
  show("session", "start");
  show("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "--evidence", "file:lib/a.sh", "a.sh prints the wrong word");
  show("knowledge", "observe", "--kind", "friction", "--subject", "build.sh", "the build needs a step nobody wrote down");
  show("session", "end");
  commit("what the first session learned");

  chapter("A second session meets the same defect: another record, the same group");
  show("session", "start");
  show("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "a.sh is wrong again, in another way");
  show("session", "end");
  commit("what the second session learned");

  chapter("A person rejects the first record; a third session meets the defect all the same");
  const first = /^[^ ]+(?= .* a\.sh prints the wrong word$)/m.exec(run(program, ["knowledge", "candidates"]))?.[0] ?? "";
  show("knowledge", "reject", first, "--reason", "that word is meant to be so");
  show("session", "start");
  show("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "--evidence", "test:lib/a.sh", "nobody means that word to be so");
  show("session", "end");

  chapter("A fourth session meets nothing: no record, and the ledger says that it was asked");
  show("session", "start");
  show("session", "end");
  show("history", "--event", "knowledge.derived", "--limit", "1");

  chapter("The queue: one defect, three sessions behind it, and the rejection beside them");
  const queue = show("knowledge", "candidates");

  chapter("One of the records");
  const path = /^[^ ]+(?= .* nobody means that word)/m.exec(queue)?.[0] ?? "";
  say(`$ cat .ai/repo/knowledge/candidates/${path}.md`);
  process.stdout.write(readFileSync(join(repository, `.ai/repo/knowledge/candidates/${path}.md`), "utf8"));
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    rmSync(root, { recursive: true, force: true });
    process.exit(1);
  });
}

try {
  tour();
} finally {
  rmSync(root, { recursive: true, force: true });
}
