/**
 * The samples: the numbers of the node, from the info as it is shown (what is hidden there is hidden here), and what
 * this service has counted.
 *
 * @module
 */
import { numberFrom } from "../info/fields.ts";
import type { Info } from "../info/info.ts";
import { NO_ANSWER, WRONG_ANSWER } from "../node/failures.ts";
import { STATUS_OF, type StatusCode, STATUSES } from "../info/status.ts";
import { textOf } from "../json/values.ts";
import type { Sample, Samples } from "./exposition.ts";
import type { Counter, Histogram, Meters } from "./meters.ts";

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

/** One sample for each word: 1 for the one that holds. */
const oneOf = (words: readonly string[], word: string | undefined): Sample[] =>
  words.map((each) => ({ labels: [each], value: Number(each === word) }));

function numbers(value: unknown): Sample[] {
  const number = numberFrom(value);
  return number === undefined ? [] : [{ value: number }];
}

/** Reads a time in seconds since 1970. */
function seconds(time: unknown): number[] {
  const milliseconds = typeof time === "string" ? Date.parse(time) : NaN;
  return Number.isNaN(milliseconds) ? [] : [milliseconds / 1000];
}

interface Moment {
  readonly version: string;
  readonly waiting: number | undefined;
  readonly listeners: number;
  readonly eventsSent: number;
  readonly descriptionAge: number | undefined;
}

export function serviceSamples(
  meters: Meters,
  { version, waiting, listeners, eventsSent, descriptionAge }: Moment,
): Samples {
  return {
    nodeface_build_info: [{ labels: [version, runtime()], value: 1 }],
    nodeface_requests_total: counted(meters.responses),
    nodeface_node_queries_total: counted(meters.queries),
    nodeface_node_query_duration_seconds: observed(meters.queryTimes),
    nodeface_calls_total: counted(meters.calls),
    nodeface_call_duration_seconds: observed(meters.callTimes),
    nodeface_queue_length: known(waiting),
    nodeface_event_listeners: known(listeners),
    nodeface_events_sent_total: known(eventsSent),
    nodeface_node_identity_changes_total: known(meters.identities),
    nodeface_description_age_seconds: known(descriptionAge),
    process_start_time_seconds: known(startOfProcess()),
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
