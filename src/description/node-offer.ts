/**
 * Learns what a node of a known kind offers: the operations that it lists, and the software and
 * version that decide which operations of its kind it has.
 *
 * @module
 */
import type { Offer } from "../openapi/kind.ts";
import { type KnownKind, softwareIn, type SoftwareInfo } from "./known-interface.ts";

export class NodeOffer {
  readonly known: KnownKind;
  /** What has been learnt so far. */
  current: Offer = {};
  readonly #interval: number;
  #askedAt = -Infinity;

  /** @param interval the shortest time between two requests to the node, in milliseconds */
  constructor(known: KnownKind, interval: number) {
    this.known = known;
    this.#interval = interval;
  }

  /**
   * @param learn asks the node for its software and version, if `info` lacks them
   * @param now the time of a monotonic clock, in milliseconds
   */
  async update(
    info: SoftwareInfo,
    learn: () => Promise<SoftwareInfo>,
    now: () => number,
  ): Promise<void> {
    this.#take({ ...this.current, ...softwareIn(info) });
    if (now() - this.#askedAt < this.#interval) return;
    try {
      this.#take(await this.known.askOffer(info, learn));
      this.#askedAt = now();
    } catch {
      // The node's previous list of operations remains valid.
    }
  }

  /** A node that does not respond still has the software and version that it had. */
  #take(offer: Offer): void {
    const { software = this.current.software, version = this.current.version } = offer;
    this.current = { ...offer, software, version };
  }
}
