/**
 * What is wrong with a configuration, for the operator: where it is and what would be right.
 *
 * @module
 */
import type * as v from "valibot";

/** Everything that is wrong with the arguments, the environment and the file, found at once. */
export class ConfigError extends Error {
  override name = "ConfigError";
  /** One line each. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** Keys whose values may be secrets that have been put in the wrong place. */
const SECRET = /^node\.(auth|url)\b/;

/**
 * One line about an issue.
 *
 * @param path the keys that lead to the value; none for a value that has a name of its own
 * @param where the file and the position, or the name of the flag or of the variable
 */
export function describeIssue(
  issue: v.BaseIssue<unknown>,
  path: readonly (string | number)[],
  where: string,
): string {
  const name = path.join(".");
  const isOpen = issue.message.startsWith("must ") && issue.received && !SECRET.test(name);
  const received = isOpen ? `, not ${issue.received}` : "";
  return `${where} ${name && `${name} `}${issue.message}${received}`;
}

/** The keys that lead to the value of an issue. */
export function pathOf(issue: v.BaseIssue<unknown>): (string | number)[] {
  return (issue.path ?? []).map(({ key }) => key as string | number);
}
