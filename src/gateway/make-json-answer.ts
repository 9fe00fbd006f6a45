/**
 * Makes responses of JSON, for the methods of JSON-RPC.
 *
 * @module
 */
import { FastResponse } from "../platform.ts";
import { REASONS, type Status } from "../http/problem-details.ts";
import { answerHeaders } from "./answer-headers.ts";
import { countedBody } from "./bytes-under-way.ts";
import type { Call } from "./every-call.ts";

/** What is said of a response of a node that is none. */
export const NONSENSE = "The node answers with something else than JSON-RPC";

/** Tells whether a node that answers with no JSON-RPC says by its status that it has too much to do, or is starting. */
export const isBusy = ({ status }: { readonly status: number }): boolean =>
  status === 503 || status === 429;

const encoder = new TextEncoder();

const JSON_HEADERS = answerHeaders({
  get: (name: string) => name === "content-type" ? "application/json" : null,
}, []);

/** Makes a response with some JSON, which is not read again. */
export function jsonResponse(
  status: Status,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const bytes = encoder.encode(text);
  return new FastResponse(bytes, {
    status,
    statusText: REASONS[status],
    headers: Object.entries({ ...headersOf(bytes.byteLength), ...headers }),
  });
}

const headersOf = (length: number) => ({ ...JSON_HEADERS, "content-length": String(length) });

/**
 * Makes the response with what a node has said.
 *
 * @param release gives back the room of its bytes
 * @returns the response, and its length in bytes
 */
export function nodeResponse(
  text: string,
  release: () => void,
  { request, respond }: Pick<Call, "request" | "respond">,
): { readonly response: Response; readonly length: number } {
  const bytes = encoder.encode(text);
  const length = bytes.byteLength;
  return {
    response: respond(200, headersOf(length), countedBody([bytes], release, request)),
    length,
  };
}
