/**
 * What may stand in the lists of those who are let in: one rule for the configuration and for the
 * options of `createNodeface`.
 *
 * @module
 */

/** What an entry of a list has to be. */
export interface Rule {
  /** What the list is called. */
  readonly list: string;
  readonly pattern: RegExp;
  /** What would be right, after "must be". */
  readonly right: string;
  /** An entry of that pattern as requests have it; `undefined` where none would. */
  normal(entry: string): string | undefined;
}

/** Names of hosts, in any letter case, such as `node.example`. */
export const HOST_NAMES: Rule = {
  list: "hosts",
  pattern: /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/,
  right: 'a host name without a port, or "*" in place of the list',
  normal: (name) => name.toLowerCase(),
};

/** Origins such as `https://app.example`; browsers send them in lower case, without port 443. */
export const ORIGINS: Rule = {
  list: "cors",
  pattern: /^https?:\/\/[^\s\/?#@*]+$/,
  right: 'an origin such as https://app.example, or "*" in place of the list',
  normal: (origin) => URL.canParse(origin) ? new URL(origin).origin : undefined,
};

/**
 * The entries of a list as requests have them.
 *
 * @throws {TypeError} where one of them breaks the rule, or where it is no list
 */
export function readList(rule: Rule, entries: readonly string[]): string[] {
  if (!Array.isArray(entries)) {
    throw new TypeError(`${rule.list} must be a list, or "*" for any, not ${quote(entries)}`);
  }
  return entries.map((entry, at) => {
    const normal = rule.pattern.test(entry) ? rule.normal(entry) : undefined;
    if (normal !== undefined) return normal;
    throw new TypeError(`${rule.list}[${at}] must be ${rule.right}, not ${quote(entry)}`);
  });
}

const quote = (value: unknown) => JSON.stringify(value);
