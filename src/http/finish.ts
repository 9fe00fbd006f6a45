/**
 * The one way out: gives every answer the headers that all answers have, and makes a `Response` of it.
 *
 * @module
 */
import type { Answer } from "./answer.ts";
import { type Cors, createCors, preflight } from "./cors.ts";
import { REASONS } from "./status.ts";

/**
 * Completes the answer to one request, or the response that a host's handler gave: headers, and no
 * body for HEAD.
 */
export type Finish = (
  answer: Answer | Response,
  request: Pick<Request, "method" | "headers">,
) => Answer | Response;

/** What a browser is told with every answer. */
export const SECURITY = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Tells workerd that the bytes are encoded already; it would encode them again. */
const ENCODED = { encodeBody: "manual" };

/**
 * Makes the last step of every request.
 *
 * @param cors who may read the answers from a web page
 */
export function createFinish(cors: Cors): Finish {
  const corsHeaders = createCors(cors);
  // Whoever may read an answer may embed it as well; others only from this origin.
  const resourcePolicy = {
    "cross-origin-resource-policy": cors === "*" ? "cross-origin" : "same-origin",
  };
  return (answer, request) => {
    if (isResponse(answer)) return finishOwn(answer, request);
    const { status, headers, body } = answer;
    const shared = corsHeaders(request);
    const all: Record<string, string> = { ...SECURITY, ...resourcePolicy, ...headers, ...shared };
    if (headers.vary && shared.vary) all.vary = `${headers.vary}, ${shared.vary}`;
    if (isPreflight(request) && headers.allow && shared["access-control-allow-origin"]) {
      Object.assign(all, preflight(headers.allow));
    }
    return { status, headers: all, body: request.method === "HEAD" ? null : body };
  };

  /** What a handler has set itself stays as it is, `Vary` grows. */
  function finishOwn(response: Response, request: Pick<Request, "method" | "headers">): Response {
    const { vary, ...shared } = corsHeaders(request);
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries({ ...SECURITY, ...resourcePolicy, ...shared })) {
      if (!headers.has(name)) headers.set(name, value);
    }
    if (vary) headers.append("vary", vary);
    const { status, statusText, body } = response;
    const init = { status, statusText, headers };
    return new Response(request.method === "HEAD" ? null : body, init);
  }
}

/** Whether this is a `Response`, by its headers: a framework may bring a class of its own. */
export function isResponse(answer: Answer | Response): answer is Response {
  return typeof answer.headers.get === "function";
}

/** Makes a `Response` of a completed answer. */
export function toResponse(answer: Answer | Response): Response {
  if (isResponse(answer)) return answer;
  const { status, headers, body } = answer;
  return new Response(body, { ...ENCODED, status, statusText: REASONS[status], headers });
}

function isPreflight({ method, headers }: Pick<Request, "method" | "headers">): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}
