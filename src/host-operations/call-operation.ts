/**
 * Serves the operations of a host: calls one, and checks its response.
 *
 * @module
 */
import { parsePercent } from "../decode.ts";
import { normalizePath, PathTemplate } from "../http/path-template.ts";
import { isFromOtherOrigin, isReadByOtherOrigin } from "../http/browsers.ts";
import { type Cors, createCommonHeaders } from "../http/common-headers.ts";
import { problemResponse } from "../http/problem.ts";
import { READ_BY_HOST } from "../http/request.ts";
import { ResponseClass } from "../http/response.ts";
import type { OtherRoute } from "../http/routes.ts";
import { describeValue } from "../untrusted-text.ts";
import type { Operation } from "./operation.ts";

/**
 * Returns the routes of a host's operations, the most specific paths first.
 *
 * @param cors the origins for operations that list none; the service's own `"*"` does not apply to
 * the operations
 */
export function operationRoutes(operations: readonly Operation[], cors: Cors): OtherRoute[] {
  const listed = cors === "*" ? [] : cors;
  return operations.toSorted(bySpecificity).map((operation) => {
    const { method, path, cors = listed } = operation;
    const template = new PathTemplate(path);
    return {
      path,
      methods: method === "GET" ? ["GET", "HEAD"] : [method],
      headersFor: createCommonHeaders(cors),
      matches: (path) => template.match(normalizePath(path)) !== undefined,
      handle({ request, path, context }) {
        const isAllowed = cors === "*" || cors.includes(request.headers.get("origin") ?? "");
        // Browsers send simple cross-origin POSTs without a preflight, so CORS alone does not
        // prevent the call. CORS middleware of the host may let any page read a response.
        const isFromOther = method === "GET" ? isReadByOtherOrigin : isFromOtherOrigin;
        if (!isAllowed && isFromOther(request)) {
          return problemResponse(403, "Pages of other origins may not call this operation");
        }
        const values = template.match(normalizePath(path))!.map((text) => parsePercent(text));
        const wrong = template.names.find((_, i) => values[i] === undefined);
        if (wrong !== undefined) {
          return problemResponse(400, `"${wrong}" in the path is not encoded as UTF-8`);
        }
        const params = Object.fromEntries(template.names.map((name, i) => [name, values[i]!]));
        return callOperation(operation, request, params, context);
      },
    };
  });
}

export const hasOperationAt = (operations: readonly Operation[], path: string): boolean =>
  operations.some((operation) => new PathTemplate(operation.path).match(path));

/**
 * Sorts paths with fewer parameters first (OpenAPI 3.1, "Paths Object"). Paths with the same number
 * of parameters are sorted by the length of their literal text, longest first.
 */
function bySpecificity(a: Operation, b: Operation): number {
  const names = ({ path }: Operation) => path.split("{").length;
  const literals = ({ path }: Operation) => path.replaceAll(/\{[^}]*\}/g, "").length;
  return names(a) - names(b) || literals(b) - literals(a);
}

async function callOperation(
  operation: Operation,
  request: Request,
  params: Readonly<Record<string, string>>,
  context: readonly unknown[],
): Promise<Response> {
  const { bodyUsed } = request;
  try {
    const returned = await operation.handle(request, params, ...context);
    return checkResponse(returned, operation, "returned");
  } catch (thrown) {
    if (isLikeResponse(thrown)) return checkResponse(thrown, operation, "threw");
    if (!bodyUsed) throw thrown;
    throw new Error(READ_BY_HOST, { cause: thrown });
  }
}

/**
 * Returns a response of our own: the host may have frozen the headers, or may use the same object
 * again.
 */
function checkResponse(value: unknown, { method, path }: Operation, how: string): Response {
  const wrong = (what: string) => new TypeError(`${method} ${path} ${how} ${what}`);
  if (!isLikeResponse(value)) {
    throw wrong(`${describeValue(value)}, not a Response; Response.json(value) creates one`);
  }
  if (value.bodyUsed || value.body?.locked) {
    throw wrong("a Response whose body has been read already; return an unread clone");
  }
  const { status, statusText, headers, body } = value;
  if (status === 0) throw wrong("Response.error(), which cannot be sent");
  return new ResponseClass(body, { status, statusText, headers: new Headers(headers) });
}

/** A framework may have its own `Response` class, so `instanceof` is not enough. */
function isLikeResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null && "clone" in value &&
    typeof (value as Response).status === "number" && (value as Response).headers !== undefined;
}
