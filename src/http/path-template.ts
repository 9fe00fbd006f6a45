/**
 * OpenAPI path templates such as `/v1/peers/{id}`: the paths that a template matches, in linear
 * time (a regular expression could backtrack for seconds), and which of two templates takes a path.
 *
 * @module
 */
import { decodePercent } from "../decode.ts";

const NAME = /\{([^{}]*)\}/;
/** The maximum length of a text between parameters, in characters. */
const LITERAL_MAX = 250;

/**
 * In `rank`, placeholders are written as U+FFFE or U+FFFF, since both characters sort after every
 * literal.
 */
const ONE = "\ufffe", SPAN_OR_END = "\uffff";

/**
 * The character that stands for a parameter in sample paths. Percent-encoded literals never contain
 * it.
 */
const ANY = "\uf8ff";
/**
 * Sample paths are made with 1, 2 and 50 segments in place of a multi-segment parameter. It is
 * assumed that a template that matches all three paths also matches a path with any other number of
 * segments.
 */
const SPANNED = [1, 2, 50];

export class PathTemplate {
  readonly names: readonly string[];
  /**
   * The template without the names of its parameters. Templates that match the same paths have the
   * same `source` and `rank`.
   */
  readonly source: string;
  /**
   * A sort key. Of the templates that match a path, the most specific one has the lowest `rank`.
   */
  readonly rank: string;
  /** Equal for templates that match the same paths. */
  readonly key: string;
  readonly #literals: readonly string[];
  /** The literals as the template has them. */
  readonly #written: readonly string[];
  /** For each name, whether it stands for several segments. */
  readonly #spans: readonly boolean[];

  /**
   * @param spans tells whether a parameter stands for several segments
   * @param readLiteral changes what stands between the parameters
   */
  constructor(
    template: string,
    spans: (name: string) => boolean = () => false,
    readLiteral: (literal: string) => string = encodeLiteral,
  ) {
    const parts = template.split(NAME);
    this.names = parts.filter((_, at) => at % 2 === 1);
    this.#spans = this.names.map(spans);
    this.#written = parts.filter((_, at) => at % 2 === 0);
    this.#literals = this.#written.map(readLiteral);
    this.source = this.#literals.join("{}");
    this.key = `${this.source} ${this.#spans.join()}`;
    const rank = parts.map((part, at) => {
      const literal = this.#literals[at / 2];
      if (literal !== undefined) {
        return at === parts.length - 1 ? literal.replace(/\/$/, "") : literal;
      }
      const isBesideOther = at > 1 && parts[at - 1] === "";
      return isBesideOther || spans(part) ? SPAN_OR_END : ONE;
    });
    this.rank = rank.join("").toLowerCase() + SPAN_OR_END;
  }

  /**
   * False if a text between parameters, also as the most lenient server would read it, is so long
   * that engines search for it in quadratic time (V8 beyond 250 characters).
   */
  get isShort(): boolean {
    const texts = [...this.#literals, ...this.#written.map(decodePercent).map(foldLetters)];
    return this.names.length === 0 || texts.every(({ length }) => length <= LITERAL_MAX);
  }

  /** The number of parameters that stand for several segments. */
  get spanning(): number {
    return this.#spans.filter(Boolean).length;
  }

  /**
   * Returns the values of the parameters, or `undefined`. The first multi-segment placeholder
   * matches as much as possible.
   *
   * @param path must come from {@linkcode normalizePath}
   */
  match(path: string): readonly string[] | undefined {
    const { names } = this;
    const literals = this.#literals;
    const [first, last] = [literals[0]!, literals.at(-1)!];
    if (names.length === 0) return path === first ? [] : undefined;
    if (!path.startsWith(first) || !path.endsWith(last)) return undefined;
    const spanning = this.#spans.indexOf(true);
    /** The index of the first multi-segment placeholder, or else of the last placeholder. */
    const middle = spanning < 0 ? names.length - 1 : spanning;
    const values: string[] = Array(names.length);
    let start = first.length;
    let end = path.length - last.length;
    for (let at = 0; at < middle; at++) {
      const literal = literals[at + 1]!;
      const found = path.indexOf(literal, start + 1);
      if (found < 0) return undefined;
      values[at] = path.slice(start, found);
      start = found + literal.length;
    }
    for (let at = names.length - 1; at > middle; at--) {
      const literal = literals[at]!;
      const found = path.lastIndexOf(literal, end - 1 - literal.length);
      if (found < start) return undefined;
      values[at] = path.slice(found + literal.length, end);
      end = found;
    }
    if (start >= end) return undefined;
    values[middle] = path.slice(start, end);
    return values.every((value, at) => !value.includes("/") || this.#spans[at])
      ? values
      : undefined;
  }

  /** Tells whether this template matches all paths of another one. */
  covers(other: PathTemplate): boolean {
    if (this.source === other.source && this.rank === other.rank) return true;
    return other.spanning > 0 &&
      SPANNED.every((count) => this.match(other.#sampleWith(count)) !== undefined);
  }

  /** A path of this template. Another template that matches it matches all paths of this one. */
  get sample(): string {
    return this.#sampleWith(1);
  }

  #sampleWith(count: number): string {
    let at = 0;
    const several = Array(count).fill(ANY).join("/");
    return this.source.replaceAll("{}", () => this.#spans[at++] ? several : ANY);
  }

  /** Tells whether a lenient server may read a path of one template as a path of the other. */
  overlaps(other: PathTemplate): boolean {
    const [own, others] = [this.folded, other.folded].map((path) => path.split("/").slice(1));
    const isName = (segment: string) => segment.includes("{}");
    const hasSpan = this.spanning + other.spanning > 0;
    if (!hasSpan && own!.length !== others!.length) return false;
    const fixed = hasSpan
      ? Math.min(...[own!, others!].map((one) => [...one, "{}"].findIndex(isName)))
      : own!.length;
    return own!.slice(0, fixed).every((segment, at) =>
      segment === others![at] || isName(segment) || isName(others![at]!)
    );
  }

  /** The `source` as the most lenient server would read it. */
  get folded(): string {
    return foldPath(decodePercent(this.source));
  }
}

/** Sorts by a `rank`. */
export const byRank = (a: { readonly rank: string }, b: { readonly rank: string }): number =>
  a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0;

/**
 * Normalizes a path: writes percent-encodings in upper case (RFC 3986, section 6.2.2.1) and encodes
 * `|[]^`.
 */
export function normalizePath(path: string): string {
  return path.replaceAll(
    /%[\da-f]{2}|[|[\]^]/gi,
    (part) => part.length === 1 ? encodeURIComponent(part) : part.toUpperCase(),
  );
}

/** Encodes a literal of a template as `URL` does: `/café` becomes `/caf%C3%A9`. */
function encodeLiteral(literal: string): string {
  const wellFormed = literal.replaceAll(/\p{Surrogate}/gu, "\ufffd");
  return normalizePath(encodeURI(wellFormed).replaceAll("%25", "%"));
}

/** Normalizes a decoded path as the most lenient server would. */
export const foldPath = (path: string): string =>
  foldLetters(path).split("/").map(readSegment).filter((segment) => segment !== "")
    .map((segment) => `/${segment}`).join("");

export const readSegment = (segment: string): string => segment.split(/[;?#]/, 1)[0]!.trim();

/** Upper-casing before lower-casing makes some letters equal, such as ı and i. */
export const foldLetters = (text: string): string =>
  text.normalize("NFKC").replaceAll(/\p{Cf}/gu, "").replaceAll("+", " ").toUpperCase()
    .toLowerCase();
