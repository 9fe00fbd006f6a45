/**
 * Reads a JSON text (RFC 8259) token by token, without recursion, so that no text can overflow the
 * stack.
 *
 * @module
 */
import { quote } from "../untrusted-text.ts";

/** RFC 8259, section 9, allows parsers to limit the nesting depth. */
export const DEPTH_MAX = 512;

/** `piece` is a part of something that goes on: see `ScanOptions`. */
export type TokenKind =
  | "{"
  | "}"
  | "["
  | "]"
  | "key"
  | "string"
  | "number"
  | "literal"
  | "piece";

export class JsonSyntaxError extends SyntaxError {
  override name = "JsonSyntaxError";
  /** The offset is in UTF-16 code units. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const EXPECTED = {
  value: "a value",
  first: "a value or ]",
  key: "a key in double quotes",
  firstKey: "a key in double quotes or }",
  colon: "a colon",
  member: "a comma or }",
  item: "a comma or ]",
  end: "the end",
} as const;

const QUOTE = 0x22, BACKSLASH = 0x5c, SPACE = 0x20, COMMA = 0x2c, COLON = 0x3a;
const TAB = 0x09, LINE_FEED = 0x0a, CARRIAGE_RETURN = 0x0d;
const PLUS = 0x2b, MINUS = 0x2d, DOT = 0x2e, ZERO = 0x30, NINE = 0x39, E = 0x65, U = 0x75;
const OPEN_OBJECT = 0x7b, CLOSE_OBJECT = 0x7d, OPEN_LIST = 0x5b, CLOSE_LIST = 0x5d;
/** What may follow a backslash, besides the `u` of a character's code (RFC 8259, section 7). */
const ESCAPES: ReadonlySet<number> = new Set([...'"\\/bfnrt'].map((one) => one.charCodeAt(0)));

interface ScanOptions {
  /** The maximum nesting depth. @default DEPTH_MAX */
  readonly depthMax?: number;
  /**
   * A longer string, or content that is skipped, is read in several calls of `next`, so that the
   * caller can pause; all but the last call find a `piece`. In UTF-16 code units.
   */
  readonly pieceMax?: number;
  /**
   * The content of containers nested deeper is skipped: the token after their start is their end.
   * In what is skipped only strings and brackets must end as they should.
   */
  readonly levelsRead?: number;
}

/** Commas and colons are checked, but are not returned as tokens. */
export class JsonScanner {
  kind: TokenKind = "literal";
  start = 0;
  end = 0;
  readonly #text: string;
  /** For each open container: `true` for an object, `false` for a list. */
  readonly #open: boolean[] = [];
  readonly #depthMax: number;
  readonly #pieceMax: number;
  readonly #levelsRead: number;
  #expected: keyof typeof EXPECTED = "value";

  constructor(
    text: string,
    { depthMax = DEPTH_MAX, pieceMax = Infinity, levelsRead = Infinity }: ScanOptions = {},
  ) {
    this.#text = text;
    this.#depthMax = depthMax;
    this.#pieceMax = pieceMax;
    this.#levelsRead = levelsRead;
  }

  get depth(): number {
    return this.#open.length;
  }

  get raw(): string {
    return this.#text.slice(this.start, this.end);
  }

  get string(): string {
    const { raw } = this;
    return raw.includes("\\") ? JSON.parse(raw) : raw.slice(1, -1);
  }

  next(): boolean {
    if (this.depth > this.#levelsRead) {
      this.#skip();
      return true;
    }
    const text = this.#text;
    if (this.kind === "piece") {
      this.#readString(this.end);
      return true;
    }
    // Comparing character codes is faster than matching patterns.
    for (let at = this.end; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (isGap(code)) continue;
      const expected = this.#expected;
      if (code === COMMA && (expected === "member" || expected === "item")) {
        this.#expected = expected === "member" ? "key" : "value";
      } else if (code === COLON && expected === "colon") {
        this.#expected = "value";
      } else {
        this.start = at;
        this.#readToken(code);
        return true;
      }
    }
    if (this.#expected !== "end") this.#fail(text.length);
    this.start = this.end = text.length;
    return false;
  }

  #readToken(code: number): void {
    const { start } = this;
    const expected = this.#expected;
    const isValue = expected === "value" || expected === "first";
    if (code === QUOTE && (isValue || expected === "key" || expected === "firstKey")) {
      this.#readString(start + 1);
    } else if (isValue && (code === OPEN_OBJECT || code === OPEN_LIST)) {
      this.#enter(code === OPEN_OBJECT, start);
    } else if (
      (code === CLOSE_OBJECT && (expected === "firstKey" || expected === "member")) ||
      (code === CLOSE_LIST && (expected === "first" || expected === "item"))
    ) {
      this.#leave(start);
    } else {
      const isNumber = code === MINUS || isDigit(code);
      const end = !isValue ? -1 : isNumber ? this.#endOfNumber(start) : this.#endOfLiteral(start);
      if (end < 0 || goesOn(this.#text.charCodeAt(end))) this.#fail(start);
      this.kind = isNumber ? "number" : "literal";
      this.end = end;
      this.#leaveValue();
    }
  }

  #enter(isObject: boolean, start: number): void {
    if (this.depth === this.#depthMax) {
      throw new JsonSyntaxError(`nested more than ${this.#depthMax} levels deep`, start);
    }
    this.kind = isObject ? "{" : "[";
    this.end = start + 1;
    this.#open.push(isObject);
    this.#expected = isObject ? "firstKey" : "first";
  }

  #leave(start: number): void {
    this.kind = this.#open.pop() ? "}" : "]";
    this.end = start + 1;
    this.#leaveValue();
  }

  /** Reads to the end of the containers that are nested too deep to be read. */
  #skip(): void {
    const text = this.#text;
    const pieceEnd = this.end + this.#pieceMax;
    for (let at = this.end; at < text.length; at++) {
      if (at >= pieceEnd) {
        this.end = at;
        this.kind = "piece";
        return;
      }
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        at = this.#endOfSkippedString(at);
      } else if (code === OPEN_OBJECT || code === OPEN_LIST) {
        this.#enter(code === OPEN_OBJECT, at);
      } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
        if (this.#open[this.depth - 1] !== (code === CLOSE_OBJECT)) break;
        this.start = at;
        this.#leave(at);
        if (this.depth === this.#levelsRead) return;
      }
    }
    throw new JsonSyntaxError("an array or object does not end where it should", this.end);
  }

  /** Returns the place of the closing quotation mark. */
  #endOfSkippedString(start: number): number {
    const text = this.#text;
    let at = start;
    let isEscaped = true;
    while (isEscaped) {
      at = text.indexOf('"', at + 1);
      if (at < 0) throw new JsonSyntaxError("this string does not end", start);
      let backslashes = 0;
      while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
      isEscaped = backslashes % 2 === 1;
    }
    return at;
  }

  #leaveValue(): void {
    const { depth } = this;
    this.#expected = depth === 0 ? "end" : this.#open[depth - 1] ? "member" : "item";
  }

  /** Returns -1 if the number is malformed (RFC 8259, section 6). */
  #endOfNumber(start: number): number {
    const text = this.#text;
    let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
    const isZero = text.charCodeAt(at) === ZERO;
    at = isZero ? at + 1 : this.#endOfDigits(at);
    if (at > 0 && text.charCodeAt(at) === DOT) at = this.#endOfDigits(at + 1);
    if (at > 0 && (text.charCodeAt(at) | SPACE) === E) {
      const sign = text.charCodeAt(at + 1);
      at = this.#endOfDigits(sign === PLUS || sign === MINUS ? at + 2 : at + 1);
    }
    return at;
  }

  #endOfDigits(start: number): number {
    let at = start;
    while (isDigit(this.#text.charCodeAt(at))) at++;
    return at === start ? -1 : at;
  }

  #endOfLiteral(start: number): number {
    const literal = ["true", "false", "null"].find((one) => this.#text.startsWith(one, start));
    return literal ? start + literal.length : -1;
  }

  /** @param from where to go on, within the string */
  #readString(from: number): void {
    const text = this.#text;
    const pieceEnd = from + this.#pieceMax;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (at >= pieceEnd) {
        this.end = at;
        this.kind = "piece";
        return;
      }
      if (code === QUOTE) return this.#endString(at + 1);
      if (code < SPACE) break;
      if (code !== BACKSLASH) continue;
      at++;
      if (text.charCodeAt(at) === U && isHexadecimal(text, at + 1)) at += 4;
      else if (!ESCAPES.has(text.charCodeAt(at))) break;
    }
    throw new JsonSyntaxError(
      "this string does not end, or has a character that must be escaped",
      this.start,
    );
  }

  #endString(end: number): void {
    const isKey = this.#expected === "key" || this.#expected === "firstKey";
    this.end = end;
    this.kind = isKey ? "key" : "string";
    if (isKey) this.#expected = "colon";
    else this.#leaveValue();
  }

  #fail(at: number): never {
    const text = this.#text;
    const found = at === text.length
      ? " before the end"
      : text[at] === '"'
      ? ", not a string"
      : `, not ${quote(String.fromCodePoint(text.codePointAt(at)!))}`;
    throw new JsonSyntaxError(`expected ${EXPECTED[this.#expected]}${found}`, at);
  }
}

const isGap = (code: number): boolean =>
  code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

function isHexadecimal(text: string, start: number): boolean {
  for (let at = start; at < start + 4; at++) {
    const code = text.charCodeAt(at);
    const letter = code | SPACE;
    if (!isDigit(code) && !(letter >= 0x61 && letter <= 0x66)) return false;
  }
  return true;
}

/** Matches characters that must not directly follow a number or a literal. */
function goesOn(code: number): boolean {
  return isDigit(code) || (code | SPACE) >= 0x61 && (code | SPACE) <= 0x7a || code === 0x5f ||
    code === DOT || code === PLUS || code === MINUS;
}
