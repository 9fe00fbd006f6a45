/**
 * When to ask: at most once in a time to live, one refresh at a time whoever asks, never while
 * nobody asks, and less and less often while the node does not answer.
 *
 * @module
 */
import { withTimeout } from "../with-timeout.ts";

/** How long an answer waits for a refresh where there is something older to show, in ms. */
const PATIENCE = 20;

/** The first and the longest time between two tries of a node that does not answer, in ms. */
const BACKOFF_FIRST = 1000, BACKOFF_MAX = 24_000;

/** A refresh that takes longer than this is never going to end, in ms. */
const LOST = 60_000;

/** How a refresher works; all times are in milliseconds. */
export interface RefreshOptions {
  /** Asks the node; resolves to whether it answered. */
  refresh(): Promise<boolean>;
  /** Is told where `refresh` rejects, which counts as no answer. */
  onError(error: unknown): void;
  /** The node is asked at most once in this time. */
  ttl: number;
  /** Something older than this is nothing to show. */
  stale: number;
  /** How long an answer waits where there is nothing to show. */
  timeout: number;
  now(): number;
  /** From 0 to below 1. */
  random(): number;
}

/** Says what an answer has to wait for. */
export interface Refresher {
  /** Whether a refresh is under way, or would be started now. */
  isDue(): boolean;
  /** Starts a refresh where one is due; what to wait for before answering, or nothing. */
  wait(): Promise<void> | undefined;
}

/** Makes a refresher. */
export function createRefresher(options: RefreshOptions): Refresher {
  const { refresh, onError, ttl, stale, timeout, now, random } = options;
  let next = -Infinity;
  let failures = 0;
  /** When the last refresh ended. */
  let settled: number | undefined;
  let running: { done: Promise<void>; since: number } | undefined;

  const run = async (since: number) => {
    const isUp = await refresh().catch((error) => {
      onError(error);
      return false;
    });
    failures = isUp ? 0 : failures + 1;
    settled = now();
    const backoff = Math.min(BACKOFF_FIRST * 2 ** (failures - 1), BACKOFF_MAX);
    next = isUp ? since + ttl : settled + backoff * (0.5 + random() / 2);
    running = undefined;
  };

  return {
    isDue: () => running !== undefined || now() >= next,
    wait() {
      const time = now();
      // A worker's runtime drops the work of a request that has gone away.
      if (running && time - running.since > LOST) running = undefined;
      if (!running && time >= next) running = { done: run(time), since: time };
      if (!running) return undefined;
      const isFresh = settled !== undefined && (failures > 0 || time - settled < stale);
      const left = running.since + (isFresh ? PATIENCE : timeout) - time;
      return left > 0 ? withTimeout(running.done, left, () => {}) : Promise.resolve();
    },
  };
}
