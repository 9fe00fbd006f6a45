/**
 * What a node offers of the interface of its kind: the operations and methods that it has, and
 * values for examples.
 *
 * @module
 */
import type { Snapshot } from "../info/info.ts";
import type { Monitor } from "../info/monitor.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { textOf } from "../json/values.ts";
import type { Log } from "../log.ts";
import { SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import { rpcRequestOf } from "../node/rpc.ts";
import type { Offer } from "../openapi/kind-document.ts";
import { knowKind, type KnownKind, type SoftwareInfo } from "./known-interface.ts";
import { MissingMethods } from "./missing-methods.ts";

/** The shortest time between two requests for what a node may offer. */
export const INTERVAL_MS = 30_000;

interface NodeOfferOptions {
  /** True if the node may be asked which methods it lacks. */
  readonly asksMethods: boolean;
  /** Called when the node turns out to lack other methods than before. */
  readonly onMissing: () => void;
  readonly log: Log;
  readonly onError: (error: unknown) => void;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

export class NodeOffer {
  readonly missing: MissingMethods;
  readonly #node: Node;
  readonly #monitor: Monitor;
  readonly #options: NodeOfferOptions;
  #known: KnownKind | undefined;
  /** The kind of the node that has been asked for its offer. */
  #askedKind: KnownKind | undefined;
  #askedAt = -Infinity;
  #offer: Offer = {};
  /** What a node of another kind has told last. */
  #ofOther: Snapshot | undefined;
  /** The values that the node gave when it was first well. They never change afterwards. */
  #examples: Record<string, string> | undefined;

  constructor(node: Node, monitor: Monitor, options: NodeOfferOptions) {
    const { asksMethods, onMissing, log, onError } = options;
    this.#node = node;
    this.#monitor = monitor;
    this.#options = options;
    this.missing = new MissingMethods({
      prepare: async (signal) => {
        const known = asksMethods ? await this.findKind() : undefined;
        return await known?.questionsFor(this.#info, signal);
      },
      onChange: onMissing,
      onIncredible() {
        const message = "the node seems to lack most methods of its kind, so none is omitted; " +
          "a proxy may refuse them, or the path of node.url may be wrong";
        log(message, { code: "description", level: "warn" });
      },
      onError,
    });
  }

  get current(): Offer {
    return { ...this.#offer, missing: this.missing.names };
  }

  /** `undefined` until the node has been well. */
  get examples(): Record<string, string> | undefined {
    return this.#examples;
  }

  get #latest(): Snapshot | undefined {
    const { latest } = this.#monitor;
    return latest === this.#ofOther ? undefined : latest;
  }

  get #info(): SoftwareInfo {
    const { info, software, version } = this.#latest ?? {};
    return { software, version, shownVersion: textOf(info?.version) };
  }

  /**
   * Queries the node if its kind is unknown. Resolves to the same object as long as the kind is the
   * same.
   */
  async findKind(): Promise<KnownKind | undefined> {
    const name = this.#node.kind ?? await this.#monitor.findKind();
    if (name === undefined || this.#known?.name === name) return this.#known;
    const known = await knowKind(this.#node);
    // Another search may have found it meanwhile.
    if (this.#known?.name !== known?.name) this.#known = known;
    return this.#known;
  }

  /** Asks the node of this kind what it offers, if it is due. */
  async update(known: KnownKind): Promise<void> {
    const { now } = this.#options;
    if (known !== this.#askedKind) this.#forgetOther(known);
    const isDue = now() - this.#askedAt >= INTERVAL_MS;
    // Behind one address, nodes of several versions may respond in turn.
    if (isDue || this.#offer.software === undefined) this.#learn({ ...this.#offer, ...this.#info });
    if (!isDue) return;
    try {
      const offer = await known.askOffer(this.#info, async () => {
        await this.#monitor.snapshotNow();
        // What a node of another kind has told is not used.
        return this.#info;
      });
      if (known !== this.#askedKind) return;
      this.#learn(offer);
    } catch (error) {
      // The node's previous list of operations remains valid.
      if (known !== this.#askedKind || !this.#isRefusal(error)) return;
    }
    this.#askedAt = now();
  }

  #forgetOther(known: KnownKind): void {
    if (this.#askedKind) {
      this.#examples = undefined;
      this.#ofOther = this.#monitor.latest;
    }
    this.#askedKind = known;
    this.#askedAt = -Infinity;
    this.#offer = {};
  }

  /** A node that starts may list its operations soon. */
  #isRefusal(error: unknown): boolean {
    return this.#latest?.info.status !== "starting" &&
      (error instanceof JsonSyntaxError || (error instanceof SourceError && error.isResponse));
  }

  /** A node that does not respond still has the software and version that it had. */
  #learn(offer: Offer): void {
    const { software, version, shownVersion } = this.#offer;
    this.#offer = {
      ...offer,
      software: offer.software ?? software,
      version: offer.version ?? version,
      shownVersion: offer.shownVersion ?? shownVersion,
    };
  }

  /** Returns true once the node has given the values for examples. */
  takeExamples(): boolean {
    const { info, examples = {} } = this.#latest ?? {};
    if (this.#examples || info?.status !== "ok") return false;
    this.#examples = { ...examples };
    return true;
  }

  /** Calls a method of the node that only reads. Resolves to `undefined` if the node refuses it. */
  async callMethod(jsonrpc: string, params: readonly unknown[]): Promise<unknown> {
    const path = await this.#node.rpcPath();
    const [outcome] = await this.#node.rpc([rpcRequestOf({ jsonrpc, params })], { path });
    return outcome?.error ? undefined : JSON.parse(outcome!.result);
  }
}
