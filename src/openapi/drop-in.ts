/**
 * Gives the node's operations the paths at which the root of this service serves them, so that all
 * operations, ours and the node's, have one server.
 *
 * @module
 */
import { isOwnPath, isWellKnown } from "../http/own-paths.ts";
import { type Json, mapMembers, objectOf, setMember } from "../json/values.ts";
import { pause } from "../slices.ts";
import { type LocatedOperation, mapOperations, operationsOf } from "./operations.ts";
import { baseAtNode, NODE, onlyUrl, THIS_SERVICE } from "./servers.ts";

/**
 * Tells whether the root of this service does not serve a path of the node.
 *
 * @param path a path or a template
 * @param isBuiltIn true if a built-in kind describes the node
 */
export const isReserved = (path: string, isBuiltIn: boolean): boolean =>
  isOwnPath(path) || (isWellKnown(path) && !isBuiltIn);

/** Returns the path that a client of the node needs in its address, such as `/v1/rpc`. */
export function clientAddress(document: Json, isAtRoot: boolean): string {
  const base = baseAtNode(onlyUrl([document]));
  if (isAtRoot) return base || "/";
  return base === undefined ? "/v1/rpc" : NODE.slice(1) + base;
}

/**
 * An operation with a path of ours stays below `/v1/node`. An operation that is not called through
 * this service keeps its servers.
 */
export async function withDropInPaths(document: Json, isBuiltIn: boolean): Promise<Json> {
  if (baseAtNode(onlyUrl([document])) === undefined) return document;
  const paths: Json = {};
  for (const [path, value] of Object.entries(objectOf(document.paths))) {
    await pause();
    const item = objectOf(value);
    const prefixes = prefixesIn(document, path, item, isBuiltIn);
    if (prefixes.size === 0) setMember(paths, path, value);
    for (const prefix of new Set(prefixes.values())) {
      const place = (prefix ?? "") + path;
      const part = mapMembers(item, (member, key) => {
        if (key === "servers") return prefix === undefined ? member : undefined;
        return prefixes.has(key) && prefixes.get(key) !== prefix ? undefined : member;
      });
      const placed = prefix === undefined ? part : mapOperations(part, withoutServers);
      setMember(paths, place, { ...placed, ...objectOf(paths[place]) });
    }
  }
  return { ...document, servers: [{ url: THIS_SERVICE }], paths };
}

/** Returns what precedes the path of each method; `undefined` if the method is called elsewhere. */
function prefixesIn(document: Json, path: string, item: Json, isBuiltIn: boolean) {
  const prefixes = new Map<string, string | undefined>();
  for (const { keys: [key], operation } of operationsOf(item)) {
    if (prefixes.has(key!)) continue;
    const url = onlyUrl([operation, item, document]);
    const base = url === THIS_SERVICE ? "" : baseAtNode(url);
    const isMoved = base !== undefined && url !== THIS_SERVICE &&
      isReserved(base + path, isBuiltIn);
    prefixes.set(key!, isMoved ? NODE.slice(1) + base : base);
  }
  return prefixes;
}

function withoutServers({ operation: { servers: _, ...others } }: LocatedOperation): Json {
  return others;
}
