/**
 * What this service says of itself: what it is, and what it has counted.
 *
 * @module
 */
import type { Counter } from "./counter.ts";
import type { Sample, Samples } from "./exposition.ts";
import type { Histogram } from "./histogram.ts";
import type { Meters } from "./meters.ts";

/** What is known at the moment besides what was counted; what is `undefined` is not known. */
export interface Moment {
  readonly version: string;
  /** How many calls wait for a place at the node. */
  readonly waiting: number | undefined;
  /** How long ago the description was read, in seconds. */
  readonly descriptionAge: number | undefined;
}

/** Reads the samples. */
export function serviceSamples(
  meters: Meters,
  { version, waiting, descriptionAge }: Moment,
): Samples {
  return {
    nodeface_build_info: [{ labels: [version, runtime()], value: 1 }],
    nodeface_requests_total: counted(meters.answers),
    nodeface_node_queries_total: counted(meters.queries),
    nodeface_node_query_duration_seconds: observed(meters.queryTimes),
    nodeface_calls_total: counted(meters.calls),
    nodeface_call_duration_seconds: observed(meters.callTimes),
    nodeface_queue_length: known(waiting),
    nodeface_description_age_seconds: known(descriptionAge),
    process_start_time_seconds: known(startOfProcess()),
  };
}

const counted = (counter: Counter): readonly Sample[] => counter.series();

const observed = (histogram: Histogram): Sample[] =>
  [...histogram.series()].map(([label, value]) => ({ labels: [label], value }));

const known = (value: number | undefined): Sample[] => value === undefined ? [] : [{ value }];

/** The runtime, as it calls itself; Node does so from 21 on. */
function runtime(): string | undefined {
  return (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent;
}

/** In seconds since 1970; workerd does not say it. */
function startOfProcess(): number | undefined {
  return performance.timeOrigin > 0 ? performance.timeOrigin / 1000 : undefined;
}
