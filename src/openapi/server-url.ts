/**
 * The URL of a server: as text, with its variables, its users and passwords, and its origin.
 *
 * @module
 */
import { isLoopback } from "../http/request.ts";
import { isObject, type Json, listOf, mapMembers, objectOf, textOf } from "../json/values.ts";
import { LIMITS } from "./diagnostics.ts";

/** Stands for this service, whose address is not known here. */
const HERE = "http://here.invalid";

/**
 * The server of what this service responds to itself, relative to a document of this service (RFC 3986, section 4.2),
 * so that it is right behind any prefix and any proxy. Joined with a path it is right both before and after it is
 * resolved.
 */
export const THIS_SERVICE = ".";

/** The server of the node: its own paths stand below it. */
export const NODE: string = `${THIS_SERVICE}/v1/node`;

/** A relative URL as one that is relative to `/spec.json` of this service; one of another host as it is. */
export function atThisService(url: string): string {
  if (!URL.canParse(url, HERE)) return url;
  const { origin, href } = new URL(url, HERE);
  return origin === HERE ? THIS_SERVICE + trim(withBraces(href.slice(HERE.length))) : url;
}

/** Resolves a URL against a folder, whose last slash may be missing. */
export function absolute(url: string, base: string): string {
  const folder = base.endsWith("/") ? base : `${base}/`;
  // A variable may stand where no URL has one, as in a port.
  return URL.canParse(url, folder) ? trim(withBraces(new URL(url, folder).href)) : url;
}

/** Tells whether a URL has no scheme, and no variable in place of one. */
export function isRelative(url: unknown): boolean {
  return typeof url === "string" && !/^(?:[a-z][\w+.-]*:|\{)/i.test(url);
}

/**
 * The part before a host, with a user and a password. For `http:` parsers take backslashes for slashes, and need
 * neither.
 */
const LOGIN = /^(https?:[\\/]*|[^\\/?#]*[\\/]{2,})[^\\/?#]*@/i;

/** A URL without the user and the password that stand before its host. */
export function withoutLogin(url: string): string {
  return url.replace(LOGIN, "$1");
}

export function hostOf(url: string): string {
  return /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}

/** The origin that a URL begins with, where that is this machine. */
export function loopbackOriginOf(url: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]+/i.exec(url)?.[0];
  if (!origin || !URL.canParse(origin)) return undefined;
  return isLoopback(new URL(origin).hostname) ? origin : undefined;
}

export function trim(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end--;
  return url.slice(0, end);
}

export const withBraces = (url: string): string =>
  url.replaceAll("%7B", "{").replaceAll("%7D", "}");

export function variablesOf(template: string): Set<string> {
  return new Set(template.match(/\{[^{}]*\}/g)?.map((part) => part.slice(1, -1)));
}

/** The URL of a server with the defaults of its variables; `undefined` where it is too long for one. */
export function usualUrl(server: Json): string | undefined {
  return join(textsOf(server).map(([usual]) => [usual!]))[0];
}

/**
 * The URLs of a server, one for each listed value of its variables; of more than can be tried, the one
 * with their defaults. A value that looks like a variable is not one.
 */
export function expand(server: Json): string[] {
  const texts = textsOf(server);
  const count = texts.reduce((count, { length }) => count * length, 1);
  return join(count > LIMITS.combinations ? texts.map(([usual]) => [usual!]) : texts);
}

/** The parts of a server's URL, each with the texts that may stand there: of a variable its default is the first. */
function textsOf({ url, variables }: Json): string[][] {
  if (typeof url !== "string") return [];
  return url.split(/(\{[^{}]*\})/).map((part) => {
    const variable = part.startsWith("{") && objectOf(objectOf(variables)[part.slice(1, -1)]);
    const { default: usual, enum: listed } = objectOf(variable);
    const texts = [usual, ...listOf(listed)].map(textOf).filter((text) => text !== undefined);
    return texts.length > 0 ? [...new Set(texts)] : [part];
  });
}

/** Joins one text of each part in all ways, but for those that are too long for a URL. */
function join(parts: readonly (readonly string[])[]): string[] {
  return parts.reduce<string[]>(
    (urls, texts) =>
      urls.flatMap((url) => texts.map((text) => url + text))
        .filter(({ length }) => length <= LIMITS.url),
    [""],
  );
}

/** The variables of a server without users and passwords, and without those that stand for these alone. */
export function variablesWithoutLogin({ url, variables }: Json): unknown {
  if (typeof url !== "string" || !isObject(variables)) return variables;
  const bare = withoutLogin(url);
  const [before, after] = [variablesOf(url), variablesOf(bare)];
  const inHost = bare.includes("//") ? variablesOf(hostOf(bare)) : new Set<string>();
  return mapMembers(
    variables,
    (variable, name) =>
      after.has(name) || !before.has(name) ? withoutLoginIn(variable, inHost.has(name)) : undefined,
  );
}

function withoutLoginIn(variable: unknown, isHost: boolean): unknown {
  const strip = (text: unknown): unknown => {
    if (Array.isArray(text)) return text.map(strip);
    if (typeof text !== "string") return text;
    return isHost ? withoutLogin(`//${text}`).slice(2) : withoutLogin(text);
  };
  if (!isObject(variable)) return variable;
  return mapMembers(
    variable,
    (member, key) => /^(?:default|enum)$/.test(key) ? strip(member) : member,
  );
}
