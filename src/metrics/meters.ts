/**
 * The counts and the times of a running service, by labels that a node or a description may have written. The number of
 * series is bounded. Counting has to be cheap; the text is made when somebody asks.
 *
 * @module
 */
import type { Outcome } from "../info/query-sources.ts";
import type { CallRecord } from "../log.ts";
import { printable, startOf } from "../untrusted-text.ts";

/** Stands in place of labels beyond the bound. */
export const OTHER = "other";

/** The series of a counter; what is beyond is counted together. */
const SERIES_MAX = 500;

export class Counter {
  readonly #max: number;
  readonly #counts = new Map<string, Map<string | number, number>>();
  #size = 0;
  #beyond = 0;

  constructor(max: number = SERIES_MAX) {
    this.#max = max;
  }

  add(first: string, second: string | number): void {
    const row = this.#counts.get(first);
    const count = row?.get(second);
    if (row && count !== undefined) return void row.set(second, count + 1);
    if (this.#size >= this.#max) return void this.#beyond++;
    this.#size++;
    if (row) row.set(second, 1);
    else this.#counts.set(first, new Map([[second, 1]]));
  }

  series(): { labels: readonly [string, string | number]; value: number }[] {
    const all = [...this.#counts].flatMap(([first, row]) =>
      [...row].map(([second, value]) => ({ labels: [first, second] as const, value }))
    );
    return this.#beyond > 0 ? [...all, { labels: [OTHER, OTHER], value: this.#beyond }] : all;
  }
}

export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The labels of a histogram; what is beyond is counted together. */
const LABELS_MAX = 100;

export interface Observed {
  /** The numbers of those that took at most as long as each of {@linkcode BOUNDS}. */
  readonly counts: number[];
  count: number;
  sum: number;
}

export class Histogram {
  readonly #max: number;
  readonly series: Map<string, Observed> = new Map();

  constructor(max: number = LABELS_MAX) {
    this.#max = max;
  }

  observe(label: string, seconds: number): void {
    const name = this.series.has(label) || this.series.size < this.#max ? label : OTHER;
    let observed = this.series.get(name);
    if (!observed) {
      this.series.set(name, observed = { counts: BOUNDS.map(() => 0), count: 0, sum: 0 });
    }
    for (const [i, bound] of BOUNDS.entries()) if (seconds <= bound) observed.counts[i]!++;
    observed.count++;
    observed.sum += seconds;
  }
}

export class Meters {
  readonly responses: Counter = new Counter();
  readonly queries: Counter = new Counter();
  readonly queryTimes: Histogram = new Histogram();
  readonly calls: Counter = new Counter();
  readonly callTimes: Histogram = new Histogram();

  countQuery(source: string, outcome: Outcome): void {
    const name = labelOf(source);
    this.queries.add(name, resultOf(outcome));
    this.queryTimes.observe(name, outcome.took / 1000);
  }

  identities = 0;

  countIdentity(): void {
    this.identities++;
  }

  countCall({ operation, status, milliseconds }: CallRecord): void {
    this.calls.add(labelOf(operation), status);
    this.callTimes.observe("", milliseconds / 1000);
  }
}

function resultOf(outcome: Outcome): string {
  if ("error" in outcome) return outcome.error.code;
  return outcome.absent ? "absent" : "ok";
}

/** The longest value of a label, in UTF-16 code units. */
const LENGTH_MAX = 128;

/** Writes the value of a label: short, and without what a parser may stop at, such as a NUL. */
export function labelOf(text: string): string {
  return printable(startOf(text, LENGTH_MAX)).replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
