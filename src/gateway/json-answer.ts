/**
 * Answers of JSON.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import type { Status } from "../http/status.ts";
import { answerHeaders } from "./answer-headers.ts";

/** What is said of an answer of a node that is none. */
export const NONSENSE = "The node answers with something else than JSON-RPC";

/** An answer with some JSON, which is not read again. */
export function jsonAnswer(status: Status, text: string): Answer {
  const body = new TextEncoder().encode(text);
  return {
    status,
    headers: {
      ...answerHeaders(new Headers({ "content-type": "application/json" }), []),
      "content-length": String(body.byteLength),
    },
    body,
  };
}
