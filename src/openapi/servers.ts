/**
 * The servers of a description, and the paths of this service that replace them.
 *
 * @module
 */
import { isLoopback } from "../http/host-names.ts";
import { filled, isObject, type JsonObject, listOf, objectOf } from "../json/values.ts";
import { inSlices, type Work } from "../slices.ts";
import type { CopyBudget } from "./copy-budget.ts";
import { NODE_SERVER, THIS_SERVICE } from "./home.ts";
import { mapOperations, mapPathItems } from "./operations.ts";
import {
  isRelative,
  pathWithoutScheme,
  trimSlashes,
  usualUrl,
  variablesOf,
  withBraces,
} from "./server-url.ts";

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
