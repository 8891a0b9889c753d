// The built program, really killed: before each of its file operations, and at random; really full disks; really short files.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { beforeAll, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { canMount, candidatesPath, environment, freshFolder, launcher, ledgerPath, withEpisode } from "../support/repository.ts";
import type { Repository } from "../support/repository.ts";

const isFull = process.env["MAJORDOMUS_TEST_FULL"] !== undefined;
let killed = "";

beforeAll(async () => {
  killed = join(freshFolder("killed-"), "killed.cjs");
  await build({
    absWorkingDir: home,
    entryPoints: ["test/faults/killed-entry.ts"],
    outfile: killed,
    bundle: true,
    platform: "node",
    format: "cjs",
    logLevel: "silent",
    tsconfigRaw: {},
    define: { "import.meta.dirname": "__dirname" },
  });
}, 60_000);

/** Whether the call was killed before its operation of this number. */
function killedAt(repository: Repository, at: number, args: readonly string[]): boolean {
  const ended = spawnSync(process.execPath, [killed, ...args], {
    cwd: repository.root,
    env: environment({ MAJORDOMUS_TEST_KILL_AT: String(at), MAJORDOMUS_TEST_HOME: home }),
    input: "",
  });
  return ended.signal === "SIGKILL";
}

function temporaries(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.includes(".tmp.mj") || /\.lock[./]/.test(path) || path.endsWith(".closing"));
}

/** Whole lines alone, each one a JSON object. */
function insistWhole(repository: Repository): void {
  const text = repository.read(ledgerPath);
  expect(text.endsWith("\n")).toBe(true);
  for (const line of text.trimEnd().split("\n")) expect(() => JSON.parse(line) as unknown, line).not.toThrow();
}

test("session end, killed with SIGKILL before each n-th file operation: the next one closes once, with one record and all evidence derived", () => {
  const step = isFull ? 1 : 9;
  for (let at = 1; ; at += step) {
    const repository = withEpisode();
    repository.done("knowledge", "observe", "--kind", "defect", "--subject", "lib/a.sh", "a.sh prints the wrong word");
    const wasKilled = killedAt(repository, at, ["session", "end"]);
    if (!wasKilled) expect(at).toBeGreaterThan(60);
    const again = repository.mj("session", "end", "--if-none", "ignore");
    expect([at, again.status]).toEqual([at, 0]);
    repository.done("session", "start");
    repository.done("session", "end");
    insistWhole(repository);
    const closed = repository.ledger().filter((line) => line["event"] === "session.closed" && line["session"] === repository.episode);
    expect([at, closed.length]).toEqual([at, 1]);
    expect([at, repository.names(candidatesPath).length]).toEqual([at, 1]);
    expect(repository.names(".ai/repo/sessions").filter((name) => name.includes(repository.episode))).toHaveLength(1);
    expect([at, temporaries(repository.path(".ai"))]).toEqual([at, []]);
    if (!wasKilled) return;
  }
}, 600_000);

test("knowledge observe, killed at random while six others observe: every acknowledged line is there once, whole; no lock stays", async () => {
  const repository = withEpisode();
  let acknowledged = 0;
  let kills = 0;
  const seen: string[] = [];
  const worker = async (number: number) => {
    for (let round = 0; round < (isFull ? 40 : 5); round += 1) {
      const statement = `worker ${number} round ${round}`;
      const args = ["knowledge", "observe", "--kind", "friction", "--subject", "lib/a.sh", statement];
      const isKilled = (number + round) % 2 === 0;
      const ended = await repository.mjLater(isKilled ? { killAfter: 30 + ((number * 37 + round * 61) % 160) } : {}, ...args);
      if (ended.signal !== null) kills += 1;
      if (ended.status === 0) {
        acknowledged += 1;
        seen.push(statement);
      }
    }
  };
  await Promise.all([1, 2, 3, 4, 5, 6].map(worker));
  repository.done("knowledge", "derive");
  insistWhole(repository);
  const statements = repository.ledger().map((line) => line["statement"]);
  for (const statement of seen) expect(statements.filter((one) => one === statement)).toHaveLength(1);
  expect(acknowledged).toBeGreaterThan(0);
  expect(acknowledged + kills).toBeGreaterThan(6);
  expect(temporaries(repository.path(".ai"))).toEqual([]);
}, 300_000);

const mounting = canMount() ? test : test.skip;

mounting("a full disk: what cannot be written is refused (13) with one line, and works again when there is room", () => {
  const folder = freshFolder("disk-");
  const script = `
set -u
mount -t tmpfs -o size=512k none "$1" && cd "$1" || exit 99
git init -q -b main && "$2" init >/dev/null && "$2" session start >/dev/null || exit 98
"$2" knowledge observe --kind defect --subject lib/a.sh "before" >/dev/null 2>&1 || exit 97
cat /dev/zero > filler 2>/dev/null
for words in "decision add d --why w" "knowledge derive" "start t --scope lib" "history --rotate"; do
  "$2" $words >"$3/out" 2>"$3/err"
  status=$?
  echo "$status $(wc -c <"$3/out") $(wc -l <"$3/err") $words"
done
rm -f filler
echo "left $(find .ai -name '.tmp.mj*' | wc -l)"
"$2" knowledge observe --kind defect --subject lib/a.sh "after" >/dev/null 2>&1; echo "observe $?"
"$2" session end >/dev/null 2>&1; echo "end $?"
echo "left $(find .ai -name '.tmp.mj*' | wc -l)"
grep -c '"statement":"before"' .ai/local/state/ledger.jsonl
ls .ai/repo/knowledge/candidates | grep -vc README
`;
  const ended = spawnSync("unshare", ["-m", "sh", "-c", script, "sh", folder, launcher, freshFolder("out-")], { env: environment(), encoding: "utf8" });
  const lines = ended.stdout.trim().split("\n");
  expect(lines.filter((line) => /^\d+ /.test(line) && line.includes(" ")).length).toBeGreaterThan(2);
  for (const line of lines.filter((one) => /^\d+ \d+ \d+ /.test(one))) {
    const [status, output, errors] = line.split(" ");
    if (status === "13") expect([line, output, errors]).toEqual([line, "0", "1"]);
    else expect([line, ["0", "10", "12"].includes(status ?? "")]).toEqual([line, true]);
  }
  expect(lines.some((line) => line.startsWith("13 "))).toBe(true);
  expect(lines.slice(-5)[1]).toMatch(/^end (?:0|12)$/);
  expect(lines.slice(-3)[0]).toBe("left 0");
  expect(lines.slice(-2)[0]).toBe("1");
  expect(Number(lines.at(-1))).toBeGreaterThan(0);
}, 120_000);

test("ulimit -f: a ledger that may not grow is cut back to what it was, exit 13; nothing is half there", () => {
  const repository = withEpisode();
  for (let count = 0; count < 3; count += 1) repository.done("knowledge", "observe", "--kind", "drift", "--subject", "lib/a.sh", "x".repeat(4000));
  const before = repository.read(ledgerPath);
  // Blocks of 512 bytes, or of 1,024: either way less than the ledger has and one line more.
  const script = `trap '' XFSZ; ulimit -f ${Math.floor(before.length / 1024)}; exec "$0" "$@"`;
  const ended = spawnSync("sh", ["-c", script, launcher, "knowledge", "observe", "--kind", "drift", "--subject", "lib/a.sh", "y".repeat(4000)], {
    cwd: repository.root,
    env: environment(),
    encoding: "utf8",
  });
  expect(ended.status).toBe(13);
  expect(ended.stdout).toBe("");
  expect(ended.stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(repository.read(ledgerPath)).toBe(before);
  repository.done("knowledge", "observe", "--kind", "drift", "--subject", "lib/a.sh", "z");
});
