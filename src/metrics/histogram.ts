/**
 * Counts how long things take, by one label: how many took at most so long, and all of their time.
 *
 * @module
 */
import { OTHER } from "./counter.ts";

/** The upper bounds of the buckets, in seconds; one without a bound follows. */
export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** How many labels a histogram has; what is beyond is counted together. */
const LABELS_MAX = 100;

/** What was observed of one label. */
export interface Observed {
  /** How many took at most as long as each of {@linkcode BOUNDS}. */
  readonly counts: readonly number[];
  /** How many there were. */
  readonly count: number;
  /** In seconds. */
  readonly sum: number;
}

/** Counts how long things take. */
export interface Histogram {
  observe(label: string, seconds: number): void;
  /** What was observed, by label. */
  series(): Map<string, Observed>;
}

/** Makes a histogram. */
export function createHistogram(max: number = LABELS_MAX): Histogram {
  const all = new Map<string, { counts: number[]; count: number; sum: number }>();
  return {
    observe(label, seconds) {
      const name = all.has(label) || all.size < max ? label : OTHER;
      let observed = all.get(name);
      if (!observed) all.set(name, observed = { counts: BOUNDS.map(() => 0), count: 0, sum: 0 });
      for (const [i, bound] of BOUNDS.entries()) if (seconds <= bound) observed.counts[i]!++;
      observed.count++;
      observed.sum += seconds;
    },
    series: () => new Map(all),
  };
}
