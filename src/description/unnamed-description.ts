/**
 * Describes a node if no description is configured. The node's kind completes the node's own description. If the node
 * has no description, only the kind describes the node.
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
  type Shown,
  type WatchedDescription,
  type WatchOptions,
} from "./watch.ts";

const INTERVAL_MS = 30_000;
/** The maximum wait for the node's list of operations before the first description is prepared. */
const PATIENCE_MS = 1000;

interface FoundOptions<T> extends Omit<WatchOptions<T>, "place" | "readOther" | "kind"> {
  readonly url: string | undefined;
  readonly version: string;
  readonly find: () => Promise<KnownNode | undefined>;
  readonly log: (message: string) => void;
  /** Returns milliseconds since 1970. */
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

export function reasonIn(diagnostics: readonly Diagnostic[]): string {
  const message = diagnostics.find(({ isFatal }) => isFatal)?.message ?? "";
  return message.replace(/^cannot be read: /, "");
}

function createNodeReader({ description, ask, loadInterface }: KnownNode): Reader {
  const { path } = typeof description === "object" ? description : {};
  return async (url, stamp) => {
    if (url.href === KIND_FILES.interface) {
      // The interface of a kind does not change while the service runs.
      return stamp === undefined ? await fileOf(url, await loadInterface()) : undefined;
    }
    if (url.protocol !== "jsonrpc:" || !ask) throw new ReadError("no node is configured");
    const call = { jsonrpc: decodeURIComponent(url.pathname), ...path !== undefined && { path } };
    const text = await ask(call).catch((error: Error) => {
      throw new ReadError(`the node ${error.message}`);
    });
    return await fileOf(url, new TextEncoder().encode(text), stamp);
  };
}

export function keepFound<T>(
  { url, version, find, log, report, offer, now = Date.now, ...options }: FoundOptions<T>,
  alone: Shown<T>,
): WatchedDescription<T> {
  let found: Found<T> | undefined;
  let loggedReason: string | undefined;
  const nothing: Shown<T> = { ...alone, operations: [] };
  async function updateOffer(node: KnownNode, of: Found<T>): Promise<void> {
    const { software = of.offer.software, version = of.offer.version } = node;
    of.offer = { ...of.offer, software, version };
    if (now() - of.offeredAt < INTERVAL_MS) return;
    try {
      const asked = await askOffer(node);
      const { software = of.offer.software, version = of.offer.version } = asked;
      of.offer = { ...asked, software, version };
      of.offeredAt = now();
    } catch {
      // The node's previous list of operations remains valid.
    }
  }

  function open(node: KnownNode, of: Found<T>, place: URL, tell: WatchOptions<T>["report"]) {
    return keepCurrent({
      ...options,
      report: tell,
      place,
      kind: { title: node.title, version },
      offer: () => ({ ...of.offer, ...offer?.() }),
      readOther: createNodeReader(node),
    });
  }

  async function showKind(node: KnownNode, of: Found<T>): Promise<void> {
    if (of.ofKind) return await of.ofKind.refresh();
    if (!node.hasInterface) return;
    const live = open(node, of, new URL(KIND_FILES.interface), report);
    await live.ready;
    of.ofKind = live;
  }

  async function showNode(node: KnownNode, of: Found<T>): Promise<void> {
    if (!node.description || url === undefined || now() - of.lookedAt < INTERVAL_MS) return;
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
    const reason = reasonIn(first?.diagnostics ?? []);
    if (!of.ofKind && reason !== loggedReason) {
      log(`there is no description of the node at ${name}: ${reason}`);
    }
    loggedReason = reason;
  }

  async function look(): Promise<void> {
    const node = await find();
    if (!node) return;
    if (found?.kind !== node.kind) {
      const isToCome = node.hasInterface || node.description !== undefined;
      found = { kind: node.kind, isToCome, offer: {}, offeredAt: -Infinity, lookedAt: -Infinity };
    }
    const of = found;
    await withTimeout(updateOffer(node, of), of.ofKind ? INTERVAL_MS : PATIENCE_MS, () => {});
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
  ofKind?: WatchedDescription<T>;
  ofNode?: WatchedDescription<T>;
}
