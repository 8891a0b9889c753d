import { describe, expect, test } from "vitest";
import {
  canJudge, hasEnded, here, look, nameValue, ownerName, ownerOf, placeByShell, placeIn, seenByShell, seenInPs, seenInStat, unknown,
} from "../../../src/host/owner.ts";
import type { Owner, Place, Seen } from "../../../src/host/owner.ts";

const place: Place = { start: "60475", namespace: "4026531836", boot: "b814af28-4f6f-4d91-8284-1ff56f51cfaa", host: "build-1" };
const owner: Owner = { ...place, pid: 4242, nonce: "0a1b2c3d" };
const name = "4242_60475_4026531836_b814af28-4f6f-4d91-8284-1ff56f51cfaa_build-1_0a1b2c3d";
const runs = (start: string): (() => Seen) => () => ({ exists: true, start });
const gone = (): Seen => ({ exists: false, start: unknown });

test("ownerName and ownerOf: one form, both ways", () => {
  expect(ownerName(owner)).toBe(name);
  expect(ownerOf(name)).toEqual(owner);
  expect(ownerOf("7_-_-_-_-_x")).toEqual({ pid: 7, start: "-", namespace: "-", boot: "-", host: "-", nonce: "x" });
});

test.each(["", ".DS_Store", "x", `${name}_1`, "4242_60475_4026531836_boot_host", name.replace("4242", "0"), name.replace("4242", "-"),
  `${name}\n`, `a${name}`, name.replace("build", "bu ild"), name.replace("60475", "")])("ownerOf: %j is no owner", (other) => {
  expect(ownerOf(other)).toBeNull();
});

describe("hasEnded", () => {
  const cases: [string, Partial<Owner>, () => Seen, boolean][] = [
    ["the very process runs", {}, runs("60475"), false],
    ["no such process", {}, gone, true],
    ["another start: its number was given to another process", {}, runs("60476"), true],
    ["a process that may not be looked at (EPERM)", {}, runs(unknown), false],
    ["its start was never told, the number is in use", { start: unknown }, runs("60476"), false],
    ["its start was never told, no such process", { start: unknown }, gone, true],
    ["another boot of this host, whatever has its number now", { boot: "0000" }, runs("60475"), true],
    ["its boot was never told", { boot: unknown }, runs("60475"), false],
    ["another host", { host: "build-2" }, gone, false],
    ["another host's boot", { host: "build-2", boot: "0000" }, gone, false],
    ["its host was never told", { host: unknown }, gone, false],
    ["another process namespace", { namespace: "4026532000" }, gone, false],
    ["another process namespace's boot", { namespace: "4026532000", boot: "0000" }, gone, false],
    ["its namespace was never told", { namespace: unknown }, gone, false],
  ];
  test.each(cases)("%s", (_title, change, look, ended) => {
    expect(hasEnded({ ...owner, ...change }, place, look, true)).toBe(ended);
  });

  test("where the host is told to nobody, nobody is judged", () => {
    const nowhere = { ...place, host: unknown };
    expect(hasEnded({ ...owner, ...nowhere }, nowhere, gone, true)).toBe(false);
  });

  test("without a namespace told, an owner is judged only where the system has none (macOS)", () => {
    const mac = { ...place, namespace: unknown };
    expect(hasEnded({ ...owner, ...mac }, mac, gone, false)).toBe(true);
    expect(hasEnded({ ...owner, ...mac }, mac, gone, true)).toBe(false);
    expect(canJudge({ ...owner, ...mac }, mac, false)).toBe(true);
  });

  test("an owner that is not judged is not even looked at", () => {
    const fail = () => {
      throw new Error("looked");
    };
    expect(hasEnded({ ...owner, host: "build-2" }, place, fail, true)).toBe(false);
    expect(hasEnded({ ...owner, boot: "0000" }, place, fail, true)).toBe(true);
  });
});

test("nameValue: letters, digits, dot and hyphen stay, each other byte is a hyphen, at most 64, nothing is '-'", () => {
  expect(nameValue("build-1.example\n")).toBe("build-1.example");
  expect(nameValue("my_mac's é")).toBe("my-mac-s---");
  expect(nameValue("a".repeat(70))).toBe("a".repeat(64));
  expect(nameValue(" \n")).toBe("-");
});

describe("seenInStat: a line of /proc/<pid>/stat", () => {
  const rest = "3493 3493 2617 0 -1 4194304 99 0 0 0 0 0 0 0 20 0 1 0 60475 3133440 413 18446744073709551615";
  test.each([
    ["plain", `3506 (cat) R ${rest}`, { pid: 3506, exists: true, start: "60475" }],
    ["parentheses and blanks in the name", `3506 (a) Z 1 (b) S ${rest}`, { pid: 3506, exists: true, start: "60475" }],
    ["a line end in the name", `3506 (a\nb) S ${rest}\n`, { pid: 3506, exists: true, start: "60475" }],
    ["a zombie", `3506 (node) Z ${rest}`, { pid: 3506, exists: false, start: "60475" }],
    ["going", `3506 (node) X ${rest}`, { pid: 3506, exists: false, start: "60475" }],
    ["empty", "", null],
    ["cut short", "3506 (node) S 1 2", null],
  ])("%s", (_title, text, seen) => {
    expect(seenInStat(text)).toEqual(seen);
  });
});

describe("seenInPs: what macOS prints", () => {
  test.each([
    ["Ss   Mon Nov 30 20:14:02 2026    \n", { exists: true, start: "Mon-Nov-30-20-14-02-2026" }],
    ["S+   Wed Dec  2 09:05:00 2026\n", { exists: true, start: "Wed-Dec-2-09-05-00-2026" }],
    ["Z    Wed Dec  2 09:05:00 2026\n", { exists: false, start: "Wed-Dec-2-09-05-00-2026" }],
    ["", null],
    ["\n", null],
  ])("%j", (text, seen) => {
    expect(seenInPs(text)).toEqual(seen);
  });

  test("placeIn: no namespace, the boot's own id, the host", () => {
    const text = "\n5F0C3A52-98D4-4D11-8F0A-0E1B2C3D4E5F\nmacmini.local\nS+   Wed Dec  2 09:05:00 2026    \n";
    const mac = { start: "Wed-Dec-2-09-05-00-2026", namespace: "-", boot: "5F0C3A52-98D4-4D11-8F0A-0E1B2C3D4E5F", host: "macmini.local" };
    expect(placeIn(text, seenInPs)).toEqual(mac);
    expect(ownerName({ ...mac, pid: 99999, nonce: "00000000" }).length).toBeLessThan(200);
  });

  test("placeIn: what nobody tells is '-'", () => {
    expect(placeIn("", seenInPs)).toEqual({ start: "-", namespace: "-", boot: "-", host: "-" });
    expect(placeIn("\n\n\n", seenInStat)).toEqual({ start: "-", namespace: "-", boot: "-", host: "-" });
  });
});

test("here: the system tells where this process runs, and this process is seen with the same start", () => {
  expect(here().host).not.toBe(unknown);
  expect(here().start).not.toBe(unknown);
  expect(look(process.pid)).toMatchObject({ exists: true, start: here().start });
  expect(look(process.ppid)).toMatchObject({ exists: true });
  expect(ownerOf(ownerName({ ...here(), pid: process.pid, nonce: "0" }))).toEqual({ ...here(), pid: process.pid, nonce: "0" });
});

test("placeByShell, seenByShell: a shell tells the same as the files (Deno, macOS)", () => {
  expect(placeByShell()).toEqual(here());
  expect(seenByShell(process.pid)).toMatchObject({ exists: true, start: here().start });
});

test("look: a number that no process can have is none; process 1 exists, whoever asks", () => {
  expect(look(2 ** 22 + 1)).toEqual({ exists: false, start: unknown });
  expect(look(1).exists).toBe(true);
});
