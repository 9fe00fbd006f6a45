/**
 * Matches regular expressions that others wrote, in time linear in the length of the text.
 *
 * Syntax and results are those of JavaScript without flags, except for what needs backtracking
 * (lookahead, lookbehind and back references). An expression becomes a list of steps. All ways
 * through the steps advance together, one character at a time. If several ways reach the same step
 * at the same character, only the preferred way continues. (The algorithm is Ken Thompson's, with
 * groups by Rob Pike.)
 *
 * @module
 */
import { startOf } from "./untrusted-text.ts";

export interface Match {
  readonly whole: string;
  /**
   * The text of the first group; `undefined` if there is no group, or if the group took no part in
   * the match.
   */
  readonly group: string | undefined;
}

/** The message completes the sentence "the expression must be …". */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/** The maximum length of an expression, in UTF-16 code units. */
export const EXPRESSION_MAX = 1000;
/** The length to which `findFirst` truncates a text, in UTF-16 code units. */
export const TEXT_MAX = 1000;
/** An expression must have fewer steps: the expression `a{9}` has 9 steps, `(a|b){9}` has 63. */
const STEPS_MAX = 4000;
/**
 * The maximum number of visits to steps while a text is searched. This many visits take about half
 * a second.
 */
const VISITS_MAX = 20_000_000;
/**
 * The number of visits between two pauses of a search. This many visits take about a millisecond.
 */
const VISITS_AT_ONCE = 20_000;
/** The maximum number of compiled expressions to keep. */
const PROGRAMS_MAX = 1000;

/**
 * Returns what the expression must be, such as "a regular expression", or `undefined` if the
 * expression is valid.
 */
export function mistakeInExpression(source: string): string | undefined {
  try {
    compile(source);
    return undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return error.message;
    throw error;
  }
}

/** Searches at most the first 1,000 characters of the text. @throws {ExpressionError} */
export function findFirst(text: string, source: string): Match | undefined {
  for (const found of findAll(startOf(text, TEXT_MAX), source, false)) if (found) return found;
  return undefined;
}

/**
 * Yields each match, and also `undefined` wherever other work may run.
 *
 * @param hasLines if true, `^` and `$` also match at the start and end of each line
 * @throws {ExpressionError} if the expression is invalid, or if the search takes too long
 */
export const findAll = (
  text: string,
  source: string,
  hasLines: boolean,
): Generator<Match | undefined, void, void> => new Search(text, programOf(source), hasLines).run();

const programs = new Map<string, readonly Step[]>();

function programOf(source: string): readonly Step[] {
  let program = programs.get(source);
  if (!program) {
    if (programs.size === PROGRAMS_MAX) programs.clear();
    programs.set(source, program = compile(source));
  }
  return program;
}

/** Tells whether a UTF-16 code unit matches. */
type Test = (code: number) => boolean;

/**
 * - `character`: consumes a character
 * - `split`: continues at the next step, and with lower preference `by` steps ahead; a lazy split
 *   prefers the latter
 * - `begin`, `end`: an iteration. JavaScript rejects optional iterations that consume nothing, and
 *   forgets the text of groups when an iteration begins
 *
 * Jumps are relative, so that the steps of a repeated part can be copied.
 */
type Step =
  | { readonly type: "character"; readonly test: Test }
  | { readonly type: "assertion"; readonly assertion: string }
  | { readonly type: "split"; readonly by: number; readonly isLazy: boolean }
  | { readonly type: "jump"; readonly by: number }
  | { readonly type: "open" | "close" | "forget" | "begin" | "end" | "match" };

const ESCAPE = String.raw`\\(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|0(?!\d)|[dDsSwWfnrtv]|\W)`;

const BAR = /\|/y;
const ASSERTION = /[\^$]|\\[bB]/y;
const GROUP = /\((?!\?)|\(\?:|\(\?<(?![=!])[^>]*>/y;
/** Matches what stands for one character, such as `a`, `\d` or `[a-z]`. */
const CHARACTER = new RegExp(
  String.raw`\[(?:${ESCAPE}|\\b|[^\]\\])*\]|${ESCAPE}|[^\\[(]`,
  "y",
);
const QUANTIFIER = /(?:([*+?])|\{(\d+)(?:(,)(\d*))?\})(\??)/y;

/**
 * Parts of an expression that cannot be matched, or that mean something else in JavaScript than in
 * other languages.
 */
const UNSUPPORTED: readonly (readonly [part: RegExp, name: string])[] = [
  [/\(\?<?[=!]/y, "lookahead and lookbehind"],
  [/\\[1-9k]/y, "back references"],
  [/\(\?/y, "flags"],
  [/(?:)/y, String.raw`escapes other than \d \s \w \b \f \n \r \t \v \0 \xHH \uHHHH`],
];

/** @throws {ExpressionError} */
function compile(source: string): readonly Step[] {
  if (source.length > EXPRESSION_MAX) {
    throw new ExpressionError(`a regular expression of at most ${EXPRESSION_MAX} characters`);
  }
  try {
    new RegExp(source);
  } catch {
    throw new ExpressionError("a regular expression");
  }
  return [...new Parser(source).readChoice(), { type: "match" }];
}

class Parser {
  readonly #source: string;
  #at = 0;
  #groups = 0;

  /** @param source a valid expression */
  constructor(source: string) {
    this.#source = source;
  }

  readChoice(): readonly Step[] {
    const first = this.#readSequence();
    if (!this.#take(BAR)) return first;
    const others = this.readChoice();
    if (first.length + others.length >= STEPS_MAX) throw new ExpressionError(TOO_MANY_STEPS);
    return [
      { type: "split", by: first.length + 2, isLazy: false },
      ...first,
      { type: "jump", by: others.length + 1 },
      ...others,
    ];
  }

  #readSequence(): readonly Step[] {
    let steps: readonly Step[] = [];
    while (/[^|)]/.test(this.#source.charAt(this.#at))) {
      const groupsBefore = this.#groups;
      const part = this.#readPart();
      const hasFirstGroup = groupsBefore === 0 && this.#groups > 0;
      const quantifier = this.#take(QUANTIFIER);
      steps = [...steps, ...quantifier ? repeated(part, quantifier, hasFirstGroup) : part];
      if (steps.length >= STEPS_MAX) throw new ExpressionError(TOO_MANY_STEPS);
    }
    return steps;
  }

  #readPart(): readonly Step[] {
    const [assertion] = this.#take(ASSERTION) ?? [];
    if (assertion !== undefined) return [{ type: "assertion", assertion }];
    const [group] = this.#take(GROUP) ?? [];
    if (group !== undefined) {
      const isFirst = group !== "(?:" && ++this.#groups === 1;
      const steps = this.readChoice();
      this.#at++;
      return isFirst ? [{ type: "open" }, ...steps, { type: "close" }] : steps;
    }
    const [character] = this.#take(CHARACTER) ?? [];
    if (character !== undefined) return [{ type: "character", test: testOf(character) }];
    const [, name] = UNSUPPORTED.find(([part]) => this.#take(part))!;
    throw new ExpressionError(`a regular expression without ${name}`);
  }

  #take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at;
    const found = token.exec(this.#source);
    if (found) this.#at = token.lastIndex;
    return found;
  }
}

const TOO_MANY_STEPS = "a regular expression with fewer repetitions";

function repeated(
  part: readonly Step[],
  [, sign, least, comma, most, lazy]: RegExpExecArray,
  hasFirstGroup: boolean,
): Step[] {
  // Such as `(?:){1000000000}`, which would take as many steps of nothing.
  if (part.length === 0) return [];
  const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
  const max = sign === "?" ? 1 : sign || comma ? Number(most || Infinity) : min;
  const once: readonly Step[] = hasFirstGroup ? [{ type: "forget" }, ...part] : part;
  const isEndless = max === Infinity;
  const length = once.length + 3 + Number(isEndless);
  const optional: readonly Step[] = [
    { type: "begin" },
    ...once,
    { type: "end" },
    ...isEndless ? [{ type: "jump", by: 1 - length } as const] : [],
  ];
  const count = isEndless ? 1 : max - min;
  if (min * once.length + count * length >= STEPS_MAX) throw new ExpressionError(TOO_MANY_STEPS);
  const steps = Array.from({ length: min }, () => once).flat();
  for (let left = count; left > 0; left--) {
    steps.push({ type: "split", by: left * length, isLazy: lazy === "?" }, ...optional);
  }
  return steps;
}

/** The runtime tests single characters, since a single character cannot cause backtracking. */
function testOf(character: string): Test {
  if (character.length === 1 && character !== ".") {
    return (code) => code === character.charCodeAt(0);
  }
  const expression = new RegExp(character);
  const test = (code: number) => expression.test(String.fromCharCode(code));
  const results: boolean[] = [];
  return (code) => code < 256 ? results[code] ??= test(code) : test(code);
}

/** Where a match begins, and where its first group begins and ends. Positions are -1 if unset. */
interface Marks {
  readonly start: number;
  readonly open: number;
  readonly close: number;
}

/** A way through the steps that waits for a character. */
interface Way {
  readonly step: number;
  readonly marks: Marks;
}

class Search {
  readonly #text: string;
  readonly #program: readonly Step[];
  readonly #hasLines: boolean;
  #visits = 0;
  #pauseAt = VISITS_AT_ONCE;
  /**
   * The last round in which a way reached the step, with (odd) or without (even) a character in the
   * iteration.
   */
  readonly #reached: Float64Array;
  #round = 0;
  /** The position that the ways of this round have reached. */
  #at = 0;
  #ways: Way[] = [];

  constructor(text: string, program: readonly Step[], hasLines: boolean) {
    this.#text = text;
    this.#program = program;
    this.#hasLines = hasLines;
    this.#reached = new Float64Array(2 * program.length);
  }

  *run(): Generator<Match | undefined, void, void> {
    for (let from = 0; from <= this.#text.length;) {
      const found = yield* this.#findFrom(from);
      if (!found) return;
      yield found;
      from = found.end + (found.whole === "" ? 1 : 0);
    }
  }

  *#findFrom(from: number): Generator<undefined, (Match & { end: number }) | undefined, void> {
    let best: Marks | undefined;
    let end = -1;
    this.#startRound(from);
    for (let at = from; at <= this.#text.length; at++) {
      if (!best) this.#advance(0, { start: at, open: -1, close: -1 });
      const ways = this.#startRound(at + 1);
      if (best && ways.length === 0) break;
      const code = this.#text.charCodeAt(at);
      for (const { step: index, marks } of ways) {
        const step = this.#program[index]!;
        if (step.type === "match") {
          best = marks;
          end = at;
          break;
        }
        if (step.type === "character" && step.test(code)) this.#advance(index + 1, marks);
      }
      if (this.#visits > VISITS_MAX) throw new ExpressionError("faster for this text");
      if (this.#visits > this.#pauseAt) {
        this.#pauseAt = this.#visits + VISITS_AT_ONCE;
        yield undefined;
      }
    }
    if (!best) return undefined;
    const { start, open, close } = best;
    const group = close < 0 ? undefined : this.#text.slice(open, close);
    return { whole: this.#text.slice(start, end), group, end };
  }

  #startRound(at: number): Way[] {
    const ways = this.#ways;
    this.#ways = [];
    this.#round++;
    this.#at = at;
    return ways;
  }

  /**
   * Follows a way up to its next characters.
   *
   * @param hasMoved false if its iteration has consumed no character yet
   */
  #advance(from: number, marks: Marks, hasMoved: boolean = true): void {
    for (let index = from;; index++) {
      this.#visits++;
      const state = 2 * index + Number(hasMoved);
      if (this.#reached[state] === this.#round) return;
      this.#reached[state] = this.#round;
      const step = this.#program[index]!;
      switch (step.type) {
        case "character":
        case "match":
          if (this.#reached[state ^ 1] !== this.#round) this.#ways.push({ step: index, marks });
          return;
        case "split":
          this.#advance(index + (step.isLazy ? step.by : 1), marks, hasMoved);
          if (!step.isLazy) index += step.by - 1;
          break;
        case "jump":
          index += step.by - 1;
          break;
        case "assertion":
          if (!this.#holds(step.assertion)) return;
          break;
        case "open":
          marks = { start: marks.start, open: this.#at, close: -1 };
          break;
        case "close":
          marks = { start: marks.start, open: marks.open, close: this.#at };
          break;
        case "forget":
          marks = { start: marks.start, open: -1, close: -1 };
          break;
        case "begin":
          hasMoved = false;
          break;
        case "end":
          if (!hasMoved) return;
      }
    }
  }

  #holds(assertion: string): boolean {
    const at = this.#at;
    const [before, after] = [this.#text.charAt(at - 1), this.#text.charAt(at)];
    if (assertion === "^") return at === 0 || (this.#hasLines && LINE_END.test(before));
    if (assertion === "$") {
      return at === this.#text.length || (this.#hasLines && LINE_END.test(after));
    }
    return (/\w/.test(before) !== /\w/.test(after)) === (assertion === "\\b");
  }
}

const LINE_END = /[\n\r\u2028\u2029]/;
