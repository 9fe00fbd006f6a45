/**
 * The description of a node that nobody has named: what the node itself serves, with what is known of its kind;
 * else what nodes of its kind offer. Its kind, and whether it responds, may be known late or never.
 * `refresh` looks: `look → showKind, showNode`.
 *
 * @module
 */
import { runOneAtATime } from "../lazy.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Diagnostic } from "../openapi/diagnostics.ts";
import type { Offer } from "../openapi/kind.ts";
import { KIND_FILES } from "../openapi/load.ts";
import { fileOf, type Reader, ReadError } from "../openapi/files.ts";
import { withTimeout } from "../with-timeout.ts";
import { askOffer, type KnownNode } from "./known-interface.ts";
import {
  type DescriptionReport,
  keepCurrent,
  type Live,
  type LiveOptions,
  type Shown,
} from "./watch.ts";

/** The time for which a place is left alone when it has been looked at, in ms. */
const AGAIN = 30_000;

/** The time that what nodes of a kind offer waits for what this one says that it has, in ms. */
const PATIENCE = 1000;

interface FoundOptions<T> extends Omit<LiveOptions<T>, "place" | "readOther" | "kind"> {
  readonly url: string | undefined;
  readonly version: string;
  /** Finds what is known of the node; `undefined` while its kind is not. */
  readonly find: () => Promise<KnownNode | undefined>;
  /** Is told, once, that there is nothing where the node may describe itself. */
  readonly log: (message: string, level?: "info") => void;
  /** Milliseconds since 1970. @default Date.now */
  readonly now?: () => number;
}

export function placeBelow(
  url: string,
  description: NonNullable<Kind["description"]>,
): { readonly place: URL; readonly name: string } {
  if (typeof description === "string") {
    const name = url.replace(/\/+$/, "") + description;
    return { place: new URL(name), name };
  }
  const place = new URL(`jsonrpc:${encodeURIComponent(description.jsonrpc)}`);
  return { place, name: `${url} by ${description.jsonrpc}` };
}

/** Returns the reason why a description cannot be shown, as the end of a sentence. */
export function reasonIn(diagnostics: readonly Diagnostic[]): string {
  const message = diagnostics.find(({ isFatal }) => isFatal)?.message ?? "";
  return message.replace(/^cannot be read: /, "");
}

/**
 * Makes what reads the files that only a node, or what is known of it, can give: the interface of its kind, and what
 * one of its methods says of itself.
 */
function createNodeReader(node: KnownNode): Reader {
  const contentOf = async ({ href, protocol, pathname }: URL): Promise<Uint8Array<ArrayBuffer>> => {
    if (href === KIND_FILES.interface) return await node.loadInterface();
    if (protocol !== "jsonrpc:" || !node.ask) throw new ReadError("no node to ask is configured");
    try {
      return encode(await node.ask({ jsonrpc: decodeURIComponent(pathname), ...pathOf(node) }));
    } catch (error) {
      throw new ReadError(`the node ${(error as Error).message}`);
    }
  };
  return async (url, stamp) => {
    // What nodes of a kind offer does not change while the service runs.
    if (url.href === KIND_FILES.interface && stamp !== undefined) return undefined;
    return await fileOf(url, await contentOf(url), stamp);
  };
}

const pathOf = ({ description }: KnownNode) =>
  typeof description === "object" && description.path !== undefined
    ? { path: description.path }
    : {};

const encode = (text: string) => new TextEncoder().encode(text);

export function keepFound<T>(
  { url, version, find, log, report, offer, now = Date.now, ...options }: FoundOptions<T>,
  alone: Shown<T>,
): Live<T> {
  let found: Found<T> | undefined;
  let told: string | undefined;
  const nothing: Shown<T> = { ...alone, operations: [] };

  function take(node: KnownNode): Found<T> {
    const taken: Found<T> = {
      kind: node.kind,
      isToCome: node.hasInterface || node.description !== undefined,
      offer: {},
      offeredAt: -Infinity,
      lookedAt: -Infinity,
    };
    found = taken;
    return taken;
  }

  /** Asks what the node has; what it said before stays where it does not respond. */
  async function learnOffer(node: KnownNode, of: Found<T>): Promise<void> {
    const { software = of.offer.software, version = of.offer.version } = node;
    of.offer = { ...of.offer, software, version };
    if (now() - of.offeredAt < AGAIN) return;
    try {
      of.offer = await askOffer(node);
      of.offeredAt = now();
    } catch {
      // What it said before stays.
    }
  }

  function open(node: KnownNode, of: Found<T>, place: URL, tell: LiveOptions<T>["report"]) {
    return keepCurrent({
      ...options,
      report: tell,
      place,
      kind: { title: node.title, version },
      offer: () => ({ ...of.offer, ...offer?.() }),
      readOther: createNodeReader(node),
      ...place.protocol === "kind:" ? {} : { base: url, itself: url },
    });
  }

  async function showKind(node: KnownNode, of: Found<T>): Promise<void> {
    if (of.ofKind) return await of.ofKind.refresh();
    if (!node.hasInterface) return;
    const live = open(node, of, new URL(KIND_FILES.interface), report);
    await live.ready;
    of.ofKind = live;
  }

  /** Shows what the node says of itself, once it does. */
  async function showNode(node: KnownNode, of: Found<T>): Promise<void> {
    if (!node.description || url === undefined || now() - of.lookedAt < AGAIN) return;
    of.lookedAt = now();
    if (of.ofNode) return await of.ofNode.refresh();
    const { place, name } = placeBelow(url, node.description);
    let first: DescriptionReport | undefined;
    const live = open(node, of, place, (said) => {
      if (of.ofNode) report(said);
      else first = { ...said, diagnostics: [...first?.diagnostics ?? [], ...said.diagnostics] };
    });
    await live.ready;
    if (first?.shown === "current") {
      of.ofNode = live;
      return report(first);
    }
    // Nobody has named it: that it is not there, or is something else, is no trouble, and no news where there is
    // something else to be shown.
    const reason = reasonIn(first?.diagnostics ?? []);
    if (!of.ofKind && reason !== told) {
      log(`there is no description of the node at ${name}: ${reason}`, "info");
    }
    told = reason;
  }

  async function look(): Promise<void> {
    const node = await find();
    if (!node) return;
    const of = found?.kind === node.kind ? found : take(node);
    await withTimeout(learnOffer(node, of), of.ofKind ? AGAIN : PATIENCE, () => {});
    await showKind(node, of);
    await showNode(node, of);
  }

  return {
    get current() {
      const { ofNode, ofKind, isToCome } = found ?? { isToCome: true };
      return ofNode?.current ?? ofKind?.current ?? (isToCome ? alone : nothing);
    },
    ready: Promise.resolve(),
    refresh: runOneAtATime(look),
  };
}

interface Found<T> {
  readonly kind: string;
  readonly isToCome: boolean;
  offer: Offer;
  offeredAt: number;
  lookedAt: number;
  ofKind?: Live<T>;
  ofNode?: Live<T>;
}
