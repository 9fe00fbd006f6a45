/**
 * Answers what was thrown.
 *
 * @module
 */
import type { Answer, RequestHead } from "./http/message.ts";
import { problem } from "./http/problem-details.ts";
import { describeError, type Log } from "./log.ts";

/** Answers with 500, and nothing of the inside. */
export type Fail = (error: unknown, head: RequestHead | undefined) => Answer;

/**
 * Makes the function that answers what was thrown.
 *
 * @param log is told what it was, and for which request
 */
export function createFail(log: Log): Fail {
  return (error, head) => {
    // A query may hold secrets.
    const [target] = head?.url.replace(/^\w+:\/\/[^/]*/, "").split("?") ?? [];
    const what = head
      ? `${head.method} ${target} is answered with 500`
      : "what is to be answered is no Request";
    log(`${what}: ${describeError(error)}`, { code: "error", level: "error", error });
    return problem(500, "The service could not answer this request; its log says why");
  };
}
