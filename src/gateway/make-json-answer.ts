/**
 * Makes responses of JSON, for the methods of JSON-RPC.
 *
 * @module
 */
import { FastResponse } from "../platform.ts";
import { REASONS, type Status } from "../http/problem-details.ts";
import type { ServedRequest } from "../http/request.ts";
import { answerHeaders } from "./answer-headers.ts";
import { countedBody } from "./bytes-under-way.ts";

/** What is said of a response of a node that is none. */
export const NONSENSE = "The node answers with something else than JSON-RPC";

/** Tells whether a node that answers with no JSON-RPC says by its status that it has too much to do, or is starting. */
export const isBusy = ({ status }: { readonly status: number }): boolean =>
  status === 503 || status === 429;

const JSON_HEADERS = answerHeaders({
  get: (name: string) => name === "content-type" ? "application/json" : null,
}, []);

/** Makes a response with some JSON, which is not read again. */
export function jsonResponse(
  status: Status,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return respondWith(status, new TextEncoder().encode(text), headers);
}

/**
 * Makes the response with what a node has said.
 *
 * @param release gives back the room of its bytes
 * @returns the response, and its length in bytes
 */
export function nodeResponse(
  text: string,
  release: () => void,
  request: ServedRequest,
): { readonly response: Response; readonly length: number } {
  const bytes = new TextEncoder().encode(text);
  const body = countedBody([bytes], release, request);
  const length = bytes.byteLength;
  return { response: respondWith(200, body, {}, length), length };
}

function respondWith(
  status: Status,
  body: Uint8Array<ArrayBuffer> | Blob | ReadableStream,
  headers: Readonly<Record<string, string>>,
  length: number = (body as Uint8Array).byteLength,
): Response {
  const all = { ...JSON_HEADERS, "content-length": String(length), ...headers };
  return new FastResponse(body, {
    status,
    statusText: REASONS[status],
    headers: Object.entries(all),
  });
}
