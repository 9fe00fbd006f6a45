/**
 * The metrics of `/v1/metrics`. One more is a row of the table, which `docs/monitoring.md` has as well, and a sample: of the
 * node's info as it is shown (what is hidden there is hidden here), or of what this service has counted (`meters.ts`).
 * They are text in the format of Prometheus, version 0.0.4.
 * https://prometheus.io/docs/instrumenting/exposition_formats/
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { numberFrom } from "../info/fields.ts";
import type { Info } from "../info/info.ts";
import { STATUS_OF, type StatusCode, STATUSES } from "../info/status.ts";
import { textOf } from "../json/values.ts";
import { NO_ANSWER, WRONG_ANSWER } from "../node/failures.ts";
import {
  BOUNDS,
  type Counter,
  type Histogram,
  labelOf,
  type Meters,
  type Observed,
} from "./meters.ts";

/** The type, the sentence, and the names of the labels. */
export type Metric = readonly [type: string, help: string, ...labels: readonly string[]];

/** The metrics in the order in which they are written: the node's, then ours. */
const TABLE = {
  node_up: ["gauge", "1 if the node responds, 0 if not"],
  node_status: ["gauge", "1 for the status of the node, 0 for the others", "status"],
  node_status_code: ["gauge", "1 for why the status is not ok, 0 for the others", "code"],
  node_info: ["gauge", "What the node is, always 1", "software", "version", "network"],
  node_height: ["gauge", "The number of the latest block"],
  node_head_age_seconds: ["gauge", "How long ago the latest block was made"],
  node_peers: ["gauge", "How many others the node is connected with"],
  node_synced: ["gauge", "Whether the node has caught up with its network"],
  node_sync_progress_ratio: ["gauge", "How much of the chain the node has"],
  node_start_time_seconds: ["gauge", "When the node started, in seconds since 1970"],
  nodeface_build_info: [
    "gauge",
    "The version of this service and its runtime, always 1",
    "version",
    "runtime",
  ],
  nodeface_requests_total: [
    "counter",
    "Responses by the template of their path; other is what no path matches",
    "route",
    "status",
  ],
  nodeface_node_queries_total: [
    "counter",
    "Questions to the node for its info by source; the result is ok, absent or a status code",
    "source",
    "result",
  ],
  nodeface_node_query_duration_seconds: [
    "histogram",
    "How long questions to the node for its info took, by source",
    "source",
  ],
  nodeface_calls_total: [
    "counter",
    "Calls that were forwarded to the node, by operation",
    "operation",
    "status",
  ],
  nodeface_call_duration_seconds: ["histogram", "How long forwarded calls took"],
  nodeface_queue_length: ["gauge", "Calls that wait for a place at the node"],
  nodeface_event_listeners: ["gauge", "Open streams of events"],
  nodeface_events_sent_total: ["counter", "Events that were sent, to all listeners"],
  nodeface_node_identity_changes_total: [
    "counter",
    "How often another chain or network responded at the node's address",
  ],
  nodeface_description_age_seconds: [
    "gauge",
    "How long ago the description of the node that is shown was read",
  ],
  process_start_time_seconds: ["gauge", "When this program started, in seconds since 1970"],
} as const;

type MetricName = keyof typeof TABLE;

export const METRICS: Readonly<Record<MetricName, Metric>> = TABLE;

export const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export interface Sample {
  /** The values of its labels, in the order of the table; one that is `undefined` is left out. */
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

/** Reads the samples of an info; `now` is in milliseconds since 1970. A value that is not known now has none. */
export function nodeSamples(info: Info, now: number): Samples {
  const { status, status_code: code } = info;
  const isSilent = status === "stale" || status === "unreachable";
  const identity = [info.software, info.version, info.network].map(textOf);
  return {
    node_up: code === "starting" ? [] : [{ value: isSilent ? 0 : 1 }],
    node_status: oneOf(STATUSES, status),
    node_status_code: oneOf(STATUS_CODES, code),
    node_info: identity.some((text) => text !== undefined) ? [{ labels: identity, value: 1 }] : [],
    // The values of a node that has fallen silent are no measurement of now.
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

/** Reads what is counted; `gauges` are known elsewhere. */
export function serviceSamples(
  meters: Meters,
  gauges: Readonly<Partial<Record<MetricName, number | undefined>>>,
): Samples {
  return {
    nodeface_build_info: [{ labels: [VERSION, runtime()], value: 1 }],
    nodeface_requests_total: counted(meters.responses),
    nodeface_node_queries_total: counted(meters.queries),
    nodeface_node_query_duration_seconds: observed(meters.queryTimes),
    nodeface_calls_total: counted(meters.calls),
    nodeface_call_duration_seconds: observed(meters.callTimes),
    nodeface_node_identity_changes_total: known(meters.identities),
    process_start_time_seconds: known(startOfProcess()),
    ...Object.fromEntries(Object.entries(gauges).map(([name, value]) => [name, known(value)])),
  };
}

const counted = (counter: Counter): readonly Sample[] => counter.series();

const observed = (histogram: Histogram): Sample[] =>
  [...histogram.series].map(([label, value]) => ({ labels: [label], value }));

const known = (value: number | undefined): Sample[] => value === undefined ? [] : [{ value }];

/** Node names itself from 21 on. */
function runtime(): string | undefined {
  return (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent;
}

/** Workerd does not say it. */
function startOfProcess(): number | undefined {
  return performance.timeOrigin > 0 ? performance.timeOrigin / 1000 : undefined;
}

export function expose(samples: Samples): string {
  const lines = (Object.keys(METRICS) as MetricName[]).flatMap((name) =>
    linesOf(name, METRICS[name], samples[name] ?? [])
  );
  return lines.map((line) => `${line}\n`).join("");
}

function linesOf(name: string, [type, help, ...labels]: Metric, samples: readonly Sample[]) {
  if (samples.length === 0) return [];
  const head = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
  return [...head, ...samples.flatMap((sample) => lineOf(name, labels, sample))];
}

function lineOf(
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
    // JavaScript writes numbers as Go reads them; a `bigint` keeps its digits.
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

/** A line feed is no character of a label. */
const escape = (text: string) => text.replaceAll(/["\\]/g, "\\$&");
