/** Candidates and the session record as an ended episode leaves them, written without running anything: for tests of what comes after. */
import { appendFileSync, existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { candidatesPath, ledgerPath, sessionsPath } from "./repository.ts";
import type { Repository } from "./repository.ts";

let episodes = 0;

/** The candidates of one new episode, a defect of each subject; gives their ids in that order. */
export function placed(repository: Repository, statement: string, ...subjects: readonly string[]): string[] {
  episodes += 1;
  const episode = `s-20261009100000-${episodes.toString(16).padStart(4, "0")}`;
  const ids = subjects.map((subject, index) => {
    const id = `${episode}-${index.toString(16).padStart(12, "0")}`;
    const route = subject.startsWith("docs/") ? "documentation" : "project";
    const title = `${statement}: ${subject}`;
    const description = `Observed as defect about ${subject} in episode ${episode}.`;
    repository.write(
      `${candidatesPath}/${id}.md`,
      `---
schema: knowledge/v1
id: ${id}
kind: knowledge
class: lesson
title: "${title}"
description: "${description}"
status: candidate
epistemics: observed
date: 2026-10-09
tags:
  - derived
  - observation
about: "${subject}"
route: ${route}
provenance:
  origin: extracted
  derived_from:
    - session:${episode}
---

# ${title}

${description}
`,
    );
    return id;
  });
  repository.write(
    `${sessionsPath}/20261009T100000Z--${episode}--main--NONE.md`,
    `---\nschema: session/v1\nkind: session\nbranch: main\nsession_id: ${episode}\n---\n`,
  );
  const line = (event: string, more: object) =>
    `${JSON.stringify({ ts: "2026-10-09T10:00:00Z", event, head: "NONE", branch: "main", by: "a-test", session: episode, ...more })}\n`;
  const ledger = repository.path(ledgerPath);
  if (!existsSync(dirname(ledger))) mkdirSync(dirname(ledger), { recursive: true });
  appendFileSync(ledger, line("session.started", { owner: "o" }) + line("session.closed", { outcome: "closed", session_path: "" }));
  return ids;
}
