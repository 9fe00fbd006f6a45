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

/** Makes a `Response` of a completed answer. */
export function toResponse(answer: Answer | Response): Response {
  return isResponse(answer) ? answer : new Response(answer.body, initOf(answer));
}

/** `encodeBody` tells workerd that the bytes are encoded already; it would encode them again. */
const initOf = ({ status, headers }: Answer): ResponseInit & { encodeBody: string } => ({
  status,
  statusText: REASONS[status],
  headers,
  encodeBody: "manual",
});
