/**
 * Records of requests and their answers, for an access log.
 *
 * @module
 */
import { type Callbacks, notify } from "./shared.ts";

/** The record of a request. */
export interface AnswerRecord {
  /** Absent if the parser refused the request. */
  readonly method?: string | undefined;
  /** An absolute URL, or the path and query of the request target; absent as `method` is. */
  readonly url?: string | undefined;
  /** Absent if the client disconnected before the answer. */
  readonly status?: number | undefined;
  readonly outcome: Outcome;
  readonly milliseconds: number;
}

/**
 * How an answer ended: `sent`, the system has all of it; `aborted`, the connection was closed before;
 * `failed`, the host's stream failed.
 */
export type Outcome = "sent" | "aborted" | "failed";

/** Ends a record. Only the first call has an effect. */
export type EndRecord = (outcome: Outcome, status?: number) => void;

/**
 * Begins the record of a request.
 *
 * @param onAnswer called with the record when it ends
 * @param request `undefined` if the parser refused it
 */
export function beginRecord(
  onAnswer: NonNullable<Callbacks["onAnswer"]>,
  request?: Pick<Request, "method" | "url">,
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
