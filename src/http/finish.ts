/**
 * The one way out: gives every answer the headers that all answers have, and makes a `Response` of it.
 *
 * @module
 */
import type { Answer } from "./answer.ts";
import { type Cors, createCors, preflight } from "./cors.ts";
import type { RequestHead } from "./head.ts";
import { remember } from "./remember.ts";
import { REASONS } from "./status.ts";

/**
 * Completes the answer to one request, or the response that a host's handler gave: headers, and no
 * body for HEAD.
 */
export type Finish = (answer: Answer | Response, head: RequestHead) => Answer | Response;

/** What a browser is told with every answer. */
export const SECURITY = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

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
  // What is prepared once is completed once, for each of the few that may read it.
  const complete = remember((shared: Answer["headers"]) =>
    remember(({ status, headers, body }: Answer): Answer => {
      const all: Answer["headers"] = { ...SECURITY, ...resourcePolicy, ...headers, ...shared };
      const vary = [headers.vary, shared.vary].filter(Boolean).join(", ");
      return { status, headers: vary ? { ...all, vary } : all, body };
    })
  );
  return (answer, head) => {
    if (isResponse(answer)) return finishOwn(answer, head);
    const completed = complete(corsHeaders(head))(answer);
    if (head.method === "HEAD") return withoutBody(completed);
    if (!isPreflight(head)) return completed;
    const { allow, "access-control-allow-origin": origin } = completed.headers;
    if (!allow || !origin) return completed;
    return { ...completed, headers: { ...completed.headers, ...preflight(allow) } };
  };

  /** What a handler has set itself stays as it is, `Vary` grows. */
  function finishOwn(response: Response, head: RequestHead): Response {
    const { vary, ...shared } = corsHeaders(head);
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries({ ...SECURITY, ...resourcePolicy, ...shared })) {
      if (!headers.has(name)) headers.set(name, value);
    }
    if (vary) headers.append("vary", vary);
    const { status, statusText, body } = response;
    const init = { status, statusText, headers };
    return new Response(head.method === "HEAD" ? null : body, init);
  }
}

/** Whether this is a `Response`, by what it can do: a framework may bring a class of its own. */
export function isResponse(answer: Answer | Response): answer is Response {
  return "clone" in answer;
}

const withoutBody = remember((answer: Answer): Answer => ({ ...answer, body: null }));

/** `Headers` are copied faster into a `Response` than a plain object is. */
const initOf = remember(({ status, headers }: Answer): ResponseInit & { encodeBody: string } => ({
  status,
  statusText: REASONS[status],
  headers: new Headers(headers),
  // Tells workerd that the bytes are encoded already; it would encode them again.
  encodeBody: "manual",
}));

/** Makes a `Response` of a completed answer. */
export function toResponse(answer: Answer | Response): Response {
  return isResponse(answer) ? answer : new Response(answer.body, initOf(answer));
}

function isPreflight({ method, headers }: RequestHead): boolean {
  return method === "OPTIONS" && headers.has("origin") &&
    headers.has("access-control-request-method");
}
