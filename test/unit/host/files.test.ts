import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { refuse, Refusal } from "../../../src/ground/errors.ts";
import {
  appendDurably, errorCode, errorWords, flushFolder, makeDirectory, readBytes, readChunks, removeFile, removeTemporaries, replaceFile,
  stageFile, stageStream, worldError,
} from "../../../src/host/files.ts";
import { failingAt, systemError, withOperations } from "./faults.ts";

const root = fs.mkdtempSync(join(tmpdir(), "files-"));
const worker = join(root, "lock-worker.cjs");
let folder = "";
let path = "";

beforeAll(() => {
  buildSync({
    entryPoints: [fileURLToPath(new URL("lock-worker.ts", import.meta.url))],
    bundle: true, platform: "node", target: "node20", format: "cjs", outfile: worker, logLevel: "error",
  });
});
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  folder = fs.mkdtempSync(join(root, "f-"));
  path = join(folder, "a file.md");
});

const bytes = (text: string) => Buffer.from(text, "latin1");
const content = (file: string) => fs.readFileSync(file, "latin1");
const mode = (file: string) => (fs.statSync(file).mode & 0o7777).toString(8);

function refusal(action: () => unknown): Refusal {
  try {
    action();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("errorCode, errorWords, worldError", () => {
  test.each([
    ["ENOSPC", "no space left on device"],
    ["EROFS", "read-only file system"],
    ["EACCES", "permission denied"],
    ["EPERM", "permission denied"],
    ["EISDIR", "is a directory"],
    ["ENOTDIR", "not a directory"],
    ["ELOOP", "too many symbolic links"],
    ["EFBIG", "file too large"],
    ["EIO", "input or output error"],
    ["EMADEUP", "EMADEUP"],
  ])("%s: %s", (code, words) => {
    expect(errorWords(systemError(code))).toBe(words);
    expect(worldError("cannot write 'x'", systemError(code))).toMatchObject({
      name: "Refusal", code: "could-not-write", status: 13, message: `cannot write 'x': ${words}`,
    });
  });

  test("what the system did not raise stays as it is", () => {
    const others = [new Error("Requires write access"), refuse("drift", "a"), Object.assign(new Error("m"), { code: "ERR_INVALID_ARG_VALUE" }), "text"];
    for (const other of others) {
      expect(errorCode(other)).toBeUndefined();
      expect(worldError("cannot write 'x'", other)).toBe(other);
    }
    expect(errorWords(others[0])).toBe("Requires write access");
  });
});

describe("readBytes", () => {
  test.each([0, 1, 65_535, 65_536, 65_537, 200_000])("%i bytes come as they are, and are the caller's own", (size) => {
    const written = Buffer.alloc(size, Uint8Array.from({ length: 251 }, (_, index) => index));
    fs.writeFileSync(path, written);
    const first = readBytes(path);
    readBytes(worker);
    expect(first?.equals(written)).toBe(true);
  });

  test("no file, no folder, a file for a folder: null", () => {
    expect(readBytes(path)).toBeNull();
    expect(readBytes(join(folder, "none", "x"))).toBeNull();
    fs.writeFileSync(path, "");
    expect(readBytes(join(path, "x"))).toBeNull();
  });

  test("a directory, a link to itself, an error of the disk: refused with 13, naming it", () => {
    expect(refusal(() => readBytes(folder)).message).toBe(`cannot read '${folder}': is a directory`);
    fs.symlinkSync(path, path);
    expect(refusal(() => readBytes(path)).message).toBe(`cannot read '${path}': too many symbolic links`);
    fs.rmSync(path);
    fs.writeFileSync(path, "x");
    const fail = () => {
      throw systemError("EIO");
    };
    expect(refusal(() => withOperations({ readSync: fail }, () => readBytes(path))).status).toBe(13);
  });

  test("regular: a named pipe is refused and never waited for; a link to a file is read", () => {
    spawnSync("mkfifo", [path]);
    expect(refusal(() => readBytes(path, { regular: true })).message).toBe(`cannot read '${path}': not a regular file`);
    fs.symlinkSync(worker, join(folder, "link"));
    expect(readBytes(join(folder, "link"), { regular: true })?.length).toBe(fs.statSync(worker).size);
  });
});

describe("readChunks", () => {
  const read = (size: number, start?: number) => {
    const pieces: string[] = [];
    expect(readChunks(path, size, (chunk) => void pieces.push(chunk.toString("latin1")), start)).toBe(true);
    return pieces;
  };

  test("pieces of the size, the last shorter, from a byte on", () => {
    fs.writeFileSync(path, "0123456789");
    expect(read(4)).toEqual(["0123", "4567", "89"]);
    expect(read(4, 7)).toEqual(["789"]);
    expect(read(4, 10)).toEqual([]);
    expect(read(4, 99)).toEqual([]);
  });

  test("one buffer serves all, and false ends the reading", () => {
    fs.writeFileSync(path, "0123456789");
    const seen: Buffer[] = [];
    readChunks(path, 2, (chunk) => seen.push(chunk) < 3);
    expect(seen).toHaveLength(3);
    expect(new Set(seen.map((chunk) => chunk.buffer)).size).toBe(1);
  });

  test("no file: false; not a regular file: refused; what is thrown inside goes on, the file closed", () => {
    expect(readChunks(path, 4, () => {})).toBe(false);
    expect(refusal(() => readChunks(folder, 4, () => {})).detail).toBe("not a regular file");
    fs.writeFileSync(path, "x");
    let closed = 0;
    const close = (real: (...values: unknown[]) => unknown, file: unknown) => ((closed += 1), real(file));
    const fail = () => {
      throw new Error("inside");
    };
    expect(() => withOperations({ closeSync: close }, () => readChunks(path, 4, fail))).toThrow("inside");
    expect(closed).toBe(1);
  });
});

describe("replaceFile", () => {
  test("makes a file, and replaces one, whole, with the mode told", () => {
    replaceFile(path, bytes("one\n"));
    expect([content(path), mode(path)]).toEqual(["one\n", "644"]);
    replaceFile(path, bytes("two\n"), { mode: 0o600 });
    expect([content(path), mode(path)]).toEqual(["two\n", "600"]);
    expect(fs.readdirSync(folder)).toEqual(["a file.md"]);
  });

  test("a symbolic link is replaced, what it pointed at stays", () => {
    fs.writeFileSync(join(folder, "other"), "mine");
    fs.symlinkSync("other", path);
    replaceFile(path, bytes("new"));
    expect([fs.lstatSync(path).isFile(), content(path), content(join(folder, "other"))]).toEqual([true, "new", "mine"]);
  });

  test("short writes are gone on with; a write of nothing is refused", () => {
    const short = (real: (...values: unknown[]) => unknown, file: unknown, data: unknown, from: unknown, length: unknown) =>
      real(file, data, from, Math.min(Number(length), 3));
    withOperations({ writeSync: short }, () => replaceFile(path, bytes("0123456789")));
    expect(content(path)).toBe("0123456789");
    expect(refusal(() => withOperations({ writeSync: () => 0 }, () => replaceFile(path, bytes("new")))).status).toBe(13);
    expect([content(path), fs.readdirSync(folder)]).toEqual(["0123456789", ["a file.md"]]);
  });

  test("a temporary name that is taken, a link there too, is not written through", () => {
    fs.writeFileSync(join(folder, "victim"), "mine");
    let planted = "";
    const plant = (real: (...values: unknown[]) => unknown, file: unknown, ...rest: unknown[]) => {
      if (planted === "" && String(file).includes(".tmp.mj")) fs.symlinkSync("victim", (planted = String(file)));
      return real(file, ...rest);
    };
    withOperations({ openSync: plant }, () => replaceFile(path, bytes("new")));
    expect([content(path), content(join(folder, "victim")), fs.readlinkSync(planted)]).toEqual(["new", "mine", "victim"]);
  });

  test.each([["no folder", "none/x", "no such file or directory"], ["a directory in its place", "made", "is a directory"],
    ["a file for its folder", "plain/x", "not a directory"]])("%s: refused with 13, naming it", (_title, name, words) => {
    fs.mkdirSync(join(folder, "made"));
    fs.writeFileSync(join(folder, "plain"), "mine");
    const target = join(folder, name);
    expect(refusal(() => replaceFile(target, bytes("new"))).message).toBe(`cannot write '${target}': ${words}`);
    expect(new Set(fs.readdirSync(folder))).toEqual(new Set(["made", "plain"]));
  });

  test.each(["ENOSPC", "EIO", "EROFS"])("the n-th call fails with %s: the old file or the new one, refused with 13, no temporary", (code) => {
    const seen = new Set<string>();
    for (let n = 1; ; n += 1) {
      fs.writeFileSync(path, "old");
      const { failed, thrown } = failingAt(n, code, () => replaceFile(path, bytes("new")));
      if (failed === undefined) break;
      // A folder that cannot be closed after it was flushed has harmed nothing.
      if (thrown !== undefined) expect(thrown).toMatchObject({ name: "Refusal", status: 13, message: `cannot write '${path}': ${errorWords(systemError(code))}` });
      else expect([failed, content(path)]).toEqual(["closeSync", "new"]);
      expect(["old", "new"]).toContain(content(path));
      expect(fs.readdirSync(folder)).toEqual(["a file.md"]);
      seen.add(failed);
      expect(n).toBeLessThan(40);
    }
    expect(seen).toEqual(new Set(["openSync", "fchmodSync", "writeSync", "fsyncSync", "closeSync", "renameSync"]));
  });

  test("a folder that cannot be flushed at all (EINVAL) is no failure", () => {
    const refuseFolders = (real: (...values: unknown[]) => unknown, file: unknown) => {
      if (fs.fstatSync(Number(file)).isDirectory()) throw systemError("EINVAL");
      return real(file);
    };
    withOperations({ fsyncSync: refuseFolders }, () => replaceFile(path, bytes("new")));
    expect(content(path)).toBe("new");
  });
});

describe("stageFile", () => {
  test("nothing of the target is touched before the commit; the temporary is whole, with its mode", () => {
    fs.writeFileSync(path, "old");
    const staged = stageFile(path, bytes("new"), 0o640);
    expect(staged.target).toBe(path);
    expect(staged.temporary).toMatch(/\/\.tmp\.mj[0-9a-f]{6}$/);
    expect([content(path), content(staged.temporary), mode(staged.temporary)]).toEqual(["old", "new", "640"]);
    staged.commit();
    staged.discard();
    expect([content(path), fs.readdirSync(folder)]).toEqual(["new", ["a file.md"]]);
  });

  test("discard takes it away, and what is gone already is none", () => {
    const staged = stageFile(path, bytes("new"));
    staged.discard();
    staged.discard();
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test("commit: flushes the folder unless the caller does", () => {
    let flushed = 0;
    const count = (real: (...values: unknown[]) => unknown, file: unknown) => ((flushed += 1), real(file));
    withOperations({ fsyncSync: count }, () => {
      stageFile(path, bytes("a")).commit(false);
      expect(flushed).toBe(1);
      stageFile(path, bytes("b")).commit();
      expect(flushed).toBe(3);
      flushFolder(folder);
      expect(flushed).toBe(4);
    });
  });

  test("a commit that fails leaves the old file, and the temporary until it is discarded", () => {
    fs.mkdirSync(path);
    const staged = stageFile(path, bytes("new"));
    expect(refusal(() => staged.commit()).message).toBe(`cannot write '${path}': is a directory`);
    expect(fs.readdirSync(folder)).toHaveLength(2);
    staged.discard();
    expect(fs.readdirSync(folder)).toEqual(["a file.md"]);
  });
});

describe("stageStream", () => {
  test("pieces of any size, a buffer used again too, come in order; few writes", () => {
    let writes = 0;
    const count = (real: (...values: unknown[]) => unknown, ...values: unknown[]) => ((writes += 1), real(...values));
    const piece = Buffer.alloc(200);
    const long = Buffer.alloc(150_000, "z");
    withOperations({ writeSync: count }, () => {
      const produce = (write: (piece: Uint8Array) => void) => {
        for (let index = 0; index < 1_000; index += 1) write(piece.fill(97 + (index % 26)));
        write(long);
        write(bytes(""));
        write(bytes("end\n"));
      };
      stageStream(path, produce, 0o600).commit();
    });
    const letters = Array.from({ length: 1_000 }, (_, index) => String.fromCharCode(97 + (index % 26)).repeat(200)).join("");
    expect(content(path) === `${letters}${long.toString("latin1")}end\n`).toBe(true);
    expect([writes < 10, mode(path), fs.readdirSync(folder)]).toEqual([true, "600", ["a file.md"]]);
  });

  test("nothing written is an empty file", () => {
    stageStream(path, () => {}).commit();
    expect([content(path), mode(path)]).toEqual(["", "644"]);
  });

  test("what is thrown inside goes on, and nothing stays", () => {
    const fault = new Error("inside");
    expect(() => stageStream(path, (write) => { write(bytes("x")); throw fault; })).toThrow(fault);
    expect(fs.readdirSync(folder)).toEqual([]);
  });
});

describe("appendDurably", () => {
  test("makes the file, then adds to it, and tells where each line begins", () => {
    expect(appendDurably(path, bytes("{1}\n"))).toBe(0);
    expect(appendDurably(path, bytes("{2}\n{3}\n"))).toBe(4);
    expect(content(path)).toBe("{1}\n{2}\n{3}\n");
  });

  test("a torn last line is ended first and kept", () => {
    fs.writeFileSync(path, '{"a":1}\n{"torn":"te');
    expect(appendDurably(path, bytes("{2}\n"))).toBe(20);
    expect(content(path)).toBe('{"a":1}\n{"torn":"te\n{2}\n');
  });

  test("one write for all of it, the line end of a torn line too, and on disk before it returns", () => {
    fs.writeFileSync(path, "torn");
    const calls: string[] = [];
    const log = (name: string) => (real: (...values: unknown[]) => unknown, ...values: unknown[]) => {
      calls.push(name);
      return real(...values);
    };
    const line = bytes(`${"x".repeat(65_535)}\n`);
    withOperations({ writeSync: log("write"), fsyncSync: log("fsync"), closeSync: log("close") }, () => appendDurably(path, line));
    expect(calls).toEqual(["write", "fsync", "close"]);
    expect(fs.statSync(path).size).toBe(4 + 1 + 65_536);
  });

  test("a new file's folder is flushed too", () => {
    let flushed = 0;
    const count = (real: (...values: unknown[]) => unknown, file: unknown) => ((flushed += 1), real(file));
    withOperations({ fsyncSync: count }, () => appendDurably(path, bytes("{}\n")));
    expect(flushed).toBe(2);
  });

  test("lines that do not end, and none, are a fault of the caller", () => {
    expect(() => appendDurably(path, bytes("{}"))).toThrow("does not end");
    expect(() => appendDurably(path, bytes(""))).toThrow("does not end");
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  test.each(["target", "none"])("a symbolic link (to '%s') is refused with 10 and not followed", (to) => {
    fs.writeFileSync(join(folder, "target"), "mine\n");
    fs.symlinkSync(to, path);
    const error = refusal(() => appendDurably(path, bytes("{}\n")));
    expect([error.code, error.status, error.message]).toEqual(["refused", 10, `cannot write '${path}': it is a symbolic link`]);
    expect([content(join(folder, "target")), fs.existsSync(join(folder, "none"))]).toEqual(["mine\n", false]);
  });

  test("a directory, a named pipe, a missing folder: refused with 13", () => {
    expect(refusal(() => appendDurably(folder, bytes("{}\n"))).message).toBe(`cannot write '${folder}': is a directory`);
    spawnSync("mkfifo", [path]);
    expect(refusal(() => appendDurably(path, bytes("{}\n"))).message).toBe(`cannot write '${path}': not a regular file`);
    const missing = join(folder, "none", "ledger.jsonl");
    expect(refusal(() => appendDurably(missing, bytes("{}\n"))).message).toBe(`cannot write '${missing}': no such file or directory`);
  });

  test("a short write is cut back", () => {
    fs.writeFileSync(path, "{1}\ntorn");
    const short = (real: (...values: unknown[]) => unknown, file: unknown, data: unknown) => real(file, data, 0, 3);
    expect(refusal(() => withOperations({ writeSync: short }, () => appendDurably(path, bytes("{22}\n")))).message).toBe(
      `cannot write '${path}': only 3 of 6 bytes could be written`,
    );
    expect(content(path)).toBe("{1}\ntorn");
  });

  test("a limit of the system that is met in the middle of a line: cut back, refused", () => {
    const ledger = join(folder, "ledger.jsonl");
    fs.writeFileSync(ledger, `${"x".repeat(399)}\n`);
    const { stdout } = spawnSync("sh", ["-c", 'ulimit -f 1; exec "$@"', "sh", process.execPath, worker, "try", folder, "append"], { encoding: "latin1" });
    expect(stdout).toMatch(/^could-not-write 13 cannot write '.*': only \d+ of 300 bytes could be written$/);
    expect(content(ledger)).toBe(`${"x".repeat(399)}\n`);
  });

  test("what a writer without our lock added meanwhile is not cut away", () => {
    fs.writeFileSync(path, "{1}\n");
    const other = (real: (...values: unknown[]) => unknown, file: unknown, data: unknown) => {
      fs.appendFileSync(path, "{other}\n");
      return real(file, data, 0, 3);
    };
    expect(refusal(() => withOperations({ writeSync: other }, () => appendDurably(path, bytes("{22}\n")))).status).toBe(13);
    expect(content(path)).toBe("{1}\n{other}\n{22");
  });

  test.each([["ENOSPC", "{1}\n"], ["EIO", "{1}\ntorn"], ["EDQUOT", null], ["EROFS", ""]])(
    "the n-th call fails with %s on %j: refused and as before, or done",
    (code, before) => {
      const seen = new Set<string>();
      for (let n = 1; ; n += 1) {
        fs.rmSync(path, { force: true });
        if (before !== null) fs.writeFileSync(path, before);
        const { failed, thrown } = failingAt(n, code, () => appendDurably(path, bytes("{2}\n")));
        if (failed === undefined) break;
        const after = fs.existsSync(path) ? content(path) : null;
        if (thrown === undefined) {
          expect([failed, after]).toEqual(["closeSync", `${before === "{1}\ntorn" ? `${before}\n` : (before ?? "")}{2}\n`]);
        } else {
          expect(thrown).toMatchObject({ name: "Refusal", status: 13, what: `cannot write '${path}'`, detail: errorWords(systemError(code)) });
          expect(after).toBe(before);
        }
        seen.add(failed);
        expect(n).toBeLessThan(40);
      }
      for (const name of ["openSync", "fstatSync", "writeSync", "fsyncSync"]) expect(seen).toContain(name);
    },
  );
});

test.each([["077", "600"], ["000", "644"]])("modes under umask %s: replaced files exact, a new ledger within the mask", (mask, ledger) => {
  const { stdout } = spawnSync("sh", ["-c", `umask ${mask}; exec "$@"`, "sh", process.execPath, worker, "try", folder, "modes"], { encoding: "latin1" });
  expect(stdout).toBe("done");
  const modes = Object.fromEntries(fs.readdirSync(folder).map((name) => [name, mode(join(folder, name))]));
  expect(modes).toEqual({ "a.md": "644", "b.yaml": "600", "made": "755", "ledger.jsonl": ledger });
});

describe("makeDirectory", () => {
  test("makes it and those above; tells whether it was made here", () => {
    const deep = join(folder, "a", "b", "c");
    expect(makeDirectory(deep, 0o700)).toBe(true);
    expect([mode(deep), fs.statSync(deep).isDirectory()]).toEqual(["700", true]);
    expect(makeDirectory(deep)).toBe(false);
    expect(mode(deep)).toBe("700");
  });

  test("a link to a directory is one; a file or a dangling link in the way is refused with 13, naming it", () => {
    fs.mkdirSync(join(folder, "real"));
    fs.symlinkSync("real", join(folder, "link"));
    expect(makeDirectory(join(folder, "link"))).toBe(false);
    fs.writeFileSync(path, "");
    expect(refusal(() => makeDirectory(path)).message).toBe(`cannot make '${path}': it is there and no directory`);
    expect(refusal(() => makeDirectory(join(path, "x"))).message).toBe(`cannot make '${join(path, "x")}': not a directory`);
    fs.symlinkSync("nowhere", join(folder, "dangling"));
    expect(refusal(() => makeDirectory(join(folder, "dangling", "x"))).message).toContain("dangling': it is there and no directory");
  });

  test("an error of the disk is refused with 13", () => {
    const fail = () => {
      throw systemError("EROFS");
    };
    expect(refusal(() => withOperations({ mkdirSync: fail }, () => makeDirectory(path))).message).toBe(`cannot make '${path}': read-only file system`);
  });
});

describe("removeFile", () => {
  test("a file, a link itself; what is not there is none", () => {
    fs.writeFileSync(path, "");
    fs.symlinkSync(path, join(folder, "link"));
    expect([removeFile(join(folder, "link")), fs.existsSync(path), removeFile(path), removeFile(path), removeFile(join(folder, "x", "y"))]).toEqual(
      [true, true, true, false, false],
    );
  });

  test("an error of the disk is refused with 13", () => {
    const fail = () => {
      throw systemError("EACCES");
    };
    expect(refusal(() => withOperations({ unlinkSync: fail }, () => removeFile(path))).message).toBe(`cannot remove '${path}': permission denied`);
  });
});

test("removeTemporaries: every .tmp.mj* that is no directory goes, all else stays; no folder is none", () => {
  for (const name of [".tmp.mj012345", ".tmp.mj", ".tmp.other", "x.tmp.mj1", "README.md"]) fs.writeFileSync(join(folder, name), "");
  fs.symlinkSync("README.md", join(folder, ".tmp.mjlink"));
  fs.mkdirSync(join(folder, ".tmp.mjfolder"));
  removeTemporaries(folder);
  expect(new Set(fs.readdirSync(folder))).toEqual(new Set([".tmp.mjfolder", ".tmp.other", "README.md", "x.tmp.mj1"]));
  removeTemporaries(join(folder, "none"));
  fs.writeFileSync(path, "");
  expect(refusal(() => removeTemporaries(path)).message).toBe(`cannot read '${path}': not a directory`);
});
