/**
 * Where this service serves the operations of a node. It is found once, when a description is
 * loaded, and each operation keeps it.
 *
 * @module
 */
import { parsePercent } from "../decode.ts";
import { type JsonObject, objectOf, textOf } from "../json/values.ts";
import { inSlices } from "../slices.ts";
import type { NodeOperation } from "./node-operation.ts";
import { mapOperations, mapPathItems, type PathOperation, serversFor } from "./operations.ts";

/** A URL relative to the description works behind any path prefix or proxy. */
export const THIS_SERVICE = ".";
export const NODE_PATH = "/v1/node";
export const NODE_SERVER: string = THIS_SERVICE + NODE_PATH;

export const METHODS_PATH = "/v1/rpc/";

export const pathOfMethod = (name: string): string => METHODS_PATH + encodeURIComponent(name);

export const isMethodPath = (path: string): boolean => path.startsWith(METHODS_PATH);

/** The name of an operation of the node, and its path there. */
export type Home = Pick<NodeOperation, "name" | "isMethod" | "path">;

const HOME: unique symbol = Symbol("home");

/** Returns `undefined` for an operation that is not called at the node through this service. */
export const homeOf = (operation: JsonObject): Home | undefined =>
  (operation as { [HOME]?: Home })[HOME];

/** Returns `undefined` for an operation that is not a JSON-RPC method of the node. */
export function nameOfMethod(operation: JsonObject): string | undefined {
  const home = homeOf(operation);
  return home?.isMethod ? home.name : undefined;
}

/** Gives the operations their homes. The paths and servers must not have changed places yet. */
export async function withHomes(document: JsonObject): Promise<JsonObject> {
  const change = (item: JsonObject, path: string) =>
    mapOperations(item, (located) => {
      const home = findHome(document, { ...located, item, path });
      return home ? { ...located.operation, [HOME]: home } : located.operation;
    });
  return await inSlices(mapPathItems(document, { paths: change }));
}

/** Finds the home of an operation that does not keep it yet. */
export function findHome(
  document: JsonObject,
  { path, item, method, operation }: PathOperation,
): Home | undefined {
  const url = onlyUrl([operation, item, document]);
  const name = isMethodPath(path) ? parsePercent(path.slice(METHODS_PATH.length)) : undefined;
  if (name !== undefined) {
    return url === THIS_SERVICE ? { name, isMethod: true, path: "" } : undefined;
  }
  // A description that a service like this one has written may have the node's paths below its own.
  const [base, rest] = url === THIS_SERVICE
    ? [baseAtNode(url + path), ""]
    : [baseAtNode(url), path];
  if (base === undefined) return undefined;
  return { name: `${method} ${base}${rest}`, isMethod: false, path: base + rest };
}

/** Returns the only URL of the servers that apply. See {@linkcode serversFor}. */
export function onlyUrl(holders: readonly JsonObject[]): string | undefined {
  const [server, another] = serversFor(holders);
  return another === undefined ? textOf(objectOf(server).url) : undefined;
}

/** Returns the base path of a server at the node, or `undefined` if the server is another one. */
export const baseAtNode = (url: string = ""): string | undefined =>
  `${url}/`.startsWith(`${NODE_SERVER}/`) ? url.slice(NODE_SERVER.length) : undefined;
