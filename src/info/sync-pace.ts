/**
 * The pace of a node that syncs: its progress, its blocks per second, and the time that is left.
 *
 * @module
 */
import { asNumber } from "./fields.ts";
import type { Instant } from "./clock.ts";
import type { Values } from "./source-cache.ts";

/** The shortest time from which a pace is told, in milliseconds. */
const TIME_MIN_MS = 55_000;
/** Samples are at least 5 s apart and cover the last five minutes. */
const INTERVAL_MS = 5000, SAMPLES_MAX = 60;

interface PaceSample {
  /** The time of a monotonic clock, in milliseconds. */
  readonly at: number;
  readonly height: number;
  /** The height that the node is to reach. */
  readonly target: number;
  /** The time of the latest block, in milliseconds since 1970. */
  readonly headAt: number;
  /** The time by which the latest block is behind the clock, in milliseconds. */
  readonly behind: number;
  /** The progress that the node reports. */
  readonly progress: number;
}

export interface SyncGoal {
  /** The highest block that the node has. */
  readonly height: bigint | undefined;
  /** The height that the node is to reach, if it is known. */
  readonly target: bigint | undefined;
}

/** Values for `/v1/info`; those that cannot be told yet are missing. */
export interface Pace {
  readonly progress?: number;
  readonly blocks_per_second?: number;
  readonly seconds_left?: number;
}

export class SyncPace {
  last: Pace = {};
  #samples: PaceSample[] = [];
  /** The time for which the machine had slept when the samples began, in milliseconds. */
  #slept = 0;

  clear(): void {
    this.last = {};
    this.#samples = [];
  }

  /** @param slept the time for which the machine has slept, in milliseconds */
  advance(values: Values, { height, target }: SyncGoal, now: Instant, slept: number): void {
    // The node may have slept, too. The two clocks are read one after the other.
    if (Math.abs(slept - this.#slept) >= 1000) {
      this.clear();
      this.#slept = slept;
    }
    const headAt = Date.parse(String(values.head_at));
    const last: PaceSample = {
      at: now.monotonic,
      height: asNumber(height),
      target: asNumber(target),
      headAt,
      behind: now.date - headAt,
      progress: asNumber(values.progress),
    };
    // A node that goes back that far has been replaced, or starts anew. Reorganizations are short.
    if (last.height < this.#samples[0]?.height!) this.clear();
    const first = this.#samples[0] ?? last;
    const isDue = last.at - (this.#samples.at(-1)?.at ?? -Infinity) >= INTERVAL_MS;
    if (isDue) this.#samples = [...this.#samples, last].slice(-SAMPLES_MAX);
    const isEarly = last.at - first.at < TIME_MIN_MS;
    this.last = {
      ...roundedMember("progress", progressOf(first, last)),
      ...roundedMember("blocks_per_second", isEarly ? NaN : rateOf(first, last, "height")),
      ...roundedMember("seconds_left", isEarly ? NaN : secondsLeft(first, last)),
    };
  }
}

/** Returns the change of a number in one second. */
function rateOf(first: PaceSample, last: PaceSample, key: keyof PaceSample): number {
  return (last[key] - first[key]) / ((last.at - first.at) / 1000);
}

/** The node's own progress comes first, then the number of blocks, then the time of the latest. */
function progressOf(first: PaceSample, last: PaceSample): number {
  if (last.progress < 1) return last.progress;
  const timePerBlock = (last.headAt - first.headAt) / (last.height - first.height);
  const missing = last.target > last.height
    ? last.target - last.height
    : last.behind / timePerBlock;
  return Math.floor(last.height / (last.height + missing) * 1e6) / 1e6;
}

/** A way that does not lead to the end in a finite time is passed over. */
function secondsLeft(first: PaceSample, last: PaceSample): number {
  const times = [
    (1 - last.progress) / rateOf(first, last, "progress"),
    (last.target - last.height) / (rateOf(first, last, "height") - rateOf(first, last, "target")),
    // The wall clock may be set meanwhile, so only the blocks tell how fast the node catches up.
    last.behind / (rateOf(first, last, "headAt") - 1000),
  ];
  return times.find((seconds) => seconds > 0 && Number.isFinite(seconds)) ?? NaN;
}

/**
 * Rounds to three digits, since an estimate is no more precise. Returns an empty object if the
 * value cannot be told.
 */
function roundedMember(key: keyof Pace, value: number): Pace {
  if (!Number.isFinite(value) || value < 0) return {};
  const isShare = key === "progress";
  return { [key]: isShare ? Math.min(value, 0.99999) : Number(value.toPrecision(3)) };
}
