/**
 * Reads a JSON text (RFC 8259) token by token, with offsets. Nothing here recurses and no pattern
 * backtracks, so that no text overflows the stack.
 *
 * @module
 */
import { quote } from "../untrusted-text.ts";

/** How many levels of objects and lists are read; RFC 8259, section 9, allows a limit. */
export const DEPTH_MAX = 512;

/** The kind of a token; `literal` is `true`, `false` or `null`. */
export type TokenKind = "{" | "}" | "[" | "]" | "key" | "string" | "number" | "literal";

/** A text that is not JSON. */
export class JsonSyntaxError extends SyntaxError {
  override name = "JsonSyntaxError";
  /** The offset of the first error, in UTF-16 code units. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** A text that is nested deeper than is read. */
export class JsonDepthError extends JsonSyntaxError {
  override name = "JsonDepthError";

  /** @param depthMax how many levels are read */
  constructor(offset: number, depthMax: number) {
    super(`this is nested more than ${depthMax} levels deep`, offset);
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
  end: "nothing more",
} as const;

const QUOTE = 0x22, BACKSLASH = 0x5c, SPACE = 0x20;
const TAB = 0x09, LINE_FEED = 0x0a, CARRIAGE_RETURN = 0x0d;
/** What may follow a backslash, besides `u`. */
const ESCAPED: ReadonlySet<string> = new Set('"\\/bfnrt');
const HEX = /[\da-fA-F]{4}/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])/y;
const LITERAL = /(?:true|false|null)(?![\w.+-])/y;

/**
 * Reads one token after another. Commas and colons are checked, but are not tokens.
 *
 * @example
 * ```ts
 * const scanner = new JsonScanner('{"a": [1]}');
 * while (scanner.next()) console.log(scanner.kind, scanner.raw);
 * // "{" "{", "key" '"a"', "[" "[", "number" "1", "]" "]", "}" "}"
 * ```
 */
export class JsonScanner {
  kind: TokenKind = "literal";
  /** The offset of the current token, in UTF-16 code units. */
  start = 0;
  /** The offset after the current token. */
  end = 0;
  readonly #text: string;
  /** The open objects and lists: `true` for an object. */
  readonly #open: boolean[] = [];
  readonly #depthMax: number;
  #expected: keyof typeof EXPECTED = "value";

  /** @param depthMax how many levels of objects and lists may be open */
  constructor(text: string, depthMax: number = DEPTH_MAX) {
    this.#text = text;
    this.#depthMax = depthMax;
  }

  /** How many objects and lists are open after the current token. */
  get depth(): number {
    return this.#open.length;
  }

  /** The source text of the current token. */
  get raw(): string {
    return this.#text.slice(this.start, this.end);
  }

  get string(): string {
    return JSON.parse(this.raw);
  }

  /**
   * Reads the next token.
   *
   * @returns `false` at the end of the text
   * @throws {JsonSyntaxError} at the first error
   */
  next(): boolean {
    const text = this.#text;
    for (let at = this.#skipGap(this.end); at < text.length; at = this.#skipGap(at + 1)) {
      const character = text[at];
      const expected = this.#expected;
      if (character === "," && (expected === "member" || expected === "item")) {
        this.#expected = expected === "member" ? "key" : "value";
      } else if (character === ":" && expected === "colon") {
        this.#expected = "value";
      } else {
        this.start = at;
        this.#readToken(character!);
        return true;
      }
    }
    if (this.#expected !== "end") this.#fail(text.length);
    this.start = this.end = text.length;
    return false;
  }

  #readToken(character: string): void {
    const { start } = this;
    const expected = this.#expected;
    const isValue = expected === "value" || expected === "first";
    if (character === '"' && (isValue || expected === "key" || expected === "firstKey")) {
      this.end = this.#endOfString(start);
      this.kind = isValue ? "string" : "key";
      if (isValue) this.#leaveValue();
      else this.#expected = "colon";
    } else if (isValue && (character === "{" || character === "[")) {
      if (this.depth === this.#depthMax) throw new JsonDepthError(start, this.#depthMax);
      this.kind = character;
      this.end = start + 1;
      this.#open.push(character === "{");
      this.#expected = character === "{" ? "firstKey" : "first";
    } else if (
      (character === "}" && (expected === "firstKey" || expected === "member")) ||
      (character === "]" && (expected === "first" || expected === "item"))
    ) {
      this.kind = character;
      this.end = start + 1;
      this.#open.pop();
      this.#leaveValue();
    } else if (isValue && (this.#matches(NUMBER) || this.#matches(LITERAL))) {
      this.kind = /[a-z]/.test(character) ? "literal" : "number";
      this.#leaveValue();
    } else this.#fail(start);
  }

  #leaveValue(): void {
    const { depth } = this;
    this.#expected = depth === 0 ? "end" : this.#open[depth - 1] ? "member" : "item";
  }

  #matches(pattern: RegExp): boolean {
    pattern.lastIndex = this.start;
    if (!pattern.test(this.#text)) return false;
    this.end = pattern.lastIndex;
    return true;
  }

  #skipGap(at: number): number {
    const text = this.#text;
    while (isGap(text.charCodeAt(at))) at++;
    return at;
  }

  #endOfString(start: number): number {
    const text = this.#text;
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) return at + 1;
      if (code < SPACE) break;
      if (code !== BACKSLASH) continue;
      const escaped = text.charAt(++at);
      if (ESCAPED.has(escaped)) continue;
      HEX.lastIndex = at + 1;
      if (escaped !== "u" || !HEX.test(text)) break;
      at += 4;
    }
    throw new JsonSyntaxError(
      "this string has no end, or a character that needs an escape",
      start,
    );
  }

  #fail(at: number): never {
    const text = this.#text;
    const found = at === text.length
      ? "the text ends"
      : text[at] === '"'
      ? "a string stands"
      : `${quote(String.fromCodePoint(text.codePointAt(at)!))} stands`;
    throw new JsonSyntaxError(`${found} where ${EXPECTED[this.#expected]} should be`, at);
  }
}

function isGap(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;
}
