/** The review queue as it is printed (contract, section 8). Pure: a queue in, bytes out. */
import { showControlBytes, showIllFormed } from "../ground/bytes.ts";
import type { ByteString } from "../ground/bytes.ts";
import type { CandidateQueue, CandidateRecord } from "./candidates.ts";

/** The text of `knowledge candidates`. */
export function listingText(queue: CandidateQueue): ByteString {
  let text = "";
  for (const record of queue.awaiting) {
    const branch = queue.branches.get(record.episode) ?? "";
    text += `${padded(record.id, 46)} ${padded(record.class, 10)} ${padded(record.date, 10)} ${padded(branch, 24)} ${shown(record.title)}${standing(record)}\n`;
  }
  text += `knowledge candidates: ${queue.awaiting.length} awaiting review\n`;
  for (const group of queue.groups) {
    text += `about ${shown(group.about)}  route ${shown(group.route)}`;
    text += `  awaiting ${group.awaiting}  rejected ${group.rejected}  episodes ${group.episodes.length}\n`;
    for (const record of group.records) {
      text += `  ${record.status === "candidate" ? "awaiting" : "rejected"}  ${shown(record.id)}${standing(record)}\n`;
    }
    text += `  episodes  ${group.episodes.length === 0 ? "-" : group.episodes.map(shown).join(" ")}\n`;
  }
  for (const file of queue.unreadable) text += `unreadable ${shown(showIllFormed(file.path))}${standing(file)}: ${file.reason}\n`;
  return text;
}

/** A value as text shows it; a missing one is `-`. */
function shown(value: ByteString): ByteString {
  return value === "" ? "-" : showControlBytes(value);
}

/** Where a record stands that is not in the working tree. */
function standing({ ref }: { readonly ref?: ByteString }): ByteString {
  return ref === undefined ? "" : `  (on ${showControlBytes(showIllFormed(ref))})`;
}

function padded(value: ByteString, width: number): ByteString {
  return shown(value).padEnd(width);
}

/** The one line of `knowledge candidates --json`. */
export function listingJson(queue: CandidateQueue): ByteString {
  const candidates = queue.awaiting.map((record) => candidateJson(record, queue.branches.get(record.episode)));
  const groups = queue.groups.map((group) => {
    const ids = (status: string) =>
      group.records.filter((record) => record.status === status).map((record) => JSON.stringify(record.id));
    const episodes = group.episodes.map((episode) => JSON.stringify(episode));
    return (
      `{"about":${JSON.stringify(group.about)},"route":${JSON.stringify(group.route)},` +
      `"candidates":[${ids("candidate").join(",")}],"rejected":[${ids("superseded").join(",")}],"episodes":[${episodes.join(",")}]}`
    );
  });
  const unreadable = queue.unreadable.map(
    (file) => `{"path":${JSON.stringify(showIllFormed(file.path))},"reason":${JSON.stringify(file.reason)}${standingJson(file)}}`,
  );
  return `{"schema":1,"candidates":[${candidates.join(",")}],"groups":[${groups.join(",")}],"unreadable":[${unreadable.join(",")}]}\n`;
}

function candidateJson(record: CandidateRecord, branch: ByteString | undefined): ByteString {
  const fields: [string, ByteString | null][] = [
    ["id", record.id],
    ["class", record.class],
    ["status", record.status],
    ["epistemics", record.epistemics],
    ["date", record.date],
    ["episode", record.episode],
    ["branch", branch ?? null],
    ["path", record.path],
    ["title", record.title],
  ];
  if (record.about !== "") fields.push(["about", record.about]);
  if (record.route !== "") fields.push(["route", record.route]);
  return `{${fields.map(([key, value]) => `"${key}":${JSON.stringify(value)}`).join(",")}${standingJson(record)}}`;
}

function standingJson({ ref }: { readonly ref?: ByteString }): ByteString {
  return ref === undefined ? "" : `,"ref":${JSON.stringify(showIllFormed(ref))}`;
}
