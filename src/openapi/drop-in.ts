/**
 * Gives the node's operations the paths at which the root of this service serves them, so that all
 * operations, ours and the node's, have one server.
 *
 * @module
 */
import { isOwnPath, isWellKnown } from "../http/own-paths.ts";
import { PathTemplate } from "../http/path-template.ts";
import { filled, isObject, type JsonObject, listOf, objectOf, setMember } from "../json/values.ts";
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
  const isTaken = takenPaths(ofHost, isBuiltIn);
  for (const [path, value] of Object.entries(objectOf(document.paths))) {
    await pause();
    const item = objectOf(value);
    const places = new Map(
      operationsOf(item).map(({ operation }) => {
        return [operation, placeOf(document, path, item, operation, isTaken)];
      }),
    );
    if (places.size === 0 && !Object.hasOwn(paths, path)) setMember(paths, path, value);
    for (const place of new Set(places.values())) {
      const to = place ?? path;
      const part = place === undefined
        ? partElsewhere(document, item, places, copies)
        : partAtPlace(place, item, places);
      setMember(paths, to, joined(document, part, paths[to], copies));
    }
  }
  return { ...document, servers: [{ url: THIS_SERVICE }], paths };
}

/** A template of the host may take all paths of the node's one. */
function takenPaths(ofHost: readonly string[], isBuiltIn: boolean): (path: string) => boolean {
  const templates = ofHost.map((path) => new PathTemplate(path));
  return (path) => {
    const { sample } = new PathTemplate(path);
    return isReserved(path, isBuiltIn) || templates.some((one) => one.match(sample) !== undefined);
  };
}

/** The paths of the operations of an item; `undefined` for those that are called elsewhere. */
type Places = ReadonlyMap<JsonObject, string | undefined>;

/** Returns the path of an operation, or `undefined` if it is called elsewhere. */
function placeOf(
  document: JsonObject,
  path: string,
  item: JsonObject,
  operation: JsonObject,
  isTaken: (path: string) => boolean,
): string | undefined {
  const home = homeOf(operation);
  if (home && !home.isMethod) return isTaken(home.path) ? NODE_PATH + home.path : home.path;
  return onlyUrl([operation, item, document]) === THIS_SERVICE ? path : undefined;
}

/** Returns the operations of an item that have the place. They need no servers of their own. */
function partAtPlace(
  place: string,
  { servers: _, ...item }: JsonObject,
  places: Places,
): JsonObject {
  return mapOperations(item, ({ operation }) => {
    const { servers: _, ...others } = operation;
    return places.get(operation) === place ? others : undefined;
  });
}

/**
 * Returns the operations of an item that are called elsewhere. Each repeats the servers that apply
 * to it, since another operation of the path may be called at this service.
 */
function partElsewhere(
  document: JsonObject,
  { servers, ...item }: JsonObject,
  places: Places,
  copies: CopyBudget,
): JsonObject {
  return mapOperations(item, ({ operation }) => {
    if (places.get(operation) !== undefined) return undefined;
    const { servers: own, ...others } = operation;
    const repeated = filled(listOf(own)) ??
      repeatableServers(serversFor([{ servers }, document]), copies);
    return repeated.length > 0 ? { ...others, servers: repeated } : undefined;
  });
}
