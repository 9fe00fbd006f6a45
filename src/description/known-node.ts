/**
 * What is known of a node's interface, once its kind is known.
 *
 * @module
 */
import { type AskNode, createAsk } from "../info/ask-node.ts";
import type { NodeSettings } from "../info/settings.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import { listOf, objectOf, textOf } from "../json/values.ts";
import type { Kind, Listing, NamesIn, NameTree } from "../kinds/kind.ts";
import type { Offer } from "../openapi/kind-document.ts";
import { loadInterfaceJson } from "../openapi/load-interface.ts";

/** A node whose kind is known. */
export interface KnownNode {
  /** The name of its kind. */
  readonly kind: string;
  readonly title: string;
  /** What nodes of the kind offer, as JSON; `undefined` where nobody has written that down. */
  readonly loadInterface: () => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Where it may describe itself. */
  readonly description: Kind["description"];
  /** How it says what it has. */
  readonly listing: Listing | undefined;
  /** Of its software; `undefined` while that is not known. */
  readonly version: string | undefined;
  /** Asks it; `undefined` where nobody knows where it is. */
  readonly ask: AskNode | undefined;
}

/**
 * Says what is known of a node.
 *
 * @param node its settings
 * @param name the name of its kind
 * @param kinds the known ones
 * @param own those of a host or an operator, which win
 * @param version of its software
 * @returns `undefined` for `none`
 */
export function knowNode(
  node: NodeSettings,
  name: string,
  kinds: Readonly<Record<string, Kind>>,
  own: Readonly<Record<string, Kind>>,
  version: unknown,
): KnownNode | undefined {
  const all = { ...kinds, ...own };
  const kind = Object.hasOwn(all, name) ? all[name] : undefined;
  if (!kind) return undefined;
  const { url } = node;
  const { title, description, listing } = kind;
  return {
    ...{ kind: name, title, description, listing },
    version: typeof version === "string" ? version : undefined,
    ask: url === undefined ? undefined : createAsk({ ...node, url }, name, all),
    loadInterface: async () =>
      Object.hasOwn(own, name) ? interfaceOf(own[name]!) : await loadInterfaceJson(name),
  };
}

function interfaceOf({ openrpc, openapi }: Kind): Uint8Array<ArrayBuffer> | undefined {
  if (!openrpc && !openapi) return undefined;
  return new TextEncoder().encode(formatJson({ openrpc, openapi }));
}

/**
 * Asks a node what it has.
 *
 * @throws {SourceError} if there is no answer, or it is an error
 * @throws {JsonSyntaxError} if a tree is asked for and the answer is not JSON
 */
export async function askOffer({ listing, ask, version }: KnownNode): Promise<Offer> {
  if (!listing || !ask) return { version };
  const names = namesIn(await ask(listing), listing);
  const before = "names" in listing ? listing.before : undefined;
  return { version, before, ...names.size > 0 && { names: [...names] } };
}

function namesIn(text: string, listing: NamesIn): Set<string> {
  if ("tree" in listing) return new Set(namesOfTree(parseJson(text), listing.tree));
  const found = text.matchAll(new RegExp(listing.names, "gm"));
  return new Set([...found].flatMap(([, name]) => name ?? []));
}

/** The ways to all that is below a root, also to what has something below it. */
function namesOfTree(root: unknown, tree: NameTree): string[] {
  return listOf(objectOf(root)[tree.children]).flatMap((child) => {
    const name = textOf(objectOf(child)[tree.name]);
    if (name === undefined) return [];
    return [name, ...namesOfTree(child, tree).map((below) => `${name}/${below}`)];
  });
}
