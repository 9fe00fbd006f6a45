/**
 * Metrics in Prometheus text format 0.0.4. Each metric has a row in `TABLE` and in
 * `docs/monitoring.md`. https://prometheus.io/docs/instrumenting/exposition_formats/
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { numberFrom } from "../info/fields.ts";
import type { Info } from "../info/info.ts";
import type { QueryOutcome } from "../info/sources.ts";
import { STATUS_OF, type StatusCode, STATUSES } from "../info/status.ts";
import { textOf } from "../json/values.ts";
import type { CallRecord } from "../log.ts";
import { NO_ANSWER, WRONG_ANSWER } from "../node/failures.ts";
import { printable, startOf } from "../untrusted-text.ts";

export type Metric = readonly [type: string, help: string, ...labels: readonly string[]];

const TABLE = {
  node_up: ["gauge", "1 if the node responds, 0 if not"],
  node_status: ["gauge", "1 for the node's current status, 0 for other statuses", "status"],
  node_status_code: [
    "gauge",
    "1 for the current status code, 0 for other codes",
    "code",
  ],
  node_info: [
    "gauge",
    "The node's software, version and network, as labels; always 1",
    "software",
    "version",
    "network",
  ],
  node_height: ["gauge", "The number of the latest block"],
  node_head_age_seconds: ["gauge", "Age of the latest block"],
  node_peers: ["gauge", "The number of the node's peers"],
  node_synced: ["gauge", "1 if the node is in sync with its network, 0 if not"],
  node_sync_progress_ratio: ["gauge", "Fraction of the chain that the node has, from 0 to 1"],
  node_start_time_seconds: ["gauge", "Start time of the node, in seconds since 1970"],
  nodeface_build_info: [
    "gauge",
    "The service's version and runtime, as labels; always 1",
    "version",
    "runtime",
  ],
  nodeface_requests_total: ["counter", "Responses by path template", "route", "status"],
  nodeface_node_queries_total: [
    "counter",
    "Queries by source and result, such as ok, absent or timeout",
    "source",
    "result",
  ],
  nodeface_node_query_duration_seconds: ["histogram", "Duration of queries by source", "source"],
  nodeface_calls_total: ["counter", "Calls forwarded to the node", "operation", "status"],
  nodeface_call_duration_seconds: ["histogram", "Duration of calls forwarded to the node"],
  nodeface_queue_length: ["gauge", "Calls that wait for a slot at the node"],
  nodeface_event_listeners: ["gauge", "Open event streams"],
  nodeface_events_sent_total: [
    "counter",
    "Events sent; an event sent to two listeners counts twice",
  ],
  nodeface_node_identity_changes_total: ["counter", "Number of times the node's chain changed"],
  nodeface_description_age_seconds: ["gauge", "Time since the description was read"],
  process_start_time_seconds: ["gauge", "Start time of this program, in seconds since 1970"],
} as const;

type MetricName = keyof typeof TABLE;
export const METRICS: Readonly<Record<MetricName, Metric>> = TABLE;
export const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export interface Sample {
  /**
   * The values of the labels, in the order of `TABLE`. A label with the value `undefined` is
   * omitted.
   */
  readonly labels?: readonly (string | number | undefined)[];
  readonly value: number | bigint | Observed;
}

export type Samples = Readonly<Partial<Record<MetricName, readonly Sample[]>>>;

export const STATUS_CODES: readonly StatusCode[] = [
  "starting",
  ...Object.keys(STATUS_OF) as (keyof typeof STATUS_OF)[],
  ...WRONG_ANSWER,
  ...NO_ANSWER,
];

/** @param now in milliseconds since 1970 */
export function nodeSamples(info: Info, now: number): Samples {
  const { status, status_code: code } = info;
  const isSilent = status === "stale" || status === "unreachable";
  const identity = [info.software, info.version, info.network].map(textOf);
  return {
    node_up: code === "starting" ? [] : [{ value: isSilent ? 0 : 1 }],
    node_status: oneOf(STATUSES, status),
    node_status_code: oneOf(STATUS_CODES, code),
    node_info: identity.some((text) => text !== undefined) ? [{ labels: identity, value: 1 }] : [],
    ...isSilent ? {} : measured(info, now),
  };
}

function measured(info: Info, now: number): Samples {
  const { height, head_at, peers, synced, sync_progress, started_at } = info;
  return {
    node_height: numbers(height),
    node_head_age_seconds: seconds(head_at).map((at) => ({ value: now / 1000 - at })),
    node_peers: numbers(peers),
    node_synced: typeof synced === "boolean" ? [{ value: Number(synced) }] : [],
    node_sync_progress_ratio: numbers(sync_progress),
    node_start_time_seconds: seconds(started_at).map((value) => ({ value })),
  };
}

const oneOf = (words: readonly string[], word: string | undefined): Sample[] =>
  words.map((each) => ({ labels: [each], value: Number(each === word) }));

function numbers(value: unknown): Sample[] {
  const number = numberFrom(value);
  return number === undefined ? [] : [{ value: number }];
}

function seconds(time: unknown): number[] {
  const milliseconds = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(milliseconds) ? [] : [milliseconds / 1000];
}

export function serviceSamples(
  meters: Meters,
  gauges: Readonly<Partial<Record<MetricName, number | undefined>>>,
): Samples {
  // Node.js before version 21 has no `navigator`.
  const { navigator } = globalThis as { navigator?: { userAgent?: string } };
  // On workerd, the start time is unknown.
  const startedAt = performance.timeOrigin > 0 ? performance.timeOrigin / 1000 : undefined;
  return {
    nodeface_build_info: [{ labels: [VERSION, navigator?.userAgent], value: 1 }],
    nodeface_requests_total: meters.responses.series(),
    nodeface_node_queries_total: meters.queries.series(),
    nodeface_node_query_duration_seconds: observed(meters.queryTimes),
    nodeface_calls_total: meters.calls.series(),
    nodeface_call_duration_seconds: observed(meters.callTimes),
    nodeface_node_identity_changes_total: known(meters.identities),
    process_start_time_seconds: known(startedAt),
    ...Object.fromEntries(Object.entries(gauges).map(([name, value]) => [name, known(value)])),
  };
}

const observed = (histogram: Histogram): Sample[] =>
  [...histogram.series].map(([label, value]) => ({ labels: [label], value }));

const known = (value: number | undefined): Sample[] => value === undefined ? [] : [{ value }];

export function expose(samples: Samples): string {
  const lines: string[] = [];
  for (const name of Object.keys(METRICS) as MetricName[]) {
    const [type, help, ...labels] = METRICS[name];
    const ofMetric = samples[name] ?? [];
    if (ofMetric.length > 0) lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const sample of ofMetric) lines.push(...linesOf(name, labels, sample));
  }
  return lines.map((line) => `${line}\n`).join("");
}

function linesOf(
  name: string,
  names: readonly string[],
  { labels: values = [], value }: Sample,
): string[] {
  const labels = names.flatMap((label, i) => {
    const value = values[i];
    return value === undefined ? [] : [`${label}="${escape(labelOf(String(value)))}"`];
  });
  const line = (suffix: string, number: number | bigint, ...more: string[]) => {
    const all = [...labels, ...more];
    return `${name}${suffix}${all.length > 0 ? `{${all.join(",")}}` : ""} ${number}`;
  };
  if (typeof value !== "object") return [line("", value)];
  const { counts, count, sum } = value;
  return [
    ...BOUNDS.map((bound, i) => line("_bucket", counts[i]!, `le="${bound}"`)),
    line("_bucket", count, 'le="+Inf"'),
    line("_sum", sum),
    line("_count", count),
  ];
}

/** Line feeds need no escape, since `labelOf` has already replaced them. */
const escape = (text: string) => text.replaceAll(/["\\]/g, "\\$&");

/** The label value that replaces all new values after `SERIES_MAX` or `LABELS_MAX` is reached. */
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
  /** The number of durations up to each of the {@linkcode BOUNDS}. */
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

  countQuery(source: string, outcome: QueryOutcome): void {
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

export function labelOf(text: string): string {
  return printable(startOf(text, LENGTH_MAX));
}
