import { expect, test } from "vitest";
import { bytesOfText } from "../../../src/ground/bytes.ts";
import { isUnreadable, queueOf, readRecord } from "../../../src/knowledge/candidates.ts";
import type { CandidateRecord } from "../../../src/knowledge/candidates.ts";
import { listingJson, listingText } from "../../../src/knowledge/listing.ts";
import { randomFrom, seed } from "../../support/random.ts";

const file = (front: string, body = "") => Buffer.from(`---\n${front}---\n${body}`, "utf8");
const read = (front: string) => readRecord("p.md", file(front));

test("readRecord: what a record holds; of another shape than a string is absent", () => {
  expect(read("id: i\nstatus: candidate\n")).toEqual({ path: "p.md", id: "i", class: "", status: "candidate", epistemics: "", date: "", title: "", about: "", route: "", episode: "" });
  expect(read("id: i\nstatus: verified\ntitle: []\nabout:\n  - a\nroute:\n  x: y\nclass: lesson\n")).toMatchObject({ title: "", about: "", route: "", class: "lesson" });
});

test.each([
  ["provenance:\n  derived_from:\n    - session:a\n    - session:b\n", "a"],
  ["provenance:\n  derived_from:\n    - task:t\n    - session:b\n", "b"],
  ["provenance:\n  derived_from: [task:t, 'session:c']\n", "c"],
  ["provenance:\n  derived_from: []\n", ""],
  ["provenance:\n  derived_from: session:a\n", ""],
  ["provenance:\n  derived_from:\n    - x: session:a\n    - session:b\n", "b"],
  ["provenance:\n  derived_from:\n    - [session:a]\n    - session:b\n", "b"],
  ["derived_from:\n  - session:a\n", ""],
])("readRecord: the episode of %j is '%s'", (provenance, episode) => {
  expect(read(`id: i\nstatus: candidate\n${provenance}`)).toMatchObject({ episode });
});

test("readRecord: a context is no record; without an id it is unreadable, in the table's order", () => {
  expect(read("kind: context\n")).toBeNull();
  expect(read("kind: context\nid: i\nstatus: none\n")).toBeNull();
  expect(read("kind: contexts\n")).toMatchObject({ reason: "no id" });
  for (const id of ["", "id:\n", "id: []\n", "id: ''\n", "id:\n  - a\n"]) expect(read(`${id}status: none\n`)).toMatchObject({ reason: "no id" });
  for (const status of ["", "status:\n", "status: Candidate\n", "status: [candidate]\n", "status: constructor\n"]) {
    expect(read(`id: i\n${status}`)).toMatchObject({ reason: "status is none of candidate, verified, superseded" });
  }
});

test("readRecord: NUL before UTF-8 before front matter before its lines, in the body too", () => {
  const reason = (bytes: string) => {
    const found = readRecord("p", Buffer.from(bytes, "latin1"));
    return found !== null && isUnreadable(found) ? found.reason : null;
  };
  expect(reason("\xff\0")).toBe("NUL byte");
  expect(reason("\xff")).toBe("invalid UTF-8");
  expect(reason("---\nid: i\nstatus: candidate\n---\n\xff")).toBe("invalid UTF-8");
  expect(reason("---\nid: i\nstatus: candidate\n---\n\0")).toBe("NUL byte");
  expect(reason("x")).toBe("no front matter");
  expect(reason("---\n\t\n")).toBe("front matter does not end");
  expect(reason("---\n\t\n---\n")).toBe("line 2: tab character");
  expect(reason("---\nid: i\nstatus: candidate\n---\n\t<<<<<<< HEAD\n")).toBeNull();
});

const record = (id: string, more: Partial<CandidateRecord> = {}): CandidateRecord => ({ path: `${id}.md`, id, class: "", status: "candidate", epistemics: "", date: "", title: "", about: "", route: "", episode: "", ...more });

test(`queueOf: the order of the files changes nothing (seed ${seed})`, () => {
  const random = randomFrom(seed);
  const records = Array.from({ length: 40 }, (_, n) =>
    record(`i${random.below(20)}`, { path: `p${n}.md`, about: random.pick(["", "a", "b", "Ä", "\xf0\x9f\x98\x80", "\xef\xbd\x9e"]), status: random.pick(["candidate", "superseded", "verified"]), route: `r${n}`, episode: random.pick(["", "e1", "e2"]) }),
  );
  const unreadable = [{ path: "\xff", reason: "x" }, { path: "b", reason: "x" }];
  const expected = listingText(queueOf(records, unreadable, new Map()));
  for (let round = 0; round < 20; round += 1) {
    const shuffled = [...records].map((one) => [random.below(1e6), one] as const).sort(([a], [b]) => a - b).map(([, one]) => one);
    expect(listingText(queueOf(shuffled, [...unreadable].reverse(), new Map()))).toBe(expected);
  }
});

test("queueOf: groups hold candidates and superseded with a subject; the last record by id gives the route; episodes by first appearance", () => {
  const queue = queueOf(
    [record("3", { about: "a", route: "", episode: "e1" }), record("1", { about: "a", route: "project", episode: "e2", status: "superseded" }), record("2", { about: "a", episode: "e1" }), record("4", { about: "a", status: "verified", route: "x" }), record("5")],
    [],
    new Map(),
  );
  expect(queue.awaiting.map((one) => one.id)).toEqual(["2", "3", "5"]);
  expect(queue.groups.map(({ about, route, awaiting, rejected, episodes }) => ({ about, route, awaiting, rejected, episodes }))).toEqual([{ about: "a", route: "", awaiting: 2, rejected: 1, episodes: ["e2", "e1"] }]);
});

test("listingText: columns padded by the bytes shown, a dash for what is missing, control characters shown", () => {
  const queue = queueOf(
    [record("i", { class: "lesson-longer", date: "\x01", title: bytesOfText("é\u0085"), episode: "e" }), record("j", { about: "\n", route: "\x1b" })],
    [{ path: "a\nb\xff.md", reason: "no id" }],
    new Map([["e", bytesOfText("ü")]]),
  );
  expect(listingText(queue)).toBe(
    `${"i".padEnd(46)} lesson-longer ${"\\x01".padEnd(10)} ${`${bytesOfText("ü")}`.padEnd(24)} ${bytesOfText("é")}\\xc2\\x85\n` +
      `${"j".padEnd(46)} ${"-".padEnd(10)} ${"-".padEnd(10)} ${"-".padEnd(24)} -\n` +
      "knowledge candidates: 2 awaiting review\n" +
      "about \\x0a  route \\x1b  awaiting 1  rejected 0  episodes 0\n  awaiting  j\n  episodes  -\n" +
      "unreadable a\\x0ab\\xff.md: no id\n",
  );
});

test("listingText and listingJson: no record at all", () => {
  const queue = queueOf([], [], new Map());
  expect(listingText(queue)).toBe("knowledge candidates: 0 awaiting review\n");
  expect(listingJson(queue)).toBe('{"schema":1,"candidates":[],"groups":[],"unreadable":[]}\n');
});

test("listingJson: keys in the contract's order, absent ones as it says, strings as JSON.stringify escapes them", () => {
  const full = record("i", { class: "lesson", epistemics: "observed", date: "2026-10-09", title: 'a"\\\n', about: "lib/a.sh", route: "project", episode: "e" });
  const json = listingJson(queueOf([full, record("j", { about: "b" })], [{ path: "x\xff", reason: "r" }], new Map([["e", "main"]])));
  expect(json).toBe(
    '{"schema":1,"candidates":[{"id":"i","class":"lesson","status":"candidate","epistemics":"observed","date":"2026-10-09","episode":"e","branch":"main","path":"i.md","title":"a\\"\\\\\\n","about":"lib/a.sh","route":"project"},' +
      '{"id":"j","class":"","status":"candidate","epistemics":"","date":"","episode":"","branch":null,"path":"j.md","title":"","about":"b"}],' +
      '"groups":[{"about":"b","route":"","candidates":["j"],"rejected":[],"episodes":[]},{"about":"lib/a.sh","route":"project","candidates":["i"],"rejected":[],"episodes":["e"]}],' +
      '"unreadable":[{"path":"x\\\\xff","reason":"r"}]}\n',
  );
});
