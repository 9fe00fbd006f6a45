/**
 * Keeps a value current while somebody asks for it, without a timer of its own.
 *
 * @module
 */
import type { Lazy, Resource } from "../lazy.ts";
import { withTimeout } from "../with-timeout.ts";

interface RefreshOptions {
  /** The shortest time between two looks that nobody asked for by `refresh`, in milliseconds; may be `Infinity`. */
  readonly interval: number;
  readonly isMadeCurrent: boolean;
  readonly onError: (error: unknown) => void;
  /** Milliseconds that only count up. @default performance.now */
  readonly now?: () => number;
}

/** The longest wait of a request for a look, in milliseconds; after that, it has the value of before. */
const PATIENCE = 250;

/** Makes a resource of a value that can look whether it is current; `end` leaves it as it is. */
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
