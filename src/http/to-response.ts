/**
 * Converts an answer to a `Response`.
 *
 * @module
 */
import { type Bytes, joinBytes, partsOf } from "../bytes.ts";
import type { Answer } from "./message.ts";
import { REASONS } from "./status.ts";

/** Whether an answer is a `Response`. A framework may have its own class, so this tests for `clone`. */
export function isResponse(answer: Answer | Response): answer is Response {
  return "clone" in answer;
}

/** Whether a value is an `Answer`, not a `Response` and not a promise of any class. */
export function isAnswer(answer: Answer | Response | PromiseLike<unknown>): answer is Answer {
  return "status" in answer && !("clone" in answer);
}

/** Converts an answer; a `Response` is returned as it is. */
export function toResponse(answer: Answer | Response): Response {
  if (isResponse(answer)) return answer;
  return new Response(bodyOf(answer), answer.init ??= initOf(answer));
}

/** How much of a body is handed over at a time, in bytes. */
const PART_LENGTH = 65_536;

/** A body that is held until its last part was asked for. */
function streamOf(body: Bytes, sent: () => void): ReadableStream<Bytes> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      const part = body.subarray(at, at += PART_LENGTH);
      if (part.byteLength > 0) return controller.enqueue(part);
      sent();
      controller.close();
    },
    cancel: sent,
  }, { highWaterMark: 0 });
}

/** `Headers` are copied faster into a response than a plain object is (7 % of a request on Bun 1.4). */
function initOf({ status, headers }: Answer): ResponseInit {
  const init = { status, statusText: REASONS[status], headers: new Headers(headers) };
  // workerd must not encode the bytes again
  // (https://developers.cloudflare.com/workers/runtime-apis/response/).
  return Object.assign(init, { encodeBody: "manual" });
}

/** Bodies of at least this size, in bytes, are sent as a `Blob`. */
const BLOB_MIN = 65_536;

/** Answers to several origins share a body, and its `Blob`. */
const blobs = new WeakMap<Uint8Array, Blob>();

/**
 * A `Response` copies its bytes and keeps the copy until the client has read it; the bytes of a `Blob`
 * are shared (https://github.com/oven-sh/bun/issues/35138). It has parts, of which Node and Deno copy one at a time.
 */
function bodyOf(answer: Answer): Blob | ReadableStream<Bytes> | Answer["body"] {
  const { rest = [], sent } = answer;
  const body = rest.length > 0 ? joinBytes([answer.body!, ...rest]) : answer.body;
  if (!body || body.byteLength < BLOB_MIN) {
    sent?.();
    return body;
  }
  if (sent) return streamOf(body, sent);
  let blob = blobs.get(body);
  if (!blob) blobs.set(body, blob = new Blob([...partsOf(body)]));
  return blob;
}
