/**
 * Finds the operations of a node: those of its kind, and those that the node itself reports.
 *
 * @module
 */
import { askNode } from "./ask-node.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import { listOf, objectOf, textOf } from "../json/values.ts";
import type { Kind, Listing, MethodCall, NamesIn, NameTree } from "../kinds/kind.ts";
import { lazy, type Resource } from "../lazy.ts";
import { type Offer, offered } from "../openapi/kind.ts";
import { INTERFACES } from "../generated/interfaces.js";
import { KINDS } from "../generated/kinds.js";
import { unpack } from "../http/content-coding.ts";
import { ExpressionError, findAll, findFirst } from "../regular-expression.ts";
import { SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import { inSlices } from "../slices.ts";
import type { KindInterface } from "../kinds/interface.ts";
import { type CallMethod, isAskable, type Questions } from "./missing-methods.ts";

interface SoftwareInfo {
  readonly software?: unknown;
  readonly version?: unknown;
}

export interface KnownNode extends Pick<Kind, "title" | "description" | "listing"> {
  readonly kind: string;
  readonly hasInterface: boolean;
  /** Resolves to JSON in UTF-8. */
  readonly loadInterface: () => Promise<Uint8Array<ArrayBuffer>>;
  /** True if some operations exist only in certain software or in newer versions. */
  readonly isConditional: Resource<boolean>;
  readonly software: string | undefined;
  readonly version: string | undefined;
  readonly ask: ((question: MethodCall | Listing) => Promise<string>) | undefined;
  /** Absent if the kind is not built-in: the author of another kind may mark any method as `read`. */
  readonly createCall: ((path: string | undefined, signal: AbortSignal) => CallMethod) | undefined;
  /** Asks the node for its software and version. Absent in `nodeface check`, which asks the node earlier. */
  readonly learn?: (() => Promise<SoftwareInfo>) | undefined;
}

export async function knowNode(
  node: Node,
  name: string,
  info: SoftwareInfo = {},
  learn?: () => Promise<SoftwareInfo>,
): Promise<KnownNode | undefined> {
  const kinds = await node.kinds.get();
  const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
  if (!kind) return undefined;
  const hasUrl = node.url !== undefined;
  const { title, description, listing, openrpc, openapi } = kind;
  const isOwn = kind !== KINDS[name];
  const loadInterface = async () =>
    isOwn
      ? new TextEncoder().encode(formatJson({ openrpc, openapi }))
      : await loadInterfaceJson(name);
  return {
    ...{ kind: name, title, description, listing, learn, loadInterface },
    ...softwareIn(info),
    createCall: !hasUrl || isOwn
      ? undefined
      : (path, signal) => async (jsonrpc, params) =>
        (await node.rpc([{ jsonrpc, params }], { path, signal }))[0]!,
    ask: hasUrl ? (question) => askNode(node, question) : undefined,
    hasInterface: isOwn ? (openrpc ?? openapi) !== undefined : Object.hasOwn(INTERFACES, name),
    isConditional: lazy(async () =>
      /"x-(?:software|since)":/.test(new TextDecoder().decode(await loadInterface()))
    ),
  };
}

export const withSoftware = (node: KnownNode, info: SoftwareInfo = {}): KnownNode => ({
  ...node,
  ...softwareIn(info),
});

const softwareIn = ({ software, version }: SoftwareInfo) => ({
  software: textOf(software),
  version: textOf(version),
});

/** Rejects with a `SourceError`, or with a `JsonSyntaxError` if the response is invalid JSON. */
export async function askOffer(node: KnownNode): Promise<Offer> {
  const { listing, ask, software, version, learn, isConditional } = node;
  const isKnown = software !== undefined && version !== undefined;
  const isAsked = !isKnown && learn && await isConditional.get();
  const about = isAsked ? softwareIn(await learn()) : { software, version };
  if (!listing || !ask) return about;
  const names = await namesIn(await ask(listing), listing);
  const before = "names" in listing ? listing.before : undefined;
  return { ...about, before, ...names.size > 0 && { names: [...names] } };
}

/** @throws {SourceError} */
async function namesIn(text: string, listing: NamesIn): Promise<Set<string>> {
  if ("tree" in listing) return namesOfTree(parseJson(text), listing.tree);
  try {
    return await inSlices(findNames(text, listing.names, listing.except));
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const message = "sends a list that takes too long to search with listing.names";
    throw new SourceError("bad_answer", message);
  }
}

function* findNames(text: string, names: string, except?: string): Generator<void, Set<string>> {
  const found = new Set<string>();
  for (const match of findAll(text, names, true)) {
    if (match?.group === undefined) yield;
    else found.add(match.group);
  }
  if (except === undefined) return found;
  for (const name of found) {
    if (findFirst(name, except)) found.delete(name);
    yield;
  }
  return found;
}

/**
 * Each name is a path that contains all parent names, so the names can be much longer than the
 * response.
 */
const LEVELS_MAX = 16, NAMES_LENGTH_MAX = 1_048_576;

function namesOfTree(root: unknown, tree: NameTree): Set<string> {
  const names = new Set<string>();
  let left = NAMES_LENGTH_MAX;
  const addBelow = (value: unknown, above: string, level: number) => {
    for (const child of listOf(objectOf(value)[tree.children])) {
      const name = textOf(objectOf(child)[tree.name]);
      if (name === undefined) continue;
      const path = above + name;
      left -= path.length;
      if (left < 0) {
        throw new SourceError("bad_answer", "sends a list with names that are too long");
      }
      names.add(path);
      if (level < LEVELS_MAX) addBelow(child, `${path}/`, level + 1);
    }
  };
  addBelow(root, "", 1);
  return names;
}

export const KINDS_WITH_INTERFACE: readonly string[] = Object.keys(INTERFACES);

async function loadInterfaceJson(kind: string): Promise<Uint8Array<ArrayBuffer>> {
  if (!Object.hasOwn(INTERFACES, kind)) return new TextEncoder().encode("{}");
  return (await unpack(await INTERFACES[kind]!())).identity;
}

const parse = (json: Uint8Array): KindInterface =>
  objectOf(parseJson(new TextDecoder().decode(json)));

/** Resolves to an empty object if the kind has no interface. Integers above 2^53 become `bigint`s. */
export const loadInterface = async (kind: string): Promise<KindInterface> =>
  parse(await loadInterfaceJson(kind));

/** Resolves to the askable methods among those offered; `undefined` if the kind is not built-in. */
export async function questionsFor(
  { createCall, loadInterface }: KnownNode,
  offer: Offer,
  signal: AbortSignal,
): Promise<Questions | undefined> {
  const { openrpc } = createCall ? parse(await loadInterface()) : {};
  if (!createCall || !openrpc) return undefined;
  const { methods } = offered({ openrpc }, offer).openrpc!;
  return { methods: methods.filter(isAskable), call: createCall(openrpc.path, signal) };
}

export async function rpcPathOf(known: KnownNode | undefined): Promise<string> {
  if (!known?.hasInterface) return "";
  return parse(await known.loadInterface()).openrpc?.path ?? "";
}
