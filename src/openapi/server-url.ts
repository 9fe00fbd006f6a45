/**
 * The URL of a server as text.
 *
 * @module
 */
import { isLoopback } from "../http/hosts.ts";

/** Stands for this service, whose address is not known here. */
const HERE = "http://here.invalid";

/**
 * The URL of something of this service, relative to a document of this service (RFC 3986, section 4.2), so
 * that it is right behind any prefix and any proxy. Joined with a path it is right both before and after
 * it is resolved.
 *
 * @param path below the service: empty for the service itself, or such as `/v1/node`
 * @param depth how many folders below the service the document is: 0 for `/spec.json`, 1 for
 *   `/v1/spec.json`
 */
export function serverUrl(path: string, depth: number): string {
  return (depth === 0 ? "." : Array(depth).fill("..").join("/")) + path;
}

/** The server of what this service answers itself. */
export const THIS_SERVICE: string = serverUrl("", 0);

/** The server of what the node answers: its own paths stand below it. */
export const NODE: string = serverUrl("/v1/node", 0);

/** A relative URL as one that is relative to `/spec.json` of this service; one of another host as it is. */
export function atThisService(url: string): string {
  if (!URL.canParse(url, HERE)) return url;
  const { origin, href } = new URL(url, HERE);
  return origin === HERE ? serverUrl(trim(withBraces(href.slice(HERE.length))), 0) : url;
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
 * What stands before a host, and a user with a password. For `http:` readers take backslashes for slashes,
 * and need none of them.
 */
const LOGIN = /^(https?:[\\/]*|[^\\/?#]*[\\/]{2,})[^\\/?#]*@/i;

/** A URL without the user and the password that stand before its host. */
export function withoutLogin(url: string): string {
  return url.replace(LOGIN, "$1");
}

/** What stands before the path of a URL. */
export function hostOf(url: string): string {
  return /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}

/** The origin that a URL begins with, where that is this machine. */
export function loopbackOriginOf(url: string): string | undefined {
  const origin = /^https?:\/\/[^/?#]+/i.exec(url)?.[0];
  if (!origin || !URL.canParse(origin)) return undefined;
  return isLoopback(new URL(origin).hostname) ? origin : undefined;
}

/** Paths begin with a slash of their own. */
export function trim(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end--;
  return url.slice(0, end);
}

/** The braces of variables, which a URL has encoded. */
export const withBraces = (url: string): string =>
  url.replaceAll("%7B", "{").replaceAll("%7D", "}");
