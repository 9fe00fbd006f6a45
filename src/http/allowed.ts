/**
 * What may stand in the lists of those who are let in: one rule for the configuration and for the
 * options of `createNodeface`.
 *
 * @module
 */

/** What a value has to be. */
export interface Rule<T = string> {
  readonly pattern: RegExp;
  /** What would be right, after "must be". */
  readonly right: string;
  /** What a text of that pattern stands for; `undefined` where it is nothing. */
  normal(text: string): T | undefined;
  /** What to say where it is nothing. @default what would be right */
  readonly refusal?: string;
}

/** Names of hosts, in any letter case, such as `node.example`. */
export const HOST_NAMES: Rule = {
  pattern: /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/,
  right: 'a host name without a port, or "*" in place of the list',
  normal: (name) => name.toLowerCase(),
};

/** Origins such as `https://app.example`; browsers send them in lower case, without port 443. */
export const ORIGINS: Rule = {
  pattern: /^https?:\/\/[^\s\/?#@*]+$/,
  right: 'an origin such as https://app.example, or "*" in place of the list',
  normal: (origin) => URL.canParse(origin) ? new URL(origin).origin : undefined,
};

/** What a text stands for; `undefined` where it breaks the rule. */
export function readBy<T>({ pattern, normal }: Rule<T>, text: string): T | undefined {
  return pattern.test(text) ? normal(text) : undefined;
}

/**
 * The entries of a list as requests have them.
 *
 * @param list what the list is called
 * @throws {TypeError} where one of them breaks the rule, or where it is no list
 */
export function readList(list: string, rule: Rule, entries: readonly string[]): string[] {
  if (!Array.isArray(entries)) {
    throw new TypeError(`${list} must be a list, or "*" for any, not ${quote(entries)}`);
  }
  return entries.map((entry, at) => {
    const normal = typeof entry === "string" ? readBy(rule, entry) : undefined;
    if (normal !== undefined) return normal;
    throw new TypeError(`${list}[${at}] must be ${rule.right}, not ${quote(entry)}`);
  });
}

const quote = (value: unknown) => JSON.stringify(value);
