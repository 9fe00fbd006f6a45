/**
 * The one way out: gives every answer the headers that all answers have, and makes a `Response` of it.
 *
 * @module
 */
import type { Answer } from "./answer.ts";
import { type Cors, createCors, preflight } from "./cors.ts";
import { REASONS } from "./status.ts";

/** Completes the answer to one request: headers, and no body for HEAD. */
export type Finish = (answer: Answer, request: Pick<Request, "method" | "headers">) => Answer;

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
  return ({ status, headers, body }, request) => {
    const shared = corsHeaders(request);
    const all: Record<string, string> = { ...SECURITY, ...resourcePolicy, ...headers, ...shared };
    if (headers.vary && shared.vary) all.vary = `${headers.vary}, ${shared.vary}`;
    if (isPreflight(request) && headers.allow && shared["access-control-allow-origin"]) {
      Object.assign(all, preflight(headers.allow));
    }
    return { status, headers: all, body: request.method === "HEAD" ? null : body };
  };
}

/** Makes a `Response` of a completed answer. */
export function toResponse({ status, headers, body }: Answer): Response {
  return new Response(body, { ...ENCODED, status, statusText: REASONS[status], headers });
}

function isPreflight({ method, headers }: Pick<Request, "method" | "headers">): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}
