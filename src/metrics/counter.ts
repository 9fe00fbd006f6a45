/**
 * Counts what happens, by two labels. The number of series is bounded, whatever the labels are.
 *
 * @module
 */

/** What stands in place of labels beyond the bound. */
export const OTHER = "other";

/** How many series a counter has; what is beyond is counted together. */
const SERIES_MAX = 500;

/** How often the same two labels were counted. */
export interface Series {
  readonly labels: readonly [first: string, second: string | number];
  readonly value: number;
}

/** Counts by two labels. */
export interface Counter {
  /** Counts one. */
  add(first: string, second: string | number): void;
  /** All series, in the order in which each was counted first. */
  series(): Series[];
}

/** Makes a counter. */
export function createCounter(max: number = SERIES_MAX): Counter {
  const counts = new Map<string, Map<string | number, number>>();
  let size = 0;
  let beyond = 0;
  return {
    add(first, second) {
      const row = counts.get(first);
      const count = row?.get(second);
      if (row && count !== undefined) return void row.set(second, count + 1);
      if (size >= max) return void beyond++;
      size++;
      if (row) row.set(second, 1);
      else counts.set(first, new Map([[second, 1]]));
    },
    series() {
      const all: Series[] = [...counts].flatMap(([first, row]) =>
        [...row].map(([second, value]) => ({ labels: [first, second] as const, value }))
      );
      return beyond > 0 ? [...all, { labels: [OTHER, OTHER], value: beyond }] : all;
    },
  };
}
