/**
 * Makes answers of JSON, for the methods of JSON-RPC.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import type { Status } from "../http/status.ts";
import { answerHeaders } from "./answer-headers.ts";

/** What is said of an answer of a node that is none. */
export const NONSENSE = "The node answers with something else than JSON-RPC";

/** Whether a node that answers with no JSON-RPC says by its status that it has too much to do, or is starting. */
export const isBusy = ({ status }: { readonly status: number }): boolean =>
  status === 503 || status === 429;

const JSON_HEADERS = {
  get: (name: string) => name === "content-type" ? "application/json" : null,
};

/** An answer with some JSON, which is not read again. */
export function jsonAnswer(
  status: Status,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const body = new TextEncoder().encode(text);
  return {
    status,
    headers: {
      ...answerHeaders(JSON_HEADERS, []),
      "content-length": String(body.byteLength),
      ...headers,
    },
    body,
  };
}
