/**
 * The calls that are under way, to be broken off when the service ends.
 *
 * @module
 */

/** Those calls. */
export interface CallsUnderWay {
  /** Adds a call; what it returns takes it away, and may be called again. */
  add(controller: AbortController): () => void;
  /** How many there are. */
  count(): number;
  /** Aborts all of them. */
  breakOff(reason: unknown): void;
}

/**
 * Makes a register of calls.
 *
 * It is an array whose places are used again, since a `Set` that always gains and loses members holds on to all that it
 * had until the next full collection: its former tables refer to the later ones (Node 26.10).
 */
export function createCallsUnderWay(): CallsUnderWay {
  const places: (AbortController | undefined)[] = [];
  const free: number[] = [];
  return {
    add(controller) {
      const place = free.pop() ?? places.length;
      places[place] = controller;
      return () => {
        if (places[place] !== controller) return;
        places[place] = undefined;
        free.push(place);
      };
    },
    count: () => places.length - free.length,
    breakOff(reason) {
      for (const controller of [...places]) controller?.abort(reason);
    },
  };
}
