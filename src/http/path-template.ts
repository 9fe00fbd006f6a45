/**
 * Paths as OpenAPI writes them, with names in braces for what may stand there.
 *
 * @module
 */

/** A path template as an expression for the paths that it stands for. */
export interface PathTemplate {
  /** Matches a whole path as a URL has it; a group for each name. */
  readonly pattern: RegExp;
  /** The names in the order of their groups. */
  readonly names: readonly string[];
}

/** A name in braces. */
const NAME = /\{([^{}/]+)\}/g;

/**
 * Parses a path template. What stands outside of braces is compared as a URL has it, so `/café` is
 * `/caf%C3%A9`. A name stands for one or more characters other than a slash.
 *
 * @param template such as `/v1/peers/{id}`
 * @throws {TypeError} where a name stands twice in it
 */
export function parsePathTemplate(template: string): PathTemplate {
  const names: string[] = [];
  let pattern = "";
  let end = 0;
  for (const match of template.matchAll(NAME)) {
    pattern += escape(template.slice(end, match.index)) + "([^/]+?)";
    if (names.includes(match[1]!)) throw new TypeError(`${template} names ${match[0]} twice`);
    names.push(match[1]!);
    end = match.index + match[0].length;
  }
  return { pattern: new RegExp(`^${pattern}${escape(template.slice(end))}$`), names };
}

const escape = (literal: string): string =>
  encodeURI(literal).replaceAll("%25", "%").replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
