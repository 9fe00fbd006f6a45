/**
 * What is known of a node's interface, once its kind is known.
 *
 * @module
 */
import { type AskNode, createAsk } from "./ask-one-thing.ts";
import type { NodeSettings } from "../info/settings.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import { listOf, objectOf, textOf } from "../json/values.ts";
import type { Kind, Listing, NamesIn, NameTree } from "../kinds/kind.ts";
import type { Offer } from "../openapi/kind-document.ts";
import { loadInterfaceJson } from "../openapi/load-interface.ts";

/** What a node says of its software, as the info has it. */
export interface SoftwareInfo {
  readonly software?: unknown;
  readonly version?: unknown;
}

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
  /** The name of its software; `undefined` while that is not known. */
  readonly software: string | undefined;
  /** Of its software; `undefined` while that is not known. */
  readonly version: string | undefined;
  /** Asks it; `undefined` where nobody knows where it is. */
  readonly ask: AskNode | undefined;
  /** Asks it for its info; `undefined` where that was done. */
  readonly learn?: (() => Promise<SoftwareInfo>) | undefined;
}

/**
 * Says what is known of a node.
 *
 * @param node its settings
 * @param name the name of its kind
 * @param kinds the known ones
 * @param own those of a host or an operator, which win
 * @param info what is known of its software, if anything
 * @param learn asks it for its info
 * @returns `undefined` for `none`
 */
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
  return {
    ...{ kind: name, title, description, listing },
    ...softwareIn(info),
    learn,
    ask: url === undefined ? undefined : createAsk({ ...node, url }, name, all),
    loadInterface: async () =>
      Object.hasOwn(own, name) ? interfaceOf(own[name]!) : await loadInterfaceJson(name),
  };
}

const softwareIn = ({ software, version }: SoftwareInfo) => ({
  software: textOf(software),
  version: textOf(version),
});

/** What is known of the node's software; it is asked only where what it has hangs on that. */
async function learnSoftware({ software, version, learn, loadInterface }: KnownNode) {
  if (software !== undefined || !learn) return { software, version };
  const parts = new TextDecoder().decode(await loadInterface());
  return parts.includes('"x-software":') ? softwareIn(await learn()) : { software, version };
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

/** The ways to all that is below a root, also to what has something below it. */
function namesOfTree(root: unknown, tree: NameTree): string[] {
  return listOf(objectOf(root)[tree.children]).flatMap((child) => {
    const name = textOf(objectOf(child)[tree.name]);
    if (name === undefined) return [];
    return [name, ...namesOfTree(child, tree).map((below) => `${name}/${below}`)];
  });
}
