/**
 * The one command table: it drives dispatch, the checking of a call, `--help` and the README's reference. What a command
 * does is loaded when it runs, so that a start pays only for its own command.
 */
import type { Call, Outcome } from "./call.ts";

export interface Option {
  /** Without its dashes. */
  readonly name: string;
  /** One letter that stands for it behind one dash. */
  readonly short?: string;
  /** What stands for its value in help; none for a switch. */
  readonly value?: string;
  readonly help: string;
  readonly required?: boolean;
  readonly repeatable?: boolean;
}

export interface Command {
  readonly words: string;
  /** What stands for its operands in help. */
  readonly operands?: string;
  /** How few and how many operands it takes. */
  readonly arity?: readonly [number, number];
  readonly summary: string;
  readonly options?: readonly Option[];
  /** Whether it ends with 0 whatever happens: a provider must never be told of a failure (contract, section 10). */
  readonly neverFails?: true;
  readonly run: () => Promise<(call: Call) => Outcome | Promise<Outcome>>;
}

/** Options of every command. */
export const commonOptions: readonly Option[] = [
  { name: "repo", value: "PATH", help: "the repository's root, instead of the one around the working directory" },
  { name: "json", help: "print the result as one JSON object on one line" },
  { name: "help", help: "say what a command does and takes" },
];

const allowSecret: Option = { name: "allow-secret", help: "record a text although it looks like a credential" };
const owner: Option = { name: "owner", value: "O", help: "who it belongs to; the user's name by default" };

export const commands: readonly Command[] = [
  {
    words: "init",
    summary: "create the layer in a git repository; never overwrites a file",
    run: async () => (await import("./run/init.ts")).init,
  },
  {
    words: "session start",
    summary: "open an episode: one working session of one agent or person in this checkout",
    options: [
      owner,
      { name: "worker", value: "W", help: "who works, as the session record says it" },
      { name: "if-open", value: "refuse|keep", help: "when one is open here already: refuse (the default) or keep it" },
      { name: "provider", value: "P", help: "the agent's provider" },
      { name: "provider-session", value: "ID", help: "the provider's session id; else the environment's" },
      allowSecret,
    ],
    run: async () => (await import("./run/session.ts")).start,
  },
  {
    words: "session end",
    summary: "close this process's episode: derive its records, write its session record",
    options: [
      { name: "outcome", value: "closed|interrupted", help: "how it ended; closed by default" },
      { name: "if-none", value: "refuse|ignore", help: "when no episode is open: refuse (the default) or do nothing" },
    ],
    run: async () => (await import("./run/session.ts")).end,
  },
  {
    words: "session close",
    summary: "the same as session end",
    options: [
      { name: "outcome", value: "closed|interrupted", help: "how it ended; closed by default" },
      { name: "if-none", value: "refuse|ignore", help: "when no episode is open: refuse (the default) or do nothing" },
    ],
    run: async () => (await import("./run/session.ts")).end,
  },
  {
    words: "session status",
    summary: "say which episodes are open here, and which of them is this process's",
    run: async () => (await import("./run/session.ts")).status,
  },
  {
    words: "session list",
    summary: "list the open episodes and the newest closed ones",
    options: [{ name: "all", help: "list every closed episode" }],
    run: async () => (await import("./run/session.ts")).list,
  },
  {
    words: "session recover",
    summary: "close the episodes that nobody ended, and say which",
    options: [{ name: "all", help: "close every open episode of this checkout, not only the stranded ones" }],
    run: async () => (await import("./run/session.ts")).recover,
  },
  {
    words: "start",
    operands: "<task>",
    arity: [1, 1],
    summary: "start this checkout's task",
    options: [
      { name: "scope", value: "PATH", help: "a path that the task may touch", required: true, repeatable: true },
      { name: "profile", value: "P", help: "the kind of task; implementation by default" },
      owner,
      { name: "requires", value: "R", help: "what it needs" },
      allowSecret,
    ],
    run: async () => (await import("./run/task.ts")).start,
  },
  {
    words: "finish",
    summary: "end the task with an outcome",
    options: [
      { name: "outcome", value: "O", help: "completed, partial, blocked, no_match or failed", required: true },
      { name: "note", value: "FILE", help: "a Markdown note; blocked and partial need '# Next Action', failed and no_match '# Reason'" },
      { name: "verify-command", value: "CMD", help: "run it with sh at the root; when it fails, the finish is refused" },
      allowSecret,
    ],
    run: async () => (await import("./run/task.ts")).finish,
  },
  {
    words: "decision add",
    operands: "<text>",
    arity: [1, 1],
    summary: "record a decision",
    options: [
      { name: "why", value: "W", help: "the reason, one line", required: true },
      { name: "rejected", value: "R", help: "what was not chosen" },
      { name: "evidence", value: "E", help: "what it rests on" },
      { name: "supersedes", value: "S", help: "the decision that it replaces" },
      allowSecret,
    ],
    run: async () => (await import("./run/decision.ts")).addOne,
  },
  {
    words: "decision list",
    summary: "list the decisions of this checkout, numbered",
    run: async () => (await import("./run/decision.ts")).list,
  },
  {
    words: "question add",
    operands: "<question>",
    arity: [1, 1],
    summary: "ask a question under the active task",
    options: [allowSecret],
    run: async () => (await import("./run/question.ts")).addOne,
  },
  {
    words: "question resolve",
    operands: "<number or text>",
    arity: [1, 1],
    summary: "answer an open question",
    options: [{ name: "answer", value: "A", help: "the answer, one line", required: true }, allowSecret],
    run: async () => (await import("./run/question.ts")).resolve,
  },
  {
    words: "question list",
    summary: "list the open questions, numbered as resolve takes them",
    run: async () => (await import("./run/question.ts")).list,
  },
  {
    words: "history",
    summary: "read the ledger, oldest line first; with --json the ledger's own lines",
    options: [
      { name: "task", value: "T", help: "only lines of this task" },
      { name: "event", value: "E", help: "only lines of this event" },
      { name: "since", value: "WHEN", help: "only lines since 30m, 2h, 7d ago, or since YYYY-MM-DDTHH:MM:SSZ" },
      { name: "limit", value: "N", help: "the newest N lines; 20 by default" },
      { name: "all", help: "every line" },
      { name: "validate", help: "check that every line is whole and names a known event" },
      { name: "rotate", help: "move lines beyond the policy's retention to an archive" },
    ],
    run: async () => (await import("./run/history.ts")).history,
  },
  {
    words: "knowledge observe",
    operands: "<statement>",
    arity: [1, 1],
    summary: "record what this episode met, as one line of the ledger",
    options: [
      { name: "kind", value: "K", help: "friction, workaround, defect, drift or repetition", required: true },
      { name: "subject", value: "S", help: "a path, or capability:, rule:, command: or gate: and a name", required: true },
      { name: "evidence", value: "R", help: "file:, test:, commit:, issue: or claim: and a name", repeatable: true },
      allowSecret,
    ],
    run: async () => (await import("./run/observe.ts")).observeOne,
  },
  {
    words: "knowledge derive",
    summary: "turn an episode's evidence into candidate records",
    options: [
      { name: "episode", value: "ID", help: "another episode than this process's" },
      { name: "dry-run", help: "say what would be written and write nothing" },
    ],
    run: async () => (await import("./run/derive.ts")).deriveOne,
  },
  {
    words: "knowledge candidates",
    summary: "list the records that await review, grouped by what they are about",
    options: [
      { name: "about", value: "S", help: "only records about this subject" },
      { name: "route", value: "R", help: "only records of this route" },
      { name: "episode", value: "ID", help: "only records of this episode" },
      { name: "min-episodes", value: "N", help: "only what at least N episodes met" },
      { name: "ref", value: "REF", help: "also the records of this branch or commit", repeatable: true },
      { name: "all-refs", help: "also the records of every branch, remote ones too" },
    ],
    run: async () => (await import("./run/candidates.ts")).candidates,
  },
  {
    words: "knowledge promote",
    operands: "<id>",
    arity: [1, 1],
    summary: "make a candidate knowledge, with the evidence on standard input",
    options: [{ name: "class", value: "C", help: "fact, convention, constraint, memory or lesson; the candidate's by default" }, allowSecret],
    run: async () => (await import("./run/promote.ts")).promoteOne,
  },
  {
    words: "knowledge reject",
    operands: "<id>",
    arity: [1, 1],
    summary: "set a candidate aside, with the reason; it stays, as superseded",
    options: [
      { name: "reason", value: "R", help: "why, one line", required: true },
      { name: "by", value: "ID", help: "the record that takes its place" },
      allowSecret,
    ],
    run: async () => (await import("./run/reject.ts")).rejectOne,
  },
  {
    words: "knowledge check",
    summary: "check every record: its shape, its id, what it refers to",
    options: [{ name: "format", value: "github|sarif", help: "print workflow annotations, or a SARIF 2.1.0 log" }],
    run: async () => (await import("./run/check.ts")).check,
  },
  {
    words: "knowledge status",
    summary: "say what awaits review and what stands still: a stopped writer, a long queue, old or untracked candidates",
    run: async () => (await import("./run/status.ts")).status,
  },
  {
    words: "capture session",
    summary: "take in an event of a provider's session, its payload on standard input; always ends with 0",
    options: [
      { name: "provider", value: "P", help: "claude-code, codex, gemini-cli, copilot-cli, cursor, opencode or generic", required: true },
      { name: "event", value: "start|end|compact", help: "what the session does", required: true },
    ],
    neverFails: true,
    run: async () => (await import("./run/capture.ts")).session,
  },
  {
    words: "capture install",
    summary: "merge our entries into a provider's settings of this repository",
    options: [
      { name: "provider", value: "P", help: "claude-code, codex, gemini-cli, copilot-cli, cursor, opencode or generic", required: true },
      { name: "check", help: "only say whether they are there as they should be" },
      { name: "remove", help: "take them out again" },
    ],
    run: async () => (await import("./run/install.ts")).install,
  },
  {
    words: "yaml flatten",
    operands: "<file>",
    arity: [1, 1],
    summary: "print a YAML file as path=value lines",
    options: [{ name: "front", help: "read the file's front matter" }],
    run: async () => (await import("./run/yaml.ts")).flatten,
  },
  {
    words: "parity",
    summary: "run this reader and the shell reader on the repository, and say where they differ",
    options: [
      { name: "sh", value: "WORDS", help: "a shell to run the shell reader with, as 'bash --posix'; sh by default", repeatable: true },
      { name: "awk", value: "WORDS", help: "an awk for it, as 'busybox awk'; MAJORDOMUS_AWK or awk by default", repeatable: true },
      { name: "all", help: "every shell and awk that is known and found" },
    ],
    run: async () => (await import("./run/parity.ts")).parity,
  },
  {
    words: "scenario run",
    operands: "<path>…",
    arity: [1, Number.POSITIVE_INFINITY],
    summary: "run the scenarios of files and directories, each in a directory of its own",
    options: [
      { name: "format", value: "F", help: "text (the default), tap, junit or json" },
      { name: "keep", help: "leave the directories, and say where they are" },
      { name: "time-limit", value: "S", help: "how many seconds a step may take; 30 by default" },
      { name: "verbose", short: "v", help: "show each step as it runs" },
      { name: "with", value: "PROGRAM", help: "run the steps with another program; the setups stay ours" },
    ],
    run: async () => (await import("./run/scenario.ts")).run,
  },
  {
    words: "scenario list",
    operands: "[<path>…]",
    arity: [0, Number.POSITIVE_INFINITY],
    summary: "list scenarios; without a path the toolkit's own",
    run: async () => (await import("./run/scenario.ts")).list,
  },
  {
    words: "scenario check",
    operands: "[<path>…]",
    arity: [0, Number.POSITIVE_INFINITY],
    summary: "check that documents are scenarios, without running them",
    run: async () => (await import("./run/scenario.ts")).check,
  },
  {
    words: "vendor",
    operands: "<dir>",
    arity: [1, 1],
    summary: "copy the toolkit into a directory, whole; replaces an older copy that nobody changed, and nothing else",
    options: [
      { name: "check", help: "say which files of a copy differ from its manifest" },
      { name: "diff", help: "say what an update would change, and write nothing" },
    ],
    run: async () => (await import("./run/vendor.ts")).vendorInto,
  },
  {
    words: "completion",
    operands: "<shell>",
    arity: [1, 1],
    summary: "print the completion of bash, zsh or fish",
    run: async () => (await import("./run/completion.ts")).completionOf({ commands, commonOptions }),
  },
];
