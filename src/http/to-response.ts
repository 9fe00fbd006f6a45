/**
 * From a completed answer to a `Response`.
 *
 * @module
 */
import type { Answer } from "./message.ts";
import { REASONS } from "./status.ts";

/** Whether this is a `Response`. A framework may bring a class of its own, so `clone` decides. */
export function isResponse(answer: Answer | Response): answer is Response {
  return "clone" in answer;
}

/** Whether this is an answer as plain data. A promise, of whatever class, has no status. */
export function isAnswer(answer: Answer | Response | PromiseLike<unknown>): answer is Answer {
  return "status" in answer && !("clone" in answer);
}

/** Makes a `Response` of a completed answer. */
export function toResponse(answer: Answer | Response): Response {
  return isResponse(answer) ? answer : new Response(contentOf(answer), initOf(answer));
}

/** `encodeBody` tells workerd that the bytes are encoded already; it would encode them again. */
const initOf = ({ status, headers }: Answer): ResponseInit & { encodeBody: string } => ({
  status,
  statusText: REASONS[status],
  headers,
  encodeBody: "manual",
});

/** Longer contents are shared by all responses that they are sent with, in bytes. */
const SHARED_MIN = 65_536;

/**
 * A response copies its bytes, as the Fetch standard asks, and keeps the copy until its client has read
 * it. The bytes of a `Blob` are shared (oven-sh/bun#35138).
 */
function contentOf(answer: Answer): Blob | Answer["body"] {
  const { body } = answer;
  return body && body.byteLength >= SHARED_MIN ? answer.blob ??= new Blob([body]) : body;
}
