/** The root, the manifest, and the places that it names. */
import { unreadableWords, yamlWords } from "../../../src/ground/tables.ts";
import { awaiting, candidates, layer, ledger, openFiles, queueLine, recordFrom, recordOf, sessions } from "../cases.ts";
import type { ParityCase } from "../cases.ts";
import type { Thing } from "../tree.ts";

const call = ["knowledge", "candidates"];
const record = recordOf({});
const found = `${queueLine({})}${awaiting(1)}`;

const manifest = (knowledge: string, more = "") => `sections:\n  knowledge: ${knowledge}\n${more}`;

/** A manifest that cannot be read, or names a place that cannot be used. */
const refused = (title: string, text: Thing, said: string, files: Readonly<Record<string, Thing>> = {}): ParityCase => ({
  title: `manifest: ${title}`,
  files: { ".ai/manifest.yaml": text, ...files },
  call,
  stderr: `majordomus: ${said}\n`,
  status: 10,
});
const unread = (title: string, text: Thing, reason: string) => refused(title, text, `cannot read '.ai/manifest.yaml': ${reason}`);
const unusable = (title: string, value: string, detail: string) =>
  refused(title, manifest(value), `cannot use sections.knowledge of '.ai/manifest.yaml': ${detail}`);
const outside = "leads outside the repository";

/** A manifest whose places are elsewhere, and a record there. */
const placed = (title: string, value: string, path: string): ParityCase => ({
  title: `manifest: ${title}`,
  files: { ".ai/manifest.yaml": manifest(value), [`${path}/candidates/a.md`]: record, [`${path}/candidates/b.md`]: "" },
  call,
  stdout: `${found}unreadable ${path}/candidates/b.md: ${unreadableWords["no-front-matter"]}\n`,
  stderr: "majordomus: cannot read every candidate: 1 unreadable\n",
  status: 10,
});

export const manifestCases: readonly ParityCase[] = [
  unread("a tab", "a: b\n\tc: d\n", `line 2: ${yamlWords.tab}`),
  unread("NUL", "a: b\n# \u0000\n", unreadableWords.nul),
  unread("invalid UTF-8", "a: \udcff\n", unreadableWords.utf8),
  unread("NUL before invalid UTF-8", "\udcff\u0000", unreadableWords.nul),
  unread("a carriage return at its very end", "a: b\r", `line 1: ${yamlWords["carriage-return"]}`),
  unread("a control character at its very end", "a: b\n# \u0001", `line 2: ${yamlWords.control}`),
  unread("a control character and a line feed at its end", "a: b\n# \u0001\n", `line 2: ${yamlWords.control}`),
  unread("a flow mapping in line 1", "{}\n", `line 1: ${yamlWords["flow-mapping"]}`),
  unread("a folder", { folder: true }, unreadableWords.closed),
  refused("a link to a manifest", { link: "m.yaml" }, `cannot read '.ai/manifest.yaml': ${unreadableWords.closed}`, { ".ai/m.yaml": "a: b\n" }),
  unread("a pipe", { pipe: true }, unreadableWords.closed),
  { ...unread("one that may not be read", { closed: "a: b\n" }, unreadableWords.closed), asUser: true },
  unusable("an absolute path", "/etc", "an absolute path"),
  unusable("an absolute path to nothing", "/", "an absolute path"),
  unusable("a segment that leads up", "repo/../x", "a '..' segment"),
  unusable("only a segment that leads up", "..", "a '..' segment"),
  unusable("a segment that leads up, at the end", "repo/..", "a '..' segment"),
  unusable("a space", "repo/my knowledge", "a space"),
  unusable("a control character", '"repo/\\e"', "a control character"),
  unusable("a C1 character", '"repo/\\x85"', "a control character"),
  unusable("DEL", '"repo/\\x7f"', "a control character"),
  unusable("a line feed", '"repo\\nx"', "a control character"),
  unusable("a line feed before what leads up", '"repo/..\\n/x"', "a control character"),
  unusable("no path", ".", "no path"),
  unusable("no path in many parts", "././/.", "no path"),
  unusable("the first of several faults: absolute", '"/.. \\n"', "an absolute path"),
  unusable("the first of several faults: up", '"../ \\n"', "a '..' segment"),
  unusable("the first of several faults: a space", '"a \\n"', "a space"),
  unusable("a space at its end", '"repo/knowledge "', "a space"),
  refused("sessions: a space", "sections:\n  sessions: a b\n", "cannot use sections.sessions of '.ai/manifest.yaml': a space"),
  refused("rules: up", "sections:\n  rules: ../x\n", "cannot use sections.rules of '.ai/manifest.yaml': a '..' segment"),
  refused("adrs: absolute", "sections:\n  adrs: /x\n", "cannot use sections.adrs of '.ai/manifest.yaml': an absolute path"),
  refused("knowledge is named before sessions", "sections:\n  sessions: /x\n  knowledge: /y\n", "cannot use sections.knowledge of '.ai/manifest.yaml': an absolute path"),
  refused("knowledge that leads outside by a link", "a: b\n", `cannot use sections.knowledge of '.ai/manifest.yaml': ${outside}`, { ".ai/repo/knowledge": { link: "/" } }),
  refused("knowledge below a link that leads outside", "a: b\n", `cannot use sections.knowledge of '.ai/manifest.yaml': ${outside}`, { ".ai/repo": { link: "../../@" } , "../@/knowledge": { folder: true } }),
  refused("sessions that lead outside by a link", "a: b\n", `cannot use sections.sessions of '.ai/manifest.yaml': ${outside}`, { [sessions]: { link: "/etc" } }),
  refused("candidates that lead outside by a link", "a: b\n", `cannot use '${candidates}': ${outside}`, { [candidates]: { link: "/etc" } }),
  refused("a state folder that leads outside by a link", "a: b\n", `cannot use '.ai/local/state': ${outside}`, { ".ai/local/state": { link: "/etc" } }),
  refused("open files that lead outside by a link", "a: b\n", `cannot use '${openFiles}': ${outside}`, { [openFiles]: { link: "/etc" } }),
  refused("a folder beside the root whose name begins like it", "a: b\n", `cannot use '${candidates}': ${outside}`, { [candidates]: { link: "../../../../repository-not" }, "../repository-not": { folder: true } }),
  {
    title: "manifest: links that stay inside, and one that leads nowhere",
    files: layer({
      ".ai/repo/knowledge": { link: "../elsewhere" },
      ".ai/elsewhere/candidates": { link: "../../real" },
      "real/a.md": recordFrom("a"),
      [sessions]: { link: "nowhere" },
      [openFiles]: { link: "../../open" },
      ".ai/open/x.yaml": "session_id: a\nbranch: b\n",
    }),
    call,
    stdout: `${queueLine({ branch: "b" })}${awaiting(1)}`,
    everywhere: true,
  },
  placed("another place", "k", ".ai/k"),
  placed("parts that mean nothing", "./repo//./know/", ".ai/repo/know"),
  placed("a quoted place with marks", '"é/a=b$(x)\\\\n*"', ".ai/é/a=b$(x)\\n*"),
  placed("a place that begins with a dash", "-x", ".ai/-x"),
  placed("the place where it always is, spelled out", "repo/knowledge/", ".ai/repo/knowledge"),
  {
    title: "manifest: sessions elsewhere",
    files: { ".ai/manifest.yaml": "sections:\n  sessions: s/t\n", [`${candidates}/a.md`]: recordFrom("a"), ".ai/s/t/1.md": "---\nsession_id: a\nbranch: b\n---\n", [`${sessions}/1.md`]: "---\nsession_id: a\nbranch: c\n---\n" },
    call,
    stdout: `${queueLine({ branch: "b" })}${awaiting(1)}`,
    everywhere: true,
  },
  {
    title: "manifest: places that are no strings count as absent",
    files: { ".ai/manifest.yaml": "sections:\n  knowledge: [x]\n  sessions: ''\n  rules: []\n", [`${candidates}/a.md`]: record },
    call,
    stdout: found,
  },
  { title: "manifest: an empty one", files: { ".ai/manifest.yaml": "", [`${candidates}/a.md`]: record }, call, stdout: found },
  { title: "manifest: with a byte order mark and CR LF", files: { ".ai/manifest.yaml": "\ufeff---\r\nsections:\r\n  knowledge: k\r\n", ".ai/k/candidates/a.md": record }, call, stdout: found },
  { title: "root: no layer", files: { "x/y": "" }, call, stderr: "majordomus: no layer in '@ROOT@': run 'majordomus init'\n", status: 12 },
  { title: "root: a folder .ai without a manifest", files: { ".ai/x": "" }, call: [...call, "--json"], stderr: "majordomus: no layer in '@ROOT@': run 'majordomus init'\n", status: 12 },
  { title: "root: from a folder below", files: layer({ [`${candidates}/a.md`]: record, "lib/x/y": "" }), directory: "lib/x", call, stdout: found },
  { title: "root: from within the layer", files: layer({ [`${candidates}/a.md`]: record }), directory: candidates, call, stdout: found },
  { title: "root: not past a folder with .git", files: layer({ [`${candidates}/a.md`]: record, "lib/.git/x": "", "lib/y/z": "" }), directory: "lib/y", call, stderr: "majordomus: no layer in '@ROOT@/lib/y': run 'majordomus init'\n", status: 12 },
  { title: "root: not past a file .git", files: layer({ "lib/.git": "gitdir: x", "lib/y/z": "" }), directory: "lib/y", call, stderr: "majordomus: no layer in '@ROOT@/lib/y': run 'majordomus init'\n", status: 12 },
  { title: "root: a folder with .git and a manifest", files: layer({ [`${candidates}/a.md`]: record, ".git/x": "", "y/z": "" }), directory: "y", call, stdout: found },
  { title: "root: the nearest of two layers", files: layer({ "in/.ai/manifest.yaml": "", [`in/${candidates}/a.md`]: record, "in/x/y": "" }), directory: "in/x", call, stdout: found },
  { title: "root: --repo names one", files: { ...Object.fromEntries(Object.entries(layer({ [`${candidates}/a.md`]: record })).map(([path, thing]) => [`a b/${path}`, thing])) }, call: ["--repo", "a b", ...call], stdout: found },
  { title: "root: --repo=, absolute, with a slash at its end", files: layer({ [`${candidates}/a.md`]: record }), call: [...call, "--repo=@ROOT@/"], stdout: found },
  { title: "root: --repo names a link", files: { "r/.ai/manifest.yaml": "", [`r/${candidates}/a.md`]: record, l: { link: "r" } }, call: [...call, "--repo", "l"], stdout: found },
  { title: "root: --repo names a folder whose name begins with a dash", files: { "-/.ai/manifest.yaml": "", [`-/${candidates}/a.md`]: record }, call: [...call, "--repo", "-"], stdout: found },
  { title: "root: --repo is not looked for above", files: layer({ "x/y": "" }), call: [...call, "--repo", "x"], stderr: "majordomus: no layer in 'x': run 'majordomus init'\n", status: 12 },
  { title: "root: --repo names nothing", files: layer({}), call: [...call, "--repo", "no\u001bwhere"], stderr: "majordomus: no layer in 'no\\x1bwhere': run 'majordomus init'\n", status: 12 },
  { title: "root: --repo names a file", files: layer({ x: "" }), call: [...call, "--repo", "x"], stderr: "majordomus: no layer in 'x': run 'majordomus init'\n", status: 12 },
  { title: "root: --repo of no letters is the working directory, as in git", files: layer({ x: "" }), call: [...call, "--repo", ""], stdout: awaiting(0) },
  {
    title: "root: names with spaces, quotes and a line feed around it",
    files: { "a b\n'c\"/.ai/manifest.yaml": "", [`a b\n'c"/${candidates}/a.md`]: recordFrom("a"), [`a b\n'c"/${ledger}`]: '{"ts":"2026-10-08T14:30:00Z","event":"session.started","branch":"b","session":"a"}\n', "a b\n'c\"/d/e": "" },
    directory: "a b\n'c\"/d",
    call,
    stdout: `${queueLine({ branch: "b" })}${awaiting(1)}`,
    everywhere: true,
  },
];
