/**
 * The places at the node: how many calls go there at a time, and who waits. A node is the scarce part.
 *
 * @module
 */

import type { Signal } from "../with-timeout.ts";

/** How many calls wait for a place at the most. */
const WAITING_MAX = 64;

/** How long a call waits for a place, in milliseconds. */
const WAIT_MAX = 5000;

/** There is no place, and there will be none soon. */
export class NoPlace extends Error {
  override name = "NoPlace";
}

/** Who wants a place: anybody, or somebody with the token, who does not wait behind the others. */
export type Lane = "open" | "token";

/** Gives places. */
export interface Places {
  /**
   * Takes a place.
   *
   * @param isHeavy of these there is one at a time
   * @returns gives it back; to be called once
   * @throws {NoPlace} if there is none in time, or `signal` is aborted
   */
  take(lane: Lane, isHeavy: boolean, signal: Signal): Promise<() => void>;
  /** How many calls wait. */
  readonly waiting: number;
  /** Sends away all who wait, and all who come. */
  close(): void;
}

interface Waiting {
  readonly isHeavy: boolean;
  readonly give: () => void;
}

/**
 * Makes the places.
 *
 * @param count how many calls may be at the node; there is one more for those with the token
 */
export function createPlaces(count: number): Places {
  let taken = 0;
  let isHeavyTaken = false;
  let isClosed = false;
  const queues: Record<Lane, Waiting[]> = { token: [], open: [] };
  const leave = new Set<() => void>();

  const isFree = (lane: Lane, isHeavy: boolean) =>
    taken < (lane === "token" ? count + 1 : count) && !(isHeavy && isHeavyTaken);

  const occupy = (isHeavy: boolean): () => void => {
    taken++;
    if (isHeavy) isHeavyTaken = true;
    let isBack = false;
    return () => {
      if (isBack) return;
      isBack = true;
      taken--;
      if (isHeavy) isHeavyTaken = false;
      serve();
    };
  };

  /** Gives what is free to those who wait; a heavy call does not hold up the light ones behind it. */
  const serve = () => {
    for (const lane of ["token", "open"] as const) {
      for (const waiting of [...queues[lane]]) {
        if (isFree(lane, waiting.isHeavy)) waiting.give();
      }
    }
  };

  return {
    get waiting() {
      return queues.open.length + queues.token.length;
    },
    async take(lane, isHeavy, signal) {
      if (isClosed || signal.aborted) throw new NoPlace("closed");
      if (isFree(lane, isHeavy) && queues[lane].every((other) => other.isHeavy !== isHeavy)) {
        return occupy(isHeavy);
      }
      if (queues[lane].length >= WAITING_MAX) throw new NoPlace("the queue is full");
      return await new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", fail);
          leave.delete(fail);
          queues[lane].splice(queues[lane].indexOf(waiting), 1);
        };
        const fail = () => {
          end();
          reject(new NoPlace("no place in time"));
        };
        const waiting: Waiting = {
          isHeavy,
          give: () => {
            end();
            resolve(occupy(isHeavy));
          },
        };
        const timer = setTimeout(fail, WAIT_MAX);
        signal.addEventListener("abort", fail);
        leave.add(fail);
        queues[lane].push(waiting);
      });
    },
    close() {
      isClosed = true;
      for (const fail of [...leave]) fail();
    },
  };
}
