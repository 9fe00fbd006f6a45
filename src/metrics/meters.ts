/**
 * What is counted while the service runs, and how long things take, by labels that a node or a description may have
 * written. The number of series is bounded. Counting has to be cheap; the text is made when somebody asks.
 *
 * @module
 */
import type { Outcome } from "../info/query-sources.ts";
import type { CallRecord } from "../log.ts";
import { printable, startOf } from "../untrusted-text.ts";

/** What stands in place of labels beyond the bound. */
export const OTHER = "other";

/** How many series a counter has; what is beyond is counted together. */
const SERIES_MAX = 500;

interface Series {
  readonly labels: readonly [first: string, second: string | number];
  readonly value: number;
}

export interface Counter {
  add(first: string, second: string | number): void;
  /** All series, in the order in which each was counted first. */
  series(): Series[];
}

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

/** The upper bounds of the buckets, in seconds; one without a bound follows. */
export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** How many labels a histogram has; what is beyond is counted together. */
const LABELS_MAX = 100;

export interface Observed {
  /** How many took at most as long as each of {@linkcode BOUNDS}. */
  readonly counts: readonly number[];
  readonly count: number;
  /** In seconds. */
  readonly sum: number;
}

export interface Histogram {
  observe(label: string, seconds: number): void;
  series(): Map<string, Observed>;
}

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

export interface Meters {
  /** Responses by the template of the route and the status. */
  readonly answers: Counter;
  /** Questions to the node by source and result, and how long they took by source. */
  readonly queries: Counter;
  readonly queryTimes: Histogram;
  /** Forwarded calls by operation and status, and how long they took. */
  readonly calls: Counter;
  readonly callTimes: Histogram;
  countQuery(source: string, outcome: Outcome): void;
  countCall(call: CallRecord): void;
}

export function createMeters(): Meters {
  const [answers, queries, calls] = [createCounter(), createCounter(), createCounter()];
  const [queryTimes, callTimes] = [createHistogram(), createHistogram()];
  return {
    ...{ answers, queries, queryTimes, calls, callTimes },
    countQuery(source, outcome) {
      const name = labelOf(source);
      queries.add(name, resultOf(outcome));
      queryTimes.observe(name, outcome.took / 1000);
    },
    countCall({ operation, status, milliseconds }) {
      calls.add(labelOf(operation), status);
      callTimes.observe("", milliseconds / 1000);
    },
  };
}

function resultOf(outcome: Outcome): string {
  if ("error" in outcome) return outcome.error.code;
  return outcome.absent ? "absent" : "ok";
}

/** The longest value of a label, in UTF-16 code units. */
const LENGTH_MAX = 128;

/** A value of a label as it is shown: short, and without what a parser may stop at, such as a NUL. */
export function labelOf(text: string): string {
  return printable(startOf(text, LENGTH_MAX)).replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
