/**
 * What nodes of a kind can do, as an OpenAPI document: of what its file says, the part that one node has.
 *
 * @module
 */
import { isObject, type Json, listOf, objectOf, setMember, textOf } from "../json/values.ts";
import type { KindInterface, Method, OpenApiPart, OpenRpcPart } from "../kinds/interface.ts";
import { mapOperations, operationsOf } from "./operations-of-path-item.ts";
import { mergeComponents } from "./merge-components.ts";
import { openApiOfMethods } from "./openrpc.ts";
import { NODE, THIS_SERVICE } from "./server-url.ts";

/** What a node says that it has. */
export interface Offer {
  /** The names of its methods, or its paths without their first slash; of groups, if `before` is there. */
  readonly names?: readonly string[] | undefined;
  /** What stands between the name of a group and the rest of a method's name. */
  readonly before?: string | undefined;
  /** The name of its software. */
  readonly software?: string | undefined;
  /** Of its software. */
  readonly version?: string | undefined;
}

/** What may be marked. */
type Marked = { readonly "x-since"?: unknown; readonly "x-software"?: unknown };

/** What the document says of itself. */
export interface AboutKind {
  /** What nodes of the kind are called. */
  readonly title: string;
  /** Of this service, which knows them. */
  readonly version: string;
}

/**
 * Makes the document of a kind. Operations of REST have the server of the node, methods are paths of this
 * service.
 *
 * @param parts what its nodes offer
 * @param about what it is called
 * @param offer what one of them says of itself
 */
export function documentOfKind(
  { openrpc, openapi }: KindInterface,
  { title, version }: AboutKind,
  { version: ofNode }: Offer = {},
): Json {
  const methods = openrpc && openApiOfMethods(openrpc);
  const base = openapi?.servers?.[0]?.url ?? "";
  const { components, rename } = mergeComponents(
    objectOf(openapi?.components),
    objectOf(methods?.components),
  );
  const ids = new Set<unknown>(
    Object.values(objectOf(openapi?.paths))
      .flatMap((item) => operationsOf(item).map(({ operation }) => operation.operationId)),
  );
  const paths: Json = { ...openapi?.paths };
  for (const [path, item] of Object.entries(rename(methods?.paths ?? {}))) {
    const own = mapOperations(item as Json, ({ operation }) => withFreeId(operation, ids));
    setMember(paths, path, openapi ? { ...own, servers: [{ url: THIS_SERVICE }] } : own);
  }
  // What there is more of stands first.
  const ofParts = [openapi?.tags ?? [], methods?.tags ?? []];
  if ((openrpc?.methods.length ?? 0) > Object.keys(openapi?.paths ?? {}).length) ofParts.reverse();
  const tags = ofParts.flat();
  return {
    openapi: "3.1.1",
    info: {
      title,
      version: ofNode ?? version,
      description: `What nodes of this kind offer, as Nodeface ${version} knows it.`,
    },
    servers: [{ url: openapi ? NODE + base : THIS_SERVICE }],
    paths,
    components,
    tags: tags.filter(({ name }, at) => tags.findIndex((tag) => tag.name === name) === at),
  };
}

function withFreeId(operation: Json, taken: Set<unknown>): Json {
  if (!taken.has(operation.operationId)) return operation;
  let free = `${operation.operationId}_rpc`;
  while (taken.has(free)) free += "_";
  taken.add(free);
  return { ...operation, operationId: free };
}

/**
 * The part of a kind's interface that a node has: less what it says it lacks, and with the methods that it
 * names alone. Where it names nothing, its software and the version of that decide.
 *
 * @param parts what nodes of the kind offer
 * @param offer what the node says
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

/** A method of which nothing but the name is known. */
function unknownMethod(name: string): Method {
  const unknown = {
    name,
    summary: name,
    params: undefined,
    result: { name: "result", schema: {} },
  };
  return unknown as unknown as Method;
}

function offeredPaths(part: OpenApiPart, offer: Offer): OpenApiPart {
  const { names } = offer;
  const there = names && new Set(names);
  const paths: Record<string, Json> = {};
  for (const [path, item] of Object.entries(part.paths)) {
    if (there && !there.has(path.slice(1))) continue;
    const lacking = operationsOf(item)
      .filter(({ operation }) => !there && !isIn(operation, offer))
      .map(({ path }) => path[0]!);
    const left = Object.fromEntries(
      Object.entries(item).filter(([key]) => !lacking.includes(key)),
    );
    if (operationsOf(left).length > 0) setMember(paths, path, left);
  }
  return { ...part, paths };
}

/** Whether software has an operation with these marks. */
function isIn(marked: Marked, { software, version }: Offer): boolean {
  const owners = marked["x-software"];
  const isOwn = owners === undefined || listOf(owners).includes(software?.toLowerCase());
  return isOwn && isSince(marked, version);
}

/** Whether a version has what is there since another one. */
function isSince(marked: Marked, version: string | undefined): boolean {
  const since = numbersOf(textOf(marked["x-since"]));
  const is = numbersOf(version);
  if (!since || !is) return true;
  const at = since.findIndex((number, i) => number !== (is[i] ?? 0));
  return at < 0 || since[at]! < (is[at] ?? 0);
}

/** The numbers of a version, as in `v1.19.2-rc.1`. */
function numbersOf(version: string | undefined): number[] | undefined {
  return /\d+(?:\.\d+)*/.exec(version ?? "")?.[0].split(".").map(Number);
}

/** Reads what a node says that it has; what is something else counts as nothing. */
export function readOffer(value: unknown): Offer {
  const { names, before, software, version } = objectOf(value);
  return {
    ...Array.isArray(names) && { names: listOf(names).filter((name) => typeof name === "string") },
    ...typeof before === "string" && { before },
    ...typeof software === "string" && { software },
    ...typeof version === "string" && { version },
  };
}

/** Reads what a kind's file says of its interface. */
export function readInterface(value: unknown): KindInterface {
  return isObject(value) ? value as KindInterface : {};
}
