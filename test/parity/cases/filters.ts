/** The filters of `knowledge candidates`. */
import { awaiting, candidates, layer, queueLine, unreadable } from "../cases.ts";
import type { ParityCase } from "../cases.ts";

const [first, second] = ["s-20261008090000-77aa", "s-20261009100000-1a2b"];

/** A record with an episode behind it. */
function record(id: string, about: string, episode: string, route = "project", status = "candidate"): Record<string, string> {
  const subject = about === "" ? "" : `about: ${about}\n`;
  const text = `---\nid: ${id}\nstatus: ${status}\n${subject}route: ${route}\nprovenance:\n  derived_from:\n    - session:${episode}\n---\n`;
  return { [`${candidates}/${id}.md`]: text };
}

// ASCII: under LC_ALL=C yash takes no other argument.
const awkward = "'a\\tb & \\\\ [x]* \"e'";

const files = layer({
  ...record("a", "lib/a.sh", first),
  ...record("b", "lib/a.sh", second, "generator"),
  ...record("c", "lib/a.sh", second, "project", "superseded"),
  ...record("d", "lib/a.sh", first, "project", "verified"),
  ...record("e", "10", second),
  ...record("f", "1e1", second),
  ...record("g", "", first),
  ...record("h", awkward, first),
  ...record("i", awkward, second, "project", "superseded"),
  [`${candidates}/x.md`]: "no\n",
});

const line = (id: string) => queueLine({ id });
const bad = `unreadable ${candidates}/x.md: no front matter\n`;

function group(about: string, route: string, counts: string, members: readonly string[], episodes: string): string {
  return `about ${about}  route ${route}  ${counts}\n${members.map((member) => `  ${member}\n`).join("")}  episodes  ${episodes}\n`;
}

const shownAwkward = "a\\tb & \\\\ [x]* \"e";
const both = `${first} ${second}`;
const groupH = group(shownAwkward, "project", "awaiting 1  rejected 1  episodes 2", ["awaiting  h", "rejected  i"], both);

function filtered(filters: readonly string[], stdout: string, more: Partial<ParityCase> = {}): ParityCase {
  const call = ["knowledge", "candidates", ...filters];
  return { title: `filter: ${filters.join(" ")}`, files, call, stdout: stdout + bad, stderr: unreadable(1), status: 10, ...more };
}

const wrong = (filters: readonly string[], said: string): ParityCase => ({
  title: `filter: ${JSON.stringify(filters.join(" "))}`,
  files,
  call: ["knowledge", "candidates", ...filters],
  stderr: `majordomus: ${said}\n`,
  status: 2,
});

const see = "see 'majordomus knowledge candidates --help'";
const routes = "one of platform, enforcement, generator, documentation, project";
const whole = "a whole number from 1 to 999999999";
const episodeForm = "an episode's id is s-YYYYMMDDHHMMSS-xxxx";

export const filterCases: readonly ParityCase[] = [
  // What looks like an option is a value where one is due: this prints text.
  filtered(["--about", "--json"], awaiting(0)),
  filtered(
    ["--about", "lib/a.sh"],
    line("a") + line("b") + awaiting(2) + group("lib/a.sh", "project", "awaiting 2  rejected 1  episodes 2", ["awaiting  a", "awaiting  b", "rejected  c"], both),
    { everywhere: true },
  ),
  // Compared as texts: 10 is not 1e1, a backslash is itself, and nothing is a pattern.
  filtered(["--about=10"], line("e") + awaiting(1) + group("10", "project", "awaiting 1  rejected 0  episodes 1", ["awaiting  e"], second), { everywhere: true }),
  filtered(["--about", shownAwkward], line("h") + awaiting(1) + groupH, { everywhere: true }),
  filtered(["--about", "lib/a.s*"], awaiting(0)),
  filtered(["--about", "lib"], awaiting(0)),
  filtered(["--about="], line("g") + awaiting(1)),
  filtered(["--route", "generator"], line("b") + awaiting(1) + group("lib/a.sh", "generator", "awaiting 1  rejected 0  episodes 1", ["awaiting  b"], second)),
  filtered(["--route=documentation"], awaiting(0)),
  filtered(
    ["--episode", second],
    line("b") +
      line("e") +
      line("f") +
      awaiting(3) +
      group("10", "project", "awaiting 1  rejected 0  episodes 1", ["awaiting  e"], second) +
      group("1e1", "project", "awaiting 1  rejected 0  episodes 1", ["awaiting  f"], second) +
      group(shownAwkward, "project", "awaiting 0  rejected 1  episodes 1", ["rejected  i"], second) +
      group("lib/a.sh", "project", "awaiting 1  rejected 1  episodes 1", ["awaiting  b", "rejected  c"], second),
  ),
  filtered(
    ["--min-episodes", "2"],
    line("a") +
      line("b") +
      line("h") +
      awaiting(3) +
      groupH +
      group("lib/a.sh", "project", "awaiting 2  rejected 1  episodes 2", ["awaiting  a", "awaiting  b", "rejected  c"], both),
    { everywhere: true },
  ),
  filtered(["--min-episodes", "3"], awaiting(0)),
  filtered(["--min-episodes=1", "--about="], awaiting(0)),
  filtered(["--min-episodes=2", "--about", "lib/a.sh", "--route", "project"], line("a") + awaiting(1) + group("lib/a.sh", "project", "awaiting 1  rejected 1  episodes 2", ["awaiting  a", "rejected  c"], both)),
  {
    title: "filter: JSON, and other filters' settings in the environment mean nothing",
    files,
    call: ["--json", "knowledge", "candidates", "--min-episodes", "2", "--about", "lib/a.sh"],
    sameAs: "toolkit",
    stderr: unreadable(1),
    status: 10,
    everywhere: true,
  },
  wrong(["--route", "x"], `cannot use --route 'x': ${routes}`),
  wrong(["--route="], `cannot use --route '': ${routes}`),
  wrong(["--route", "proj*"], `cannot use --route 'proj*': ${routes}`),
  wrong(["--episode", "x", "--route", "\u001b"], `cannot use --route '\\x1b': ${routes}`),
  wrong(["--episode", `${first}0`], `cannot use --episode '${first}0': ${episodeForm}`),
  wrong(["--episode", "s-20261008090000-77AA"], `cannot use --episode 's-20261008090000-77AA': ${episodeForm}`),
  wrong(["--episode="], `cannot use --episode '': ${episodeForm}`),
  ...["", "0", "02", "-1", "1e3", "1.5", " 1", "1 ", "9999999999"].map((number) =>
    wrong([`--min-episodes=${number}`], `cannot use --min-episodes '${number}': ${whole}`),
  ),
  wrong(["--about"], `missing value of '--about': ${see}`),
  wrong(["--about", "a", "--about=b"], `option '--about' is given twice: ${see}`),
  wrong(["--min-episodes", "x", "extra"], `unexpected argument 'extra': ${see}`),
  { title: "filter: of another command", files, call: ["yaml", "flatten", "--about", "x", "a.yaml"], stderr: "majordomus: unknown option '--about': run 'majordomus --help'\n", status: 2 },
];
