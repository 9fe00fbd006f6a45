/**
 * The counts and times of a running service, by labels that clients and nodes may choose, so their number is limited.
 *
 * @module
 */
import type { Outcome } from "../info/sources.ts";
import type { CallRecord } from "../log.ts";
import { printable, startOf } from "../untrusted-text.ts";

/** The label of everything beyond a limit. */
export const OTHER = "other";

const SERIES_MAX = 500;

interface Count {
  readonly labels: readonly [string, string | number];
  value: number;
}

export class Counter {
  readonly #counts = new Map<string, Count>();
  readonly #others: Count = { labels: [OTHER, OTHER], value: 0 };

  add(first: string, second: string | number): void {
    const key = `${second} ${first}`;
    const count = this.#counts.get(key);
    if (count) count.value++;
    else if (this.#counts.size >= SERIES_MAX) this.#others.value++;
    else this.#counts.set(key, { labels: [first, second], value: 1 });
  }

  series(): Readonly<Count>[] {
    const counts = [...this.#counts.values()];
    return this.#others.value > 0 ? [...counts, this.#others] : counts;
  }
}

export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

const LABELS_MAX = 100;

export interface Observed {
  /** The number of times up to each of {@linkcode BOUNDS}, in seconds. */
  readonly counts: number[];
  count: number;
  sum: number;
}

export class Histogram {
  readonly series: Map<string, Observed> = new Map();

  observe(label: string, seconds: number): void {
    const name = this.series.has(label) || this.series.size < LABELS_MAX ? label : OTHER;
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
  identities = 0;

  countQuery(source: string, outcome: Outcome): void {
    const name = labelOf(source);
    const result = "error" in outcome ? outcome.error.code : outcome.absent ? "absent" : "ok";
    this.queries.add(name, result);
    this.queryTimes.observe(name, outcome.took / 1000);
  }

  countCall({ operation, status, milliseconds }: CallRecord): void {
    this.calls.add(labelOf(operation), status);
    this.callTimes.observe("", milliseconds / 1000);
  }
}

const LENGTH_MAX = 128;

/** Makes a text the value of a label: short, without control characters and lone surrogates. */
export function labelOf(text: string): string {
  return printable(startOf(text, LENGTH_MAX)).replaceAll(/\p{Surrogate}/gu, "\ufffd");
}
