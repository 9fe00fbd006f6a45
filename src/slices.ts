/**
 * Does long work in slices, so that other requests are served between two slices. An async function
 * calls `pause` between its steps. Work that calls itself, or that some callers do at once, is a
 * generator, which `inSlices` runs.
 *
 * @module
 */

import { HAS_SOCKETS } from "./platform.ts";

/**
 * The length of a slice. Each turn of the event loop has at most one slice of a lane, whatever work
 * waits.
 */
const SLICE_MS = 10;

/**
 * Messages of WebSocket clients begin in a lane of their own, since thousands may wait; what the
 * node sends for them is read in another.
 */
export type Lane = "work" | "messages" | "notifications";

/** Work that yields wherever it may be interrupted, at least every few milliseconds. */
export type Work<T> = Generator<void, T>;

const last: Record<Lane, Promise<void>> = {
  work: Promise.resolve(),
  messages: Promise.resolve(),
  notifications: Promise.resolve(),
};

/**
 * Resolves in a later turn of the event loop. Callers that wait at the same time in a lane get a
 * turn each.
 */
export function nextTurn(lane: Lane = "work"): Promise<void> {
  return last[lane] = last[lane].then(() => new Promise((resolve) => setTimeout(resolve, 0)));
}

/**
 * The end of the slice of all work that calls {@linkcode pause}, on the clock of
 * `performance.now()`.
 */
let end = 0;

/**
 * Waits for a later turn of the event loop if the current slice is over. Call this between short
 * pieces of work. In a worker, all work is one slice: the clock stands still while a worker
 * computes, and a request must not wait for timers of another request.
 */
export function pause(lane: Lane = "work"): Promise<void> | undefined {
  if (!HAS_SOCKETS || performance.now() < end) return undefined;
  return nextTurn(lane).then(() => {
    end = performance.now() + SLICE_MS;
  });
}

/**
 * Tells whether a text or content of so many characters or bytes takes more than about a
 * millisecond to read. Such work begins in a turn of the event loop of its own, so that others are
 * not delayed by more.
 */
export const isLong = (size: number): boolean => size > 32_768;

/**
 * Does the work in slices. Rejects with what the work throws.
 *
 * @param check called after each slice; may throw to end the work
 */
export async function inSlices<T>(
  work: Iterator<void, T>,
  lane?: Lane,
  check?: () => void,
): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    const pausing = pause(lane);
    if (pausing) await pausing;
    check?.();
  }
}

/** Does short work, or work whose caller cannot wait, in one go. */
export function atOnce<T>(work: Iterator<void, T>): T {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
  }
}
