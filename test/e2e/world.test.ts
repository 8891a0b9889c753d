import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { localVariables } from "../../src/host/git.ts";
import { canMount, candidatesPath, freshFolder, installed, launcher, run, snapshot, withEpisode } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

const mounts = canMount();
const needsMount = test.skipIf(!mounts && process.env["MAJORDOMUS_NOTHING_SKIPPED"] === undefined);

/** Runs a script in which file systems may be mounted, for itself alone. */
const mounted = (script: string, ...args: readonly string[]) => run("unshare", ["-m", "sh", "-c", script, "sh", ...args]);

const observe = ["knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "a statement"];

function many(repository: Repository, count: number): void {
  const record = (n: number) =>
    `---\nschema: knowledge/v1\nid: s-20261009100000-1a2b-${n.toString(16).padStart(12, "0")}\nkind: knowledge\nclass: lesson\ntitle: "${"long title ".repeat(400)}"\nstatus: candidate\nabout: "lib/${n}.sh"\n---\n`;
  for (let n = 0; n < count; n += 1) repository.write(`${candidatesPath}/s-20261009100000-1a2b-${n.toString(16).padStart(12, "0")}.md`, record(n));
}

test("a listing of more than 2 MB through a pipe is whole; a reader that goes away leaves silence", () => {
  const repository = installed();
  many(repository, 600);
  const whole = run(launcher, ["knowledge", "candidates"], { cwd: repository.root }).stdout;
  expect(whole.length).toBeGreaterThan(2_000_000);
  const script = (text: string) => run("sh", ["-c", text, "sh", launcher], { cwd: repository.root });
  expect(script('"$1" knowledge candidates | { sleep 0.2; wc -c; }').stdout.trim()).toBe(String(whole.length));
  expect(script('"$1" knowledge candidates >file; wc -c <file').stdout.trim()).toBe(String(whole.length));
  const json = script('"$1" knowledge candidates --json | cat');
  expect((JSON.parse(json.stdout) as { readonly candidates: readonly unknown[] }).candidates).toHaveLength(600);
  for (const reader of ["head -1", "true"]) {
    const ended = script(`"$1" knowledge candidates | ${reader} >/dev/null`);
    expect(ended.stderr, reader).toBe("");
  }
  expect(script('"$1" knowledge candidates | head -1').stdout).toBe(whole.slice(0, whole.indexOf("\n") + 1));
  for (const closed of ["2>&- <&-", "2>/dev/full"]) {
    expect(script(`"$1" knowledge candidates ${closed} | wc -c`).stdout.trim(), closed).toBe(String(whole.length));
  }
  expect(script('"$1" knowledge candidates >/dev/full')).toMatchObject({ status: 13, stderr: expect.stringMatching(/^majordomus: cannot write the result: [^\n]*\n$/) as string });
  expect(script('"$1" no such command 2>/dev/full').status).toBe(2);
});

needsMount("a read-only tree: the queue is read and nothing is left; every act is refused (13) in one line", () => {
  const repository = withEpisode();
  many(repository, 2);
  const before = snapshot(repository.root);
  const script = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && exec "$@"';
  const here = (...args: readonly string[]) => mounted(script, repository.root, launcher, ...args);
  expect(here("knowledge", "candidates")).toMatchObject({ status: 0, stderr: "" });
  expect(here("knowledge", "candidates").stdout).toContain("knowledge candidates: 2 awaiting review");
  expect(here("history").status).toBe(0);
  expect(here("session", "status").status).toBe(0);
  expect(here("yaml", "flatten", ".ai/manifest.yaml").status).toBe(0);
  for (const args of [observe, ["session", "end"], ["knowledge", "derive"], ["decision", "add", "d", "--why", "w"], ["history", "--rotate"]]) {
    expect(here(...args), args.join(" ")).toMatchObject({ status: 13, stdout: "", stderr: expect.stringMatching(/^majordomus: [^\n]*read-only file system[^\n]*\n$/) as string });
  }
  expect(snapshot(repository.root)).toEqual(before);
});

needsMount("a full disk: whichever act meets it, at whatever point, is refused (13) in one line, and no half-written file stays", () => {
  const repository = withEpisode();
  const place = freshFolder("disk-");
  // The last bytes are taken one page at a time, so that the disk is full at another point each time.
  const script = `
    mount -t tmpfs -o size=1m none "$1" || exit 99
    cp -R "$2/." "$1/" && cd "$1" && sed -i "s|^worktree: .*|worktree: $1|" .ai/local/state/sessions-open/hand.yaml || exit 98
    launcher=$3
    "$launcher" knowledge observe --kind defect --subject a first >/dev/null || exit 97
    dd if=/dev/zero of=fill bs=4k 2>/dev/null
    for step in 0 1 2 3 4 5 6 7 8; do
      for act in observe end; do
        if [ "$act" = observe ]; then "$launcher" knowledge observe --kind defect --subject lib/a.sh "at step $step" >/dev/null 2>"$4"; else "$launcher" session end >/dev/null 2>"$4"; fi
        status=$?
        printf '%s %s %s %s %s\\n' "$act" "$status" "$(wc -l <"$4")" "$(find .ai -name '.tmp.mj*' | wc -l)" "$(tail -c 1 .ai/local/state/ledger.jsonl | od -An -c | tr -d ' ')"
        [ "$act" = end ] && [ "$status" = 0 ] && { cat .ai/local/state/ledger.jsonl; exit 0; }
      done
      size=$(wc -c <fill); truncate -s $((size - 4096)) fill
    done
    exit 96`;
  const ended = mounted(script, place, repository.root, launcher, join(freshFolder(), "errors"));
  const lines = ended.stdout.split("\n").filter((line) => line !== "");
  const steps = lines.filter((line) => /^(?:observe|end) /.test(line));
  expect(ended.status, ended.stderr + ended.stdout).toBe(0);
  expect(steps.some((line) => line.includes(" 13 ")), ended.stdout).toBe(true);
  for (const step of steps) {
    const [act, status, complaints, temporaries, lastByte] = step.split(" ");
    expect(["0", "13"], step).toContain(status);
    if (status === "13") expect(complaints, step).toBe("1");
    expect(temporaries, step).toBe("0");
    expect(lastByte, step).toBe("\\n");
    expect(act).toBeDefined();
  }
  const entries = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record<string, unknown>);
  const acknowledged = 1 + steps.filter((line) => line.startsWith("observe 0")).length;
  expect(entries.filter((line) => line["event"] === "observation.recorded")).toHaveLength(acknowledged);
  expect(entries.filter((line) => line["event"] === "session.closed")).toHaveLength(1);
});

test("a person without rights: what cannot be read or written is said in one line", () => {
  if (process.getuid?.() !== 0) return;
  const repository = withEpisode();
  many(repository, 2);
  run("chmod", ["000", repository.path(`${candidatesPath}/s-20261009100000-1a2b-000000000001.md`)]);
  run("chmod", ["-R", "a+rX", repository.root]);
  run("chmod", ["000", repository.path(`${candidatesPath}/s-20261009100000-1a2b-000000000001.md`)]);
  const as = (...args: readonly string[]) => run("setpriv", ["--reuid=65534", "--regid=65534", "--clear-groups", launcher, ...args], { cwd: repository.root, env: { GIT_CONFIG_GLOBAL: "/dev/null" } });
  const probe = as("--version");
  if (probe.status !== 0) return;
  const listed = as("knowledge", "candidates");
  expect(listed.status).toBe(10);
  expect(listed.stdout).toContain(`unreadable ${candidatesPath}/s-20261009100000-1a2b-000000000001.md: cannot be read\n`);
  expect(as(...observe)).toMatchObject({ stdout: "", stderr: expect.stringMatching(/^majordomus: [^\n]*\n$/) as string });
  run("chmod", ["700", repository.path(candidatesPath)]);
  expect(as("knowledge", "candidates")).toMatchObject({ status: 13, stdout: "", stderr: expect.stringMatching(/^majordomus: cannot read '[^\n]*': permission denied\n$/) as string });
});

test("localVariables: a superset of what git lists", () => {
  const listed = run("git", ["rev-parse", "--local-env-vars"]).stdout.split("\n").filter((line) => line !== "");
  expect(listed.length).toBeGreaterThan(10);
  expect(listed.filter((name) => !(localVariables as readonly string[]).includes(name))).toEqual([]);
});

test("no command goes to the network, nor listens to a git alias, pager, editor or fsmonitor of the user", () => {
  const repository = withEpisode();
  const trap = join(freshFolder("trap-"), "called");
  for (const [key, value] of [["core.fsmonitor", `touch ${trap}`], ["core.pager", `touch ${trap}`], ["alias.rev-parse", `!touch ${trap}`], ["core.editor", `touch ${trap}`], ["diff.external", `touch ${trap}`]] as const) {
    repository.git("config", key, value);
  }
  repository.write("lib/a.sh", "changed\n");
  repository.done(...observe);
  repository.done("session", "end");
  expect(spawnSync("test", ["-e", trap]).status).toBe(1);
});

test("--version and --help need no repository, and print to standard output alone", () => {
  const cwd = freshFolder();
  const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as { readonly version: string };
  expect(run(launcher, ["--version"], { cwd })).toMatchObject({ status: 0, stdout: `majordomus ${version}\n`, stderr: "" });
  expect(run(launcher, ["knowledge", "observe", "--help"], { cwd })).toMatchObject({ status: 0, stderr: "", stdout: expect.stringMatching(/^usage: majordomus knowledge observe /) as string });
});

test("a working directory that was removed: one line, exit 12", () => {
  const ended = run("sh", ["-c", 'd=$(mktemp -d) && cd "$d" && rmdir "$d" && exec "$1" session status', "sh", launcher]);
  expect(ended).toMatchObject({ status: 12, stdout: "" });
  // The shell that runs the launcher may have its own word to say before.
  expect(ended.stderr.split("\n").filter((line) => !/^(?:sh|shell-init)/.test(line))).toEqual(["majordomus: cannot find the working directory: it was removed", ""]);
});

