/**
 * Path templates of OpenAPI, such as `/v1/peers/{id}`. They are matched by hand: as a regular expression, a template
 * with several names backtracks, and a path of 40 letters takes seconds.
 *
 * @module
 */
export interface PathTemplate {
  readonly names: readonly string[];
  /** The same for templates that match the same paths. */
  readonly source: string;
  /**
   * Sorts templates that fit the same path, the most specific first: literals before names, names before those that
   * span segments, and what goes on before what ends. Letter case and a slash at the end make no difference.
   */
  readonly rank: string;
  /**
   * Matches a whole path in time linear in its length. A name takes one or more characters other than a slash, and
   * the fewest that are possible; one that spans takes slashes too, and the most.
   *
   * @param path as {@linkcode normalizePath} returns it
   * @returns the text of each name; `undefined` if the path does not fit
   */
  match(path: string): readonly string[] | undefined;
}

const NAME = /\{([^{}]*)\}/;

/** Rank behind every literal. */
const ONE = "\ufffe", SPAN_OR_END = "\uffff";

/** Compiles a template. Of names that span segments the first takes the most; `readLiteral` gives literals the form of the paths. */
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
  /** The name that takes what the others leave. */
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
 * Writes a percent-encoded path in the form that is matched: hexadecimal digits in capitals (RFC 3986, section
 * 6.2.2.1), and encoded what `URL` leaves as it is in a path.
 */
export function normalizePath(path: string): string {
  return path.replaceAll(
    /%[\da-f]{2}|[|[\]^]/gi,
    (part) => part.length === 1 ? encodeURIComponent(part) : part.toUpperCase(),
  );
}

/** Writes a literal of a template as `URL` does: `/café` is `/caf%C3%A9`. */
function encodeLiteral(literal: string): string {
  const wellFormed = literal.replaceAll(/\p{Surrogate}/gu, "\ufffd");
  return normalizePath(encodeURI(wellFormed).replaceAll("%25", "%"));
}
