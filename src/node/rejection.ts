/**
 * Handles 401 and 403 responses: parses challenges, guesses the node's kind, and advises the
 * operator.
 *
 * @module
 */
import type { Kinds } from "../kinds/kind.ts";
import type { AuthFile, SecretPlace } from "../kinds/parts.ts";
import { findFirst } from "../regular-expression.ts";
import { SourceError } from "./failures.ts";
import { cannotRead, type NoSecret, partsOfPlace } from "./secrets.ts";

export interface Rejection {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
}

export const challengesIn = (headers: Rejection["headers"]): string =>
  headers.get("www-authenticate") ?? "";

const schemesOf = (headers: Rejection["headers"]) =>
  parseChallenges(challengesIn(headers)).map(({ scheme }) => scheme);

function kindsLike(headers: Rejection["headers"], kinds: Kinds): string[] {
  const names = Object.keys(kinds).filter((name) => {
    const { header, pattern } = kinds[name]?.auth?.refusal ?? {};
    if (!header || !pattern) return false;
    return findFirst(headers.get(header) ?? "", pattern) !== undefined;
  });
  return names.filter((name) => {
    const base = kinds[name]!.extends;
    return base === undefined || base === name || !names.includes(base);
  });
}

export function looksLike(headers: Rejection["headers"], kinds: Kinds): string | undefined {
  const [name, ...others] = kindsLike(headers, kinds);
  return others.length > 0 ? undefined : name;
}

export interface CredentialFailure extends NoSecret {
  readonly file: AuthFile;
}

const codeOf = ({ status }: Rejection) => status === 401 ? "unauthorized" : "forbidden";

/** @param ownKind the kind of the node, if it is known */
export function credentialsWanted(
  rejection: Rejection,
  kinds: Kinds = {},
  failures: readonly CredentialFailure[] = [],
  ownKind?: string,
): SourceError {
  const { status, headers } = rejection;
  const names = kindsLike(headers, kinds);
  const [name] = names;
  const schemes = schemesOf(headers);
  // A node behind a proxy may need another secret than its kind says.
  const likely = name ?? (schemes.length === 0 ? ownKind : undefined);
  const kind = likely === undefined ? undefined : kinds[likely];
  if (status === 403 && !name) {
    const { example, files } = kind?.auth ?? {};
    const auth = example ?? files?.[0];
    const setting = auth ? `set "auth: ${settingText(auth)}" below node` : "node.auth";
    return new SourceError("forbidden", "forbids the request (403)", {
      number: status,
      hint: `the node may require credentials (${setting}), or may not accept requests to this ` +
        "host name or from this service's address",
    });
  }
  const as = name ? `, like ${names.join(" or ")}` : "";
  const known = ["digest", "basic", "bearer"].find((scheme) => schemes.includes(scheme));
  // In `WWW-Authenticate`, PowerDNS sends the name of a header instead of a scheme.
  const scheme = known ?? (schemes.length > 0 ? "header" : "basic");
  const example = kind?.auth?.example ?? kind?.auth?.files?.[0] ??
    { [`${scheme}_file`]: "/path/to/secret" };
  return new SourceError(
    codeOf(rejection),
    `requires credentials (${status})${as}; set node.auth`,
    {
      number: status,
      looksLike: names.length > 1 ? undefined : name,
      hint: [`set "auth: ${settingText(example)}" below node`, ...lookedAt(failures)].join("; "),
    },
  );
}

function lookedAt(failures: readonly CredentialFailure[]): string[] {
  const telling = failures.find(({ error }) => !error?.isMissing) ?? failures[0];
  if (!telling) return [];
  const { name } = partsOfPlace(telling.file);
  const others = failures.length > 1 ? ` and ${failures.length - 1} more` : "";
  return [`tried ${name}${others}: ${telling.reason}`];
}

export function credentialsRejected(
  rejection: Rejection,
  place: SecretPlace,
  name?: string,
): SourceError {
  const { status, headers } = rejection;
  const { key, name: where, scheme } = partsOfPlace(place);
  const offered = schemesOf(headers);
  const other = (["digest", "basic"] as const).find((other) => offered.includes(other));
  const isOther = other && scheme !== "header" && !offered.includes(scheme);
  const message = isOther
    ? `requires HTTP ${other}; set node.auth.${other}_file`
    : `rejects the credentials of node.auth (${status})`;
  return new SourceError(codeOf(rejection), message, {
    number: status,
    looksLike: name,
    hint: isOther ? `node.auth has ${key}` : `the credentials come from ${key} ${where}`,
  });
}

export function credentialsUnreadable(
  { status }: Rejection,
  place: SecretPlace,
  reason: string,
): SourceError {
  const hint = cannotRead(place, reason);
  const message = `requires credentials (${status}), but node.auth cannot be read`;
  return new SourceError("no_credentials", message, { number: status, hint });
}

function settingText(setting: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(setting).map(([key, value]) => {
    const text = String(value);
    return `${key}: ${/^[\w~./-]+$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`}`;
  });
  return `{ ${members.join(", ")} }`;
}

export interface Challenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

const LENGTH_MAX = 4096;
const SCHEME = /[\s,]*([\w!#$%&'*+.^`|~-]+)(?:[ \t]+|$|(?=,))/y;
const PARAMETER =
  /[\s,]*([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"=]+))[ \t]*(?=,|$)/y;
/** Matches a `token68`, which a challenge may have instead of parameters. */
const TOKEN = /[\w.~+/-]+=*[ \t]*(?=,|$)/y;

/** Parses `WWW-Authenticate` (RFC 9110, section 11.6.1) up to the first syntax error. */
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
