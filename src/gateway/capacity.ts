/**
 * What all calls together may take of the node and of this process, and the leases that take it.
 *
 * @module
 */
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { Budget } from "./budget.ts";
import type { ResolvedForward } from "./policy.ts";
import type { VerifyNode } from "./send-verified.ts";
import { Slots } from "./slots.ts";

const CLOSING_GRACE_MS = 4000;

/** The number of slots of long polls; one client has at most half of them. */
const LONG_POLLS_MAX = 32;

/** What a lease is for the service as a whole. */
interface Abortable {
  /** True if nobody waits for the response any more. */
  readonly isAbandoned: boolean;
  abort(): void;
}

export class Capacity {
  readonly node: Node;
  readonly limits: Pick<ResolvedForward, "timeout" | "limit">;
  readonly verify: VerifyNode | undefined;
  readonly slots: Slots = new Slots(1);
  /** The slots of calls that wait for an event at the node. */
  readonly longPollSlots: Slots = new Slots(LONG_POLLS_MAX, true);
  readonly budget: Budget = new Budget();
  /** True if the node is asked to read without its secret. */
  readsAnonymously = false;
  /** The leases that the node is not done with. */
  readonly #leases = new Set<Abortable>();
  #closing: ReturnType<typeof setTimeout> | undefined;
  #idle: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;
  /** @param verify is called before each request; `undefined` if any node may be at the address */
  constructor(
    node: Node,
    limits: Pick<ResolvedForward, "timeout" | "limit">,
    verify?: VerifyNode,
  ) {
    this.node = node;
    this.limits = limits;
    this.verify = verify;
  }

  isAnonymous({ access }: Pick<NodeOperation, "access">): boolean {
    return access === "read" && this.readsAnonymously;
  }

  add(lease: Abortable): void {
    this.#leases.add(lease);
  }

  /** Call this when the node is done with the calls of a lease, or gets none. */
  remove(lease: Abortable): void {
    this.#leases.delete(lease);
    if (this.#leases.size > 0) return;
    clearTimeout(this.#closing);
    this.#onIdle?.();
    this.#idle = undefined;
  }

  /** Resolves when all calls have ended. */
  async idle(): Promise<void> {
    if (this.#leases.size === 0) return;
    await (this.#idle ??= new Promise<void>((resolve) => this.#onIdle = resolve));
  }

  /** A running call has `CLOSING_GRACE_MS` to finish if its client is still connected. */
  close(): void {
    this.slots.close();
    this.longPollSlots.close();
    this.budget.close();
    for (const lease of this.#leases) if (lease.isAbandoned) lease.abort();
    if (this.#leases.size === 0) return;
    this.#closing ??= setTimeout(() => {
      for (const lease of this.#leases) lease.abort();
    }, CLOSING_GRACE_MS);
  }
}
