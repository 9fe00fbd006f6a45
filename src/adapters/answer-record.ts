/**
 * Records of what became of each request, for an access log.
 *
 * @module
 */
import type { RequestHead } from "../http/message.ts";
import { type Callbacks, notify } from "./server.ts";

/** What became of one request. */
export interface AnswerRecord {
  /** Left out where the parser refused the request before there was one. */
  readonly method?: string;
  /** An absolute URL, or the path and query of the request target; left out as the method is. */
  readonly url?: string;
  /** Left out where the client went away before there was an answer. */
  readonly status?: number;
  readonly outcome: Outcome;
  /** From the request's head to the end of the answer, in milliseconds. */
  readonly milliseconds: number;
}

/**
 * How an answer ended: all of it was handed to the system, the client went away or was cut before
 * that, or the stream that it came from failed.
 */
export type Outcome = "sent" | "aborted" | "failed";

/** Says how the answer to one request ended; only the first call counts. */
export type EndRecord = (outcome: Outcome, status?: number) => void;

/**
 * Begins the record of a request.
 *
 * @param onAnswer is given the record when it ends
 * @param request what is known of the request
 */
export function beginRecord(
  onAnswer: NonNullable<Callbacks["onAnswer"]>,
  request?: RequestHead,
): EndRecord {
  const { method, url } = request ?? {};
  const began = performance.now();
  let hasEnded = false;
  return (outcome, status) => {
    if (hasEnded) return;
    hasEnded = true;
    const milliseconds = performance.now() - began;
    void notify(onAnswer, {
      ...(method !== undefined && { method }),
      ...(url !== undefined && { url }),
      ...(status !== undefined && { status }),
      outcome,
      milliseconds,
    });
  };
}
