/** Calls: wrong ones, what help and version print to, and `yaml flatten`. */
import { unreadableWords, yamlWords } from "../../../src/ground/tables.ts";
import { candidates, layer, recordOf } from "../cases.ts";
import type { ParityCase } from "../cases.ts";
import type { Thing } from "../tree.ts";

const wrong = (call: readonly string[], said: string): ParityCase => ({
  title: `call: ${JSON.stringify(call)}`,
  files: layer({ [`${candidates}/a.md`]: recordOf({}) }),
  call,
  stderr: `majordomus: ${said}\n`,
  status: 2,
});

const see = "see 'majordomus knowledge candidates --help'";
const seeFlatten = "see 'majordomus yaml flatten --help'";
const help = "run 'majordomus --help'";

const wrongCalls = [
  wrong([], `no command: ${help}`),
  wrong(["--json"], `no command: ${help}`),
  wrong(["--repo", "."], `no command: ${help}`),
  wrong(["--x"], `unknown option '--x': ${help}`),
  wrong(["--x=y z", "--json"], `unknown option '--x': ${help}`),
  wrong(["frobnicate"], `unknown command 'frobnicate': ${help}`),
  wrong(["fro\u001b\nbnicate", "x"], `unknown command 'fro\\x1b\\x0abnicate': ${help}`),
  wrong([""], `no command: ${help}`),
  wrong(["--", "knowledge", "candidates"], `no command: ${help}`),
  wrong(["knowledge"], "unknown command 'knowledge': run 'majordomus knowledge --help'"),
  wrong(["knowledge", "candidate"], "unknown command 'knowledge candidate': run 'majordomus knowledge --help'"),
  wrong(["yaml"], "unknown command 'yaml': run 'majordomus yaml --help'"),
  wrong(["yaml", "é"], "unknown command 'yaml é': run 'majordomus yaml --help'"),
  wrong(["knowledge", "candidates", "--x"], `unknown option '--x': ${help}`),
  wrong(["knowledge", "candidates", "-x"], `unknown option '-x': ${help}`),
  wrong(["knowledge", "candidates", "--front"], `unknown option '--front': ${help}`),
  wrong(["knowledge", "candidates", "x"], `unexpected argument 'x': ${see}`),
  wrong(["knowledge", "candidates", "--", "-x", "y"], `unexpected argument '-x': ${see}`),
  wrong(["knowledge", "candidates", "-"], `unexpected argument '-': ${see}`),
  wrong(["knowledge", "candidates", ""], `unexpected argument '': ${see}`),
  wrong(["knowledge", "candidates", "--json=x"], `option '--json' takes no value: ${see}`),
  wrong(["knowledge", "candidates", "--repo"], `missing value of '--repo': ${see}`),
  wrong(["knowledge", "candidates", "--repo", ".", "--repo=."], `option '--repo' is given twice: ${see}`),
  wrong(["knowledge", "candidates", "--re", "."], `unknown option '--re': ${help}`),
  wrong(["yaml", "flatten"], `missing <file>: ${seeFlatten}`),
  wrong(["yaml", "flatten", "--front"], `missing <file>: ${seeFlatten}`),
  wrong(["yaml", "flatten", "a", "b\tc"], `unexpected argument 'b\\x09c': ${seeFlatten}`),
  wrong(["yaml", "flatten", "a", "--front=x"], `option '--front' takes no value: ${seeFlatten}`),
  wrong(["yaml", "flatten", "-x"], `unknown option '-x': ${help}`),
];

const flatten = (title: string, file: Thing | null, gives: Partial<ParityCase>): ParityCase => ({
  title: `yaml flatten: ${title}`,
  files: file === null ? { x: "" } : { "a.yaml": file },
  call: ["yaml", "flatten", "a.yaml"],
  ...gives,
});
const front: Pick<ParityCase, "call"> = { call: ["yaml", "flatten", "--front", "a.yaml"] };
const refused = (reason: string) => ({ status: 10, stderr: `majordomus: a.yaml: ${reason}\n` });

const document = `schema: x\ntags:\n  - derived\n  - k: v\n    l: [a, "b\\n"]\nprovenance:\n  origin: extracted\nnone: []\nempty:\n__proto__: y\n`;
const flattenedDocument = "schema=x\ntags.0=derived\ntags.1.k=v\ntags.1.l.0=a\ntags.1.l.1=b\\n\nprovenance.origin=extracted\nnone=[]\nempty=\n__proto__=y\n";

const flattenCases: readonly ParityCase[] = [
  flatten("a document in its order", document, { stdout: flattenedDocument, everywhere: true }),
  flatten("JSON", document, {
    call: ["yaml", "flatten", "--json", "a.yaml"],
    stdout:
      '{"schema":"x","tags.0":"derived","tags.1.k":"v","tags.1.l.0":"a","tags.1.l.1":"b\\n","provenance.origin":"extracted","none":[],"empty":"","__proto__":"y"}\n',
    everywhere: true,
  }),
  flatten("the front matter", `---\n${document}---\n\tbody\u0001\n`, { ...front, stdout: flattenedDocument, everywhere: true }),
  flatten("what it escapes", 'a: "\\\\ \\" \\a\\b\\t\\n\\v\\f\\r\\e\\x1f\\x7f\\N\\x80\\x9f\\_\\L é😀"\n', {
    stdout: 'a=\\\\ " \\u0007\\b\\t\\n\\u000b\\f\\r\\u001b\\u001f\\u007f\\u0085\\u0080\\u009f\u00a0\u2028 é😀\n',
    everywhere: true,
  }),
  flatten("what JSON escapes", 'a: "\\\\ \\" \\a\\b\\t\\n\\v\\f\\r\\e\\x1f\\x7f\\N\\x80\\x9f\\_\\L é😀"\n', {
    call: ["yaml", "flatten", "a.yaml", "--json"],
    stdout: '{"a":"\\\\ \\" \\u0007\\b\\t\\n\\u000b\\f\\r\\u001b\\u001f\u007f\u0085\u0080\u009f\u00a0\u2028 é😀"}\n',
    everywhere: true,
  }),
  flatten("nothing", "", { stdout: "" }),
  flatten("nothing, JSON", "# c\n", { call: ["yaml", "flatten", "--json", "a.yaml"], stdout: "{}\n" }),
  flatten("nothing between fences", "---\n---\n", { ...front, stdout: "" }),
  flatten("values that look like awk's numbers", "a: 010\nb: 1e3\nc: 0x10\nd: +1\ne: .5\nf: 1.0\ng: nan\nh: inf\n", {
    stdout: "a=010\nb=1e3\nc=0x10\nd=+1\ne=.5\nf=1.0\ng=nan\nh=inf\n",
    everywhere: true,
  }),
  flatten("nothing of a document that is refused at its end", `${document}x\n`, refused(`line 11: ${yamlWords["no-key"]}`)),
  flatten("NUL", "a: b\u0000\n", { ...refused(unreadableWords.nul), everywhere: true }),
  flatten("NUL at the very end", "a: b\n\u0000", { ...refused(unreadableWords.nul), everywhere: true }),
  flatten("NUL alone", "\u0000", refused(unreadableWords.nul)),
  flatten("NUL before invalid UTF-8", "\udcff\u0000", refused(unreadableWords.nul)),
  flatten("invalid UTF-8", "a: b\udcff\n", { ...refused(unreadableWords.utf8), everywhere: true }),
  flatten("invalid UTF-8 in every byte that awks split at", "a: \udcfe\n", { ...refused(unreadableWords.utf8), everywhere: true }),
  flatten("a character cut off by the end", "a: \udcc3", { ...refused(unreadableWords.utf8), everywhere: true }),
  flatten("a carriage return as the last byte", "a: b\r", { ...refused(`line 1: ${yamlWords["carriage-return"]}`), everywhere: true }),
  flatten("a control character as the last byte", "a: b\n#\u0001", { ...refused(`line 2: ${yamlWords.control}`), everywhere: true }),
  flatten("a full stop as the last byte", "a: b.", { stdout: "a=b.\n", everywhere: true }),
  flatten("a full stop in the last line", "a: b\n.", refused(`line 2: ${yamlWords["no-key"]}`)),
  flatten("--front: no front matter", "a: b\n", { ...front, ...refused(unreadableWords["no-front-matter"]) }),
  flatten("--front: an empty file", "", { ...front, ...refused(unreadableWords["no-front-matter"]) }),
  flatten("--front: front matter that does not end", "---\na: b\n", { ...front, ...refused(unreadableWords.endless), everywhere: true }),
  flatten("--front: a line of the file", "---\na: b\n\tc: d\n---\n", { ...front, ...refused(`line 3: ${yamlWords.tab}`), everywhere: true }),
  flatten("--front: NUL in the body", "---\na: b\n---\n\u0000", { ...front, ...refused(unreadableWords.nul) }),
  flatten("--front: invalid UTF-8 in the body", "---\na: b\n---\n\udcff", { ...front, ...refused(unreadableWords.utf8) }),
  flatten("--front: a last fence with CR and no LF", "---\r\na: b\r\n---\r", { ...front, stdout: "a=b\n", everywhere: true }),
  flatten("no such file", null, { status: 12, stderr: "majordomus: cannot read 'a.yaml': no such file\n" }),
  flatten("a link to nothing", { link: "nowhere" }, { status: 12, stderr: "majordomus: cannot read 'a.yaml': no such file\n" }),
  flatten("a folder", { folder: true }, { status: 13, stderr: "majordomus: cannot read 'a.yaml': is a directory\n" }),
  flatten("a file that may not be read", { closed: "a: b\n" }, { status: 13, stderr: "majordomus: cannot read 'a.yaml': permission denied\n", asUser: true }),
  flatten("a file below a file", "x", { call: ["yaml", "flatten", "a.yaml/b"], status: 12, stderr: "majordomus: cannot read 'a.yaml/b': no such file\n" }),
  {
    title: "yaml flatten: a link to a document",
    files: { "b/c": "a: b\n", "a.yaml": { link: "b/c" } },
    call: ["yaml", "flatten", "a.yaml"],
    stdout: "a=b\n",
  },
  ...["-dash", "a=b", "a b", "x\ny", "*", "é", "--front", "\\n", "'", "-"].map(
    (name): ParityCase => ({ title: `yaml flatten: a file named ${JSON.stringify(name)}`, files: { [name]: "a: b\n" }, call: ["yaml", "flatten", "--", name], stdout: "a=b\n" }),
  ),
  {
    title: "yaml flatten: a name with control characters in a refusal",
    files: { "a\u001b\n\u0085é": "\t" },
    call: ["yaml", "flatten", "a\u001b\n\u0085é"],
    status: 10,
    stderr: `majordomus: a\\x1b\\x0a\\xc2\\x85é: line 1: ${yamlWords.tab}\n`,
    everywhere: true,
  },
  { title: "yaml flatten: from a folder below, by an absolute path", files: { "x/y": "", "a.yaml": "a: b\n" }, directory: "x", call: ["yaml", "flatten", "@ROOT@/a.yaml"], stdout: "a=b\n" },
  { title: "yaml flatten: --repo is taken and means nothing", files: { "a.yaml": "a: b\n" }, call: ["--repo", "nowhere", "yaml", "flatten", "a.yaml"], stdout: "a=b\n" },
  {
    title: "yaml flatten: a long document",
    files: { "a.yaml": Array.from({ length: 3000 }, (_, index) => `k${index}: "${"\\\\".repeat(index % 50)}\\n"\n`).join("") },
    call: ["yaml", "flatten", "a.yaml"],
    stdout: Array.from({ length: 3000 }, (_, index) => `k${index}=${"\\\\".repeat(index % 50)}\\n\n`).join(""),
    everywhere: true,
  },
];

export const callCases: readonly ParityCase[] = [
  ...wrongCalls,
  { title: "call: --version", files: { x: "" }, call: ["--version"], sameAs: "toolkit" },
  { title: "call: options around the words", files: layer({ [`${candidates}/a.md`]: "" }), call: ["--json", "knowledge", "--repo", ".", "candidates"], stdout: `{"schema":1,"candidates":[],"groups":[],"unreadable":[{"path":"${candidates}/a.md","reason":"${unreadableWords["no-front-matter"]}"}]}\n`, stderr: "majordomus: cannot read every candidate: 1 unreadable\n", status: 10 },
  { title: "call: -- at the end", files: layer({}), call: ["knowledge", "candidates", "--"], stdout: "knowledge candidates: 0 awaiting review\n" },
  ...flattenCases,
];
