/**
 * How a node has moved: for how long its height and its progress have not changed, and whether its
 * latest block comes closer to the clock. Outlives a reload of the configuration.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import type { Now } from "./clock.ts";
import type { Values } from "./source-cache.ts";

/** A head that has come so much closer to the clock catches up. In milliseconds. */
const GAIN_MS = 60_000;
/** The shortest time for which a node that has gained catches up, in milliseconds. */
const CATCH_UP_MS = 300_000;

export interface Stillness {
  /** The time since the latest block last changed, in milliseconds. */
  readonly sinceMoved: number;
  /** True if the latest block has been seen to change. */
  readonly hasMoved: boolean;
  /** The time since anything that shows progress last changed, in milliseconds. */
  readonly sinceProgress: number;
  /** The time since the latest block last came closer to the clock, in milliseconds. */
  readonly sinceGained: number;
  /** The time by which that block was still behind the clock, in milliseconds. */
  readonly lagWhenGained: number;
}

export class Motion {
  readonly #height = new Changes();
  readonly #head = new Changes();
  readonly #progressed = new Changes();
  readonly #catchUp = new CatchUp();
  /** The highest progress so far. */
  #progress = 0;

  /** @param state what the node says about its synchronization; a text before it has a block */
  advance({ height, head_at, progress }: Values, state: unknown, now: Now, isAway: boolean): void {
    // The progress of a node without new blocks falls, since it compares them with the clock.
    this.#progress = Math.max(this.#progress, Number(progress ?? 0));
    const isUnknown = height === undefined && progress === undefined && typeof state !== "string";
    // These change while a node syncs, even before it has blocks.
    const all = isUnknown ? undefined : [height ?? null, this.#progress, state ?? null];
    this.#height.advance(height, now.awake, isAway);
    this.#head.advance(head_at, now.awake, isAway);
    this.#progressed.advance(all, now.awake, isAway);
    this.#catchUp.advance(Date.parse(String(head_at)), now, isAway);
  }

  at(now: Now, isAway: boolean): Stillness {
    const since = (changes: Changes) => changes.timeUntil(now.awake, isAway);
    return {
      sinceMoved: Math.min(since(this.#height), since(this.#head)),
      hasMoved: this.#height.hasChanged || this.#head.hasChanged,
      sinceProgress: since(this.#progressed),
      sinceGained: now.awake - this.#catchUp.gainedAt,
      lagWhenGained: this.#catchUp.lagWhenGained,
    };
  }
}

/**
 * Returns whether a node whose latest block is old catches up with its network. A node in sync
 * gains, too, when a block of its network is less late than those before.
 */
export const isCatchingUp = (
  { sinceGained, lagWhenGained }: Stillness,
  limit: number,
): boolean => lagWhenGained > limit && sinceGained <= Math.max(limit, CATCH_UP_MS);

/**
 * A value that was seen so recently has not changed: behind a load balancer, the responses of two
 * nodes may alternate. In milliseconds.
 */
const RECENT_MS = 300_000;
/** The same in polls, which may be far apart. */
const RECENT_POLLS = 3;
/** The number of values that are remembered. */
const RECENT_MAX = 8;

/** @param polledAt the time of the poll before, by the clock of {@linkcode Now.awake} */
const isRecently = (time = -Infinity, now: number, polledAt = now): boolean =>
  now - time <= Math.max(RECENT_MS, RECENT_POLLS * (now - polledAt));

/** A value, and how long it has not changed, by the clock of {@linkcode Now.awake}. */
class Changes {
  hasChanged = false;
  #key: string | undefined;
  #unchanged = 0;
  #advancedAt: number | undefined;
  /** When each of the last values was seen last. */
  readonly #seenAt = new Map<string, number>();

  /** A value that is missing for a while has not changed. */
  advance(value: unknown, now: number, isAway: boolean): void {
    const key = value === undefined ? this.#key ?? "" : formatJson(value);
    const isRecent = isRecently(this.#seenAt.get(key), now, this.#advancedAt);
    const isChange = key !== this.#key && !isRecent;
    this.hasChanged ||= isChange && !!this.#key;
    this.#unchanged = isChange ? 0 : this.timeUntil(now, isAway);
    this.#key = key;
    this.#advancedAt = now;
    this.#remember(key, now);
  }

  #remember(key: string, now: number): void {
    this.#seenAt.delete(key);
    this.#seenAt.set(key, now);
    const [oldest] = this.#seenAt.keys();
    if (this.#seenAt.size > RECENT_MAX) this.#seenAt.delete(oldest!);
  }

  /** Returns the time since the value last changed, without that in which the node was away. */
  timeUntil(now: number, isAway: boolean): number {
    return this.#unchanged + (isAway ? 0 : now - (this.#advancedAt ?? now));
  }
}

/** The time by which new blocks are behind the clock when they arrive. */
class CatchUp {
  gainedAt = -Infinity;
  lagWhenGained = -Infinity;
  #newest = -Infinity;
  /** When the node last had `#newest`. */
  #newestAt = -Infinity;
  #advancedAt: number | undefined;
  /** The longest lag since the last gain, in milliseconds. */
  #lag = -Infinity;

  advance(headAt: number, { awake, date }: Now, isAway: boolean): void {
    // A node that comes back, or takes the place of another one, may have fewer blocks than before.
    const isGone = isAway || !isRecently(this.#newestAt, awake, this.#advancedAt);
    if (isGone) this.#newest = -Infinity;
    this.#advancedAt = awake;
    if (headAt >= this.#newest) this.#newestAt = awake;
    if (isAway || !(headAt > this.#newest)) return;
    this.#newest = headAt;
    const lag = date - headAt;
    const isGain = lag <= this.#lag - GAIN_MS;
    if (isGain) {
      this.gainedAt = awake;
      this.lagWhenGained = lag;
    }
    this.#lag = isGain ? lag : Math.max(this.#lag, lag);
  }
}
