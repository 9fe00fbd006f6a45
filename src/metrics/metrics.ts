/**
 * Metrics in Prometheus text format 0.0.4. `npm run schema` writes each row of `METRICS` to
 * `docs/monitoring.md`. https://prometheus.io/docs/instrumenting/exposition_formats/
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { KNOWN_KEYS, numberFrom } from "../info/fields.ts";
import type { Info } from "../info/info.ts";
import type { QueryOutcome } from "../info/sources.ts";
import { KIND_STATUS_CODES, type StatusCode, STATUSES } from "../info/status.ts";
import { textOf } from "../json/values.ts";
import { memoize } from "../lazy.ts";
import type { CallRecord } from "../log.ts";
import { NO_ANSWER, WRONG_ANSWER } from "../node/failures.ts";
import { residentMemory, RUNTIME } from "../platform.ts";
import { printable, startOf } from "../untrusted-text.ts";

export const MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const STATUS_CODES: readonly StatusCode[] = [
  "starting",
  "outdated",
  "wrong_network",
  ...KIND_STATUS_CODES,
  ...WRONG_ANSWER,
  ...NO_ANSWER,
];

/** `undefined` values are unknown, or the service forwards no calls. */
export interface GatewayLoad {
  readonly waitingCalls: number | undefined;
  readonly sockets: number | undefined;
  readonly subscriptions: number | undefined;
}

/** The state of the service at the moment of a request. */
export interface Observation extends GatewayLoad {
  /** `undefined` if the service has no node. */
  readonly info: Info | undefined;
  /** The keys of `info` whose values do not come from the node. */
  readonly besideNode: readonly string[];
  /** The kind of the node, if it is known. */
  readonly kind: string | undefined;
  /** In milliseconds since 1970. */
  readonly now: number;
  readonly meters: Meters;
  readonly listeners: number;
  /** The age of the description in seconds, if there is one. */
  readonly descriptionAge: number | undefined;
}

interface Seen extends Observation {
  /** The info without values that the node reported before it stopped responding. */
  readonly current: Partial<Info>;
}

export interface Metric {
  readonly type: "gauge" | "counter" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** A value that is missing or `NaN` is omitted. */
  readonly read: (
    seen: Seen,
  ) => number | bigint | undefined | readonly MetricSample<number | bigint | Durations>[];
}

interface MetricSample<T = number | Durations> {
  /** The values of the labels, in the order of the metric's labels. */
  readonly labels: readonly (string | number | undefined)[];
  value: T;
}

const metric =
  (type: Metric["type"]) => (help: string, read: Metric["read"], ...labels: string[]): Metric => ({
    type,
    help,
    labels,
    read,
  });
const [gauge, counter, histogram] = [metric("gauge"), metric("counter"), metric("histogram")];

export const METRICS: Readonly<Record<string, Metric>> = {
  nodeface_node_up: gauge(
    "1 if the node responds, 0 if not",
    ({ info }) => info && info.status_code !== "starting" ? Number(!isSilent(info)) : undefined,
  ),
  nodeface_node_status: gauge(
    "1 for the node's current status, 0 for other statuses",
    ({ info }) => info && oneOf(STATUSES, info.status),
    "status",
  ),
  nodeface_node_status_code: gauge(
    "1 for the current status code, 0 for other codes",
    ({ info }) => info && oneOf(STATUS_CODES, info.status_code),
    "code",
  ),
  nodeface_node_info: gauge(
    "The node's software, version, network and chain, as labels; always 1",
    ({ info, kind }) => identityOf(info, kind),
    "software",
    "version",
    "network",
    "chain",
  ),
  nodeface_node_height: gauge(
    "The number of the latest block",
    ({ current }) => numberFrom(current.height),
  ),
  nodeface_node_head_age_seconds: gauge(
    "Age of the latest block",
    ({ current, now }) => now / 1000 - seconds(current.head_at),
  ),
  nodeface_node_peers: gauge(
    "The number of the node's peers",
    ({ current }) => numberFrom(current.peers),
  ),
  nodeface_node_synced: gauge(
    "1 if the node is in sync with its network, 0 if not",
    ({ current }) => Number(current.synced),
  ),
  nodeface_node_sync_progress_ratio: gauge(
    "Fraction of the chain that the node has, from 0 to 1",
    ({ current }) => numberFrom(current.progress),
  ),
  nodeface_node_sync_blocks_per_second: gauge(
    "Blocks that a syncing node takes in per second",
    ({ current }) => numberFrom(current.blocks_per_second),
  ),
  nodeface_node_sync_remaining_seconds: gauge(
    "Estimated time until a syncing node is in sync",
    ({ current }) => numberFrom(current.seconds_left),
  ),
  nodeface_node_start_time_seconds: gauge(
    "Start time of the node, in seconds since 1970",
    ({ current }) => seconds(current.started_at),
  ),
  nodeface_field: gauge(
    "A number in /v1/info without its own metric",
    fieldsIn,
    "name",
  ),
  nodeface_node_configured: gauge(
    "1 if a node is configured, 0 if not",
    ({ info }) => Number(info !== undefined),
  ),
  nodeface_build_info: gauge(
    "The service's version and runtime, as labels; always 1",
    () => [{ labels: [VERSION, RUNTIME], value: 1 }],
    "version",
    "runtime",
  ),
  nodeface_requests_total: counter(
    "Responses by path template",
    ({ meters }) => meters.responses.samples,
    "route",
    "status",
  ),
  nodeface_node_queries_total: counter(
    "Queries by source and result, such as ok, absent or timeout",
    ({ meters }) => meters.queries.samples,
    "source",
    "result",
  ),
  nodeface_node_query_duration_seconds: histogram(
    "Duration of queries by source",
    ({ meters }) => meters.queryTimes.samples,
    "source",
  ),
  nodeface_calls_total: counter(
    "Allowed calls, sent or not",
    ({ meters }) => meters.calls.samples,
    "operation",
    "status",
    "client",
  ),
  nodeface_call_duration_seconds: histogram(
    "Duration of allowed calls, including the wait for a slot",
    ({ meters }) => meters.callTimes.samples,
    "client",
  ),
  nodeface_queue_length: gauge(
    "Calls that wait for a slot at the node",
    ({ waitingCalls }) => waitingCalls,
  ),
  nodeface_event_listeners: gauge("Open /v1/events streams", ({ listeners }) => listeners),
  nodeface_events_sent_total: counter(
    "Events sent; an event sent to two listeners counts twice",
    ({ meters }) => meters.eventsSent,
  ),
  nodeface_sockets: gauge("Open WebSockets and subscription streams", ({ sockets }) => sockets),
  nodeface_socket_subscriptions: gauge(
    "Subscriptions of open WebSockets and streams",
    ({ subscriptions }) => subscriptions,
  ),
  nodeface_socket_messages_total: counter(
    "Messages of WebSockets and streams, received or sent",
    ({ meters }) => meters.socketMessages.samples,
    "direction",
  ),
  nodeface_socket_ends_total: counter(
    "Ended WebSockets and streams by reason, such as left, node or slow",
    ({ meters }) => meters.socketEnds.samples,
    "reason",
  ),
  nodeface_node_identity_changes_total: counter(
    "Number of times the node's chain changed",
    ({ meters }) => meters.identities,
  ),
  nodeface_config_reload_success: gauge(
    "0 if the last reading of the configuration found errors, 1 otherwise",
    ({ meters: { reload } }) => reload && Number(reload.isSuccess),
  ),
  nodeface_config_reload_success_timestamp_seconds: gauge(
    "The time of the last reading of the configuration that found no errors, in seconds since 1970",
    ({ meters: { reload } }) => reload?.succeededAt,
  ),
  nodeface_description_age_seconds: gauge(
    "Time since the description was read",
    ({ descriptionAge }) => descriptionAge,
  ),
  process_start_time_seconds: gauge(
    "Start time of this program, in seconds since 1970",
    // On workerd, the start time is unknown.
    () => performance.timeOrigin > 0 ? performance.timeOrigin / 1000 : undefined,
  ),
  process_resident_memory_bytes: gauge(
    "Memory of this program, in bytes",
    residentMemory,
  ),
};

const isSilent = ({ status }: Info) => status === "stale" || status === "unreachable";

const oneOf = (words: readonly string[], word: string | undefined): MetricSample[] =>
  words.map((each) => ({ labels: [each], value: Number(each === word) }));

/**
 * Nodes have the same `chain` if their heights can be compared. Kinds with one `chain_id` may count
 * differently, and the networks of several currencies have the same names.
 */
function identityOf(info: Info | undefined, kind: string | undefined): MetricSample[] {
  const { software, version, network, chain_id } = info ?? {};
  const chain = chain_id ?? (network && software && `${software} ${network}`);
  const labels = [software, version, network, chain && `${kind ?? "none"} ${chain}`].map(textOf);
  return labels.every((label) => label === undefined) ? [] : [{ labels, value: 1 }];
}

/** While the node is silent, only the numbers that do not come from it are told. */
function fieldsIn({ info, current, besideNode }: Seen): MetricSample<number | bigint>[] {
  const isTold = (key: string) => Object.hasOwn(current, key) || besideNode.includes(key);
  const others = Object.entries(info ?? {})
    .filter(([key]) => !Object.hasOwn(KNOWN_KEYS, key) && isTold(key));
  return others.flatMap(([key, value]) =>
    typeof value === "number" || typeof value === "bigint" ? [{ labels: [key], value }] : []
  );
}

const seconds = (time: unknown): number => Date.parse(String(time)) / 1000;

/** Writes all metrics that have a value. */
export function expose(observation: Observation): string {
  const { info } = observation;
  const seen = { ...observation, current: !info || isSilent(info) ? {} : info };
  const lines = Object.entries(METRICS).flatMap(([name, { type, help, labels, read }]) => {
    const value = read(seen);
    const samples = typeof value === "object" ? value : [{ labels: [], value }];
    const known = samples.filter(({ value }) => value !== undefined && !Number.isNaN(value));
    if (known.length === 0) return [];
    return [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} ${type}`,
      ...known.flatMap((sample) => linesOf(name, labels, sample)),
    ];
  });
  return lines.map((line) => `${line}\n`).join("");
}

function linesOf(
  name: string,
  names: readonly string[],
  { labels: values, value }: { labels: MetricSample["labels"]; value: unknown },
): string[] {
  const labels = names.flatMap((label, i) => {
    const text = values[i];
    return text === undefined ? [] : [`${label}="${escapeLabel(labelOf(String(text)))}"`];
  });
  const line = (suffix: string, number: unknown, ...more: string[]) => {
    const all = [...labels, ...more];
    return `${name}${suffix}${all.length > 0 ? `{${all.join(",")}}` : ""} ${number}`;
  };
  if (!(value instanceof Durations)) return [line("", value)];
  const { counts, count, sum } = value;
  return [
    ...BOUNDS.map((bound, i) => line("_bucket", counts[i], `le="${bound}"`)),
    line("_bucket", count, 'le="+Inf"'),
    line("_sum", sum),
    line("_count", count),
  ];
}

/** Line feeds need no escape, since `labelOf` has already replaced them. */
const escapeLabel = (text: string) => text.replaceAll(/["\\]/g, "\\$&");

/** The label value that replaces all new values after the limit of a series is reached. */
export const OTHER = "other";

/**
 * Values by labels. Above `max` labels, all others share one value, or those whose last `kept`
 * labels are the same.
 */
export class Series<T> {
  readonly #samples = new Map<string, MetricSample<T>>();
  readonly #max: number;
  readonly #create: () => T;
  readonly #kept: number;

  constructor(max: number, create: () => T, kept: number = 0) {
    this.#max = max;
    this.#kept = kept;
    this.#create = create;
  }

  get samples(): readonly MetricSample<T>[] {
    return [...this.#samples.values()];
  }

  /** Returns the sample with these labels, whose value the caller may change. */
  at(...labels: readonly (string | number)[]): MetricSample<T> {
    const key = labels.join("\n");
    let sample = this.#samples.get(key);
    if (sample) return sample;
    const others = labels.map((label, at) => at < labels.length - this.#kept ? OTHER : label);
    const isOther = others.every((label, at) => label === labels[at]);
    if (this.#samples.size >= this.#max && !isOther) return this.at(...others);
    sample = { labels, value: this.#create() };
    this.#samples.set(key, sample);
    return sample;
  }
}

export const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

export class Durations {
  /** The number of durations up to each of the {@linkcode BOUNDS}. */
  readonly counts: number[] = BOUNDS.map(() => 0);
  count = 0;
  sum = 0;

  add(seconds: number): void {
    for (let i = BOUNDS.length - 1; seconds <= BOUNDS[i]!; i--) this.counts[i]!++;
    this.count++;
    this.sum += seconds;
  }
}

const COUNTERS_MAX = 500, HISTOGRAMS_MAX = 100;

const counts = () => new Series(COUNTERS_MAX, () => 0);
const durations = () => new Series(HISTOGRAMS_MAX, () => new Durations());

export class Meters {
  readonly responses: Series<number> = counts();
  readonly queries: Series<number> = counts();
  readonly queryTimes: Series<Durations> = durations();
  readonly calls: Series<number> = new Series(COUNTERS_MAX, () => 0, 2);
  readonly callTimes: Series<Durations> = durations();
  readonly socketMessages: Series<number> = counts();
  readonly socketEnds: Series<number> = counts();
  eventsSent = 0;
  identities = 0;
  /** `succeededAt` is in seconds since 1970. */
  reload: { readonly isSuccess: boolean; readonly succeededAt: number | undefined } | undefined;

  /** Notes that the configuration file has been read. */
  noteReload(): void {
    this.reload = { isSuccess: true, succeededAt: Date.now() / 1000 };
  }

  noteFailedReload(): void {
    this.reload = { isSuccess: false, succeededAt: this.reload?.succeededAt };
  }

  countResponse(route: string, status: number): void {
    this.responses.at(route, status).value++;
  }

  /** Counts events that are sent to one listener. */
  countEvents(count: number): void {
    this.eventsSent += count;
  }

  /** Counts a message of a WebSocket connection. */
  countMessage(direction: string): void {
    this.socketMessages.at(direction).value++;
  }

  /** Counts the end of a WebSocket connection. */
  countEnd(reason: string): void {
    this.socketEnds.at(reason).value++;
  }

  countQuery(source: string, outcome: QueryOutcome): void {
    const name = labelOf(source);
    const result = "error" in outcome ? outcome.error.code : outcome.absent ? "absent" : "ok";
    this.queries.at(name, result).value++;
    this.queryTimes.at(name).value.add(outcome.took / 1000);
  }

  countCall({ operation, status, client, milliseconds }: CallRecord): void {
    this.calls.at(labelOf(operation), status, client).value++;
    this.callTimes.at(client).value.add(milliseconds / 1000);
  }
}

const LENGTH_MAX = 128;

const labelOf = memoize((text) => printable(startOf(text, LENGTH_MAX)));
