/** Git as the engine that carries records between clones, work trees and branches (contract, sections 7 to 9). */
import { cpSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import {
  candidatesPath,
  curatedPath,
  freshFolder,
  installed,
  openedIn,
  repositoryAt,
  run,
  snapshot,
  withEpisode,
  writeProgram,
} from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";
import { placed } from "../support/placed.ts";
import { randomFrom, seed } from "../support/random.ts";

/** An episode that observes a defect of each subject; gives its id. */
function episodeIn(repository: Repository, statement: string, ...subjects: readonly string[]): string {
  const episode = openedIn(repository.done("session", "start", "--owner", "o"));
  for (const subject of subjects) repository.done("knowledge", "observe", "--kind", "defect", "--subject", subject, `${statement}: ${subject}`);
  repository.done("session", "end");
  return episode;
}

function commitAll(repository: Repository, message: string): void {
  repository.git("add", "-A");
  repository.git("commit", "-q", "-m", message);
}

/** The files that git tracks in the layer, with their bytes. */
function trackedIn(repository: Repository): string[] {
  const paths = repository.git("ls-files", "-z", ".ai").split("\0").filter((path) => path !== "");
  return paths.map((path) => `${path} ${repository.read(path)}`);
}

test(`eight clones that push and pull in random orders never conflict, and end with the same files and the same listing (seed ${seed})`, { timeout: 120_000 }, () => {
  const origin = installed();
  const world = freshFolder("clones-");
  origin.git("clone", "-q", "--bare", origin.root, `${world}/bare.git`);
  const count = 8;
  for (let clone = 0; clone < count; clone += 1) {
    origin.git("clone", "-q", `${world}/bare.git`, `${world}/clone-${clone}`);
    const repository = repositoryAt(`${world}/clone-${clone}`);
    const subjects = ["lib/a.sh", ["lib/b.sh", "docs/x.md"][clone % 2] ?? ""];
    // Two of them in full: eight would take long.
    if (clone < 2) episodeIn(repository, `seen by ${clone}`, ...subjects);
    else placed(repository, `seen by ${clone}`, ...subjects);
    commitAll(repository, `clone ${clone}`);
  }
  const ends = [0, 1].map((order) => {
    const here = freshFolder("order-");
    cpSync(world, here, { recursive: true });
    const clones = Array.from({ length: count }, (_, clone) => repositoryAt(`${here}/clone-${clone}`));
    for (const clone of clones) clone.git("remote", "set-url", "origin", `${here}/bare.git`);
    const random = randomFrom(seed + order);
    const exchange = (clone: Repository) => {
      clone.git("pull", "-q", "--no-edit", "--no-rebase", "origin", "main");
      clone.git("push", "-q", "origin", "HEAD:main");
    };
    const waiting = [...clones, random.pick(clones), random.pick(clones)];
    while (waiting.length > 0) exchange(waiting.splice(random.below(waiting.length), 1)[0] as Repository);
    for (const clone of clones) clone.git("pull", "-q", "--no-edit", "--no-rebase", "origin", "main");
    const [first, ...rest] = clones.map((clone) => [...trackedIn(clone)]);
    for (const files of rest) expect(files).toEqual(first);
    const listings = [0, 3, 7].map((clone) => clones[clone]?.done("knowledge", "candidates"));
    expect(new Set(listings).size).toBe(1);
    expect(clones[random.below(count)]?.mj("knowledge", "check").status).toBe(0);
    return { files: first, listing: listings[0] };
  });
  expect(ends[1]).toEqual(ends[0]);
  expect(ends[0]?.listing).toMatch(/^knowledge candidates: 16 awaiting review$/m);
  expect(ends[0]?.listing).toMatch(/^about lib\/a\.sh {2}route project {2}awaiting 8 {2}rejected 0 {2}episodes 8$/m);
});

test("two work trees and two agents in one checkout: each line in its own episode, each file one episode's, an end leaves the others open", async () => {
  const main = installed();
  main.git("worktree", "add", "-q", "-b", "side", `${main.root}-side`);
  const side = repositoryAt(`${main.root}-side`);
  const agents = [
    { repository: main, env: { CLAUDE_CODE_SESSION_ID: "agent-one" } },
    { repository: main, env: { CLAUDE_CODE_SESSION_ID: "agent-two" } },
    { repository: side, env: { CLAUDE_CODE_SESSION_ID: "agent-three" } },
    { repository: side, env: {} },
  ];
  const episodes = agents.map(({ repository, env }) => openedIn(repository.mjWith({ env }, "session", "start", "--owner", "o").stdout));
  expect(new Set(episodes).size).toBe(4);
  const observe = (agent: number, count: number) => {
    const { repository, env } = agents[agent] as (typeof agents)[number];
    return repository.mjLater({ env }, "knowledge", "observe", "--kind", "friction", "--subject", "lib/a.sh", `agent ${agent}, ${count}`);
  };
  const all = [0, 1, 2].flatMap((count) => [0, 1, 2, 3].map((agent) => observe(agent, count)));
  for (const ended of await Promise.all(all)) expect(ended.status).toBe(0);
  for (const repository of [main, side]) {
    for (const line of repository.ledger().filter((one) => one["event"] === "observation.recorded")) {
      expect(line["session"]).toBe(episodes[Number(/agent ([0-9])/.exec(String(line["statement"]))?.[1])]);
    }
  }
  expect(main.mjWith({ env: agents[0]?.env ?? {} }, "session", "end").status).toBe(0);
  expect(main.names(candidatesPath)).toHaveLength(3);
  expect(main.names(candidatesPath).every((name) => name.startsWith(`${episodes[0] ?? ""}-`))).toBe(true);
  expect((await observe(1, 3)).status).toBe(0);
  expect((await observe(3, 3)).status).toBe(0);
  for (const agent of [1, 2, 3]) expect(agents[agent]?.repository.mjWith({ env: agents[agent]?.env ?? {} }, "session", "end").status).toBe(0);
  expect(main.names(candidatesPath)).toHaveLength(7);
  expect(side.names(candidatesPath)).toHaveLength(7);
  for (const repository of [main, side]) expect(repository.mj("knowledge", "check").status).toBe(0);
  commitAll(main, "main");
  commitAll(side, "side");
  main.git("merge", "-q", "--no-edit", "side");
  expect(main.done("knowledge", "candidates")).toMatch(/awaiting 14 {2}rejected 0 {2}episodes 4$/m);
});

test("one episode derived on two branches and merged is one file of the same bytes; where the bytes differ, git says so", () => {
  const repository = withEpisode();
  repository.done("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "wrong");
  repository.git("branch", "other");
  repository.done("knowledge", "derive");
  commitAll(repository, "derived on main");
  const [name = ""] = repository.names(candidatesPath);
  const bytes = repository.read(`${candidatesPath}/${name}`);
  repository.git("checkout", "-q", "other");
  expect(repository.names(candidatesPath)).toEqual([]);
  expect(repository.done("knowledge", "derive")).toContain(`written ${candidatesPath}/${name}\n`);
  expect(repository.read(`${candidatesPath}/${name}`)).toBe(bytes);
  repository.write("unlike.txt", "so that the commit is another\n");
  commitAll(repository, "derived on other");
  repository.git("checkout", "-q", "main");
  repository.git("merge", "-q", "--no-edit", "other");
  expect(repository.read(`${candidatesPath}/${name}`)).toBe(bytes);
  expect(repository.done("knowledge", "candidates")).toMatch(/^knowledge candidates: 1 awaiting review$/m);

  repository.git("checkout", "-q", "-b", "third", "other");
  repository.write(".ai/repo/rules/r.md", "---\nid: r\n---\n");
  commitAll(repository, "a rule");
  repository.done("knowledge", "derive");
  expect(repository.read(`${candidatesPath}/${name}`)).not.toBe(bytes);
  commitAll(repository, "derived on third");
  repository.git("checkout", "-q", "main");
  repository.write(`${candidatesPath}/${name}`, bytes.replace('title: "wrong"', 'title: "wrong, says a person"').replace("provenance:\n  origin: extracted\n", "provenance:\n  origin: extracted # seen\n"));
  repository.write(`${candidatesPath}/${name}`, repository.read(`${candidatesPath}/${name}`).replace("    - session:", "    # mine\n    - session:"));
  commitAll(repository, "edited on main");
  const merged = run("git", ["merge", "-q", "--no-edit", "third"], { cwd: repository.root });
  const text = repository.read(`${candidatesPath}/${name}`);
  if (merged.status === 0) expect(text).toContain("says a person");
  else expect(text).toContain("<<<<<<<");
});

test("a rejection on one branch and a new observation of the subject on another, merged: both stand in one group", () => {
  const repository = installed();
  const first = episodeIn(repository, "first", "lib/a.sh");
  commitAll(repository, "first");
  repository.git("checkout", "-q", "-b", "other");
  const second = episodeIn(repository, "again", "lib/a.sh");
  commitAll(repository, "again");
  repository.git("checkout", "-q", "main");
  const [name = ""] = repository.names(candidatesPath);
  const id = name.replace(/\.md$/, "");
  repository.done("knowledge", "reject", id, "--reason", "meant so");
  commitAll(repository, "rejected");
  repository.git("merge", "-q", "--no-edit", "other");
  const listing = repository.done("knowledge", "candidates");
  expect(listing).toContain("knowledge candidates: 1 awaiting review\nabout lib/a.sh  route project  awaiting 1  rejected 1  episodes 2\n");
  expect(listing).toContain(`  rejected  ${id}\n`);
  expect(listing).toContain(`  episodes  ${[first, second].sort().join(" ")}\n`);
  expect(repository.read(`${candidatesPath}/${name}`)).toContain("# Rejected\n\nmeant so\n");
});

test.each(["false", "true"])("promoted on one branch and rejected on another, merged with renames %s: git says so or both stand; check names it; nothing is lost", (renames) => {
  const repository = installed();
  placed(repository, "first", "lib/a.sh");
  commitAll(repository, "first");
  const [name = ""] = repository.names(candidatesPath);
  const id = name.replace(/\.md$/, "");
  repository.git("checkout", "-q", "-b", "other");
  repository.done("knowledge", "reject", id, "--reason", "meant so");
  commitAll(repository, "rejected");
  repository.git("checkout", "-q", "main");
  expect(repository.mjWith({ input: "seen in the log" }, "knowledge", "promote", id).status).toBe(0);
  commitAll(repository, "promoted");
  const merged = run("git", ["-c", `merge.renames=${renames}`, "merge", "-q", "--no-edit", "other"], { cwd: repository.root });
  expect(merged.status).not.toBe(0);
  // Whoever keeps both sides, as git leaves them, is told.
  const both = `${repository.exists(`${candidatesPath}/${name}`) ? repository.read(`${candidatesPath}/${name}`) : ""}${repository.read(`${curatedPath}/${name}`)}`;
  expect(both).toContain("seen in the log");
  expect(both).toContain("meant so");
  expect(repository.mj("knowledge", "check").status).toBe(10);
  repository.write(`${curatedPath}/${name}`, repository.git("show", `main:${curatedPath}/${name}`));
  repository.write(`${candidatesPath}/${name}`, repository.git("show", `other:${candidatesPath}/${name}`));
  const check = repository.mj("knowledge", "check");
  expect(check.status).toBe(10);
  expect(check.stdout).toContain(`FAIL knowledge   ${candidatesPath}/${name}`);
  expect(check.stdout).toContain(`its id stands also in '${curatedPath}/${name}'`);
  const before = snapshot(repository.path(".ai/repo"));
  expect(repository.mjWith({ input: "again" }, "knowledge", "promote", id).status).toBe(10);
  expect(repository.mj("knowledge", "reject", id, "--reason", "other").status).toBe(10);
  expect(snapshot(repository.path(".ai/repo"))).toEqual(before);
});

test("a CRLF checkout is listed, checked and reviewed as it is, and keeps its line ends", () => {
  const origin = installed();
  placed(origin, "first", "lib/a.sh", "lib/b.sh");
  commitAll(origin, "first");
  const root = `${freshFolder()}/crlf`;
  origin.git("clone", "-q", "-c", "core.autocrlf=true", origin.root, root);
  const clone = repositoryAt(root);
  expect(clone.done("knowledge", "candidates")).toBe(origin.done("knowledge", "candidates"));
  expect(clone.mj("knowledge", "check").status).toBe(0);
  const [first = "", second = ""] = clone.names(candidatesPath).map((name) => name.replace(/\.md$/, ""));
  expect(clone.mjWith({ input: "a\nb\n" }, "knowledge", "promote", first).status).toBe(0);
  expect(clone.mj("knowledge", "reject", second, "--reason", "no").status).toBe(0);
  for (const path of [`${curatedPath}/${first}.md`, `${candidatesPath}/${second}.md`]) {
    expect(clone.read(path).replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  }
  // A promotion that was killed is finished also where the two files' line ends differ.
  clone.write(`${candidatesPath}/${first}.md`, origin.read(`${candidatesPath}/${first}.md`));
  expect(clone.mjWith({ input: "" }, "knowledge", "promote", first).status).toBe(0);
});

let branches: { repository: Repository; episodes: string[] } | undefined;

/** Three branches from one commit, each with an episode about one subject; `main` has none of them. A copy for each test. */
function threeBranches(): { repository: Repository; episodes: string[] } {
  branches ??= makeBranches();
  const root = freshFolder();
  cpSync(branches.repository.root, root, { recursive: true });
  return { ...branches, repository: repositoryAt(root) };
}

function makeBranches(): { repository: Repository; episodes: string[] } {
  const repository = installed();
  const episodes = ["a", "b", "c"].map((branch) => {
    repository.git("checkout", "-q", "-b", `feature/${branch}`, "main");
    const [id = ""] = placed(repository, `on ${branch}`, "lib/a.sh");
    commitAll(repository, branch);
    return id.slice(0, 21);
  });
  repository.git("checkout", "-q", "main");
  return { repository, episodes };
}

test("candidates --ref and --all-refs show a defect of three unmerged branches as one group of three, and say where each stands", () => {
  const { repository, episodes } = threeBranches();
  expect(repository.done("knowledge", "candidates")).toBe("knowledge candidates: 0 awaiting review\n");
  const listing = repository.done("knowledge", "candidates", "--all-refs");
  expect(listing).toContain("about lib/a.sh  route project  awaiting 3  rejected 0  episodes 3\n");
  for (const [index, branch] of ["a", "b", "c"].entries()) {
    expect(listing).toMatch(new RegExp(`^${episodes[index] ?? ""}-[^\\n]* on ${branch}: lib/a\\.sh {2}\\(on feature/${branch}\\)$`, "m"));
    expect(listing).toMatch(new RegExp(`^ {2}awaiting {2}${episodes[index] ?? ""}-[0-9a-f]{12} {2}\\(on feature/${branch}\\)$`, "m"));
  }
  const refs = ["--ref", "feature/c", "--ref=refs/heads/feature/a", "--ref", "feature/c"];
  const json = JSON.parse(repository.done("knowledge", "candidates", "--json", ...refs)) as { candidates: { ref?: string }[] };
  expect(json.candidates.map((one) => one.ref).sort()).toEqual(["feature/c", "refs/heads/feature/a"]);
  const filtered = repository.done("knowledge", "candidates", "--all-refs", "--episode", episodes[1] ?? "");
  expect(filtered).toContain("knowledge candidates: 1 awaiting review\n");
  // On one of the branches its own record is here, and counts once.
  repository.git("checkout", "-q", "feature/b");
  const here = repository.done("knowledge", "candidates", "--all-refs");
  expect(here).toContain("knowledge candidates: 3 awaiting review\n");
  expect(here).toMatch(new RegExp(`^ {2}awaiting {2}${episodes[1] ?? ""}-[0-9a-f]{12}$`, "m"));
  repository.git("checkout", "-q", "--detach", "main");
  expect(repository.done("knowledge", "candidates", "--all-refs")).toContain("knowledge candidates: 3 awaiting review\n");
  repository.git("checkout", "-q", "--orphan", "unborn");
  expect(repository.done("knowledge", "candidates", "--all-refs")).toContain("knowledge candidates: 3 awaiting review\n");
});

test("candidates --all-refs: one record on several refs counts once, the working tree's bytes win, then the first ref; what is promoted here awaits nowhere", () => {
  const { repository } = threeBranches();
  repository.git("checkout", "-q", "-b", "merged", "feature/a");
  repository.git("merge", "-q", "--no-edit", "feature/b");
  const [name = ""] = repository.names(candidatesPath);
  const path = `${candidatesPath}/${name}`;
  const isA = repository.read(path).includes("on a:");
  repository.write(path, repository.read(path).replace(/^title: .*$/m, 'title: "edited on merged"'));
  commitAll(repository, "edited");
  repository.git("checkout", "-q", "main");
  const titles = (...args: readonly string[]) => {
    const { candidates } = JSON.parse(repository.done("knowledge", "candidates", "--json", ...args)) as { candidates: { title: string; ref?: string }[] };
    return candidates.map(({ title, ref }) => `${title} ${ref ?? "here"}`).sort();
  };
  expect(titles("--all-refs")).toEqual(["on a: lib/a.sh feature/a", "on b: lib/a.sh feature/b", "on c: lib/a.sh feature/c"]);
  expect(titles("--ref", "merged", "--ref", "merged")).toEqual(
    ["edited on merged merged", `on ${isA ? "b" : "a"}: lib/a.sh merged`].sort(),
  );
  repository.git("checkout", "-q", "merged");
  expect(titles("--all-refs")).toEqual(["edited on merged here", `on ${isA ? "b" : "a"}: lib/a.sh here`, "on c: lib/a.sh feature/c"].sort());
  expect(repository.mjWith({ input: "seen" }, "knowledge", "promote", name.replace(/\.md$/, "")).status).toBe(0);
  expect(titles("--all-refs")).toEqual([`on ${isA ? "b" : "a"}: lib/a.sh here`, "on c: lib/a.sh feature/c"].sort());
});

test("candidates --all-refs reads a branch whatever its name: an object's, an option's, HEAD", () => {
  const { repository } = threeBranches();
  const head = repository.git("rev-parse", "main").trim();
  for (const [from, name] of [["a", head], ["b", "f".repeat(40)], ["c", "-x"]] as const) {
    repository.git("update-ref", `refs/heads/${name}`, `feature/${from}`);
    repository.git("branch", "-q", "-D", `feature/${from}`);
  }
  const listing = repository.done("knowledge", "candidates", "--all-refs");
  expect(listing).toContain("knowledge candidates: 3 awaiting review\n");
  for (const name of [head, "f".repeat(40), "-x"]) expect(listing).toContain(`(on ${name})\n`);
  repository.git("update-ref", "refs/heads/HEAD", "refs/heads/-x");
  repository.git("update-ref", "-d", "refs/heads/-x");
  expect(repository.done("knowledge", "candidates", "--all-refs")).toContain("knowledge candidates: 3 awaiting review\n");
});

test("candidates --ref refuses unknown refs and what looks like an option (12), and asks git at most three times", () => {
  const { repository } = threeBranches();
  for (const ref of ["nobody", "--output=x", "", "main..feature/a", "main:lib", "a\nb"]) {
    const ended = repository.mj("knowledge", "candidates", `--ref=${ref}`);
    expect(ended, ref).toMatchObject({ status: 12, stdout: "" });
    expect(ended.stderr).toMatch(/^majordomus: cannot read ref '[^\n]*\n$/);
  }
  const programs = freshFolder();
  const real = run("sh", ["-c", "command -v git"]).stdout.trim();
  writeProgram(`${programs}/git`, `#!/bin/sh\nprintf '%s\\n' "$*" >> "${programs}/calls"\nexec "${real}" "$@"\n`);
  const env = { PATH: `${programs}:${process.env["PATH"] ?? ""}` };
  const calls = (...args: readonly string[]) => {
    rmSync(`${programs}/calls`, { force: true });
    expect(repository.mjWith({ env }, "knowledge", "candidates", ...args).status).toBe(0);
    return existsSync(`${programs}/calls`) ? readFileSync(`${programs}/calls`, "latin1").trimEnd().split("\n").length : 0;
  };
  expect(calls()).toBe(0);
  expect(calls("--ref", "feature/a", "--ref", "feature/b", "--ref", "feature/c")).toBe(2);
  expect(calls("--all-refs")).toBe(3);
});

test("candidates --ref reads links, directories and broken files of a tree as they are on disk, below git's top level too, and remote branches once", () => {
  const outer = installed();
  outer.remove(".ai");
  outer.write("sub/x", "");
  const inner = repositoryAt(outer.path("sub"));
  inner.done("init", "--repo", ".");
  commitAll(outer, "layer below");
  outer.git("checkout", "-q", "-b", "side");
  episodeIn(inner, "inner", "lib/a.sh");
  symlinkSync("x.md", inner.path(`${candidatesPath}/link.md`));
  inner.write(`${candidatesPath}/broken.md`, "no\n");
  inner.write(`${candidatesPath}/folder.md/in.md`, "no\n");
  inner.write(`${candidatesPath}/.hidden.md`, "no\n");
  inner.write(`${candidatesPath}/backup.md~`, "no\n");
  commitAll(outer, "side");
  const here = inner.mj("knowledge", "candidates");
  outer.git("checkout", "-q", "main");
  const there = inner.mj("knowledge", "candidates", "--ref", "side");
  expect(there.status).toBe(10);
  // The branch of an episode is known where its session record is.
  expect(there.stdout.replaceAll("  (on side)", "").replace(/ - {23} /, ` ${"side".padEnd(24)} `)).toBe(here.stdout);
  expect(there.stdout).toContain(`unreadable ${candidatesPath}/link.md  (on side): symbolic link\n`);
  const clone = `${freshFolder()}/clone`;
  outer.git("clone", "-q", outer.root, clone);
  const listing = repositoryAt(`${clone}/sub`).mj("knowledge", "candidates", "--all-refs").stdout;
  expect(listing).toContain("knowledge candidates: 1 awaiting review\n");
  expect(listing).toContain("  (on origin/side)\n");
});

test("candidates --ref without git work tree is refused by git's own words; without refs it needs none", () => {
  const repository = installed();
  repository.remove(".git");
  expect(repository.mj("knowledge", "candidates").status).toBe(0);
  expect(repository.mj("knowledge", "candidates", "--ref", "main")).toMatchObject({ status: 12, stdout: "" });
  expect(repository.mj("knowledge", "candidates", "--all-refs")).toMatchObject({ status: 12, stdout: "" });
});
