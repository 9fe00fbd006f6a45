/**
 * Path templates of OpenAPI, such as `/v1/peers/{id}`.
 *
 * @module
 */

/** A path template as a regular expression. */
export interface PathTemplate {
  /** Matches a whole percent-encoded path; has one group for each name. */
  readonly pattern: RegExp;
  readonly names: readonly string[];
}

const NAME = /\{([^{}/]+)\}/g;

/**
 * Parses a path template. Literals are percent-encoded as `URL` does: `/café` matches `/caf%C3%A9`. A
 * name matches one or more characters other than a slash.
 *
 * @throws {TypeError} if the template uses a name twice
 */
export function parsePathTemplate(template: string): PathTemplate {
  const names: string[] = [];
  let pattern = "";
  let end = 0;
  for (const match of template.matchAll(NAME)) {
    pattern += literalPattern(template.slice(end, match.index)) + "([^/]+?)";
    if (names.includes(match[1]!)) throw new TypeError(`${template} names ${match[0]} twice`);
    names.push(match[1]!);
    end = match.index + match[0].length;
  }
  return { pattern: new RegExp(`^${pattern}${literalPattern(template.slice(end))}$`), names };
}

/** Characters that `URL` leaves as they are in a path, though RFC 3986 has them encoded. */
const RAW = "|[]^";

/** A literal of a template as the source of a regular expression, which matches it percent-encoded. */
export function literalPattern(literal: string): string {
  const encoded = encodeURI(literal).replaceAll("%25", "%");
  return encoded.replaceAll(/%([\da-f]{2})|[.*+?^${}()|[\]\\]/gi, (part, hex?: string) => {
    if (hex === undefined) return `\\${part}`;
    // Either case of the digits means the same (RFC 3986, section 6.2.2.1).
    const anyCase = part.replaceAll(/[a-f]/gi, (x) => `[${x.toUpperCase()}${x.toLowerCase()}]`);
    const char = String.fromCharCode(parseInt(hex, 16));
    return RAW.includes(char) ? `(?:\\${char}|${anyCase})` : anyCase;
  });
}
