/**
 * The metrics, which `docs/monitoring.md` has as well, and their samples as text in the format of Prometheus, version
 * 0.0.4. https://prometheus.io/docs/instrumenting/exposition_formats/
 *
 * @module
 */
import { BOUNDS, labelOf, type Observed } from "./meters.ts";

export interface Metric {
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
  readonly labels?: readonly string[];
}

/** The metrics in the order in which they are written: the node's, then ours. */
const TABLE = {
  node_up: { type: "gauge", help: "1 if the node responds, 0 if not" },
  node_status: {
    type: "gauge",
    help: "1 for the status of the node, 0 for the others",
    labels: ["status"],
  },
  node_status_code: {
    type: "gauge",
    help: "1 for why the status is not ok, 0 for the others",
    labels: ["code"],
  },
  node_info: {
    type: "gauge",
    help: "What the node is, always 1",
    labels: ["software", "version", "network"],
  },
  node_height: { type: "gauge", help: "The number of the latest block" },
  node_head_age_seconds: { type: "gauge", help: "How long ago the latest block was made" },
  node_peers: { type: "gauge", help: "How many others the node is connected with" },
  node_synced: { type: "gauge", help: "Whether the node has caught up with its network" },
  node_sync_progress_ratio: { type: "gauge", help: "How much of the chain the node has" },
  node_start_time_seconds: { type: "gauge", help: "When the node started, in seconds since 1970" },
  nodeface_build_info: {
    type: "gauge",
    help: "The version of this service and its runtime, always 1",
    labels: ["version", "runtime"],
  },
  nodeface_requests_total: {
    type: "counter",
    help: "Responses by the template of their path; other is what no path matches",
    labels: ["route", "status"],
  },
  nodeface_node_queries_total: {
    type: "counter",
    help: "Questions to the node for its info by source; the result is ok, absent or a status code",
    labels: ["source", "result"],
  },
  nodeface_node_query_duration_seconds: {
    type: "histogram",
    help: "How long questions to the node for its info took, by source",
    labels: ["source"],
  },
  nodeface_calls_total: {
    type: "counter",
    help: "Calls that were forwarded to the node, by operation",
    labels: ["operation", "status"],
  },
  nodeface_call_duration_seconds: { type: "histogram", help: "How long forwarded calls took" },
  nodeface_queue_length: { type: "gauge", help: "Calls that wait for a place at the node" },
  nodeface_event_listeners: { type: "gauge", help: "Open streams of events" },
  nodeface_events_sent_total: { type: "counter", help: "Events that were sent, to all listeners" },
  nodeface_node_identity_changes_total: {
    type: "counter",
    help: "How often another chain or network responded at the node's address",
  },
  nodeface_description_age_seconds: {
    type: "gauge",
    help: "How long ago the description of the node that is shown was read",
  },
  process_start_time_seconds: {
    type: "gauge",
    help: "When this program started, in seconds since 1970",
  },
} as const;

type MetricName = keyof typeof TABLE;

export const METRICS: Readonly<Record<MetricName, Metric>> = TABLE;

export const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export interface Sample {
  /** The values of its labels, in the order of the table; one that is `undefined` is left out. */
  readonly labels?: readonly (string | number | undefined)[];
  readonly value: number | bigint | Observed;
}

/** Samples by their metric; one without samples is left out. */
export type Samples = Readonly<Partial<Record<MetricName, readonly Sample[]>>>;

export function expose(samples: Samples): string {
  const lines = (Object.keys(METRICS) as MetricName[]).flatMap((name) =>
    linesOf(name, METRICS[name], samples[name] ?? [])
  );
  return lines.map((line) => `${line}\n`).join("");
}

function linesOf(name: string, { type, help, labels = [] }: Metric, samples: readonly Sample[]) {
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
