/**
 * The metrics: their names, types, labels, and what they say. `docs/monitoring.md` has the same table.
 *
 * @module
 */

/** What there is to say of a metric. */
export interface Metric {
  readonly type: "gauge" | "counter" | "histogram";
  /** What it says, on one line. */
  readonly help: string;
  /** The names of its labels. */
  readonly labels?: readonly string[];
}

/** The name of a metric. */
export type MetricName =
  | "node_up"
  | "node_status"
  | "node_status_code"
  | "node_info"
  | "node_height"
  | "node_head_age_seconds"
  | "node_peers"
  | "node_synced"
  | "node_sync_progress_ratio"
  | "node_start_time_seconds"
  | "nodeface_build_info"
  | "nodeface_requests_total"
  | "nodeface_node_queries_total"
  | "nodeface_node_query_duration_seconds"
  | "nodeface_calls_total"
  | "nodeface_call_duration_seconds"
  | "nodeface_queue_length"
  | "nodeface_description_age_seconds"
  | "process_start_time_seconds";

/** The metrics in the order in which they are written: the node's, then ours. */
export const METRICS: Readonly<Record<MetricName, Metric>> = {
  node_up: { type: "gauge", help: "Whether the node answers" },
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
    help: "Answers by the template of their path; other is what no path fits",
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
  nodeface_description_age_seconds: {
    type: "gauge",
    help: "How long ago the description of the node that is shown was read",
  },
  process_start_time_seconds: {
    type: "gauge",
    help: "When this program started, in seconds since 1970",
  },
};
