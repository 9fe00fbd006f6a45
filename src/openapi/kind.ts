/**
 * Kinds of nodes: what they can do, as an OpenAPI document, of which one node has a part; and the marks of their
 * operations, which say what may be done with them (`kinds/interface.ts`).
 *
 * @module
 */
import {
  createFreeName,
  isObject,
  type Json,
  listOf,
  mapMembers,
  objectOf,
  setMember,
  textOf,
} from "../json/values.ts";
import {
  EXAMPLE_FROM,
  type KindInterface,
  MARKS,
  type Method,
  multiSegmentOf,
  type OpenApiPart,
  type OpenRpcPart,
} from "../kinds/interface.ts";
import { mergeComponents } from "./merge.ts";
import { openApiOfMethods, pathOfMethod } from "./openrpc.ts";
import {
  followReference,
  type LocatedOperation,
  mapOperations,
  operationsOf,
  serversFor,
} from "./operations.ts";
import { NODE, THIS_SERVICE } from "./servers.ts";

/** The part of its interface that a node says it has. */
export interface Offer {
  /** The names of its methods, or its paths without their first slash; of groups, if `before` is there. */
  readonly names?: readonly string[] | undefined;
  /** The text between the name of a group and the rest of a method's name. */
  readonly before?: string | undefined;
  readonly software?: string | undefined;
  readonly version?: string | undefined;
  /** Methods that it turned out not to have when they were called. */
  readonly lacks?: readonly string[] | undefined;
}

type Marked = { readonly "x-since"?: unknown; readonly "x-software"?: unknown };

export interface AboutKind {
  readonly title: string;
  readonly version: string;
}

const UNKNOWN = "Which methods this one lacks is not known until they are called.";

/** Makes the document of a kind. Operations of REST have the server of the node, methods are paths of this service. */
export function documentOfKind(
  { openrpc, openapi }: KindInterface,
  { title, version }: AboutKind,
  { version: ofNode, names }: Offer = {},
): Json {
  const known = `What nodes of this kind offer, as written down in Nodeface ${version}.`;
  const description = openrpc && !names ? `${known} ${UNKNOWN}` : known;
  const head = { openapi: "3.1.1", info: { title, version: ofNode ?? version, description } };
  const { paths = {}, components = {}, tags = [], servers: [server] = [] } = openapi ?? {};
  const rest = { ...head, servers: [{ url: NODE + (server?.url ?? "") }], paths, components, tags };
  const rpc = { ...head, servers: [{ url: THIS_SERVICE }], ...openApiOfMethods(openrpc) };
  if (!openrpc || !openapi) return withPageMarks(openrpc ? rpc : rest) as Json;
  // The tags of the larger part come first.
  const isRpcFirst = openrpc.methods.length > Object.keys(paths).length;
  const all = isRpcFirst ? [...rpc.tags, ...tags] : [...tags, ...rpc.tags];
  return withPageMarks({
    ...withOtherPart(rest, rpc),
    tags: all.filter(({ name }, at) => all.findIndex((tag) => tag.name === name) === at),
  }) as Json;
}

/** Moves marks that are for the page alone to a symbol, so that they are never written. */
function withPageMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPageMarks);
  if (!isObject(value)) return value;
  const { "x-example-from": from, ...others } = value;
  const marked = mapMembers(others, withPageMarks);
  return from === undefined ? marked : { ...marked, [EXAMPLE_FROM]: from };
}

/**
 * The part of a kind's interface that a node has: less what it says it lacks, and with the methods that it
 * names alone. Where it names nothing, its software and the version of that decide.
 */
export function offered(parts: KindInterface, offer: Offer): KindInterface {
  const { openrpc, openapi } = parts;
  const { names, ...others } = offer;
  return {
    ...openrpc && { openrpc: offeredMethods(openrpc, offer) },
    // The names are those of methods where there are some.
    ...openapi && { openapi: offeredPaths(openapi, openrpc ? others : { ...others, names }) },
  };
}

function offeredMethods(part: OpenRpcPart, offer: Offer): OpenRpcPart {
  const { names, before } = offer;
  if (!names) return { ...part, methods: part.methods.filter((method) => isIn(method, offer)) };
  const there = new Set(names);
  const isThere = ({ name }: Method) => there.has(before ? name.split(before)[0]! : name);
  const known = new Set(part.methods.map(({ name }) => name));
  const others = before ? [] : [...there].filter((name) => !known.has(name));
  return { ...part, methods: [...part.methods.filter(isThere), ...others.map(unknownMethod)] };
}

/** A method of which nothing is known but its name, not even its parameters. */
const unknownMethod = (name: string): Method =>
  ({ name, summary: name, result: { name: "result", schema: {} } }) as unknown as Method;

function offeredPaths(part: OpenApiPart, offer: Offer): OpenApiPart {
  const { names } = offer;
  const there = names && new Set(names);
  const paths = mapMembers(part.paths, (item, path) => {
    if (there && !there.has(path.slice(1))) return undefined;
    const lacking = operationsOf(item)
      .filter(({ operation }) => !there && !isIn(operation, offer))
      .map(({ keys }) => keys[0]!);
    const left = without(objectOf(item), lacking);
    return operationsOf(left).length > 0 ? left : undefined;
  });
  return { ...part, paths: paths as OpenApiPart["paths"] };
}

function isIn(marked: Marked, { software, version }: Offer): boolean {
  const owners = marked["x-software"];
  const isOwn = owners === undefined || listOf(owners).includes(software?.toLowerCase());
  return isOwn && isSince(marked, version);
}

function isSince(marked: Marked, version: string | undefined): boolean {
  const since = numbersOf(textOf(marked["x-since"]));
  const is = numbersOf(version);
  if (!since || !is) return true;
  const at = since.findIndex((number, i) => number !== (is[i] ?? 0));
  return at < 0 || since[at]! < (is[at] ?? 0);
}

function numbersOf(version: string | undefined): number[] | undefined {
  return /\d+(?:\.\d+)*/.exec(version ?? "")?.[0].split(".").map(Number);
}

const OF_OPERATIONS = Object.entries(MARKS).filter(([, { on }]) => on === "operation")
  .map(([name]) => name);

/** A node's own description with the marks of its kind, and with no others. */
export function withMarks(document: Json, kind: Json | undefined): Json {
  const marked = new Map<string, Json>();
  for (const [path, item] of Object.entries(objectOf(kind?.paths))) {
    for (const { method, operation } of operationsOf(item)) {
      const known = isLimitedRead(kind!, operation)
        ? { ...operation, "x-access": undefined }
        : operation;
      marked.set(`${method} ${addressOf(kind!, item, operation, path)}`, known);
    }
  }
  return withOperations(document, ({ method, operation }, item, path) => {
    const address = addressOf(document, item, operation, path);
    return remarked(operation, marked.get(`${method} ${address}`));
  });
}

/** A node's own OpenRPC document with the marks of its kind, and with no others. */
export function withMarksOfMethods(openrpc: Json, kind: Json | undefined): Json {
  const known = objectOf(kind?.paths);
  const methods = listOf(openrpc.methods).map((method) => {
    const { name } = objectOf(method);
    const post = objectOf(objectOf(known[pathOfMethod(String(name))]).post);
    return remarked(withLimits(objectOf(method), post), post);
  });
  return { ...openrpc, methods };
}

/** The marks of a parameter's schema without which an operation may do more than its own marks say. */
const LIMITS = ["x-excludes", "x-heavy-from"] as const;

function withLimits(method: Json, post: Json): Json {
  const media = objectOf(objectOf(objectOf(post.requestBody).content)["application/json"]);
  const known = objectOf(objectOf(media.schema).properties);
  const params = listOf(method.params).map((value) => {
    const param = objectOf(value);
    const limits = Object.entries(objectOf(known[String(param.name)]))
      .filter(([key]) => (LIMITS as readonly string[]).includes(key));
    if (limits.length === 0) return value;
    const schema = { allOf: [objectOf(param.schema)], ...Object.fromEntries(limits) };
    return { ...param, schema };
  });
  return method.params === undefined ? method : { ...method, params };
}

/**
 * Tells whether an operation is a read only for some values of its parameters. The node's own description may lack these
 * limits, so that such an operation has to be opened by name.
 */
function isLimitedRead(kind: Json, { parameters, "x-access": access }: Json): boolean {
  return access === "read" && listOf(parameters).some((value) => {
    const parameter = followReference(kind, value);
    const schema = objectOf(followReference(kind, parameter.schema));
    return multiSegmentOf(parameter) !== undefined || LIMITS.some((mark) => mark in schema);
  });
}

function remarked(operation: Json, known: Json = {}): Json {
  const marks = Object.entries(known)
    .filter(([key, value]) => OF_OPERATIONS.includes(key) && value !== undefined);
  const bare = without(operation, OF_OPERATIONS);
  return marks.length === 0 ? bare : { ...bare, ...Object.fromEntries(marks) };
}

const without = (object: Json, keys: readonly string[]): Json =>
  mapMembers(object, (member, key) => keys.includes(key) ? undefined : member);

const LACKING = "This node does not have it: it said so when it was called.";

/** A description that names the methods which this node turned out not to have. */
export function withLacking(document: Json, lacks: readonly string[] = []): Json {
  if (lacks.length === 0) return document;
  const lacking = new Set(lacks.map(pathOfMethod));
  return withOperations(document, ({ operation }, _, path) => {
    if (!lacking.has(path)) return operation;
    const description = [LACKING, textOf(operation.description)].filter(Boolean).join("\n\n");
    return { ...operation, description };
  });
}

function withOperations(
  document: Json,
  change: (located: LocatedOperation, item: Json, path: string) => Json,
): Json {
  if (!isObject(document.paths)) return document;
  const paths = mapMembers(
    document.paths,
    (item, path) =>
      isObject(item) ? mapOperations(item, (located) => change(located, item, path)) : item,
  );
  return { ...document, paths };
}

/** A description with the part of its kind, the paths or the methods, of which it says nothing. */
export function withOtherPart(document: Json, kind: Json): Json {
  const theirs = objectOf(document.paths);
  const lacks = [true, false].filter((isMethod) =>
    !Object.keys(theirs).some((path) => isMethodPath(path) === isMethod)
  );
  const others = Object.entries(objectOf(kind.paths))
    .filter(([path]) => lacks.includes(isMethodPath(path)) && !Object.hasOwn(theirs, path));
  if (others.length === 0) return document;
  const { components, rename } = mergeComponents(
    objectOf(document.components),
    objectOf(kind.components),
  );
  const ids = new Set<unknown>(
    Object.values(theirs)
      .flatMap((item) => operationsOf(item).map(({ operation }) => operation.operationId)),
  );
  const freeId = createFreeName(ids);
  const paths: Json = { ...theirs };
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
  const further = listOf(kind.tags).filter((tag) => {
    const { name } = objectOf(tag);
    return used.has(name) && !tags.some((other) => objectOf(other).name === name);
  });
  return {
    ...document,
    paths,
    components,
    ...tags.length > 0 && { tags: [...tags, ...further] },
  };
}

const isMethodPath = (path: string): boolean => path.startsWith(pathOfMethod(""));

function addressOf(document: Json, item: unknown, operation: Json, path: string): string {
  const [server] = serversFor([operation, objectOf(item), document]);
  const url = textOf(objectOf(server).url) ?? "";
  return url + path.replaceAll(/\{[^{}]*\}/g, "{}");
}
