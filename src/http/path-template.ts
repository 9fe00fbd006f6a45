/**
 * Matches OpenAPI path templates such as `/v1/peers/{id}` in linear time. A regular expression
 * could backtrack for seconds.
 *
 * @module
 */
export interface PathTemplate {
  readonly names: readonly string[];
  /**
   * The template without the names of its parameters. Templates that match the same paths have the
   * same `source`.
   */
  readonly source: string;
  /**
   * A sort key. Of the templates that match a path, the most specific one has the lowest `rank`.
   */
  readonly rank: string;
  /** The path must come from {@linkcode normalizePath}. */
  match(path: string): readonly string[] | undefined;
}

const NAME = /\{([^{}]*)\}/;

/**
 * In `rank`, placeholders are written as U+FFFE or U+FFFF, since both characters sort after every
 * literal.
 */
const ONE = "\ufffe", SPAN_OR_END = "\uffff";

/** The first multi-segment placeholder matches as much as possible. */
export function parsePathTemplate(
  template: string,
  spans: (name: string) => boolean = () => false,
  readLiteral: (literal: string) => string = encodeLiteral,
): PathTemplate {
  const parts = template.split(NAME);
  const names = parts.filter((_, at) => at % 2 === 1);
  const literals = parts.filter((_, at) => at % 2 === 0).map(readLiteral);
  const rank = parts.map((part, at) =>
    at % 2 === 0
      ? at === parts.length - 1 ? part.replace(/\/$/, "") : part
      : at > 1 && parts[at - 1] === "" || spans(part)
      ? SPAN_OR_END
      : ONE
  );
  const spanning = names.findIndex(spans);
  /** The index of the first multi-segment placeholder, or else of the last placeholder. */
  const middle = spanning < 0 ? names.length - 1 : spanning;
  const [first, last] = [literals[0]!, literals.at(-1)!];
  const match = (path: string): readonly string[] | undefined => {
    if (names.length === 0) return path === first ? [] : undefined;
    if (!path.startsWith(first) || !path.endsWith(last)) return undefined;
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
    const fits = values.every((value, at) => !value.includes("/") || spans(names[at]!));
    return fits ? values : undefined;
  };
  return {
    names,
    source: literals.join("{}"),
    rank: rank.join("").toLowerCase() + SPAN_OR_END,
    match,
  };
}

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
  fold(path).split("/").map(readSegment).filter((segment) => segment !== "")
    .map((segment) => `/${segment}`).join("");

export const readSegment = (segment: string): string => segment.split(/[;?#]/, 1)[0]!.trim();

/** Upper-casing before lower-casing makes some letters equal, such as ı and i. */
export const fold = (text: string): string =>
  text.normalize("NFKC").replaceAll(/\p{Cf}/gu, "").replaceAll("+", " ").toUpperCase()
    .toLowerCase();
