/**
 * A node's interface as far as it is known, once its kind is known; and what nodes of a known kind offer to be called.
 *
 * @module
 */
import { type AskNode, createAsk } from "./ask-node.ts";
import type { NodeSettings } from "../info/settings.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import { listOf, objectOf, textOf } from "../json/values.ts";
import type { Kind, Listing, NamesIn, NameTree } from "../kinds/kind.ts";
import { lazy, type Resource } from "../lazy.ts";
import type { Offer } from "../openapi/kind.ts";
import { INTERFACES } from "../generated/interfaces.js";
import { unpack } from "../http/content-coding.ts";
import type { KindInterface } from "../kinds/interface.ts";

interface SoftwareInfo {
  readonly software?: unknown;
  readonly version?: unknown;
}

export interface KnownNode {
  readonly kind: string;
  readonly title: string;
  /** True if somebody has written down what nodes of the kind offer. */
  readonly hasInterface: boolean;
  readonly loadInterface: () => Promise<Uint8Array<ArrayBuffer>>;
  /** True if some of that is there in one software alone. */
  readonly isBySoftware: Resource<boolean>;
  readonly description: Kind["description"];
  readonly listing: Listing | undefined;
  readonly software: string | undefined;
  readonly version: string | undefined;
  /** Asks it; `undefined` where nobody knows where it is. */
  readonly ask: AskNode | undefined;
  /** Asks it for its info; `undefined` where that was done. */
  readonly learn?: (() => Promise<SoftwareInfo>) | undefined;
}

export function knowNode(
  node: NodeSettings,
  name: string,
  kinds: Readonly<Record<string, Kind>>,
  own: Readonly<Record<string, Kind>>,
  info: SoftwareInfo = {},
  learn?: () => Promise<SoftwareInfo>,
): KnownNode | undefined {
  const all = { ...kinds, ...own };
  const kind = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!kind) return undefined;
  const { url } = node;
  const { title, description, listing } = kind;
  const loadInterface = async () =>
    Object.hasOwn(own, name)
      ? new TextEncoder().encode(formatJson({ openrpc: kind.openrpc, openapi: kind.openapi }))
      : await loadInterfaceJson(name);
  return {
    ...{ kind: name, title, description, listing },
    ...softwareIn(info),
    learn,
    ask: url === undefined ? undefined : createAsk({ ...node, url }, name, all),
    hasInterface: Object.hasOwn(own, name)
      ? kind.openrpc !== undefined || kind.openapi !== undefined
      : KINDS_WITH_INTERFACE.includes(name),
    loadInterface,
    isBySoftware: lazy(async () =>
      new TextDecoder().decode(await loadInterface()).includes('"x-software":')
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

async function learnSoftware({ software, version, learn, isBySoftware }: KnownNode) {
  const isAsked = software === undefined && learn && await isBySoftware.get();
  return isAsked ? softwareIn(await learn()) : { software, version };
}

/**
 * Asks a node what it has.
 *
 * @throws {SourceError} if there is no response, or it is an error
 * @throws {JsonSyntaxError} if a tree is asked for and the response is not JSON
 */
export async function askOffer(node: KnownNode): Promise<Offer> {
  const { listing, ask } = node;
  const about = await learnSoftware(node);
  if (!listing || !ask) return about;
  const names = namesIn(await ask(listing), listing);
  const before = "names" in listing ? listing.before : undefined;
  return { ...about, before, ...names.size > 0 && { names: [...names] } };
}

function namesIn(text: string, listing: NamesIn): Set<string> {
  if ("tree" in listing) return new Set(namesOfTree(parseJson(text), listing.tree));
  const found = text.matchAll(new RegExp(listing.names, "gm"));
  return new Set([...found].flatMap(([, name]) => name ?? []));
}

/** The depth to which trees of names are read: a name repeats all that are above it. */
const LEVELS_MAX = 16;

/** The ways to all that is below a root, also to what has something below it. */
function namesOfTree(root: unknown, tree: NameTree, above = "", level = 1): string[] {
  if (level > LEVELS_MAX) return [];
  return listOf(objectOf(root)[tree.children]).flatMap((child) => {
    const name = textOf(objectOf(child)[tree.name]);
    if (name === undefined) return [];
    return [above + name, ...namesOfTree(child, tree, `${above}${name}/`, level + 1)];
  });
}

/** The known kinds that say what they offer, in alphabetical order. */
export const KINDS_WITH_INTERFACE: readonly string[] = Object.keys(INTERFACES);

async function loadInterfaceJson(kind: string): Promise<Uint8Array<ArrayBuffer>> {
  if (!Object.hasOwn(INTERFACES, kind)) return new TextEncoder().encode("{}");
  return (await unpack(await INTERFACES[kind]!())).identity;
}

/** Loads what a known kind offers; an empty object for one that offers nothing. Large whole numbers are `bigint`s. */
export async function loadInterface(kind: string): Promise<KindInterface> {
  return parseJson(new TextDecoder().decode(await loadInterfaceJson(kind))) as KindInterface;
}

export async function rpcPathOf(known: KnownNode | undefined): Promise<string> {
  if (!known?.hasInterface) return "";
  const json = await known.loadInterface();
  const { openrpc }: KindInterface = objectOf(parseJson(new TextDecoder().decode(json)));
  return openrpc?.path ?? "";
}
