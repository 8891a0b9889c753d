/** Payload shapes of each provider, as their documents and probes have them, and what the end-to-end tests of events share. */
import { cpSync } from "node:fs";
import { freshFolder, installed, repositoryAt, run } from "./repository.ts";
import type { Repository, Run } from "./repository.ts";

let template: string | undefined;

/** A git repository with a layer, committed: a copy of one that is made once. */
export function fresh(name?: string): Repository {
  template ??= installed().root;
  const root = freshFolder(name);
  cpSync(template, root, { recursive: true });
  return repositoryAt(root);
}

export const providerNames = ["claude-code", "codex", "gemini-cli", "copilot-cli", "cursor", "opencode", "generic"] as const;

/** The payload of an event of a session in a directory. */
export function payloadOf(provider: string, event: "start" | "end" | "compact", session: string, root: string): string {
  const named = { start: "SessionStart", end: "SessionEnd", compact: "PreCompact" }[event];
  const detail = { start: { source: "startup" }, end: { reason: "other" }, compact: { trigger: "auto", custom_instructions: "" } }[event];
  const common = { session_id: session, transcript_path: `${root}/transcript.jsonl`, cwd: root, hook_event_name: named };
  switch (provider) {
    case "claude-code":
      return `${JSON.stringify({ ...common, permission_mode: "default", prompt_id: "p", ...detail })}\n`;
    case "codex":
      return JSON.stringify({ ...common, transcript_path: null, model: "m", permission_mode: "default", ...detail });
    case "gemini-cli":
      return JSON.stringify({ ...common, hook_event_name: event === "compact" ? "PreCompress" : named, timestamp: "2026-10-09T10:00:00.000Z", ...detail });
    case "copilot-cli":
      return JSON.stringify({ sessionId: session, timestamp: 1_791_540_000_000, cwd: root, transcriptPath: "", ...detail });
    case "cursor":
      return JSON.stringify({
        conversation_id: session,
        generation_id: "g",
        model: "m",
        hook_event_name: { start: "sessionStart", end: "sessionEnd", compact: "preCompact" }[event],
        cursor_version: "2.1",
        workspace_roots: [root, "/elsewhere"],
        user_email: "somebody@example.org",
        transcript_path: null,
        is_first_compaction: true,
      });
    default:
      return JSON.stringify({ session_id: session, cwd: root });
  }
}

/** Sends an event and gives what came of it. */
export function send(repository: Repository, provider: string, event: "start" | "end" | "compact", session: string): Run {
  return repository.mjWith({ input: payloadOf(provider, event, session, repository.root) }, ...eventArguments(provider, event));
}

export function eventArguments(provider: string, event: string): string[] {
  return ["capture", "session", "--provider", provider, "--event", event];
}

/** Records an observation in the episode of a session. */
export function observeIn(repository: Repository, session: string, statement: string, subject = "lib/a.sh"): Run {
  const env = { MAJORDOMUS_PROVIDER_SESSION: session };
  return repository.mjWith({ env }, "knowledge", "observe", "--kind", "defect", "--subject", subject, statement);
}

/** How many lines of an event the ledger has; of one episode where it is named. */
export function countLines(repository: Repository, event: string, episode?: string): number {
  return repository.ledger().filter((line) => line["event"] === event && (episode === undefined || line["session"] === episode)).length;
}

/** Runs a line of a POSIX shell. */
export function shell(line: string, options: Parameters<typeof run>[2] = {}): Run {
  return run("sh", ["-c", line], options);
}
