/**
 * Calls a host's operation, and makes a finished response of what comes of it.
 *
 * @module
 */
import type { Fail } from "../answer-error.ts";
import type { Cors } from "../http/cors.ts";
import { isFromOtherOrigin } from "../http/cross-origin.ts";
import type { Finish } from "../http/finish.ts";
import type { Answer, Awaitable, RequestHead } from "../http/message.ts";
import { problem } from "../http/problem-details.ts";
import { isResponse, toResponse } from "../http/to-response.ts";
import { parsePercent } from "../percent-decode.ts";
import { describeValue } from "../untrusted-text.ts";
import type { Operation } from "./operation.ts";

/** A request for an operation. */
export interface Call {
  readonly head: RequestHead;
  /** The path and the texts of its names, percent-encoded. */
  readonly match: readonly string[];
  makeRequest(): Awaitable<Request>;
  /** What the host gave besides the request. */
  readonly context: readonly unknown[];
}

/**
 * Makes the function that calls an operation. It never rejects.
 *
 * @param names the names in the path
 * @param cors the origins whose pages may call it
 */
export function createCaller(
  operation: Operation,
  names: readonly string[],
  cors: Cors,
  finish: Finish,
  fail: Fail,
): (call: Call) => Promise<Response> {
  const { method } = operation;
  const isAllowed = (origin: string | null) =>
    cors === "*" || (origin !== null && cors.includes(origin));

  const answer = async (call: Call): Promise<Answer | Response> => {
    const { head, match } = call;
    // A page may send a POST without asking before, and does not need to read the answer.
    if (method !== "GET" && isFromOtherOrigin(head) && !isAllowed(head.headers.get("origin"))) {
      return problem(403, "Pages of other origins may not call this operation");
    }
    const params: [string, string][] = [];
    for (const [i, name] of names.entries()) {
      const value = parsePercent(match[i + 1]!);
      if (value === undefined) return problem(400, `"${name}" in the path is not encoded as UTF-8`);
      params.push([name, value]);
    }
    try {
      return await callHandler(operation, call, Object.fromEntries(params));
    } catch (error) {
      return fail(error, head);
    }
  };

  return async (call) => toResponse(finish(await answer(call), call.head));
}

/** Gives what the handler returns or throws, where that is a `Response`. */
async function callHandler(
  operation: Operation,
  { makeRequest, context }: Call,
  params: Readonly<Record<string, string>>,
): Promise<Response> {
  const request = await makeRequest();
  const { bodyUsed } = request;
  try {
    return checkResponse(
      await operation.handle(request, params, ...context),
      operation,
      "returned",
    );
  } catch (thrown) {
    if (isLikeResponse(thrown)) return checkResponse(thrown, operation, "threw");
    if (!bodyUsed) throw thrown;
    const message = "the host has read the content of this request before it came to Nodeface; " +
      "hand on a request.clone() that was made before";
    throw new Error(message, { cause: thrown });
  }
}

/** @throws {TypeError} if a value cannot be sent; it names the operation */
function checkResponse(value: unknown, { method, path }: Operation, how: string): Response {
  const wrong = (what: string) => new TypeError(`${method} ${path} ${how} ${what}`);
  if (!isLikeResponse(value)) {
    throw wrong(`${describeValue(value)}, not a Response; Response.json(value) makes one`);
  }
  if (value.bodyUsed || value.body?.locked) {
    throw wrong("a Response whose body has been read already; return a clone() made before");
  }
  if (value.status === 0) throw wrong("Response.error(), which cannot be sent");
  return value;
}

/** A framework may have a class of its own. */
function isLikeResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null && isResponse(value as Response) &&
    typeof (value as Response).status === "number" && (value as Response).headers !== undefined;
}
