/**
 * POSIX extended regular expressions, matched a line at a time (contract, section 13). Pure.
 *
 * An expression becomes a small program whose states are all followed at once, so that the time grows with the product of
 * its size and the line's length and no pattern can hang a run. Characters are code points; classes are those of the C locale.
 * What POSIX leaves undefined and tools read differently is refused: an empty alternative, nothing to repeat, `\d`, `\1`.
 */

export interface Pattern {
  /** As it was written. */
  readonly source: string;
  readonly program: Program;
}

/** Why a source is no pattern. */
export interface PatternFault {
  readonly fault: string;
}

/** Whether one of the lines matches; "too-long" where finding out takes more work than a run gives to one pattern. */
export type Verdict = "yes" | "no" | "too-long";

/** What a program's state does: reads a character, asks where it stands, forks, or has matched. */
type State =
  | { readonly kind: "read"; readonly accepts: (point: number) => boolean }
  | { readonly kind: "start" | "end" | "match" }
  | Fork;

/** Two ways to go on; both the same for a jump. */
interface Fork {
  readonly kind: "fork";
  first: number;
  second: number;
}

type Program = readonly State[];

type Expression =
  | { readonly kind: "read"; readonly accepts: (point: number) => boolean }
  | { readonly kind: "start" | "end" }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Expression[] }
  | { readonly kind: "repeat"; readonly part: Expression; readonly least: number; readonly most: number };

/** POSIX's RE_DUP_MAX: the most that an interval asks for. */
const repeatLimit = 255;
const depthLimit = 100;
/** How many states, and how many parts of nested intervals, a program has at most. */
const sizeLimit = 10_000;
/** How many states are entered at most before a search is given up: a second or two of work. */
const workLimit = 50_000_000;

/** Compiles a source. */
export function compilePattern(source: string): Pattern | PatternFault {
  try {
    return { source, program: programOf(new Parser(source).whole()) };
  } catch (error) {
    if (error instanceof Fault) return { fault: error.message };
    throw error;
  }
}

class Fault extends Error {}

const special = /[\\^$.[|()*+?{]/;

/** Reads a source from left to right; each method leaves `at` behind what it read. */
class Parser {
  private readonly points: readonly string[];
  private at = 0;
  private depth = 0;

  constructor(source: string) {
    this.points = [...source];
  }

  whole(): Expression {
    const expression = this.choice();
    if (this.at < this.points.length) throw new Fault("a ')' that closes nothing");
    return expression;
  }

  private choice(): Expression {
    const parts = [this.sequence()];
    while (this.points[this.at] === "|") {
      this.at += 1;
      parts.push(this.sequence());
    }
    return parts.length === 1 ? (parts[0] as Expression) : { kind: "choice", parts };
  }

  private sequence(): Expression {
    const parts: Expression[] = [];
    for (let point = this.points[this.at]; point !== undefined && point !== "|" && point !== ")"; point = this.points[this.at]) {
      parts.push(this.repeated(this.one(point)));
    }
    if (parts.length > 0) return { kind: "sequence", parts };
    const isWhole = this.points.length === 0;
    throw new Fault(isWhole ? "an empty pattern" : "an empty alternative or group, which every line would match");
  }

  private one(point: string): Expression {
    this.at += 1;
    switch (point) {
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case ".":
        return { kind: "read", accepts: () => true };
      case "(":
        return this.group();
      case "[":
        return { kind: "read", accepts: this.bracket() };
      case "\\":
        return literal(this.escaped());
      case "*":
      case "+":
      case "?":
        throw new Fault(`a '${point}' with nothing to repeat`);
      case "{":
        this.at -= 1;
        if (this.interval() !== null) throw new Fault("an interval with nothing to repeat");
        this.at += 1;
        return literal(point);
      default:
        return literal(point);
    }
  }

  private group(): Expression {
    this.depth += 1;
    if (this.depth > depthLimit) throw new Fault(`groups more than ${depthLimit} deep`);
    const expression = this.choice();
    if (this.points[this.at] !== ")") throw new Fault("a '(' that is not closed");
    this.at += 1;
    this.depth -= 1;
    return expression;
  }

  private escaped(): string {
    const point = this.points[this.at];
    if (point === undefined) throw new Fault("a backslash at the end");
    this.at += 1;
    if (/[1-9]/.test(point)) throw new Fault(`'\\${point}': extended expressions have no back-references`);
    // `\<` and the like are anchors to some tools and themselves to others.
    if (!special.test(point) && !/[!-\/:-@[-`{-~]/.test(point)) throw new Fault(`'\\${point}' is no extended expression`);
    if (/[<>`']/.test(point)) throw new Fault(`'\\${point}' is no extended expression`);
    return point;
  }

  private repeated(expression: Expression): Expression {
    let part = expression;
    for (let count = 0; ; count += 1) {
      if (count > depthLimit) throw new Fault(`more than ${depthLimit} repetitions of repetitions`);
      const point = this.points[this.at];
      const interval = point === "{" ? this.interval() : this.repetition(point);
      if (interval === null) return part;
      if (part.kind === "start" || part.kind === "end") throw new Fault("a repeated anchor");
      part = { kind: "repeat", part, ...interval };
    }
  }

  private repetition(point: string | undefined): { readonly least: number; readonly most: number } | null {
    if (point !== "*" && point !== "+" && point !== "?") return null;
    this.at += 1;
    return { least: point === "+" ? 1 : 0, most: point === "?" ? 1 : Number.POSITIVE_INFINITY };
  }

  /** An interval; `null`, and nothing read, where a brace begins none and so stands for itself. */
  private interval(): { readonly least: number; readonly most: number } | null {
    // Its two numbers of at most three digits and its marks are nine characters.
    const text = this.points.slice(this.at, this.at + 10).join("");
    const found = /^\{([0-9]*)(?:(,)([0-9]*))?\}?/.exec(text) ?? [""];
    const [whole, from = "", comma, to = ""] = found;
    if (from === "" && comma !== undefined && to !== "") throw new Fault("an interval without its lower bound");
    if (from === "") return null;
    if (!whole.endsWith("}")) {
      if (from.length > 3 || to.length > 3) throw new Fault(`an interval beyond ${repeatLimit}`);
      return null;
    }
    const least = Number(from);
    const most = comma === undefined ? least : to === "" ? Number.POSITIVE_INFINITY : Number(to);
    if (least > repeatLimit || (most > repeatLimit && to !== "")) throw new Fault(`an interval beyond ${repeatLimit}`);
    if (most < least) throw new Fault("an interval whose bounds are turned round");
    this.at += whole.length;
    return { least, most };
  }

  /** A bracket expression from behind its `[`. */
  private bracket(): (point: number) => boolean {
    const opening = this.at;
    const negated = this.points[this.at] === "^";
    if (negated) this.at += 1;
    const ranges: (readonly [number, number])[] = [];
    const classes: ((point: number) => boolean)[] = [];
    for (let isFirst = true; ; isFirst = false) {
      const point = this.points[this.at];
      if (point === undefined) throw new Fault("a '[' that is not closed");
      if (point === "]" && !isFirst) break;
      if (point === "[" && this.points[this.at + 1] === ":") {
        classes.push(this.characterClass());
        continue;
      }
      const low = this.element();
      if (this.points[this.at] !== "-" || this.points[this.at + 1] === "]" || this.points[this.at + 1] === undefined) {
        ranges.push([low, low]);
        continue;
      }
      this.at += 1;
      if (this.points[this.at] === "[" && this.points[this.at + 1] === ":") throw new Fault("a range that ends in a class");
      const high = this.element();
      if (high < low) throw new Fault("a range whose ends are turned round");
      ranges.push([low, high]);
    }
    const inner = this.points.slice(opening, this.at).join("");
    this.at += 1;
    // Outside a bracket of its own a class means its letters to some tools and is refused by others.
    if (/^:[a-z]+:$/.test(inner)) throw new Fault(`'[${inner}]' outside a bracket: write '[[${inner}]]'`);
    const holds = (point: number) => ranges.some(([low, high]) => low <= point && point <= high) || classes.some((is) => is(point));
    return negated ? (point) => !holds(point) : holds;
  }

  private characterClass(): (point: number) => boolean {
    const name = this.untilClosed(":");
    const found = characterClasses.get(name);
    if (found === undefined) throw new Fault(`an unknown character class '[:${name}:]'`);
    return found;
  }

  /** One character of a bracket expression; `[.x.]` and `[=x=]` are the character they hold. */
  private element(): number {
    const point = this.points[this.at] ?? "";
    const mark = this.points[this.at + 1];
    if (point === "[" && (mark === "." || mark === "=")) {
      const inner = [...this.untilClosed(mark)];
      if (inner.length !== 1) throw new Fault("a collating element that is not one character");
      return pointOf(inner[0] ?? "");
    }
    this.at += 1;
    return pointOf(point);
  }

  /** What stands between `[:` and `:]`. */
  private untilClosed(mark: string): string {
    const from = this.at + 2;
    for (let end = from; end + 1 < this.points.length; end += 1) {
      if (this.points[end] !== mark || this.points[end + 1] !== "]") continue;
      this.at = end + 2;
      return this.points.slice(from, end).join("");
    }
    throw new Fault(`a '[${mark}' that is not closed`);
  }
}

function pointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function literal(character: string): Expression {
  const wanted = pointOf(character);
  return { kind: "read", accepts: (point) => point === wanted };
}

const inRanges =
  (...ranges: readonly (readonly [number, number])[]) =>
  (point: number) =>
    ranges.some(([low, high]) => low <= point && point <= high);

/** The character classes of the C locale. */
const characterClasses: ReadonlyMap<string, (point: number) => boolean> = new Map([
  ["alnum", inRanges([0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a])],
  ["alpha", inRanges([0x41, 0x5a], [0x61, 0x7a])],
  ["blank", inRanges([0x09, 0x09], [0x20, 0x20])],
  ["cntrl", inRanges([0x00, 0x1f], [0x7f, 0x7f])],
  ["digit", inRanges([0x30, 0x39])],
  ["graph", inRanges([0x21, 0x7e])],
  ["lower", inRanges([0x61, 0x7a])],
  ["print", inRanges([0x20, 0x7e])],
  ["punct", inRanges([0x21, 0x2f], [0x3a, 0x40], [0x5b, 0x60], [0x7b, 0x7e])],
  ["space", inRanges([0x09, 0x0d], [0x20, 0x20])],
  ["upper", inRanges([0x41, 0x5a])],
  ["xdigit", inRanges([0x30, 0x39], [0x41, 0x46], [0x61, 0x66])],
]);

/** The program of an expression. Refused where it would be too large: what counts is also work that leaves no state. */
function programOf(expression: Expression): Program {
  const states: State[] = [];
  let visited = 0;
  const fork = (): Fork => {
    const next = states.length + 1;
    const state: Fork = { kind: "fork", first: next, second: next };
    states.push(state);
    return state;
  };
  const emit = (part: Expression): void => {
    visited += 1;
    if (visited > sizeLimit) throw new Fault("too large a pattern");
    switch (part.kind) {
      case "sequence":
        for (const one of part.parts) emit(one);
        return;
      case "choice":
        return emitChoice(part.parts);
      case "repeat":
        return emitRepeat(part.part, part.least, part.most);
      default:
        states.push(part);
    }
  };
  const emitChoice = (parts: readonly Expression[]) => {
    const ends: Fork[] = [];
    for (const [index, part] of parts.entries()) {
      const choose = index < parts.length - 1 ? fork() : null;
      emit(part);
      if (choose === null) continue;
      ends.push(fork());
      choose.second = states.length;
    }
    for (const end of ends) jump(end, states.length);
  };
  const emitRepeat = (part: Expression, least: number, most: number) => {
    for (let count = 0; count < least; count += 1) emit(part);
    if (most === Number.POSITIVE_INFINITY) {
      const start = states.length;
      const enter = fork();
      emit(part);
      jump(fork(), start);
      enter.second = states.length;
      return;
    }
    const skips: Fork[] = [];
    for (let count = least; count < most; count += 1) {
      skips.push(fork());
      emit(part);
    }
    for (const skip of skips) skip.second = states.length;
  };
  emit(expression);
  states.push({ kind: "match" });
  return states;
}

function jump(fork: Fork, target: number): void {
  fork.first = target;
  fork.second = target;
}

/** Whether one of the lines holds a match. */
export function matchesAny(pattern: Pattern, lines: readonly string[]): Verdict {
  const search = new Search(pattern.program);
  for (const line of lines) {
    const verdict = search.line(line);
    if (verdict !== "no") return verdict;
  }
  return "no";
}

class Search {
  private readonly program: Program;
  /** The step in which a state was last entered, so that each is entered once a step. */
  private readonly entered: Float64Array;
  private step = 0;
  private work = 0;

  constructor(program: Program) {
    this.program = program;
    this.entered = new Float64Array(program.length);
  }

  line(line: string): Verdict {
    let reading: number[] = [];
    for (let at = 0; ; ) {
      this.step += 1;
      const atEnd = at >= line.length;
      // A match may begin anywhere: the program's start is entered at each character.
      const next: number[] = [];
      const starts = at === 0 ? [0] : [...reading, 0];
      for (const state of starts) if (this.enter(state, at === 0, atEnd, next)) return "yes";
      if (this.work > workLimit) return "too-long";
      if (atEnd) return "no";
      const point = line.codePointAt(at) ?? 0;
      at += point > 0xffff ? 2 : 1;
      reading = [];
      for (const state of next) {
        const here = this.program[state];
        if (here?.kind === "read" && here.accepts(point)) reading.push(state + 1);
      }
    }
  }

  /** Follows a state as far as it goes without reading, into `next`; whether that is a match. */
  private enter(from: number, atStart: boolean, atEnd: boolean, next: number[]): boolean {
    const pending = [from];
    for (let state = pending.pop(); state !== undefined; state = pending.pop()) {
      if (this.entered[state] === this.step) continue;
      this.entered[state] = this.step;
      this.work += 1;
      const here = this.program[state] as State;
      switch (here.kind) {
        case "match":
          return true;
        case "read":
          next.push(state);
          break;
        case "fork":
          pending.push(here.second, here.first);
          break;
        default:
          if (here.kind === "start" ? atStart : atEnd) pending.push(state + 1);
      }
    }
    return false;
  }
}

const colours = /\x1b\[[0-?]*[ -\/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-Za-z]|\x1b[=>78]/g;

/** The lines of an output as patterns see them: without colours and other terminal codes, without CR before LF. */
export function linesOf(output: string): string[] {
  const lines = output.replace(colours, "").split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}
