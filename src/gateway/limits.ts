/**
 * The limits of calls: how many run at the node at once, how many wait, how many bytes are in transit, and how much is
 * parsed at a time. The node is the scarce resource.
 *
 * @module
 */
import type { Signal } from "../with-timeout.ts";

const WAITING_MAX = 64;

const WAIT_MAX_MS = 5000;

export class NoSlot extends Error {
  override name = "NoSlot";
}

/** The queue of a call: callers with the token do not wait behind others. */
export type Priority = "open" | "token";

export interface Semaphore {
  /** Resolves to a function that returns the slot; only one heavy call runs at a time. Rejects with `NoSlot`. */
  take(priority: Priority, isHeavy: boolean, signal: Signal): Promise<() => void>;
  readonly waiting: number;
  close(): void;
}

interface Waiting {
  readonly isHeavy: boolean;
  give(): void;
  fail(): void;
}

/** Creates a semaphore with `count` slots and one more for callers with the token. */
export function createSemaphore(count: number): Semaphore {
  let taken = 0;
  let isHeavyTaken = false;
  let isClosed = false;
  const queues: Record<Priority, Set<Waiting>> = { token: new Set(), open: new Set() };

  const isFree = (priority: Priority, isHeavy: boolean) =>
    taken < (priority === "token" ? count + 1 : count) && !(isHeavy && isHeavyTaken);

  const occupy = (isHeavy: boolean): () => void => {
    taken++;
    if (isHeavy) isHeavyTaken = true;
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      taken--;
      if (isHeavy) isHeavyTaken = false;
      giveFree();
    };
  };

  /** Gives free slots to waiting calls; a heavy call does not block light ones behind it. */
  const giveFree = () => {
    for (const priority of ["token", "open"] as const) {
      for (const waiting of queues[priority]) {
        if (isFree(priority, waiting.isHeavy)) waiting.give();
      }
    }
  };

  return {
    get waiting() {
      return queues.open.size + queues.token.size;
    },
    async take(priority, isHeavy, signal) {
      if (isClosed || signal.aborted) throw new NoSlot("closed");
      const queue = queues[priority];
      const isNext = [...queue].every((other) => other.isHeavy !== isHeavy);
      if (isNext && isFree(priority, isHeavy)) return occupy(isHeavy);
      if (queue.size >= WAITING_MAX) throw new NoSlot("the queue is full");
      return await new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", waiting.fail);
          queue.delete(waiting);
        };
        const waiting: Waiting = {
          isHeavy,
          give() {
            end();
            resolve(occupy(isHeavy));
          },
          fail() {
            end();
            reject(new NoSlot("no slot in time"));
          },
        };
        const timer = setTimeout(waiting.fail, WAIT_MAX_MS);
        signal.addEventListener("abort", waiting.fail);
        queue.add(waiting);
      });
    },
    close() {
      isClosed = true;
      for (const waiting of [...queues.token, ...queues.open]) waiting.fail();
    },
  };
}

const BYTES_MAX = 128 * 1024 * 1024;

/** Bytes reserved for a response before its call is sent. Small responses still find room when large ones do not. */
export const SMALL = 16_384;

/**
 * The share of the budget that each use may fill. The last quarter is for callers with the token. The response to a
 * write is always kept, since the write has been carried out.
 */
const SHARES: Readonly<Record<Purpose, number>> = {
  body: 0.25,
  response: 0.625,
  token: 1,
  write: Infinity,
};
const SHARE_OF_SMALL = 0.75;

export type Purpose = "body" | "response" | "token" | "write";

export interface Room {
  /** Sets how many bytes the call holds; returns whether there is room. Shrinking always succeeds. */
  set(bytes: number, purpose: Purpose): boolean;
  end(): void;
}

/** Creates the room of one call. */
export type Budget = () => Room;

/** Creates a budget that small responses can use even when large ones fill their share. */
export function createBudget(): Budget {
  let taken = 0;
  return () => {
    let held = 0;
    let hasEnded = false;
    return {
      set(bytes, purpose) {
        const more = hasEnded ? 0 : bytes - held;
        const share = Math.max(SHARES[purpose], bytes <= SMALL ? SHARE_OF_SMALL : 0);
        if (more > 0 && taken + more > BYTES_MAX * share) return false;
        taken += more;
        held += more;
        return true;
      },
      end() {
        hasEnded = true;
        taken -= held;
        held = 0;
      },
    };
  };
}

/** Contents up to this size, in bytes, parse in less than about a millisecond. */
const AT_ONCE = 32_768;

let last: Promise<unknown> = Promise.resolve();

const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** Parses a small content at once; large ones run one after the other, with a pause in between for the small ones. */
export function inTurn<T>(size: number, read: () => T | Promise<T>): T | Promise<T> {
  if (size <= AT_ONCE) return read();
  const done = last.then(read);
  last = done.then(pause, pause);
  return done;
}
