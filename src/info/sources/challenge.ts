/**
 * The challenges of a `WWW-Authenticate` header (RFC 9110, section 11.6.1).
 *
 * @module
 */

/** One scheme that a server offers. */
export interface Challenge {
  /** In lower case, such as `basic` or `digest`. */
  readonly scheme: string;
  /** Names are in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What is read of a header, in UTF-16 code units. */
const LENGTH_MAX = 4096;

const SCHEME = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:[ \t]+|$|(?=,))/y;
const PARAMETER =
  /[\s,]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=]+))[ \t]*(?=,|$)/y;
/** `token68`, in place of parameters. */
const TOKEN = /[\w.~+/-]+=*[ \t]*(?=,|$)/y;

/**
 * Parses challenges.
 *
 * @returns those up to the first mistake
 */
export function parseChallenges(header: string): Challenge[] {
  const text = header.slice(0, LENGTH_MAX);
  const challenges: Challenge[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  for (let scheme = take(SCHEME); scheme; scheme = take(SCHEME)) {
    const parameters: Record<string, string> = Object.create(null);
    for (let found = take(PARAMETER); found; found = take(PARAMETER)) {
      const [, name = "", quoted, token = ""] = found;
      parameters[name.toLowerCase()] ??= quoted?.replaceAll(/\\(.)/g, "$1") ?? token;
    }
    if (Object.keys(parameters).length === 0) take(TOKEN);
    challenges.push({ scheme: scheme[1]!.toLowerCase(), parameters });
  }
  return challenges;
}
