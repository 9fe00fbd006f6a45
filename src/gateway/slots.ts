/**
 * The slots of calls at the node, and the queues of calls that wait for one. Each named client is
 * one share, and all callers without a token are one. Shares take turns, so that a client that
 * floods the service waits for itself.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import type { Signal } from "../with-timeout.ts";
import { LATER, Refusal } from "./response.ts";

/** The number of waiting calls of a share. */
const WAITING_MAX = 1000;
const WAIT_MAX_MS = 15_000;
/** The time for which a node that is busy is asked less. */
const BUSY_MS = 5000;

const NO_SLOT = new Refusal(503, CODES.busy, "Too many calls are waiting for the node", {
  headers: LATER,
});

interface Waiting {
  readonly isHeavy: boolean;
  give(): void;
  fail(): void;
}

/** Whoever calls the node: a client with a name, or all callers without a token. */
export interface Sharer {
  /** The name in the log and in metrics. */
  readonly name: string;
  /** The largest number of slots that the sharer may have. */
  readonly concurrency?: number | undefined;
}

/** What a sharer has of the slots. */
class Share {
  readonly max: number;
  readonly waiting: Set<Waiting> = new Set();
  taken = 0;
  constructor({ concurrency = Infinity }: Sharer) {
    this.max = concurrency;
  }
}

export class Slots {
  /** The number of calls that the node can handle at once. */
  count: number;
  readonly #isShared: boolean;
  readonly #shares = new Map<Sharer, Share>();
  /** The shares with waiting calls, in the order of their turns. */
  readonly #turns = new Set<Share>();
  #taken = 0;
  #heavy: Slot | undefined;
  #busyUntil = 0;
  #isClosed = false;
  /** @param isShared true if a sharer may have at most half of the slots at any time */
  constructor(count: number, isShared: boolean = false) {
    this.count = count;
    this.#isShared = isShared;
  }

  get waiting(): number {
    return [...this.#turns].reduce((sum, { waiting }) => sum + waiting.size, 0);
  }

  /** While the node is busy, a quarter of the slots is used. */
  set isBusy(isBusy: boolean) {
    this.#busyUntil = isBusy ? performance.now() + BUSY_MS : 0;
  }

  /** @throws {Refusal} if no slot becomes free */
  async take(sharer: Sharer, isHeavy: boolean, signal: Signal): Promise<Slot> {
    if (this.#isClosed || signal.aborted) throw NO_SLOT;
    const share = this.#shareOf(sharer);
    if (this.#turns.size > 0) this.#serve();
    if (this.#isFree(share, isHeavy)) return this.#occupy(share, isHeavy);
    if (share.waiting.size >= WAITING_MAX) throw NO_SLOT;
    return await new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", waiting.fail);
        share.waiting.delete(waiting);
        if (share.waiting.size === 0) this.#turns.delete(share);
      };
      const waiting: Waiting = {
        isHeavy,
        give: () => {
          end();
          resolve(this.#occupy(share, isHeavy));
        },
        fail() {
          end();
          reject(NO_SLOT);
        },
      };
      const timer = setTimeout(waiting.fail, WAIT_MAX_MS);
      signal.addEventListener("abort", waiting.fail);
      share.waiting.add(waiting);
      this.#turns.add(share);
    });
  }

  free(slot: Slot): void {
    if (slot.isFree) return;
    slot.isFree = true;
    this.#taken--;
    slot.share.taken--;
    if (this.#heavy === slot) this.#heavy = undefined;
    this.#serve();
  }

  close(): void {
    this.#isClosed = true;
    for (const { waiting } of [...this.#turns]) for (const one of [...waiting]) one.fail();
  }

  #shareOf(sharer: Sharer): Share {
    const known = this.#shares.get(sharer);
    if (known) return known;
    const share = new Share(sharer);
    this.#shares.set(sharer, share);
    return share;
  }

  #serve(): void {
    for (let next = this.#next(); next; next = this.#next()) next.give();
  }

  /** The share with the fewest slots comes first. */
  #next(): Waiting | undefined {
    let first: [Share, Waiting] | undefined;
    for (const share of this.#turns) {
      const found = this.#firstOf(share);
      if (found && (!first || share.taken < first[0].taken)) first = [share, found];
    }
    if (!first) return undefined;
    const [share, waiting] = first;
    this.#turns.delete(share);
    this.#turns.add(share);
    return waiting;
  }

  /** A heavy call that must wait does not block the calls behind it. */
  #firstOf(share: Share): Waiting | undefined {
    for (const waiting of share.waiting) {
      if (this.#isFree(share, waiting.isHeavy)) return waiting;
      if (!waiting.isHeavy) return undefined;
    }
    return undefined;
  }

  /** A share that has no slot may use one beyond the count, so that it need not wait for others. */
  #isFree(share: Share, isHeavy: boolean): boolean {
    if (isHeavy && this.#heavy) return false;
    if (share.taken >= share.max) return false;
    if (this.#isShared && share.taken >= this.count / 2) return false;
    const isBusy = performance.now() < this.#busyUntil;
    const count = isBusy ? Math.ceil(this.count / 4) : this.count;
    return this.#taken < (share.taken === 0 && this.#shares.size > 1 ? count + 1 : count);
  }

  #occupy(share: Share, isHeavy: boolean): Slot {
    const slot = new Slot(this, share);
    this.#taken++;
    share.taken++;
    if (isHeavy) this.#heavy = slot;
    return slot;
  }
}

export class Slot {
  readonly share: Share;
  isFree = false;
  readonly #slots: Slots;
  constructor(slots: Slots, share: Share) {
    this.#slots = slots;
    this.share = share;
  }

  dispose(): void {
    this.#slots.free(this);
  }
}
