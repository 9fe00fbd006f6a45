/**
 * Gives the node's operations the paths at which the root of this service serves them, so that all
 * operations, ours and the node's, have one server.
 *
 * @module
 */
import { isOwnPath, isWellKnown } from "../http/own-paths.ts";
import { PathTemplate } from "../http/path-template.ts";
import { isObject, type JsonObject, listOf, objectOf, setMember } from "../json/values.ts";
import { pause } from "../slices.ts";
import { CopyBudget } from "./copy-budget.ts";
import { baseAtNode, homeOf, NODE_PATH, onlyUrl, THIS_SERVICE } from "./home.ts";
import { mapOperations, operationsOf, parametersOf, serversFor } from "./operations.ts";
import { repeatableServers } from "./servers.ts";

/**
 * Tells whether the root of this service does not serve a path of the node.
 *
 * @param path a path or a template
 * @param isBuiltIn true if a built-in kind describes the node
 */
export const isReserved = (path: string, isBuiltIn: boolean): boolean =>
  isOwnPath(path) || (isWellKnown(path) && !isBuiltIn);

/**
 * Returns the path that a client of the node needs in its address, such as `/v1/rpc`.
 *
 * @param rpcPath the path of the JSON-RPC endpoint of a node that has no REST operations
 */
export function addressForClients(
  document: JsonObject,
  isAtRoot: boolean,
  rpcPath: string,
): string {
  const base = baseAtNode(onlyUrl([document]));
  if (isAtRoot) return base || rpcPath || "/";
  return base === undefined ? "/v1/rpc" : NODE_PATH + base;
}

/** Two path items that come to one path keep their operations' parameters. */
function joined(
  document: JsonObject,
  item: JsonObject,
  known: unknown,
  copies: CopyBudget,
): JsonObject {
  if (!isObject(known)) return item;
  const [one, other] = [item, known].map((each) => withOwnParameters(document, each, copies));
  return { ...one, ...other };
}

/** Gives each operation the parameters of its path item, and omits it if there is no room. */
function withOwnParameters(document: JsonObject, item: JsonObject, copies: CopyBudget): JsonObject {
  const { parameters: _, ...mapped } = mapOperations(item, ({ operation }) => {
    const parameters = parametersOf(document, item, operation).map(({ value }) => value);
    if (parameters.length === 0) return operation;
    return copies.take(parameters) ? { ...operation, parameters } : undefined;
  });
  return mapped;
}

/**
 * An operation with a path of ours or of the host stays below `/v1/node`. An operation that is not
 * called through this service keeps its servers.
 *
 * @param ofHost the paths of the host's operations
 */
export async function withDropInPaths(
  document: JsonObject,
  ofHost: readonly string[],
  isBuiltIn: boolean,
): Promise<JsonObject> {
  const paths: JsonObject = {};
  const copies = new CopyBudget();
  const templates = ofHost.map((path) => new PathTemplate(path));
  /** A template of the host may take all paths of the node's one. */
  const isTaken = (path: string) => {
    const { sample } = new PathTemplate(path);
    return isReserved(path, isBuiltIn) || templates.some((one) => one.match(sample) !== undefined);
  };
  for (const [path, value] of Object.entries(objectOf(document.paths))) {
    await pause();
    const { servers, ...item } = objectOf(value);
    /** Returns `undefined` if the operation is called elsewhere. */
    const placeOf = (operation: JsonObject) => {
      const home = homeOf(operation);
      if (home && !home.isMethod) return isTaken(home.path) ? NODE_PATH + home.path : home.path;
      return onlyUrl([operation, { servers }, document]) === THIS_SERVICE ? path : undefined;
    };
    const places = new Map(
      operationsOf(item).map(({ operation }) => [operation, placeOf(operation)]),
    );
    if (places.size === 0 && !Object.hasOwn(paths, path)) setMember(paths, path, value);
    for (const place of new Set(places.values())) {
      const part = mapOperations(item, ({ operation }) => {
        if (places.get(operation) !== place) return undefined;
        const { servers: own, ...others } = operation;
        if (place !== undefined) return others;
        // Another operation of the path may be called at this service.
        const repeated = listOf(own)[0]
          ? listOf(own)
          : repeatableServers(serversFor([{ servers }, document]), copies);
        return repeated.length > 0 ? { ...others, servers: repeated } : undefined;
      });
      const to = place ?? path;
      setMember(paths, to, joined(document, part, paths[to], copies));
    }
  }
  return { ...document, servers: [{ url: THIS_SERVICE }], paths };
}
