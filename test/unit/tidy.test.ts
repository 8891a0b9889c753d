import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, posix } from "node:path";
import { describe, expect, test } from "vitest";
import { home } from "../../build/bundle.mjs";
import { needing, program } from "../needs.ts";
import { codeOf, filesBelow, importsOf } from "../source.ts";

interface Rule {
  readonly forbidden: RegExp;
  /** What to write instead. */
  readonly instead: string;
  /** The paths it holds for begin with one of these; */
  readonly places: readonly string[];
  /** and with none of these. */
  readonly except?: readonly string[];
}

/** Looked for in TypeScript without its comments and the insides of its strings. */
const codeRules: readonly Rule[] = [
  {
    forbidden: /\.(?:sort|toSorted)\(\s*\)/,
    instead: "sortedBytes of ground/bytes.ts: the order of bytes, not of UTF-16",
    places: ["src/", "build/"],
  },
  {
    forbidden: /\.localeCompare\(/,
    instead: "compareBytes of ground/bytes.ts",
    places: ["src/", "build/"],
  },
  {
    forbidden: /\bIntl\.|\.toLocale\w*\(/,
    instead: "code of its own: loading the tables of languages costs a start 6 to 12 ms",
    places: ["src/"],
  },
  {
    forbidden: /\bDate\.now\b|\bnew Date\b|\bperformance\.|\bhrtime\b|\bAtomics\./,
    instead: "now, milliseconds or sleep of ground/clock.ts",
    places: ["src/"],
    except: ["src/ground/clock.ts"],
  },
  {
    forbidden: /\bset(?:Timeout|Interval|Immediate)\(/,
    instead: "sleep of ground/clock.ts",
    places: ["src/"],
    except: ["src/host/"], // the limits of a program that it started
  },
  {
    forbidden: /\bMath\.random\b|\bgetRandomValues\b|\brandom(?:Bytes|UUID|Int|FillSync)\b/,
    instead: "chance or randomHex of ground/clock.ts",
    places: ["src/"],
    except: ["src/ground/clock.ts"],
  },
  { forbidden: /\bfs\./, instead: "a function of host/", places: ["src/"], except: ["src/host/"] },
  { forbidden: /\bconsole\./, instead: "an outcome that cli/main.ts prints", places: ["src/"] },
  {
    forbidden: /\bprocess\.(?:stdout|stderr|exitCode)\b/,
    instead: "an outcome that cli/main.ts prints",
    places: ["src/"],
    except: ["src/cli/main.ts"],
  },
  {
    forbidden: /\bprocess\.(?:exit|abort|reallyExit)\b/,
    instead: "a thrown Refusal",
    places: ["src/"],
    except: ["src/host/command.ts", "src/host/scratch.ts"], // a signal that they took over ends it
  },
  {
    forbidden: /\bprocess\.(?:chdir|umask|binding|getBuiltinModule)\b|(?<![.\w])(?:require|eval)\(|\bnew Function\b|\bimport\.meta\.(?!dirname\b)/,
    instead: "an import, or an absolute path: not all runtimes have it, or the bundle has not",
    places: ["src/"],
  },
];

/** Looked for in every line as it stands. */
const textRules: readonly Rule[] = [
  {
    forbidden: /\b(?:TODO|FIXME|XXX|HACK|not implemented)\b/,
    instead: "the thing itself, or an issue",
    places: ["src/", "shell/", "bin/", "build/"],
  },
  { forbidden: /@ts-(?:ignore|nocheck|expect-error)/, instead: "a type that is true", places: ["src/", "build/"] },
  { forbidden: /[ \t]$/, instead: "a line without white space at its end", places: ["src/", "shell/", "bin/", "build/"] },
  { forbidden: /\r/, instead: "LF alone", places: ["src/", "shell/", "bin/", "build/"] },
  { forbidden: /^ *\t/, instead: "two spaces", places: ["src/", "build/"] },
];

/** Looked for in sh and awk without their whole-line comments. */
const shellRules: readonly Rule[] = [
  {
    forbidden: /(?:^|[\s;&|({])echo\s[^#]*\$(?!majordomus_version_\b)/,
    instead: "printf '%s\\n': echo reads escapes and options in what it is handed",
    places: ["shell/"],
  },
  {
    forbidden: /\bawk\b[^|;]*\s-v\s*["']?\w/,
    instead: "the environment or a file: -v reads escapes",
    places: ["shell/", "bin/"],
  },
  { forbidden: /\breadlink\s+-f\b/, instead: "readlink in a loop: not every system has -f", places: ["shell/", "bin/"] },
  {
    forbidden: /\b(?:gensub|strftime|systime|mktime|asorti?|strtonum|PROCINFO|RT)\b\s*[([]/,
    instead: "what POSIX has: of the four awks only gawk knows it",
    places: ["shell/awk/"],
  },
];

const longest = 160;

/** What a file breaks, one sentence each. */
function faultsOf(path: string, text: string): string[] {
  const isCode = /\.(?:ts|mjs)$/.test(path);
  const lines = text.split("\n");
  const code = isCode ? codeOf(text).split("\n") : lines.map((line) => (/^\s*#/.test(line) ? "" : line));
  const faults: string[] = [];
  const look = (rules: readonly Rule[], seen: readonly string[]): void => {
    for (const { forbidden, instead, places, except = [] } of rules) {
      if (!places.some((place) => path.startsWith(place)) || except.some((place) => path.startsWith(place))) continue;
      for (const [index, line] of seen.entries()) {
        const found = forbidden.exec(line);
        if (found !== null) faults.push(`${path}:${index + 1}: '${found[0].trim()}': instead: ${instead}`);
      }
    }
  };
  look(isCode ? codeRules : shellRules, code);
  look(textRules, lines);
  if (isCode && path.startsWith("src/")) {
    for (const [index, line] of lines.entries()) {
      // A line that is long because of what one string or regular expression holds may be.
      const length = /^\s*(?:\/\/|\/?\*)/.test(line) ? line.length : (code[index] ?? "").replace(/ +/g, " ").length;
      if (length > longest) faults.push(`${path}:${index + 1}: longer than ${longest}: instead: two lines`);
    }
  }
  if (text !== "" && !text.endsWith("\n")) faults.push(`${path}: instead: a file that ends in LF`);
  return faults;
}

/** The files that none of these first ones reaches by imports. */
function deadFiles(files: ReadonlyMap<string, string>, first: readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const text = files.get(path);
    if (text === undefined || reached.has(path)) return;
    reached.add(path);
    for (const { specifier } of importsOf(text)) {
      if (specifier.startsWith(".")) visit(posix.join(posix.dirname(path), specifier));
    }
  };
  for (const path of first) visit(path);
  return [...files.keys()].filter((path) => !reached.has(path));
}

/** Whether a text names a folder of one machine: its user's, or the one that the checkout lies in. */
function machinePath(text: string, machine: readonly string[]): string | null {
  const users = /(?<![\w.~])\/(?:home|Users)\/[a-z][\w-]*\//.exec(text);
  if (users !== null) return users[0];
  return machine.find((folder) => new RegExp(`(?<![\\w.~])${escaped(folder)}`).test(text)) ?? null;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

const checked = filesBelow(["src", "shell", "bin", "build"]);

/** Every text file of the project, but for what others wrote. */
function projectFiles(): Map<string, string> {
  const tests = readdirSync(join(home, "test")).filter((name) => name !== "golden" && name !== "tools");
  const folders = ["src", "shell", "bin", "build", "docs", "share", "scenarios", ".ci", ...tests.map((name) => `test/${name}`)];
  const files = filesBelow(folders.filter((folder) => statSync(join(home, folder), { throwIfNoEntry: false })?.isDirectory()));
  for (const folder of [".", "test", "test/tools"]) {
    for (const name of readdirSync(join(home, folder))) {
      const path = join(folder, name);
      if (statSync(join(home, path)).isFile()) files.set(path, readFileSync(join(home, path), "utf8"));
    }
  }
  return files;
}

describe("tidy", () => {
  test("no forbidden call, leftover or stray white space in src/, shell/, bin/ and build/", () => {
    expect([...checked].flatMap(([path, text]) => faultsOf(path, text))).toEqual([]);
  });

  test("no dead file: everything in src/ is reached from the command or the library", () => {
    const source = filesBelow(["src"]);
    expect(source.has("src/cli/entry.ts")).toBe(true);
    expect(deadFiles(source, ["src/cli/entry.ts", "src/index.ts"])).toEqual([]);
  });

  test("no path of this machine", () => {
    const around = dirname(home.replace(/\/$/, ""));
    const machine = [userInfo().homedir, around]
      .filter((folder) => !/^\/(?:tmp|usr|opt|var|home|srv|mnt)?$/.test(folder))
      .map((folder) => `${folder}/`);
    const found = [...projectFiles()].flatMap(([path, text]) => {
      const named = machinePath(text, machine);
      return named === null ? [] : [`${path}: ${named}`];
    });
    expect(found).toEqual([]);
  });

  test("the lock files name no registry, package.json no run-time dependency", () => {
    for (const path of ["package-lock.json", "test/tools/package-lock.json"]) {
      const lock = readFileSync(join(home, path), "utf8");
      expect(lock).toContain('"integrity"');
      expect(lock).not.toContain('"resolved"');
    }
    const manifest = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as Record<string, unknown>;
    for (const kind of ["dependencies", "optionalDependencies", "peerDependencies"]) expect(manifest).not.toHaveProperty(kind);
  });

  const scripts = [...filesBelow(["bin", "shell"]).keys(), ".ci/run"].filter(
    (path) => existsSync(join(home, path)) && (path.endsWith(".sh") || !/\.[^/]+$/.test(path.slice(1))),
  );
  for (const path of scripts) {
    needing("shellcheck")(`shellcheck finds nothing in ${path}`, () => {
      // SC1091: it does not follow what is sourced. SC2015: `a && b || c` is meant so. SC2154: what a sourced file is
      // handed, it does not assign itself.
      const options = path.endsWith(".sh") ? ["--shell=sh", "--exclude=SC2015,SC2154"] : ["--exclude=SC1091,SC2015"];
      const { stdout, status } = spawnSync(program("shellcheck") ?? "", [...options, join(home, path)], { encoding: "utf8" });
      expect({ stdout, status }).toEqual({ stdout: "", status: 0 });
    });
  }
});

describe("tidy: what these tests catch", () => {
  /** One planted line for every rule, with what it is answered. */
  const planted: readonly (readonly [path: string, line: string, answer: string])[] = [
    ["src/ledger/a.ts", "list.sort();", "sortedBytes"],
    ["build/a.ts", "list.toSorted( );", "sortedBytes"],
    ["src/ledger/a.ts", "a.localeCompare(b);", "compareBytes"],
    ["src/ledger/a.ts", "new Intl.Collator();", "tables of languages"],
    ["src/ledger/a.ts", "count.toLocaleString();", "tables of languages"],
    ["src/ledger/a.ts", "const at = Date.now();", "ground/clock.ts"],
    ["src/ledger/a.ts", "const at = `${new Date().getTime()}`;", "ground/clock.ts"],
    ["src/ledger/a.ts", "performance.now();", "ground/clock.ts"],
    ["src/ledger/a.ts", "setTimeout(run, 3);", "sleep of ground/clock.ts"],
    ["src/ledger/a.ts", "Math.random();", "randomHex"],
    ["src/ledger/a.ts", "crypto.getRandomValues(bytes);", "randomHex"],
    ["src/ledger/a.ts", "fs.readFileSync(path);", "host/"],
    ["src/host/a.ts", "console.log(1);", "cli/main.ts"],
    ["src/cli/run/a.ts", "process.stdout.write(text);", "cli/main.ts"],
    ["src/cli/run/a.ts", "process.exitCode = 1;", "cli/main.ts"],
    ["src/cli/main.ts", "process.exit(1);", "Refusal"],
    ["src/cli/a.ts", 'const x = require("x");', "not all runtimes"],
    ["src/cli/a.ts", "const here = import.meta.url;", "not all runtimes"],
    ["src/cli/a.ts", "process.getBuiltinModule(name);", "not all runtimes"],
    ["src/cli/a.ts", `// ${"TO"}DO later`, "issue"],
    ["shell/awk/a.awk", `# ${"FIX"}ME`, "issue"],
    ["src/cli/a.ts", "// @ts-ignore", "type that is true"],
    ["bin/majordomus", "exit 1 ", "white space at its end"],
    ["build/a.mjs", "f();\r", "LF alone"],
    ["src/cli/a.ts", "\tf();", "two spaces"],
    ["shell/lib/a.sh", 'echo "$name"', "printf"],
    ["shell/lib/a.sh", 'LC_ALL=C awk -v "name=$name" -f x', "-v reads escapes"],
    ["bin/a", 'readlink -f "$0"', "readlink in a loop"],
    ["shell/awk/a.awk", "x = gensub(/a/, 1, 1)", "only gawk"],
    ["src/cli/a.ts", `call(${"a, ".repeat(60)});`, "two lines"],
    ["src/cli/a.ts", `// ${"words ".repeat(30)}.`, "two lines"],
  ];

  test("every rule, with its replacement and the line", () => {
    for (const [path, line, answer] of planted) {
      const faults = faultsOf(path, `\n${line}\n`);
      expect({ line, faults }).toEqual({ line, faults: [expect.stringContaining(answer)] });
      expect(faults[0]).toMatch(new RegExp(`^${escaped(path)}:2: `));
    }
    expect(faultsOf("src/cli/a.ts", "f();")).toEqual(["src/cli/a.ts: instead: a file that ends in LF"]);
    for (const { instead } of [...codeRules, ...textRules, ...shellRules]) {
      expect(planted.some(([path, line]) => faultsOf(path, `${line}\n`).some((fault) => fault.endsWith(instead)))).toBe(true);
    }
  });

  test("nothing in comments, strings, templates and regular expressions, nor where a rule makes an exception", () => {
    const innocent = [
      "// list.sort() and console.log",
      "/* Date.now()\n * Math.random() */",
      'const a = "console.log(\\"x\\")" + \'list.sort()\';',
      "const b = `console.log ${count / 2} Math.random() ${`process.exit ${'}'}`}`;",
      "const c = /console\\.log[/\"'`]/.test(text) ? 4 / 2 : /list.sort()/;",
      "const sorted = sortedBytes(names); offset.sorted();",
      `const long = "${"x".repeat(300)}";`,
      "const home = import.meta.dirname;",
    ].join("\n");
    expect(faultsOf("src/ledger/a.ts", `${innocent}\n`)).toEqual([]);
    expect(faultsOf("src/ground/clock.ts", "new Date();\nMath.random();\n")).toEqual([]);
    expect(faultsOf("shell/lib/a.sh", "# echo \"$name\"\nprintf '%s\\n' \"$name\" | LC_ALL=C awk -f a.awk\necho done\n")).toEqual([]);
  });

  test("code is seen again after each of them", () => {
    for (const before of ["/* x */ ", "'a' + ", "`a` + ", "`${b}` + ", "`${{ a: `}` }}` + ", "/[/]/ || ", "a / b + ", "(a) / 2 + ", '"\\\\" + ']) {
      expect(faultsOf("src/ledger/a.ts", `x = ${before}Math.random();\n`)).toHaveLength(1);
    }
  });

  test("a dead file, and one that only another dead one imports", () => {
    const files = new Map([
      ["src/cli/entry.ts", 'void import("./used.ts");'],
      ["src/cli/used.ts", ""],
      ["src/cli/dead.ts", 'import "./dead-too.ts";'],
      ["src/cli/dead-too.ts", ""],
    ]);
    expect(deadFiles(files, ["src/cli/entry.ts"])).toEqual(["src/cli/dead.ts", "src/cli/dead-too.ts"]);
  });

  test("a path of a machine", () => {
    const folder = (...parts: readonly string[]): string => ["", ...parts, ""].join("/");
    expect(machinePath(`see ${folder("home", "someone")}x`, [])).toBe(folder("home", "someone"));
    expect(machinePath(`see '${folder("Users", "someone")}'`, [])).toBe(folder("Users", "someone"));
    expect(machinePath(`in ${folder("place", "of.it")}x`, [folder("place", "of.it")])).toBe(folder("place", "of.it"));
    for (const text of [`src${folder("home", "x")}`, "/home", "~/x", folder("placebo"), folder("place", "ofxit")]) {
      expect(machinePath(text, [folder("place", "of.it")])).toBeNull();
    }
  });
});
