/**
 * The rules for the entries of `hosts` and `cors`, shared by the configuration and the options.
 *
 * @module
 */

/** A rule that a text must follow. */
export interface Rule<T = string> {
  readonly pattern: RegExp;
  /** Completes "must be …" in an error message. */
  readonly right: string;
  /** Converts a text that matches the pattern; `undefined` if it is invalid all the same. */
  normal(text: string): T | undefined;
  /** The error message for an invalid text. @default "must be" and `right` */
  readonly refusal?: string;
}

/** Host names such as `node.example`; converted to lower case. */
export const HOST_NAMES: Rule = {
  pattern: /^[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$/,
  right: 'a host name without a port, or "*" in place of the list',
  normal: (name) => name.toLowerCase(),
};

/** Origins such as `https://app.example`; converted to the form in which browsers send them. */
export const ORIGINS: Rule = {
  pattern: /^https?:\/\/[^\s\/?#@*]+$/,
  right: 'an origin such as https://app.example, or "*" in place of the list',
  normal: (origin) => URL.canParse(origin) ? new URL(origin).origin : undefined,
};

/** Converts a text; `undefined` if it breaks the rule. */
export function readBy<T>({ pattern, normal }: Rule<T>, text: string): T | undefined {
  return pattern.test(text) ? normal(text) : undefined;
}

/**
 * Converts all entries of a list by a rule.
 *
 * @param list the option's name, for the error message
 * @throws {TypeError} if it is not a list, or if an entry breaks the rule
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
