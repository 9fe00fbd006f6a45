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
/** The maximum number of parts of an expression: the expression `(a|b){9}` has 28 parts. */
const PARTS_MAX = 1000;
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

type Part =
  | { readonly type: "character"; readonly test: Test }
  | { readonly type: "assertion"; readonly assertion: string }
  | { readonly type: "firstGroup"; readonly part: Part }
  | { readonly type: "sequence"; readonly parts: readonly Part[] }
  | { readonly type: "choice"; readonly parts: readonly Part[] }
  | Repetition;

interface Repetition {
  readonly type: "repetition";
  readonly part: Part;
  readonly min: number;
  readonly max: number;
  readonly isLazy: boolean;
  readonly hasFirstGroup: boolean;
}

const ESCAPE = String.raw`\\(?:u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|0(?!\d)|[dDsSwWfnrtv]|\W)`;

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
function parse(source: string): Part {
  if (source.length > EXPRESSION_MAX) {
    throw new ExpressionError(`a regular expression of at most ${EXPRESSION_MAX} characters`);
  }
  try {
    new RegExp(source);
  } catch {
    throw new ExpressionError("a regular expression");
  }
  let at = 0;
  let groupCount = 0;
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at;
    const found = token.exec(source);
    if (found) at = token.lastIndex;
    return found;
  };
  const readChoice = (): Part => {
    const parts = [readSequence()];
    while (take(/\|/y)) parts.push(readSequence());
    return parts.length === 1 ? parts[0]! : { type: "choice", parts };
  };
  const readSequence = (): Part => {
    const parts: Part[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      const groupsBefore = groupCount;
      const part = readPart();
      const quantifier = take(QUANTIFIER);
      const hasFirstGroup = groupsBefore === 0 && groupCount > 0;
      parts.push(quantifier ? { ...repetitionOf(quantifier), part, hasFirstGroup } : part);
    }
    return parts.length === 1 ? parts[0]! : { type: "sequence", parts };
  };
  const readPart = (): Part => {
    const [assertion] = take(ASSERTION) ?? [];
    if (assertion !== undefined) return { type: "assertion", assertion };
    const [group] = take(GROUP) ?? [];
    if (group !== undefined) {
      const isFirst = group !== "(?:" && ++groupCount === 1;
      const part = readChoice();
      at++;
      return isFirst ? { type: "firstGroup", part } : part;
    }
    const [character] = take(CHARACTER) ?? [];
    if (character !== undefined) return { type: "character", test: testOf(character) };
    const [, name] = UNSUPPORTED.find(([part]) => take(part))!;
    throw new ExpressionError(`a regular expression without ${name}`);
  };
  return readChoice();
}

function repetitionOf([, sign, min, comma, max, lazy]: RegExpExecArray) {
  const [least, most] = sign === undefined
    ? [Number(min), comma === undefined ? Number(min) : Number(max || Infinity)]
    : [sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity];
  return { type: "repetition", min: least, max: most, isLazy: lazy === "?" } as const;
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

/**
 * - `character`: consumes a character
 * - `split`: continues at the next step, and with lower preference at `to`; a lazy split prefers
 *   `to`
 * - `begin`, `end`: an iteration. JavaScript rejects optional iterations that consume nothing, and
 *   forgets the text of groups when an iteration begins
 */
type Step =
  | { readonly type: "character"; readonly test: Test }
  | { readonly type: "assertion"; readonly assertion: string }
  | { readonly type: "split"; to: number; readonly isLazy: boolean }
  | { readonly type: "jump"; to: number }
  | { readonly type: "open" | "close" | "forget" | "begin" | "end" | "match" };

/** @throws {ExpressionError} */
function compile(source: string): readonly Step[] {
  const steps: Step[] = [];
  let partCount = 0;
  const emit = (part: Part): void => {
    if (++partCount > PARTS_MAX) {
      throw new ExpressionError("a regular expression with fewer repetitions");
    }
    if (part.type === "sequence") part.parts.forEach(emit);
    else if (part.type === "choice") emitChoice(part.parts);
    else if (part.type === "repetition") emitRepetition(part);
    else if (part.type === "firstGroup") {
      steps.push({ type: "open" });
      emit(part.part);
      steps.push({ type: "close" });
    } else steps.push(part);
  };
  const emitChoice = (parts: readonly Part[]) => {
    const jumps = parts.slice(0, -1).map((part) => {
      const split = { type: "split" as const, to: 0, isLazy: false };
      const jump = { type: "jump" as const, to: 0 };
      steps.push(split);
      emit(part);
      split.to = steps.push(jump);
      return jump;
    });
    emit(parts.at(-1)!);
    for (const jump of jumps) jump.to = steps.length;
  };
  const emitRepetition = ({ part, min, max, isLazy, hasFirstGroup }: Repetition) => {
    const emitOnce = () => {
      if (hasFirstGroup) steps.push({ type: "forget" });
      emit(part);
    };
    const emitOptional = () => {
      const split = { type: "split" as const, to: 0, isLazy };
      steps.push(split, { type: "begin" });
      emitOnce();
      steps.push({ type: "end" });
      return split;
    };
    for (let count = 0; count < min; count++) emitOnce();
    const splits = [];
    if (max === Infinity) {
      const start = steps.length;
      splits.push(emitOptional());
      steps.push({ type: "jump", to: start });
    } else for (let count = min; count < max; count++) splits.push(emitOptional());
    for (const split of splits) split.to = steps.length;
  };
  emit(parse(source));
  return [...steps, { type: "match" }];
}

/** A way through the steps that waits for a character. Positions are -1 if unset. */
interface Way {
  readonly step: number;
  readonly start: number;
  /** The positions at which the first group begins and ends. */
  readonly open: number;
  readonly close: number;
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
    let best: Way | undefined;
    let end = -1;
    this.#startRound();
    for (let at = from; at <= this.#text.length; at++) {
      if (!best) this.#advance(0, true, at, -1, -1, at);
      const ways = this.#startRound();
      if (best && ways.length === 0) break;
      const code = this.#text.charCodeAt(at);
      for (const way of ways) {
        const step = this.#program[way.step]!;
        if (step.type === "match") {
          best = way;
          end = at;
          break;
        }
        if (step.type === "character" && step.test(code)) {
          this.#advance(way.step + 1, true, way.start, way.open, way.close, at + 1);
        }
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

  #startRound(): Way[] {
    const ways = this.#ways;
    this.#ways = [];
    this.#round++;
    return ways;
  }

  /**
   * Follows a way up to its next characters. `hasMoved` is false if its iteration has consumed no
   * character yet.
   */
  #advance(
    from: number,
    hasMoved: boolean,
    start: number,
    open: number,
    close: number,
    at: number,
  ): void {
    for (let index = from;; index++) {
      this.#visits++;
      const state = 2 * index + Number(hasMoved);
      if (this.#reached[state] === this.#round) return;
      this.#reached[state] = this.#round;
      const step = this.#program[index]!;
      switch (step.type) {
        case "character":
        case "match":
          if (this.#reached[state ^ 1] !== this.#round) {
            this.#ways.push({ step: index, start, open, close });
          }
          return;
        case "split":
          this.#advance(step.isLazy ? step.to : index + 1, hasMoved, start, open, close, at);
          if (!step.isLazy) index = step.to - 1;
          break;
        case "jump":
          index = step.to - 1;
          break;
        case "assertion":
          if (!this.#holds(step.assertion, at)) return;
          break;
        case "open":
          open = at;
          close = -1;
          break;
        case "close":
          close = at;
          break;
        case "forget":
          open = close = -1;
          break;
        case "begin":
          hasMoved = false;
          break;
        case "end":
          if (!hasMoved) return;
      }
    }
  }

  #holds(assertion: string, at: number): boolean {
    const [before, after] = [this.#text.charAt(at - 1), this.#text.charAt(at)];
    if (assertion === "^") return at === 0 || (this.#hasLines && LINE_END.test(before));
    if (assertion === "$") {
      return at === this.#text.length || (this.#hasLines && LINE_END.test(after));
    }
    return (/\w/.test(before) !== /\w/.test(after)) === (assertion === "\\b");
  }
}

const LINE_END = /[\n\r\u2028\u2029]/;
