import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { needing, program } from "../needs.ts";
import { countLines, fresh, payloadOf, providerNames, shell } from "../support/provider.ts";
import { canMount, freshFolder, openPath, run, snapshot } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

/** The file of each provider, and the events that each one's documents have. */
const settings = {
  "claude-code": { path: ".claude/settings.json", events: ["SessionStart", "PreCompact", "SessionEnd"] },
  "codex": { path: ".codex/hooks.json", events: ["SessionStart", "PreCompact", "SessionEnd"] },
  "gemini-cli": { path: ".gemini/settings.json", events: ["SessionStart", "PreCompress", "SessionEnd"] },
  "copilot-cli": { path: ".github/hooks/majordomus.json", events: ["sessionStart", "preCompact", "sessionEnd"] },
  "cursor": { path: ".cursor/hooks.json", events: ["sessionStart", "preCompact", "sessionEnd"] },
} as const;
type Provider = keyof typeof settings;
const listed = Object.keys(settings) as Provider[];

function install(repository: Repository, provider: string, ...more: string[]): ReturnType<Repository["mj"]> {
  return repository.mj("capture", "install", "--provider", provider, ...more);
}

interface Handler {
  readonly command?: string;
  readonly bash?: string;
  readonly timeout?: number;
  readonly timeoutSec?: number;
  readonly hooks?: readonly Handler[];
}

/** The handlers of a provider's settings, by event. */
function handlersOf(repository: Repository, provider: Provider): Record<string, Handler[]> {
  const { hooks } = JSON.parse(repository.read(settings[provider].path)) as { hooks: Record<string, Handler[]> };
  return Object.fromEntries(Object.entries(hooks).map(([event, groups]) => [event, groups.flatMap((group) => group.hooks ?? [group])]));
}

function commandOf(handler: Handler | undefined): string {
  return handler?.command ?? handler?.bash ?? "";
}

describe("capture install", () => {
  test.each([...listed, "opencode"])("%s: check, install, check, install again, remove: the tree from before", (provider) => {
    const repository = fresh();
    const before = snapshot(repository.root);
    expect(install(repository, provider, "--check")).toMatchObject({ status: 11, stdout: "" });
    expect(install(repository, provider, "--remove")).toMatchObject({ status: 0 });
    expect(install(repository, provider)).toMatchObject({ status: 0 });
    expect(install(repository, provider, "--check")).toMatchObject({ status: 0, stderr: "" });
    const once = snapshot(repository.root);
    expect(once.size).toBe(before.size + 1);
    expect(install(repository, provider)).toMatchObject({ status: 0 });
    expect(snapshot(repository.root)).toEqual(once);
    expect(install(repository, provider, "--remove")).toMatchObject({ status: 0 });
    expect(snapshot(repository.root)).toEqual(before);
    expect(readdirSync(repository.root).sort()).toEqual([".ai", ".git", ".gitignore", "lib"]);
    expect(repository.git("status", "--porcelain")).toBe("");
  });

  test("only the events that each provider knows, the timeouts in its unit, no absolute path", () => {
    const repository = fresh();
    for (const provider of listed) {
      install(repository, provider);
      const handlers = handlersOf(repository, provider);
      expect(Object.keys(handlers)).toEqual(settings[provider].events);
      for (const [event, [handler]] of Object.entries(handlers)) {
        const timeout = handler?.timeout ?? handler?.timeoutSec;
        if (provider === "gemini-cli") expect(timeout).toBeGreaterThanOrEqual(1000);
        else if (provider !== "cursor") expect(timeout).toBeLessThanOrEqual(60);
        if (provider === "codex" && event === "SessionEnd") expect(timeout).toBeLessThanOrEqual(3);
        expect(commandOf(handler)).not.toContain(repository.root);
        expect(commandOf(handler)).not.toContain(home.replace(/\/$/, ""));
        expect(commandOf(handler).length).toBeLessThan(220);
      }
    }
    for (const provider of ["copilot-cli", "cursor"] as const) expect(JSON.parse(repository.read(settings[provider].path))).toHaveProperty("version", 1);
  });

  test("a file with other people's hooks: theirs stay byte for byte, the mode too, and a removal gives the bytes back", { timeout: 60_000 }, () => {
    const theirs = readFileSync(join(home, "test/support/settings-foreign.json"), "utf8");
    for (const provider of listed) {
      const repository = fresh();
      const { path } = settings[provider];
      repository.write(path, theirs);
      chmodSync(repository.path(path), 0o600);
      expect(install(repository, provider).status).toBe(0);
      const merged = repository.read(path);
      for (const [handler] of theirs.matchAll(/\{[^{}]*theirs[^{}]*\}/g)) expect(merged).toContain(handler);
      expect(statSync(repository.path(path)).mode & 0o777).toBe(0o600);
      expect(install(repository, provider, "--remove").status).toBe(0);
      expect(repository.read(path)).toBe(theirs);
    }
  });

  test.each([
    ["comments", '{\n  // mine\n  "hooks": {}\n}\n'],
    ["a key twice", '{"hooks": {"PreCompact": [], "PreCompact": []}}'],
    ["a trailing comma", '{"hooks": {},}'],
    ["nothing", ""],
    ["invalid UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])("refuses (10) a file with %s and leaves it", (_, text) => {
    const repository = fresh();
    repository.write(".claude/settings.json", text);
    const before = snapshot(repository.root);
    for (const more of [[], ["--check"], ["--remove"]]) {
      const refused = install(repository, "claude-code", ...more);
      expect(refused).toMatchObject({ status: 10, stdout: "" });
      expect(refused.stderr).toMatch(/^majordomus: [^\n]*\.claude\/settings\.json[^\n]*\n$/);
    }
    expect(snapshot(repository.root)).toEqual(before);
  });

  test("a link stays a link; one that leads outside is refused (10)", () => {
    const repository = fresh();
    repository.write("shared/claude.json", '{"a": 1}');
    mkdirSync(repository.path(".claude"));
    symlinkSync("../shared/claude.json", repository.path(".claude/settings.json"));
    expect(install(repository, "claude-code").status).toBe(0);
    expect(JSON.parse(repository.read("shared/claude.json"))).toHaveProperty("hooks");
    expect(install(repository, "claude-code", "--remove").status).toBe(0);
    expect(repository.read("shared/claude.json")).toBe('{"a": 1}');
    const outside = freshFolder();
    writeFileSync(join(outside, "s.json"), "{}");
    mkdirSync(repository.path(".gemini"));
    symlinkSync(join(outside, "s.json"), repository.path(".gemini/settings.json"));
    expect(install(repository, "gemini-cli").status).toBe(10);
    symlinkSync(outside, repository.path(".codex"));
    expect(install(repository, "codex").status).toBe(10);
    expect(readFileSync(join(outside, "s.json"), "utf8")).toBe("{}");
    expect(readdirSync(outside)).toEqual(["s.json"]);
  });

  test("opencode: somebody else's plugin of that name is refused (10) and left", () => {
    const repository = fresh();
    repository.write(".opencode/plugins/majordomus.ts", "export const Other = 1;\n");
    const before = snapshot(repository.root);
    for (const more of [[], ["--remove"]]) expect(install(repository, "opencode", ...more).status).toBe(10);
    expect(snapshot(repository.root)).toEqual(before);
  });

  test("generic prints what to call; an unknown provider, and --check with --remove, are wrong calls (2)", () => {
    const repository = fresh();
    expect(install(repository, "generic").stdout).toContain("majordomus capture session --provider generic --event compact");
    for (const args of [["nobody"], ["codex", "--check", "--remove"], ["generic", "--check"]] as const) {
      expect(install(repository, args[0], ...args.slice(1))).toMatchObject({ status: 2, stdout: "" });
    }
  });

  test("a read-only tree: 13 and nothing written", () => {
    if (!canMount()) return;
    const repository = fresh();
    const line = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && cd "$1" && exec "$2" capture install --provider codex`;
    expect(run("unshare", ["-m", "sh", "-c", line, "sh", repository.root, join(home, "bin/majordomus")]).status).toBe(13);
    expect(existsSync(repository.path(".codex"))).toBe(false);
  });
});

describe("capture install: the installed command", () => {
  /** A repository whose path and whose toolkit's path have spaces and quotes, wired to every provider. */
  function vendored(): { readonly repository: Repository; readonly tool: string } {
    const repository = fresh(`it's a "re po" $HOME -`);
    const tool = `my to'ols "x"/mj`;
    for (const part of ["bin", "dist", "share"]) cpSync(join(home, part), repository.path(tool, part), { recursive: true });
    for (const provider of [...listed, "opencode"]) {
      expect(run(repository.path(tool, "bin/majordomus"), ["capture", "install", "--provider", provider], { cwd: repository.root }).status).toBe(0);
    }
    return { repository, tool };
  }

  test("works through sh and bash, from a path with spaces and quotes, in another directory where a variable tells; silent when the toolkit is gone", { timeout: 90_000 }, () => {
    const { repository, tool } = vendored();
    const elsewhere = freshFolder();
    const variables: Partial<Record<Provider, string>> = { "claude-code": "CLAUDE_PROJECT_DIR", "gemini-cli": "GEMINI_PROJECT_DIR" };
    const call = (provider: Provider, at: number, event: "start" | "end", interpreter: string) => {
      const command = commandOf(Object.values(handlersOf(repository, provider))[at]?.[0]);
      const variable = variables[provider];
      return run(interpreter, ["-c", command], {
        cwd: variable === undefined ? repository.path("lib") : elsewhere,
        env: { PATH: process.env["PATH"], ...(variable === undefined ? {} : { [variable]: repository.root }) },
        input: payloadOf(provider, event, `s-${provider}`, repository.root),
      });
    };
    for (const provider of listed) expect(call(provider, 0, "start", "sh")).toMatchObject({ status: 0, stderr: "" });
    expect(repository.names(openPath)).toEqual(listed.map((provider) => `s-${provider}.yaml`).sort());
    for (const provider of listed) expect(call(provider, 2, "end", "bash")).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
    expect(repository.names(openPath)).toEqual([]);
    expect(countLines(repository, "session.closed")).toBe(listed.length);
    repository.remove(tool);
    const before = snapshot(repository.root);
    for (const provider of listed) expect(call(provider, 0, "start", "sh")).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
    repository.write("lib/b.sh", "b\n");
    repository.git("add", "lib/b.sh");
    repository.git("commit", "-q", "-m", "a commit never depends on us");
    expect([...snapshot(repository.root).keys()].filter((path) => path.startsWith(".ai/"))).toEqual([...before.keys()].filter((path) => path.startsWith(".ai/")));
  });

  test("through PATH where the toolkit lies elsewhere; silent where it is not in PATH", () => {
    const repository = fresh();
    install(repository, "codex");
    const command = commandOf(handlersOf(repository, "codex")["SessionStart"]?.[0]);
    expect(command).toBe("sh -c 'command -v majordomus >/dev/null 2>&1 && exec majordomus capture session --provider codex --event start; exit 0'");
    const input = payloadOf("codex", "start", "s1", repository.root);
    expect(shell(command, { cwd: repository.root, input })).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
    const path = `${join(home, "bin")}:${process.env["PATH"] ?? ""}`;
    expect(shell(command, { cwd: repository.root, input, env: { PATH: path } })).toMatchObject({ status: 0, stderr: "" });
    expect(repository.names(openPath)).toEqual(["s1.yaml"]);
  });

  needing("bun")("opencode's plugin: its events open, derive and end the session's episode; a session below another is none", () => {
    const { repository } = vendored();
    const driver = repository.path("driver.ts");
    writeFileSync(
      driver,
      `import { $ } from "bun";
import { Majordomus } from "./.opencode/plugins/majordomus.ts";
const plugin = await Majordomus({ $, directory: import.meta.dir });
for (const event of JSON.parse(process.argv[2])) await plugin.event({ event });`,
    );
    const send = (...events: object[]) => expect(run(program("bun") ?? "", [driver, JSON.stringify(events)], { cwd: repository.root })).toMatchObject({ status: 0, stdout: "", stderr: "" });
    send({ type: "session.created", properties: { info: { id: "ses_1" } } }, { type: "session.created", properties: { info: { id: "ses_2", parentID: "ses_1" } } });
    send({ type: "session.idle", properties: { sessionID: "ses_1" } }, { type: "session.compacted", properties: { sessionID: "ses_1" } });
    expect(repository.names(openPath)).toEqual(["ses_1.yaml"]);
    expect(countLines(repository, "knowledge.derived")).toBe(1);
    send({ type: "session.deleted", properties: { info: { id: "ses_1" } } }, { type: "other" });
    expect(countLines(repository, "session.closed")).toBe(1);
  });

  test("every provider of the table has its data", () => {
    for (const provider of providerNames.filter((name) => name !== "generic")) expect(existsSync(join(home, `share/provider/${provider}.json`))).toBe(true);
  });
});
