/**
 * The URL of a server: as text, with its variables, its users and passwords, and its origin.
 *
 * @module
 */
import { isLoopback } from "../http/request.ts";
import {
  isEqual,
  isObject,
  type Json,
  listOf,
  mapMembers,
  objectOf,
  textOf,
} from "../json/values.ts";
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

/** Neither a URL with a scheme, nor with a variable that may stand for one. */
export function isRelative(url: unknown): boolean {
  return typeof url === "string" && !/^(?:[a-z][\w+.-]*:|\{)/i.test(url);
}

/**
 * The part before a host, and a user with a password. For `http:` readers take backslashes for slashes,
 * and need none of them.
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
export function usualUrl({ url, variables }: Json): string | undefined {
  const template = typeof url === "string" ? url : "";
  return fill(
    template,
    new Map([...valuesOf(template, variables)].map(([name, [usual]]) => [name, usual!])),
  );
}

/**
 * The URLs of a server, one for each listed value of its variables; of more than can be tried, the one
 * with their defaults. A value that looks like a variable is not one.
 */
export function expand({ url, variables }: Json): string[] {
  const template = typeof url === "string" ? url : "";
  const usual = new Map<string, string>();
  let choices: ReadonlyMap<string, string>[] = [new Map()];
  for (const [name, values] of valuesOf(template, variables)) {
    usual.set(name, values[0]!);
    if (values.length === 1) continue;
    if (choices.length * values.length > LIMITS.combinations) choices = [];
    choices = choices.flatMap((choice) => values.map((value) => new Map(choice).set(name, value)));
  }
  const all = choices.length > 0 ? choices : [usual];
  return all.map((choice) => fill(template, usual, choice)).filter((url) => url !== undefined);
}

function* valuesOf(
  template: string,
  variables: unknown,
): Generator<[name: string, values: string[]]> {
  const names = variablesOf(template);
  for (const [name, value] of Object.entries(objectOf(variables))) {
    if (!names.has(name)) continue;
    const { default: usual, enum: listed } = objectOf(value);
    const texts = [usual, ...listOf(listed)].map(textOf).filter((text) => text !== undefined);
    if (texts.length > 0) yield [name, [...new Set(texts)]];
  }
}

/** A URL with the values of its variables; `undefined` where it is too long for one. */
function fill(
  template: string,
  usual: ReadonlyMap<string, string>,
  choice: ReadonlyMap<string, string> = usual,
): string | undefined {
  if (template.length > LIMITS.url) return undefined;
  let length = 0;
  const parts = template.split(/(\{[^{}]*\})/).map((part) => {
    const name = part.startsWith("{") ? part.slice(1, -1) : "";
    const value = choice.get(name) ?? usual.get(name) ?? part;
    length += value.length;
    return value;
  });
  return length > LIMITS.url ? undefined : parts.join("");
}

/** A server without the user and the password of its URL, and without the variables for them alone. */
export function withoutLoginOf(server: Json): Json {
  if (typeof server.url !== "string") return server;
  const url = withoutLogin(server.url);
  const [before, after] = [variablesOf(server.url), variablesOf(url)];
  const inHost = url.includes("//") ? variablesOf(hostOf(url)) : new Set<string>();
  const variables = mapMembers(
    objectOf(server.variables),
    (variable, name) =>
      after.has(name) || !before.has(name) ? withoutLoginIn(variable, inHost.has(name)) : undefined,
  );
  const changed = { ...server, url, ...(isObject(server.variables) && { variables }) };
  return isEqual(changed, server) ? server : changed;
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
