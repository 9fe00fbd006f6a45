/**
 * The slots of calls at the node, and the queue of calls that wait for one.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import type { Signal } from "../with-timeout.ts";
import { LATER, Refusal } from "./response.ts";

const WAITING_MAX = 1000, WAIT_MAX_MS = 15_000;
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

/** Callers with the token have extra slots and go first in the queue. */
export class Slots {
  /** The number of calls that the node can handle at once. */
  count: number;
  readonly #extra: number;
  readonly #taken = new Set<Slot>();
  readonly #withToken = new Set<Waiting>();
  readonly #others = new Set<Waiting>();
  #heavy: Slot | undefined;
  #busyUntil = 0;
  #isClosed = false;
  /** @param extra the number of further slots for callers with the token */
  constructor(count: number, extra: number = 1) {
    this.count = count;
    this.#extra = extra;
  }

  get waiting(): number {
    return this.#withToken.size + this.#others.size;
  }

  /** While the node is busy, a quarter of the slots is used. */
  set isBusy(isBusy: boolean) {
    this.#busyUntil = isBusy ? performance.now() + BUSY_MS : 0;
  }

  /** @throws {Refusal} if no slot becomes free */
  async take(hasToken: boolean, isHeavy: boolean, signal: Signal): Promise<Slot> {
    if (this.#isClosed || signal.aborted) throw NO_SLOT;
    const queue = hasToken ? this.#withToken : this.#others;
    if (queue.size > 0) this.#serve();
    if (this.#isFree(hasToken, isHeavy)) return this.#occupy(isHeavy);
    if (queue.size >= WAITING_MAX) throw NO_SLOT;
    return await new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", waiting.fail);
        queue.delete(waiting);
      };
      const waiting: Waiting = {
        isHeavy,
        give: () => {
          end();
          resolve(this.#occupy(isHeavy));
        },
        fail() {
          end();
          reject(NO_SLOT);
        },
      };
      const timer = setTimeout(waiting.fail, WAIT_MAX_MS);
      signal.addEventListener("abort", waiting.fail);
      queue.add(waiting);
    });
  }

  free(slot: Slot): void {
    if (!this.#taken.delete(slot)) return;
    if (this.#heavy === slot) this.#heavy = undefined;
    this.#serve();
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of [...this.#withToken, ...this.#others]) waiting.fail();
  }

  /** A heavy call that must wait does not block the calls behind it. */
  #serve(): void {
    for (const queue of [this.#withToken, this.#others]) {
      const hasToken = queue === this.#withToken;
      for (const waiting of queue) {
        if (this.#isFree(hasToken, waiting.isHeavy)) waiting.give();
        else if (!waiting.isHeavy) break;
      }
    }
  }

  #isFree(hasToken: boolean, isHeavy: boolean): boolean {
    if (isHeavy && this.#heavy) return false;
    const isBusy = performance.now() < this.#busyUntil;
    const count = isBusy ? Math.ceil(this.count / 4) : this.count;
    return this.#taken.size < (hasToken ? count + this.#extra : count);
  }

  #occupy(isHeavy: boolean): Slot {
    const slot = new Slot(this);
    this.#taken.add(slot);
    if (isHeavy) this.#heavy = slot;
    return slot;
  }
}

export class Slot {
  readonly #slots: Slots;
  constructor(slots: Slots) {
    this.#slots = slots;
  }

  dispose(): void {
    this.#slots.free(this);
  }
}
