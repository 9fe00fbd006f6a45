/**
 * What is counted while the service runs. Counting has to be cheap; the text is made when somebody asks.
 *
 * @module
 */
import type { Outcome } from "../info/query-sources.ts";
import type { CallRecord } from "../log.ts";
import { type Counter, createCounter } from "./counter.ts";
import { createHistogram, type Histogram } from "./histogram.ts";
import { labelOf } from "./clean-label.ts";

/** What is counted. */
export interface Meters {
  /** Answers by the template of the route and the status. */
  readonly answers: Counter;
  /** Questions to the node by source and result, and how long they took by source. */
  readonly queries: Counter;
  readonly queryTimes: Histogram;
  /** Forwarded calls by operation and status, and how long they took. */
  readonly calls: Counter;
  readonly callTimes: Histogram;
  /** Counts a question to the node. */
  countQuery(source: string, outcome: Outcome): void;
  /** Counts a forwarded call. */
  countCall(call: CallRecord): void;
}

/** Makes what counts. */
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

/** What came of a question, in a word. */
function resultOf(outcome: Outcome): string {
  if ("error" in outcome) return outcome.error.code;
  return outcome.absent ? "absent" : "ok";
}
