/**
 * The last step of every request: adds the headers that all responses have.
 *
 * @module
 */
import { type Cors, type CorsHeaders, createCors, isPreflight, preflightHeaders } from "./cors.ts";
import type { Answer, RequestHead } from "./message.ts";
import { isResponse } from "./to-response.ts";

/**
 * Adds the common headers to an answer or to a host's own response, and removes the body for HEAD.
 *
 * @param methods those that a preflight may be told of; by default all of `Allow`
 */
export type Finish = (
  answer: Answer | Response,
  head: RequestHead,
  methods?: readonly string[],
) => Answer | Response;

/** Headers of every response, whatever the options. */
export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/**
 * Makes the last step of a service.
 *
 * @param resources whose pages may embed a response: by default those that may read it
 * @throws {TypeError} if an entry of `cors` is not an origin
 */
export function createFinish(
  cors: Cors,
  resources: "cross-origin" | "same-origin" = cors === "*" ? "cross-origin" : "same-origin",
): Finish {
  const corsHeaders = createCors(cors);
  // A page that may not read a response may not embed it either.
  const common = {
    ...SECURITY_HEADERS,
    "cross-origin-resource-policy": resources,
  };

  const complete = (
    { status, headers, body, rest, load, sent }: Answer,
    shared: CorsHeaders["headers"],
  ): Answer => {
    const all: Answer["headers"] = { ...common, ...headers, ...shared };
    const vary = [headers.vary, shared.vary].filter(Boolean).join(", ");
    return { status, headers: vary ? { ...all, vary } : all, body, rest, load, sent };
  };

  /** Keeps the headers that the host has set; appends to `Vary`. */
  const completeResponse = (response: Response, head: RequestHead): Response => {
    const { vary, ...shared } = corsHeaders(head).headers;
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries({ ...common, ...shared })) {
      if (!headers.has(name)) headers.set(name, value);
    }
    if (vary) headers.append("vary", vary);
    const { status, statusText } = response;
    const init = { status, statusText, headers };
    if (head.method !== "HEAD") return new Response(response.body, init);
    // A handler may hold resources until its body is read or cancelled.
    response.body?.cancel().catch(() => {});
    return new Response(null, init);
  };

  return (answer, head, methods) => {
    if (isResponse(answer)) return completeResponse(answer, head);
    const { index, headers: shared } = corsHeaders(head);
    const completed = answer.completed
      ? answer.completed[index] ??= complete(answer, shared)
      : complete(answer, shared);
    if (head.method === "HEAD") {
      return { ...completed, body: null, ...completed.rest && { rest: [] } };
    }
    if (!isPreflight(head)) return completed;
    const { allow, "access-control-allow-origin": origin } = completed.headers;
    if (!allow || !origin) return completed;
    const open = methods?.join(", ") ?? allow;
    return { ...completed, headers: { ...completed.headers, ...preflightHeaders(open) } };
  };
}
