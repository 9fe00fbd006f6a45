/**
 * The URL of a server in a description: a template with variables, which may be relative.
 *
 * @module
 */
import { isIpLiteral, isLoopback } from "../http/host-names.ts";
import { type JsonObject, listOf, mapMembers, objectOf, textOf } from "../json/values.ts";
import { LIMITS } from "./diagnostics.ts";

/** Returns `undefined` if the URL is too long. */
export const usualUrl = (server: JsonObject): string | undefined => expandUrl(server, 1)[0];

/**
 * Returns the URL with each combination of the values of its variables, or only with their usual
 * values if there are more combinations than `most`.
 */
export function expandUrl(
  { url, variables }: JsonObject,
  most: number = LIMITS.combinations,
): string[] {
  // Many places of a long URL may have one variable with many values.
  if (typeof url !== "string" || url.length > LIMITS.name) return [];
  const known = new Map<string, readonly string[]>();
  const parts = (url || "/").split(/(\{[^{}]*\})/).map((part) => {
    if (!part.startsWith("{")) return [part];
    const texts = known.get(part) ?? textsOf(objectOf(variables)[part.slice(1, -1)], most);
    known.set(part, texts);
    return texts.length > 0 ? texts : [part];
  });
  const count = parts.reduce((count, { length }) => count * length, 1);
  const chosen = count > most ? parts.map((texts) => texts.slice(0, 1)) : parts;
  // Many places may have one long text.
  const length = chosen.reduce((sum, texts) => sum + Math.min(...texts.map(lengthOf)), 0);
  if (length > LIMITS.url) return [];
  return joinFixed(chosen).reduce<string[]>(
    (urls, texts) =>
      urls.flatMap((url) => texts.map((text) => url + text))
        .filter(({ length }) => length <= LIMITS.url),
    [""],
  );
}

const lengthOf = ({ length }: string): number => length;

/** Joins neighbours that have one text each, so that they are not added to each combination. */
function joinFixed(parts: readonly (readonly string[])[]): (readonly string[])[] {
  const joined: (readonly string[])[] = [];
  let fixed: string[] = [];
  for (const texts of parts) {
    if (texts.length === 1) fixed.push(texts[0]!);
    else {
      joined.push([fixed.join("")], texts);
      fixed = [];
    }
  }
  return [...joined, [fixed.join("")]];
}

/** Returns the values of a variable, the usual one first: all, or more than `most`. */
function textsOf(variable: unknown, most: number): readonly string[] {
  const { default: usual, enum: listed } = objectOf(variable);
  const texts = [usual, ...listOf(listed).slice(0, most + 1)].map(textOf);
  return [...new Set(texts.filter((text) => text !== undefined))];
}

export function variablesOf(template: string): Set<string> {
  return new Set(template.match(/\{[^{}]*\}/g)?.map((part) => part.slice(1, -1)));
}

export function schemeAndHostOf(url: string): string {
  return /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}

/**
 * A URL that begins with a variable counts as absolute, since the variable may contain a scheme.
 */
export function isRelative(url: unknown): boolean {
  return typeof url === "string" && !/^(?:[a-z][\w+.-]*:|\{)/i.test(url) &&
    pathWithoutScheme(url) === undefined;
}

/**
 * Returns the path of a URL that lacks its scheme, such as `localhost:3333/core`, or `undefined` if
 * the URL has a scheme or may be a relative one.
 */
export function pathWithoutScheme(url: string): string | undefined {
  const [host = ""] = /^[^/\\?#]*/.exec(url) ?? [];
  const isHost = HOST_ALONE.test(host) || LONG_NAME.test(host) || isIpLiteral(host) ||
    isLoopback(host);
  return isHost ? url.slice(host.length) : undefined;
}

/** Matches a host with its port, a placeholder such as `<host>`, and names with a common ending. */
const HOST_ALONE = /^(?:[\w.<>-]+:\d+|<[\w -]+>|[\w.-]+\.(?:com|net|org))$/i;

/** Relative paths may begin with `v1.0`, `v1.0.beta` or `api.php`. */
const LONG_NAME = /^(?!v\d)[a-z][\w-]*(?:\.[\w-]+)+\.[a-z]{2,}$/i;

/** After `http:`, URL parsers also accept backslashes, or no slashes at all. */
const LOGIN = /^(https?:[\\/]*|[^\\/?#]*[\\/]{2,})[^\\/?#]*@/i;

export function withoutLogin(url: string): string {
  return url.replace(LOGIN, "$1");
}

/**
 * Returns the variables of a server that are left when the user and password are omitted, or
 * `undefined` if neither the server's URL nor the values of its variables have them.
 */
export function variablesWithoutLogin({ url, variables }: JsonObject): JsonObject | undefined {
  if (typeof url !== "string") return undefined;
  const left = withoutLogin(url) === url ? undefined : variablesOf(withoutLogin(url));
  const all = objectOf(variables);
  const changed = mapMembers(all, (one, name) => {
    if (left && !left.has(name)) return undefined;
    const isAuthority = url.includes(`//{${name}}`);
    const without = (value: unknown) => {
      if (typeof value !== "string") return value;
      return isAuthority ? withoutLogin(`//${value}`).slice(2) : withoutLogin(value);
    };
    const { default: value, enum: values } = objectOf(one);
    const list = listOf(values);
    const isSame = without(value) === value && list.every((each) => without(each) === each);
    if (isSame) return one;
    const cleaned = { ...objectOf(one), default: without(value) };
    return list.length === 0 ? cleaned : { ...cleaned, enum: list.map(without) };
  });
  return left || Object.keys(all).some((name) => changed[name] !== all[name]) ? changed : undefined;
}

/** Omits slashes at the end in linear time, unlike a regular expression. */
export function trimSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end--;
  return url.slice(0, end);
}

export const withBraces = (url: string): string =>
  url.replaceAll("%7B", "{").replaceAll("%7D", "}");
