/**
 * Keeps a value current while it is requested, without a timer.
 *
 * @module
 */
import type { Lazy, Resource } from "../lazy.ts";
import { withTimeout } from "../with-timeout.ts";

interface RefreshOptions {
  /** The shortest interval between checks, except those that `refresh` requests, in milliseconds; may be `Infinity`. */
  readonly interval: number;
  readonly isMadeCurrent: boolean;
  readonly onError: (error: unknown) => void;
  /** A monotonic clock in milliseconds. @default performance.now */
  readonly now?: () => number;
}

/**
 * The longest time that a request waits for a check, in milliseconds; after it, the request gets the previous value.
 */
const PATIENCE = 250;

/** Wraps a resource whose value can check whether it is current; `end` stops further checks. */
export function refreshOnDemand<T extends { refresh(): Promise<void> }>(
  resource: Lazy<T>,
  { interval, isMadeCurrent, onError, now = () => performance.now() }: RefreshOptions,
): Resource<T> & { refresh(): Promise<void>; end(): void } {
  let lookedAt: number | undefined;
  let look: { readonly since: number; readonly done: Promise<void> } | undefined;
  let hasEnded = false;

  const start = (value: T) => {
    const done = value.refresh().finally(() => {
      if (look?.done === done) look = undefined;
      lookedAt = now();
    });
    look = { since: now(), done };
    return done;
  };

  return {
    async get() {
      const isNew = resource.made === undefined;
      const value = await resource.get();
      if (isNew && isMadeCurrent) lookedAt ??= now();
      const isDue = interval < Infinity && now() - (lookedAt ?? -Infinity) >= interval;
      if (isDue && !hasEnded && !look) start(value).catch(onError);
      const left = look ? look.since + PATIENCE - now() : 0;
      if (left > 0) await withTimeout(look!.done.catch(() => {}), left, () => {});
      return value;
    },
    refresh: async () => await start(await resource.get()),
    end: () => void (hasEnded = true),
  };
}
