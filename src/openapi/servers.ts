/**
 * The servers of a description: URLs, variables, and the origins that the page may call.
 *
 * @module
 */
import { isIpLiteral, isLoopback } from "../http/host-names.ts";
import { formatJson } from "../json/lossless.ts";
import {
  filled,
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  onceFor,
  textOf,
} from "../json/values.ts";
import { shorten } from "../untrusted-text.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { type Diagnostics, LIMITS } from "./diagnostics.ts";
import { atOnce, inSlices, type Work } from "../slices.ts";
import { NODE_SERVER, THIS_SERVICE } from "./home.ts";
import { mapOperations, mapPathItems } from "./operations.ts";

/** Stands for the origin of the service, which the description does not know. */
export const PLACEHOLDER_ORIGIN = "http://here.invalid";

export interface ServerContext {
  /** The node's URL. Clients call the node through this service. */
  readonly node?: string | undefined;
  /** The base path of the node's operations. @default the path of the document's servers */
  readonly base?: string | undefined;
}

/**
 * Replaces the servers with a path of this service: those of the document, and those of a path or
 * an operation that have the host of the node or of one of the document's servers. If the node's
 * URL is unknown, only relative URLs change.
 *
 * @param from the URL from which the document was read
 */
export async function withServers(
  document: JsonObject,
  context: ServerContext,
  from: string,
): Promise<JsonObject> {
  const { node } = context;
  const top = topServersOf(document);
  if (node === undefined) {
    const near = (servers: readonly JsonObject[]) => mapUrls(servers, (url) => nearUrl(url, from));
    return { ...await inSlices(mapServers(document, near)), servers: near(top) };
  }
  const folder = baseUrlOf(node, from);
  const urls = top.flatMap((server) => usualHttpUrl(server, folder) ?? []);
  const hosts = new Set([new URL(node), ...urls].map(hostOfNode));
  const addressOf = (url: URL) => hostOfNode(url) + basePathOf(url);
  const addresses = new Set(urls.map(addressOf));
  const [path = ""] = basePathsAtNode(document, context, from);
  const common = [{ url: NODE_SERVER + path }];
  const placed = await inSlices(mapServers(document, (servers) => {
    const own = preferNode(servers.flatMap((server) => usualHttpUrl(server, folder) ?? []), node)
      .find((url) => hosts.has(hostOfNode(url)));
    if (!own) return servers;
    // An operation may repeat a server of the document, for which `base` stands.
    return addresses.has(addressOf(own))
      ? common
      : [{ url: NODE_SERVER + belowNode(basePathOf(own), node) }];
  }));
  return { ...placed, servers: common };
}

/** A document without servers has the server `/` (OpenAPI 3.1, section 4.8.1.1). */
function topServersOf({ servers }: JsonObject): JsonObject[] {
  const top = listOf(servers).filter(isObject);
  return top.length > 0 ? top : [{ url: "/" }];
}

/** Maps the URLs of servers, and omits servers whose URLs become equal. */
export function mapUrls(
  servers: readonly JsonObject[],
  change: (url: string) => string,
): readonly JsonObject[] {
  const mapped = servers.map((server) => {
    const url = typeof server.url === "string" ? change(server.url) : server.url;
    return url === server.url ? server : { ...server, url };
  });
  if (mapped.every((server, i) => server === servers[i])) return servers;
  const seen = new Set<unknown>();
  return mapped.filter(({ url }) => !seen.has(url) && seen.add(url));
}

/** Returns the possible base paths of the node. The first one is used. */
export function basePathsAtNode(
  document: JsonObject,
  { node, base }: ServerContext,
  from: string,
): string[] {
  if (node === undefined) return [];
  const servers = base === undefined ? topServersOf(document) : [{ url: base }];
  const urls = servers.flatMap((server) => usualHttpUrl(server, baseUrlOf(node, from)) ?? [])
    .filter((url) => variablesOf(basePathOf(url)).size === 0);
  return [...new Set(preferNode(urls, node).map((url) => belowNode(basePathOf(url), node)))];
}

/** Returns the URLs that have the node's host, or all if none has. */
function preferNode(urls: readonly URL[], node: string): readonly URL[] {
  const host = hostOfNode(new URL(node));
  return filled(urls.filter((url) => hostOfNode(url) === host)) ?? urls;
}

/**
 * Returns the URL with the usual values of its variables, or `undefined` for a WebSocket, and for a
 * URL without its scheme.
 */
function usualHttpUrl(server: JsonObject, base: string): URL | undefined {
  const text = usualUrl(server);
  if (text === undefined || !URL.canParse(text, base)) return undefined;
  if (pathWithoutScheme(text) !== undefined) return undefined;
  const url = new URL(text, base);
  return /^https?:$/.test(url.protocol) ? url : undefined;
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

/** In Swagger 2.0, an operation may repeat the document's server with another scheme. */
const hostOfNode = ({ hostname, port }: URL): string =>
  `${isLoopback(hostname) ? "localhost" : hostname}:${port}`;

const basePathOf = ({ pathname }: URL): string => trimSlashes(withBraces(pathname));

function belowNode(path: string, node: string): string {
  const base = trimSlashes(new URL(node).pathname);
  if (base.endsWith(path)) return "";
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** Returns the URL to which the servers of a description from `from` are relative. */
function baseUrlOf(node: string, from: string): string {
  const isAtNode = new URL(from).origin === new URL(node).origin;
  return isAtNode ? new URL(".", from).href : `${trimSlashes(node)}/`;
}

function nearUrl(url: string, from: string): string {
  const isRemote = /^https?:/.test(from);
  // An empty URL would lead to the description itself.
  const base = isRemote ? from.replace(/[?#].*$/, "") : PLACEHOLDER_ORIGIN;
  // A URL with a variable as its port cannot be parsed.
  if (!isRelative(url) || !URL.canParse(url, base)) return url;
  const { origin, href } = new URL(url || "/", base);
  if (isRemote) return trimSlashes(withBraces(href));
  // Server URLs are relative to this service's `/spec.json`.
  return origin === PLACEHOLDER_ORIGIN
    ? THIS_SERVICE + trimSlashes(withBraces(href.slice(PLACEHOLDER_ORIGIN.length)))
    : url;
}

/** Returns the paths that the servers of a document begin with, and the empty path. */
export function basePathsOf({ servers }: JsonObject): string[] {
  const paths = listOf(servers).filter(isObject).map((server) => usualUrl(server) ?? "")
    .filter((url) => URL.canParse(url, PLACEHOLDER_ORIGIN))
    .map((url) => trimSlashes(new URL(url, PLACEHOLDER_ORIGIN).pathname));
  return [...new Set(["", ...paths])];
}

/** Returns each server once, even if YAML aliases repeat it. */
const serversOf = onceFor((document: JsonObject): JsonObject[] => {
  const all: (readonly JsonObject[])[] = [];
  atOnce(mapServers(document, (servers) => {
    all.push(servers);
    return servers;
  }));
  return [...new Set(all.flat())];
});

export function mapServers(
  document: JsonObject,
  change: (servers: readonly JsonObject[]) => readonly JsonObject[],
): Work<JsonObject> {
  const inHolder = (holder: JsonObject): JsonObject => {
    const { servers } = holder;
    if (!Array.isArray(servers)) return holder;
    const changed = change(servers.filter(isObject));
    const isSame = changed.length === servers.length && changed.every((it, i) => it === servers[i]);
    return isSame ? holder : { ...holder, servers: changed };
  };
  const inItem = (item: JsonObject) =>
    mapOperations(inHolder(item), ({ operation }) => inHolder(operation));
  return mapPathItems(inHolder(document), { paths: inItem });
}

/** Matches origins that are safe in a `Content-Security-Policy`, where `*` and `;` are special. */
const ORIGIN = /^https?:\/\/(?:[a-z\d._-]+|\[[a-f\d:.]+\])(?::\d+)?$/;

/** Parsing more URLs would take seconds. */
const ORIGINS_TRIED_MAX = 10_000;

export function originsOf(document: JsonObject, most: number = LIMITS.origins): string[] {
  const origins = new Set<string>();
  let left = ORIGINS_TRIED_MAX;
  for (const server of serversOf(document)) {
    for (const url of expandUrl({ ...server, url: schemeAndHostOf(textOf(server.url) ?? "") })) {
      if (left-- === 0) return [...origins];
      if (!URL.canParse(url)) continue;
      const { origin } = new URL(url);
      if (ORIGIN.test(origin)) origins.add(origin);
      if (origins.size === most) return [...origins];
    }
  }
  return [...origins];
}

export function checkServers(
  document: JsonObject,
  { node }: ServerContext,
  diagnostics: Diagnostics,
): void {
  const servers = serversOf(document);
  if (node === undefined && servers.some(({ url }) => isRelative(url))) {
    const message = "the node's URL is unknown, so the page sends the calls to this service";
    diagnostics.add("note", message, () => 0);
  }
  for (const [i, server] of listOf(document.servers).map(objectOf).entries()) {
    const open = variablesOf(schemeAndHostOf(textOf(server.url) ?? ""));
    for (const [name, member] of Object.entries(objectOf(server.variables))) {
      const { default: usual, enum: listed } = objectOf(member);
      // If a variable has no `enum`, the page uses only its default. The page's
      // `Content-Security-Policy` must list every origin.
      if (Array.isArray(listed) || !open.has(name)) continue;
      const [variable, value] = [name, formatJson(usual)].map((text) => shorten(text, 200));
      const message = `the page calls operations only with {${variable}} = ${value}; ` +
        'list other values in "enum"';
      diagnostics.add("note", message, () => ["servers", String(i), "variables", name]);
    }
  }
  if (originsOf(document, LIMITS.origins + 1).length > LIMITS.origins) {
    const message = `the page can send requests only to the first ${LIMITS.origins} origins`;
    diagnostics.add("note", message, () => 0);
  }
}

/**
 * A URL that begins with a variable counts as absolute, since the variable may contain a scheme.
 */
function isRelative(url: unknown): boolean {
  return typeof url === "string" && !/^(?:[a-z][\w+.-]*:|\{)/i.test(url) &&
    pathWithoutScheme(url) === undefined;
}

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

function schemeAndHostOf(url: string): string {
  return /^[^/]*\/\/[^/?#]*/.exec(url)?.[0] ?? url;
}

/** Omits slashes at the end in linear time, unlike a regular expression. */
export function trimSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === "/") end--;
  return url.slice(0, end);
}

const withBraces = (url: string): string => url.replaceAll("%7B", "{").replaceAll("%7D", "}");

function variablesOf(template: string): Set<string> {
  return new Set(template.match(/\{[^{}]*\}/g)?.map((part) => part.slice(1, -1)));
}

/**
 * Returns the servers of a path as one of its operations may repeat them: all, or only the first
 * one's URL, or none if even that would make the document too large.
 */
export function repeatableServers(servers: unknown, copies: CopyBudget): JsonObject[] {
  const all = listOf(servers).map(objectOf).map(({ url, variables }) =>
    variables === undefined ? { url } : { url, variables }
  );
  const first = all.slice(0, 1).map(({ url }) => ({ url }));
  return [all, first].find((each) => copies.take(each)) ?? [];
}

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
