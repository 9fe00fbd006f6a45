/**
 * The slots of calls at the node, and the queue of calls that wait for one.
 *
 * @module
 */
import { CODES } from "../node/json-rpc.ts";
import type { Signal } from "../with-timeout.ts";
import { LATER, Refusal } from "./response.ts";

const WAITING_MAX = 64, WAIT_MAX_MS = 5000;

const NO_SLOT = new Refusal(503, CODES.busy, "Too many calls are waiting for the node", {
  headers: LATER,
});

interface Waiting {
  readonly isHeavy: boolean;
  give(): void;
  fail(): void;
}

/** Callers with the token have an extra slot and go first in the queue. */
export class Slots {
  readonly #count: number;
  readonly #taken = new Set<Slot>();
  readonly #withToken = new Set<Waiting>();
  readonly #others = new Set<Waiting>();
  #isClosed = false;
  constructor(count: number) {
    this.#count = count;
  }

  get waiting(): number {
    return this.#withToken.size + this.#others.size;
  }

  /** @throws {Refusal} if no slot becomes free */
  async take(hasToken: boolean, isHeavy: boolean, signal: Signal): Promise<Slot> {
    const queue = hasToken ? this.#withToken : this.#others;
    const isNext = [...queue].every((other) => other.isHeavy !== isHeavy);
    if (this.#isClosed || signal.aborted) throw NO_SLOT;
    if (isNext && this.#isFree(hasToken, isHeavy)) return this.#occupy(isHeavy);
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

  /** A heavy call that must wait does not block the calls behind it. */
  free(slot: Slot): void {
    if (!this.#taken.delete(slot)) return;
    for (const queue of [this.#withToken, this.#others]) {
      for (const waiting of queue) {
        if (this.#isFree(queue === this.#withToken, waiting.isHeavy)) waiting.give();
      }
    }
  }

  close(): void {
    this.#isClosed = true;
    for (const waiting of [...this.#withToken, ...this.#others]) waiting.fail();
  }

  #isFree(hasToken: boolean, isHeavy: boolean): boolean {
    const count = hasToken ? this.#count + 1 : this.#count;
    return this.#taken.size < count && !(isHeavy && [...this.#taken].some((one) => one.isHeavy));
  }

  #occupy(isHeavy: boolean): Slot {
    const slot = new Slot(this, isHeavy);
    this.#taken.add(slot);
    return slot;
  }
}

export class Slot {
  readonly isHeavy: boolean;
  readonly #slots: Slots;
  constructor(slots: Slots, isHeavy: boolean) {
    this.#slots = slots;
    this.isHeavy = isHeavy;
  }

  dispose(): void {
    this.#slots.free(this);
  }
}
