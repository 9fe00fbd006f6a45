/**
 * The servers that a description names: where they lead.
 *
 * @module
 */
import { isEqual, isObject, type Json, listOf, objectOf, textOf } from "../json/values.ts";
import { operationsOf } from "./operations-of-path-item.ts";
import { mapServers, serversOf } from "./list-servers.ts";
import {
  absolute,
  atThisService,
  hostOf,
  isRelative,
  loopbackOriginOf,
  NODE,
  THIS_SERVICE,
  trim,
  withBraces,
  withoutLogin,
} from "./server-url.ts";
import { expand, usualUrl, variablesOf } from "./server-variables.ts";

/** What the operator knows of where the node is. */
export interface Whereabouts {
  /** What the URLs of servers are relative to. */
  readonly base?: string | undefined;
  /** The server of a document that names none. @default base */
  readonly home?: string | undefined;
  /** Where the node is reached from outside; takes the place of the document's servers. */
  readonly publicUrl?: string | undefined;
  /** Where the node answers that gave the document itself: it may know itself as `localhost` only. */
  readonly itself?: string | undefined;
  /** Where the node answers, if it is reached through this service and not by its own address. */
  readonly node?: string | undefined;
  /**
   * What becomes of the servers at the top: `keep` leaves them as they are, and a path is the one before every
   * path of the node.
   *
   * @default they stand for the node, whose address is known: a path is taken of them, and no origin
   */
  readonly servers?: string | undefined;
}

/**
 * A description of which every server leads to the node, or to this service where nobody knows where the
 * node is. What all operations have in common is said once, as most generators read nothing else.
 *
 * @param document is left as it is
 * @param isForwarding whether what is called through this service is called there alone
 */
export function withServers(
  document: Json,
  whereabouts: Whereabouts,
  isForwarding: boolean = false,
): Json {
  const where = Object.fromEntries(
    Object.entries(whereabouts).map(([key, url]) => [key, url && withoutLogin(url)]),
  ) as Whereabouts;
  const { base, home = base, publicUrl } = where;
  const placed = mapServers(document, (servers) => nearServers(servers, where));
  const isNone = listOf(document.servers).filter(isObject).length === 0;
  const [path, ...others] = basePathsAtNode(document, where);
  const atNode = path === undefined || others.length > 0 ? undefined : NODE + path;
  const url = publicUrl ?? atNode ?? (isNone ? trim(home ?? THIS_SERVICE) : undefined);
  const whole = url === undefined ? placed : { ...placed, servers: [{ url }] };
  const through = publicUrl ? whole : throughThisService(whole, where, isForwarding);
  return withCommonServers(through);
}

/** A description whose operations at the node are called through this service. */
function throughThisService(
  document: Json,
  { node, itself }: Whereabouts,
  isForwarding: boolean,
): Json {
  if (node === undefined) return document;
  return mapServers(document, (servers) => {
    const mapped = servers.map((server) => {
      const path = pathAtNode(textOf(server.url) ?? "", node, itself !== undefined);
      return path === undefined ? server : { ...server, url: NODE + path };
    });
    if (mapped.every((server, i) => server === servers[i])) return servers;
    const first = mapped.find((server, i) => server !== servers[i]);
    if (isForwarding && first) return [first];
    return uniqueByUrl(mapped);
  });
}

/**
 * The paths that the servers at the top may put before every path of the node; several where nobody knows which
 * of them does, and none where servers do not stand for a node.
 */
export function basePathsAtNode(
  document: Json,
  { base, node, servers: given }: Whereabouts,
): string[] {
  if (node === undefined || given === "keep") return [];
  const servers = listOf(document.servers).filter(isObject);
  const urls = given !== undefined
    ? [given]
    : servers.length === 0
    ? [node]
    : servers.map(usualUrl).filter((url) => url !== undefined);
  const near = urls.find((url) => isNear(url, node));
  const paths = (near === undefined ? urls : [near])
    .map((url) => absolute(url, base ?? node))
    .filter((url) => /^https?:/i.test(url) && URL.canParse(url))
    .map((url) => belowNode(trim(withBraces(new URL(url).pathname)), node))
    .filter((path) => variablesOf(path).size === 0);
  return [...new Set(paths)];
}

/** Whether a URL names no other machine than this one and the node's. */
function isNear(url: string, node: string): boolean {
  if (isRelative(url)) return !/^[\\/]{2}/.test(url);
  const isOfNode = URL.canParse(url) && new URL(url).origin === new URL(node).origin;
  return isOfNode || loopbackOriginOf(url) !== undefined;
}

/** The path below a node that a URL leads to; `undefined` if it leads elsewhere. */
function pathAtNode(url: string, node: string, isItself: boolean): string | undefined {
  const host = hostOf(url);
  if (!URL.canParse(host)) return undefined;
  const [there, at] = [new URL(host), new URL(node)];
  const isLocal = loopbackOriginOf(url) !== undefined &&
    (isItself || (loopbackOriginOf(node) !== undefined && there.port === at.port));
  if (there.origin !== at.origin && !isLocal) return undefined;
  return belowNode(trim(url.slice(host.length)), node);
}

/** A path less what the node's own URL has of it, at its start or as a whole. */
function belowNode(path: string, node: string): string {
  const base = trim(new URL(node).pathname);
  if (base.endsWith(path)) return "";
  return path.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** Servers of which all lead to the node. */
function nearServers(
  servers: readonly Json[],
  { base, publicUrl, itself }: Whereabouts,
): readonly Json[] {
  const near = publicUrl ?? base;
  const mapped = servers.map((server) => {
    const { url } = server;
    if (typeof url !== "string") return server;
    const local = itself && loopbackOriginOf(url);
    const placed = local
      ? trim(trim(publicUrl ?? itself) + url.slice(local.length))
      : !isRelative(url)
      ? url
      : near
      ? absolute(url, near)
      : atThisService(url);
    return placed === url ? server : { ...server, url: placed };
  });
  if (mapped.every((server, i) => server === servers[i])) return mapped;
  return uniqueByUrl(mapped);
}

/** The first server of each URL. */
function uniqueByUrl(servers: readonly Json[]): readonly Json[] {
  const seen = new Set<unknown>();
  return servers.filter(({ url }) => !seen.has(url) && seen.add(url) !== undefined);
}

/** A description that names servers once, where every operation has the same. */
function withCommonServers(document: Json): Json {
  const items = Object.values(objectOf(document.paths)).map(objectOf);
  // Those of a path item that is referred to are not at hand.
  if (items.some(({ $ref }) => $ref !== undefined)) return document;
  let common: unknown;
  const same = new Set<unknown>();
  for (const item of items) {
    for (const { operation } of operationsOf(item)) {
      const servers = [operation, item, document].map((holder) => holder.servers)
        .find((servers) => listOf(servers).length > 0);
      common ??= servers;
      if (!same.has(servers) && !isEqual(servers, common)) return document;
      same.add(servers);
    }
  }
  if (common === undefined || [...serversOf(document)].length < 2) return document;
  return { ...mapServers(document, () => undefined), servers: common };
}

/** Whether some operation would be tried at this service, since it is not known where the node is. */
export function isAstray(document: Json, { base, publicUrl }: Whereabouts): boolean {
  if (base ?? publicUrl) return false;
  return [...serversOf(document)].some(({ servers }) => servers.some(({ url }) => isRelative(url)));
}

/** The path before every path of a description, for each of its servers. */
export function basePathsOf(document: Json): string[] {
  const urls = listOf(document.servers).filter(isObject).flatMap(expand);
  const paths = urls.filter((url) => URL.canParse(url, "http://localhost"))
    .map((url) => trim(new URL(url, "http://localhost").pathname));
  return [...new Set(["", ...paths])];
}
