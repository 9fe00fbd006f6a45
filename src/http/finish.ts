/**
 * The last step of every request: gives each answer the headers that all answers have.
 *
 * @module
 */
import { type Cors, type CorsHeaders, createCors, isPreflight, preflightHeaders } from "./cors.ts";
import type { Answer, RequestHead } from "./message.ts";
import { isResponse } from "./to-response.ts";

/** Completes an answer, or the response of a host's own operation: headers, and no body for HEAD. */
export type Finish = (answer: Answer | Response, head: RequestHead) => Answer | Response;

/** What a browser is told with every answer. */
export const SECURITY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/**
 * Makes the last step.
 *
 * @param cors who may read the answers from a web page
 * @throws {TypeError} where one of them is no origin
 */
export function createFinish(cors: Cors): Finish {
  const corsHeaders = createCors(cors);
  // Whoever may read an answer may embed it as well; others only from this origin.
  const common = {
    ...SECURITY_HEADERS,
    "cross-origin-resource-policy": cors === "*" ? "cross-origin" : "same-origin",
  };

  const complete = ({ status, headers, body }: Answer, shared: CorsHeaders["headers"]): Answer => {
    const all: Answer["headers"] = { ...common, ...headers, ...shared };
    const vary = [headers.vary, shared.vary].filter(Boolean).join(", ");
    return { status, headers: vary ? { ...all, vary } : all, body };
  };

  /** What a handler has set itself stays as it is; `Vary` grows. */
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
    // A handler may hold a connection open for as long as nobody has read or cancelled its body.
    response.body?.cancel().catch(() => {});
    return new Response(null, init);
  };

  return (answer, head) => {
    if (isResponse(answer)) return completeResponse(answer, head);
    const { index, headers: shared } = corsHeaders(head);
    const completed = answer.completed
      ? answer.completed[index] ??= complete(answer, shared)
      : complete(answer, shared);
    if (head.method === "HEAD") return { ...completed, body: null };
    if (!isPreflight(head)) return completed;
    const { allow, "access-control-allow-origin": origin } = completed.headers;
    if (!allow || !origin) return completed;
    return { ...completed, headers: { ...completed.headers, ...preflightHeaders(allow) } };
  };
}
