/**
 * Merges the descriptions of the node, this service and the host program.
 *
 * @module
 */
import { RESOURCE_PATH } from "../http/own-paths.ts";
import {
  capital,
  createFreeName,
  filled,
  isEqual,
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  present,
  setMember,
} from "../json/values.ts";
import { copyInSlices } from "../json/in-slices.ts";
import { toOpenApi30 } from "./downgrade.ts";
import { baseAtNode, onlyUrl, THIS_SERVICE } from "./home.ts";
import { type LocatedOperation, mapOperations, operationsIn, SERVICE_TAG } from "./operations.ts";
import { trimSlashes } from "./server-url.ts";
import { basePathsOf, mapUrls } from "./servers.ts";

export interface DescribedOperation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  operation: Readonly<Record<string, unknown>>;
}

export interface DocumentOfHost {
  readonly info?: unknown;
  readonly tags?: unknown;
  readonly externalDocs?: unknown;
  readonly components?: unknown;
}

function addOperations(
  document: JsonObject,
  operations: readonly DescribedOperation[],
): JsonObject {
  const theirs = objectOf(document.paths);
  const added: JsonObject = {};
  for (const { method, path, operation } of operations) {
    added[path] = { ...objectOf(added[path] ?? theirs[path]), [method.toLowerCase()]: operation };
  }
  return { ...document, paths: { ...added, ...theirs, ...added } };
}

/** Hosts describe their operations in OpenAPI 3.1, and nodes theirs in any version. */
async function inVersionOf(
  { openapi }: JsonObject,
  operations: readonly DescribedOperation[],
  components: unknown,
): Promise<{ operations: readonly DescribedOperation[]; components: unknown }> {
  if (!/^3(?:\.0|$)/.test(String(openapi))) return { operations, components };
  const paths = Object.fromEntries(operations.map(({ operation }, at) => [at, { get: operation }]));
  const part = await toOpenApi30({ paths, components });
  return {
    components: part.components,
    operations: operations.map((each, at) => ({ ...each, operation: part.paths[at]!.get })),
  };
}

async function addHost(
  document: JsonObject,
  described: readonly DescribedOperation[],
  { info, tags, externalDocs, components: added }: DocumentOfHost,
): Promise<{ readonly document: JsonObject; readonly operations: readonly DescribedOperation[] }> {
  const { operations, components } = await inVersionOf(document, described, added);
  const merged = await mergeComponents(objectOf(document.components), objectOf(components));
  const ofHost = new Set(listOf(tags).map((tag) => objectOf(tag).name));
  const others = listOf(document.tags).filter((tag) => !ofHost.has(objectOf(tag).name));
  return {
    document: {
      ...document,
      ...present({
        info,
        externalDocs,
        tags: tags && [...listOf(tags), ...others],
        components: components && merged.components,
      }),
    },
    operations: operations.map((operation) => merged.rename(operation)),
  };
}

export function withoutPaths(document: JsonObject, omitted: readonly string[]): JsonObject {
  const omit = (item: unknown, path: string) => omitted.includes(path) ? undefined : item;
  return { ...document, paths: mapMembers(objectOf(document.paths), omit) };
}

export async function withHost(
  own: JsonObject,
  operations: readonly DescribedOperation[],
  documentOfHost: DocumentOfHost,
): Promise<JsonObject> {
  const { document, operations: added } = await addHost(own, operations, documentOfHost);
  const paths = withFreeIds(objectOf(document.paths), added);
  return addOperations({ ...document, paths }, added);
}

/** Gives operations other ids than those that the host uses. */
function withFreeIds(paths: JsonObject, ofHost: readonly DescribedOperation[]): JsonObject {
  if (ofHost.length === 0) return paths;
  const taken = new Set(ofHost.map(({ operation }) => operation.operationId));
  const ids = operationsIn({ paths }).map(({ operation }) => operation.operationId);
  const freeId = createFreeName(new Set([...ids, ...taken]));
  const change = ({ operation }: LocatedOperation) => {
    const { operationId: id } = operation;
    if (id === undefined || !taken.has(id)) return operation;
    return { ...operation, operationId: freeId(String(id)) };
  };
  return mapMembers(paths, (item) => isObject(item) ? mapOperations(item, change) : item);
}

const TAG_DESCRIPTION = "The identity and the status of this node.";

const SERVERS = [{ url: THIS_SERVICE, description: "The service that shows this description" }];

export async function withServiceOperations(
  own: JsonObject,
  node: JsonObject,
  ofHost: readonly DescribedOperation[] = [],
  documentOfHost: DocumentOfHost = {},
): Promise<JsonObject> {
  const { document, operations } = await addHost(node, ofHost, documentOfHost);
  const moved = withRoom(document, new Set(operations.map(({ path }) => path)));
  const theirs = withFreeIds(moved, operations);
  const bases = basePathsOf(document);
  const isTheirs = (path: string) =>
    bases.some((base) => path.startsWith(base) && Object.hasOwn(theirs, path.slice(base.length)));
  const all = [...operationsIn({ paths: theirs }), ...operations];
  const freeId = createFreeName(new Set(all.map(({ operation }) => operation.operationId)));
  const paths: JsonObject = {};
  for (const [path, item] of Object.entries(objectOf(own.paths))) {
    const { get } = item as { get: JsonObject };
    if (!RESOURCE_PATH.test(path) || isTheirs(path)) continue;
    const operationId = freeId(`nodeface${capital(String(get.operationId))}`);
    paths[path] = {
      get: { ...get, operationId, tags: [SERVICE_TAG], security: [], servers: SERVERS },
    };
  }
  const described = operations.map((added) => ({
    ...added,
    operation: { servers: SERVERS, security: [], ...added.operation },
  }));
  if (Object.keys(paths).length + described.length === 0) return { ...document, paths: theirs };
  const used = usedComponents(own, paths);
  const theirComponents = objectOf(document.components);
  const prefixed = (name: string) => `Nodeface${name}`;
  const { components, rename } = await mergeComponents(theirComponents, used, prefixed);
  const added = objectOf(addOperations({ paths: rename(paths) }, described).paths);
  const tags = listOf(document.tags);
  // Viewers list declared tags first. If the node declares no tags, this tag stays undeclared.
  const isTagNew = tags.length > 0 && !tags.some((tag) => objectOf(tag).name === SERVICE_TAG);
  return {
    ...document,
    paths: { ...theirs, ...added },
    ...filled(used) && { components },
    ...isTagNew && { tags: [...tags, { name: SERVICE_TAG, description: TAG_DESCRIPTION }] },
  };
}

/**
 * If this service or its host has the same path as the node, the first segment of the node's path
 * moves to the end of the server URL: `/v1/info` on `./v1/node` becomes `/info` on `./v1/node/v1`.
 * If that path is taken, too, the host's path stays, and the node's one becomes `/v1/node/PATH`.
 */
function withRoom({ servers, paths: all }: JsonObject, ofHost: ReadonlySet<string>): JsonObject {
  const paths = objectOf(all);
  const taken = new Set([...Object.keys(paths), ...ofHost]);
  const moved: JsonObject = {};
  for (const [path, value] of Object.entries(paths)) {
    const item = objectOf(value);
    const url = onlyUrl([item, { servers }]) ?? "";
    const isOfHost = ofHost.has(path);
    const isInTheWay = baseAtNode(url) !== undefined && (isOfHost || RESOURCE_PATH.test(path));
    const [, start = "", rest = ""] = /^(\/[^/]+)(\/.+)$/.exec(path) ?? [];
    if (isInTheWay && rest !== "" && !taken.has(rest)) {
      taken.add(rest);
      setMember(moved, rest, below(start, item, url));
    } else if (isInTheWay && isOfHost) {
      setMember(moved, url.slice(THIS_SERVICE.length) + path, atThisService(item, url));
    } else {
      setMember(moved, path, value);
    }
  }
  return moved;
}

/** Replaces the server of a path item by this service, and omits operations at other servers. */
function atThisService(item: JsonObject, url: string): JsonObject {
  const { servers: _, ...kept } = mapOperations(item, ({ operation }) => {
    const { servers: own, ...others } = operation;
    return own === undefined || onlyUrl([operation]) === url ? others : undefined;
  });
  return { ...kept, servers: [{ url: THIS_SERVICE }] };
}

/** Appends a path to the servers of a path item and of its operations. */
function below(base: string, item: JsonObject, url: string): JsonObject {
  const moved = mapOperations(item, ({ operation }) => {
    if (operation.servers === undefined) return operation;
    const servers = listOf(operation.servers).map(objectOf);
    return { ...operation, servers: mapUrls(servers, (url) => trimSlashes(url) + base) };
  });
  return { ...moved, servers: [{ url: trimSlashes(url) + base }] };
}

function usedComponents(own: JsonObject, values: JsonObject): Record<string, JsonObject> {
  const used: Record<string, JsonObject> = {};
  const queue: unknown[] = [values];
  for (const next of queue) {
    for (const reference of referencesIn(next)) {
      const [section = "", name = ""] = reference.split("/").slice(2);
      if (used[section]?.[name]) continue;
      const component = objectOf(objectOf(own.components)[section])[name];
      (used[section] ??= {})[name] = component;
      queue.push(component);
    }
  }
  return used;
}

function referencesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) =>
    key === "$ref" ? [String(member)] : referencesIn(member)
  );
}

/**
 * @param wanted the function that returns the preferred name of a component in `added`; a number is
 * appended to a taken name
 * @returns the merged components; `rename` updates the references to renamed components
 */
export async function mergeComponents(
  theirs: JsonObject,
  added: JsonObject,
  wanted: (name: string) => string = (name) => name,
): Promise<{ readonly components: JsonObject; readonly rename: <T>(value: T) => T }> {
  const names = newNames(added, theirs, wanted);
  const rename = <T>(value: T): T => names.size === 0 ? value : renamed(value, names) as T;
  const components = { ...theirs };
  for (const [section, members] of Object.entries(added)) {
    const all = await copyInSlices(objectOf(components[section]));
    for (const [name, value] of Object.entries(objectOf(members))) {
      setMember(all, names.get(referenceTo(section, name)) ?? name, rename(value));
    }
    setMember(components, section, isObject(members) ? all : members);
  }
  return { components, rename };
}

type Names = ReadonlyMap<string, string>;

function newNames(added: JsonObject, theirs: JsonObject, wanted: (name: string) => string): Names {
  const names = new Map<string, string>();
  const equal: { reference: string; value: unknown; rename(): void }[] = [];
  for (const [section, members] of Object.entries(added)) {
    const [others, own] = [objectOf(theirs[section]), objectOf(members)];
    const taken = new Set(Object.keys(own));
    const freeName = createFreeName({
      // A copy of the names of a large section of the node would take long.
      has: (name) => taken.has(name) || Object.hasOwn(others, name),
      add: (name) => taken.add(name),
    });
    for (const [name, value] of Object.entries(own)) {
      const reference = referenceTo(section, name);
      const rename = () => void names.set(reference, freeName(wanted(name)));
      const isThere = Object.hasOwn(others, name);
      if (wanted(name) !== name || (isThere && !isEqual(others[name], value))) rename();
      else if (isThere) equal.push({ reference, value, rename });
    }
  }
  // Of two equal components, one may refer to a component that has a new name.
  for (let size = 0; size < names.size;) {
    size = names.size;
    for (const { reference, value, rename } of equal) {
      if (!names.has(reference) && !isEqual(renamed(value, names), value)) rename();
    }
  }
  return names;
}

const referenceTo = (section: string, name: string) => `#/components/${section}/${name}`;

function renamed(value: unknown, names: Names): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (!isObject(value)) return value;
  return mapMembers(value, (member, key) => {
    // A property of a schema may have the same name.
    if (key === "security" && Array.isArray(member)) {
      return member.map((one) => renamedSchemes(one, names));
    }
    if (key === "$ref") return renamedReference(member, names);
    const inner = renamed(member, names);
    return key === "discriminator" && isObject(inner) ? renamedMapping(inner, names) : inner;
  });
}

function renamedReference(reference: unknown, names: Names): unknown {
  const [, start = "", end = ""] = /^(#\/components\/[^/]+\/[^/]+)(.*)$/.exec(String(reference)) ??
    [];
  const name = names.get(start);
  return name === undefined ? reference : start.replace(/[^/]*$/, () => name) + end;
}

/** The values of a mapping are references, or names of schemas. */
function renamedMapping(discriminator: JsonObject, names: Names): JsonObject {
  const { mapping } = discriminator;
  if (!isObject(mapping)) return discriminator;
  const changed = mapMembers(mapping, (value) => {
    if (typeof value !== "string") return value;
    return names.get(referenceTo("schemas", value)) ?? renamedReference(value, names);
  });
  return { ...discriminator, mapping: changed };
}

function renamedSchemes(value: unknown, names: Names): JsonObject {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([name, scopes]) => {
      return [names.get(referenceTo("securitySchemes", name)) ?? name, scopes];
    }),
  );
}
