/**
 * Converts a kind to an OpenAPI document with the operations of one node. Copies the kind's `x-…`
 * marks (see `kinds/interface.ts`) to a node's own description.
 *
 * @module
 */
import {
  createFreeName,
  isObject,
  type JsonObject,
  listOf,
  mapMembers,
  objectOf,
  setMember,
  textOf,
  valueAt,
} from "../json/values.ts";
import {
  EXAMPLE_FROM,
  isOlder,
  type KindInterface,
  MARKS,
  type Method,
  multiSegmentOf,
  type OpenApiPart,
  type OpenRpcPart,
} from "../kinds/interface.ts";
import {
  findHome,
  isMethodPath,
  nameOfMethod,
  NODE_SERVER,
  pathOfMethod,
  THIS_SERVICE,
} from "./home.ts";
import { mergeComponents } from "./merge.ts";
import { openApiOfMethods } from "./openrpc.ts";
import {
  followReference,
  mapOperations,
  mapPathItems,
  operationsIn,
  operationsOf,
  type PathOperation,
} from "./operations.ts";
import { inSlices } from "../slices.ts";

/** The operations that a node supports, as far as the node reports them. */
export interface Offer {
  /**
   * Names of methods, names of method groups (if `before` is set), or paths without the leading
   * slash.
   */
  readonly names?: readonly string[] | undefined;
  readonly before?: string | undefined;
  readonly software?: string | undefined;
  readonly version?: string | undefined;
  /** The version that everybody may see. */
  readonly shownVersion?: string | undefined;
  /** The names of methods that the node lacks, or `undefined` if the node was not asked. */
  readonly missing?: readonly string[] | undefined;
}

export async function documentOfKind(
  { openrpc, openapi }: KindInterface,
  { title }: { readonly title: string },
  { shownVersion: version = "unknown", names, missing }: Offer = {},
): Promise<JsonObject> {
  const known = "These operations are described by the node's kind, not by the node itself.";
  const isUnsure = openrpc !== undefined && names === undefined && missing === undefined;
  const description = known +
    (isUnsure ? " This node may lack some of the methods." : "");
  const head = { openapi: "3.1.1", info: { title, version, description } };
  const { paths = {}, components = {}, tags = [], servers: [server] = [] } = openapi ?? {};
  const rest = {
    ...head,
    servers: [{ url: NODE_SERVER + (server?.url ?? "") }],
    paths,
    components,
    tags,
  };
  const rpc = { ...head, servers: [{ url: THIS_SERVICE }], ...await openApiOfMethods(openrpc) };
  if (!openrpc || !openapi) return withPageMarks(openrpc ? rpc : rest) as JsonObject;
  const isRpcFirst = openrpc.methods.length > Object.keys(paths).length;
  const all = isRpcFirst ? [...rpc.tags, ...tags] : [...tags, ...rpc.tags];
  return withPageMarks({
    ...await withMissingPart(rest, rpc),
    tags: all.filter(({ name }, at) => all.findIndex((tag) => tag.name === name) === at),
  }) as JsonObject;
}

function withPageMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPageMarks);
  if (!isObject(value)) return value;
  const { "x-example-from": from, ...others } = value;
  const marked = mapMembers(others, withPageMarks);
  return from === undefined ? marked : { ...marked, [EXAMPLE_FROM]: from };
}

/**
 * Selects the kind's operations that the node lists. Those of other software lose their marks. If
 * the node has no list, selects the operations that fit the node's software and version.
 */
export function offered({ openrpc, openapi }: KindInterface, offer: Offer): KindInterface {
  return {
    ...openrpc && { openrpc: offeredMethods(openrpc, offer) },
    // If the kind has JSON-RPC methods, the node's list contains only methods and no paths.
    ...openapi &&
      { openapi: offeredPaths(openapi, openrpc ? { ...offer, names: undefined } : offer) },
  };
}

/** The number of names in a node's list of its methods. */
const NAMES_MAX = 5000;

function offeredMethods(part: OpenRpcPart, offer: Offer): OpenRpcPart {
  const { before } = offer;
  const names = offer.names?.slice(0, NAMES_MAX);
  if (!names) return { ...part, methods: part.methods.filter((method) => isIn(method, offer)) };
  // Nethermind writes `txPool` for `txpool`.
  const foldGroup = (name: string) => before ? name.split(before)[0]!.toLowerCase() : name;
  const there = new Set(names.map(foldGroup));
  const known = part.methods.filter((method) =>
    there.has(foldGroup(method.name))
      // What a method reveals may depend on the software, even where all have it.
      ? method["x-software"] === undefined || isIn(method, offer)
      : method["x-unlisted"] && isIn(method, offer)
  );
  // The others are methods of which nothing is known.
  if (!before) known.forEach(({ name }) => there.delete(name));
  return { ...part, methods: [...known, ...before ? [] : [...there].map(unknownMethod)] };
}

const unknownMethod = (name: string): Method =>
  ({ name, summary: name, result: { name: "result", schema: {} } }) as unknown as Method;

function offeredPaths(part: OpenApiPart, offer: Offer): OpenApiPart {
  const there = offer.names && new Set(offer.names);
  const paths = mapMembers(part.paths, (item, path) => {
    if (there && !there.has(path.slice(1))) return undefined;
    const left = there ? objectOf(item) : mapOperations(
      objectOf(item),
      ({ operation }) => isIn(operation, offer) ? operation : undefined,
    );
    return operationsOf(left).length > 0 ? left : undefined;
  });
  return { ...part, paths: paths as OpenApiPart["paths"] };
}

function isIn(
  marked: { readonly "x-since"?: unknown; readonly "x-software"?: unknown },
  { software, version }: Offer,
): boolean {
  const owners = marked["x-software"];
  if (owners !== undefined && !listOf(owners).includes(software?.toLowerCase())) return false;
  return !isOlder(version, textOf(marked["x-since"]));
}

const OF_OPERATIONS = Object.entries(MARKS).filter(([, { on }]) => on === "operation")
  .map(([name]) => name);

/**
 * Replaces the marks in the node's own description with those of the kind, since only the kind is
 * trusted.
 */
export async function withMarks(document: JsonObject, kind: JsonObject = {}): Promise<JsonObject> {
  const marked = new Map(
    operationsIn(kind).map((located) => {
      const { operation } = located;
      const known = isLimitedRead(kind, operation) ? withoutRead(operation) : operation;
      return [addressOf(kind, located), known];
    }),
  );
  const change = (item: JsonObject, path: string) =>
    mapOperations(item, (located) => {
      const address = addressOf(document, { ...located, path, item });
      return remarked(located.operation, address === undefined ? undefined : marked.get(address));
    });
  const changes = { paths: change, webhooks: change };
  return await inSlices(mapPathItems(document, changes));
}

/**
 * Replaces the marks in the node's own description of its methods. Of methods whose parameters are
 * checked, and of those that the node does not describe, the kind's own description is used:
 * `ofKind` are its paths.
 */
export function withMarksOfMethods(
  openrpc: JsonObject,
  kind: JsonObject = {},
): { openrpc: JsonObject; ofKind: readonly string[] } {
  const known = objectOf(kind.paths);
  const ofKind = new Set(
    Object.keys(known).filter((path) => objectOf(objectOf(known[path]).post)["x-unlisted"]),
  );
  const methods = listOf(openrpc.methods).flatMap((method) => {
    const path = pathOfMethod(String(objectOf(method).name));
    const post = objectOf(objectOf(known[path]).post);
    if (post["x-checked"]) {
      ofKind.add(path);
      return [];
    }
    ofKind.delete(path);
    return [remarked(withLimits(objectOf(method), post, openrpc, kind), post)];
  });
  return { openrpc: { ...openrpc, methods }, ofKind: [...ofKind] };
}

const LIMIT_MARKS = ["x-excludes", "x-heavy-from"];

function withLimits(
  method: JsonObject,
  post: JsonObject,
  openrpc: JsonObject,
  kind: JsonObject,
): JsonObject {
  if (method.params === undefined) return method;
  const properties = valueAt(post, PROPERTIES);
  const params = listOf(method.params).map((value) => {
    const param = followReference(openrpc, value);
    const known = objectOf(objectOf(properties)[String(param.name)]);
    const limits = picked({ ...followReference(kind, known), ...known }, LIMIT_MARKS);
    if (Object.keys(limits).length === 0) return value;
    return { ...param, schema: { allOf: [objectOf(param.schema)], ...limits } };
  });
  return { ...method, params };
}

const PROPERTIES = ["requestBody", "content", "application/json", "schema", "properties"];

/**
 * Tells whether the kind limits the parameters of a `read` operation. The node's own description
 * may lack these limits.
 */
function isLimitedRead(kind: JsonObject, operation: JsonObject): boolean {
  const { parameters, "x-access": access, "x-checked": isChecked } = operation;
  if (access !== "read") return false;
  return isChecked === true || listOf(parameters).some((value) => {
    const parameter = followReference(kind, value);
    const schema = objectOf(followReference(kind, parameter.schema));
    return multiSegmentOf(parameter) !== undefined || LIMIT_MARKS.some((mark) => mark in schema);
  });
}

/** Without `x-checked`, the patterns of a description from the network are never evaluated. */
const withoutRead = (operation: JsonObject): JsonObject =>
  omitKeys(operation, ["x-access", "x-checked"]);

function remarked(operation: JsonObject, known: JsonObject = {}): JsonObject {
  return { ...omitKeys(operation, OF_OPERATIONS), ...picked(known, OF_OPERATIONS) };
}

const picked = (object: JsonObject, keys: readonly string[]): JsonObject =>
  mapMembers(object, (member, key) => keys.includes(key) ? member : undefined);

const omitKeys = (object: JsonObject, keys: readonly string[]): JsonObject =>
  mapMembers(object, (member, key) => keys.includes(key) ? undefined : member);

/** Omits the node's methods that are missing, and the tags that only these methods have. */
export function withoutMissing(document: JsonObject, missing: readonly string[] = []): JsonObject {
  if (missing.length === 0) return document;
  const names = new Set(missing);
  const omitted = operationsIn(document).filter(({ operation }) => {
    const name = nameOfMethod(operation);
    return name !== undefined && names.has(name);
  });
  if (omitted.length === 0) return document;
  const paths = omitKeys(objectOf(document.paths), omitted.map(({ path }) => path));
  const tagsOf = (located: readonly PathOperation[]) =>
    new Set(located.flatMap(({ operation }) => listOf(operation.tags)));
  const used = tagsOf(operationsIn({ ...document, paths }));
  const unused = tagsOf(omitted);
  used.forEach((tag) => unused.delete(tag));
  const tags = document.tags &&
    listOf(document.tags).filter((tag) => !unused.has(objectOf(tag).name));
  return { ...document, paths, ...tags !== undefined && { tags } };
}

/**
 * Adds the kind's REST paths if the description has none, and the kind's JSON-RPC methods if the
 * description has none of them: Lotus describes only its own, beside those of Ethereum.
 *
 * @param further paths of the kind that are added in any case
 */
export async function withMissingPart(
  document: JsonObject,
  kind: JsonObject = {},
  further: readonly string[] = [],
): Promise<JsonObject> {
  const theirs = objectOf(document.paths);
  const ofKind = objectOf(kind.paths);
  const counted = Object.keys(theirs)
    .filter((path) => !isMethodPath(path) || Object.hasOwn(ofKind, path));
  const present = new Set([...counted, ...further].map(isMethodPath));
  const others = Object.entries(ofKind)
    .filter(([path]) => !present.has(isMethodPath(path)) || further.includes(path));
  if (others.length === 0) return document;
  const { components, rename } = await mergeComponents(
    objectOf(document.components),
    objectOf(kind.components),
  );
  const ids = new Set(operationsIn(document).map(({ operation }) => operation.operationId));
  const freeId = createFreeName(ids);
  const paths: JsonObject = { ...theirs };
  const used = new Set<unknown>();
  for (const [path, item] of others) {
    const { servers = kind.servers } = objectOf(item);
    const own = mapOperations(objectOf(rename(item)), ({ operation }) => {
      listOf(operation.tags).forEach((tag) => used.add(tag));
      const id = String(operation.operationId);
      const operationId = freeId(isMethodPath(path) && ids.has(id) ? `${id}_rpc` : id);
      return operationId === id ? operation : { ...operation, operationId };
    });
    setMember(paths, path, { ...own, servers });
  }
  const tags = listOf(document.tags);
  const declared = new Set(tags.map((tag) => objectOf(tag).name));
  const added = listOf(kind.tags).map(objectOf)
    .filter(({ name }) => used.has(name) && !declared.has(name));
  return { ...document, paths, components, ...tags.length > 0 && { tags: [...tags, ...added] } };
}

/**
 * Returns where an operation is called at the node, whatever the names of its parameters are;
 * `undefined` for a JSON-RPC method, whose name may look like the address of another operation.
 */
function addressOf(document: JsonObject, located: PathOperation): string | undefined {
  const home = findHome(document, located);
  return home?.isMethod ? undefined : home?.name.replaceAll(/\{[^{}]*\}/g, "{}");
}
