/**
 * Keeps a value current while somebody asks for it, without a timer of its own.
 *
 * @module
 */
import type { Lazy, Resource } from "../lazy.ts";
import { withTimeout } from "../with-timeout.ts";

export interface Refreshable {
  refresh(): Promise<void>;
}

export interface RefreshedResource<T> extends Resource<T> {
  refresh(): Promise<void>;
  /** Ends this: the value stays as it is. */
  end(): void;
}

export interface RefreshOptions {
  /** The shortest time between two looks that nobody asked for by `refresh`, in milliseconds; may be `Infinity`. */
  readonly interval: number;
  /** True if a value is current when it is made. */
  readonly isMadeCurrent: boolean;
  readonly onError: (error: unknown) => void;
  /** Milliseconds that only count up. @default performance.now */
  readonly now?: () => number;
}

/** How long an answer waits for a look, in milliseconds; after that, it has the value of before. */
const PATIENCE = 250;

/** Makes a resource of one whose value can look whether it is current. */
export function refreshOnDemand<T extends Refreshable>(
  resource: Lazy<T>,
  { interval, isMadeCurrent, onError, now = () => performance.now() }: RefreshOptions,
): RefreshedResource<T> {
  let lookedAt: number | undefined;
  let look: { readonly since: number; readonly done: Promise<void> } | undefined;
  let hasEnded = false;

  const isDue = () =>
    interval < Infinity && !hasEnded && !look && now() - (lookedAt ?? -Infinity) >= interval;
  const isWaitedFor = () => look !== undefined && now() - look.since < PATIENCE;

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
      if (isDue()) start(value).catch(onError);
      if (look && isWaitedFor()) {
        const settled = look.done.catch(() => {});
        await withTimeout(settled, look.since + PATIENCE - now(), () => {});
      }
      return value;
    },
    async refresh() {
      const value = await resource.get();
      await start(value);
    },
    end: () => void (hasEnded = true),
  };
}
