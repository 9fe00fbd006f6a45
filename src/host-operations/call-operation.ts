/**
 * Serves the operations of a host: finds the operations at a path, calls one, and checks the response.
 *
 * @module
 */
import {
  type CommonHeadersFor,
  type Cors,
  createCommonHeaders,
  FastResponse,
  problem,
} from "../http/response.ts";
import { normalizePath, parsePathTemplate } from "../http/path-template.ts";
import { isFromOtherOrigin } from "../http/request.ts";
import { describeValue, parsePercent } from "../untrusted-text.ts";
import type { Operation } from "./operation.ts";

export interface OperationMatch {
  readonly template: string;
  readonly headersFor: CommonHeadersFor;
  call(request: Request, context: readonly unknown[]): Promise<Response>;
}

export function createOperations(
  operations: readonly Operation[],
  cors: Cors,
  isServed: (method: string, path: string) => boolean,
): (path: string) => ReadonlyMap<string, OperationMatch> {
  // The service's own `cors: "*"` does not apply to the host's operations.
  const listed = cors === "*" ? [] : cors;
  const taken = new Set<string>();
  const table = operations.toSorted(bySpecificity).map((operation) => {
    const { method, path, cors = listed } = operation;
    const template = parsePathTemplate(path);
    const key = `${method} ${template.source}`;
    if (isServed(method, path) || taken.has(key)) {
      throw new TypeError(`${method} ${path} is served already`);
    }
    taken.add(key);
    return { operation, template, cors, headersFor: createCommonHeaders(cors) };
  });
  return (path) => {
    const normal = normalizePath(path);
    const found = new Map<string, OperationMatch>();
    for (const { operation, template, cors, headersFor } of table) {
      const texts = found.has(operation.method) ? undefined : template.match(normal);
      if (!texts) continue;
      found.set(operation.method, {
        template: operation.path,
        headersFor,
        async call(request, context) {
          const isAllowed = cors === "*" || cors.includes(request.headers.get("origin") ?? "");
          // Browsers send simple cross-origin POSTs without a preflight, so CORS alone does not prevent the call.
          if (operation.method !== "GET" && isFromOtherOrigin(request) && !isAllowed) {
            return problem(403, "Pages of other origins may not call this operation");
          }
          const params: [string, string][] = [];
          for (const [i, name] of template.names.entries()) {
            const value = parsePercent(texts[i]!);
            if (value === undefined) {
              return problem(400, `"${name}" in the path is not encoded as UTF-8`);
            }
            params.push([name, value]);
          }
          const response = await callHandler(
            operation,
            request,
            Object.fromEntries(params),
            context,
          );
          const { status, statusText, headers, body } = response;
          // The host may have frozen the headers, or may use the same object for the next response.
          return new FastResponse(body, { status, statusText, headers: new Headers(headers) });
        },
      });
    }
    return found;
  };
}

export const hasOperationAt = (operations: readonly Operation[], path: string): boolean =>
  operations.some((operation) => parsePathTemplate(operation.path).match(path));

/**
 * Sorts paths with fewer parameters first (OpenAPI 3.1, "Paths Object"). Paths with the same number of parameters are
 * sorted by the length of their literal text, longest first.
 */
function bySpecificity(a: Operation, b: Operation): number {
  const names = ({ path }: Operation) => path.split("{").length;
  const literals = ({ path }: Operation) => path.replaceAll(/\{[^}]*\}/g, "").length;
  return names(a) - names(b) || literals(b) - literals(a);
}

async function callHandler(
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
    const message = "the host read the content of this request before it called Nodeface; " +
      "call request.clone() before reading, and pass the clone";
    throw new Error(message, { cause: thrown });
  }
}

function checkResponse(value: unknown, { method, path }: Operation, how: string): Response {
  const wrong = (what: string) => new TypeError(`${method} ${path} ${how} ${what}`);
  if (!isLikeResponse(value)) {
    throw wrong(`${describeValue(value)}, not a Response; Response.json(value) creates one`);
  }
  if (value.bodyUsed || value.body?.locked) {
    throw wrong("a Response whose body has been read already; return an unread clone");
  }
  if (value.status === 0) throw wrong("Response.error(), which cannot be sent");
  return value;
}

/** A framework may have its own `Response` class, so `instanceof` is not enough. */
function isLikeResponse(value: unknown): value is Response {
  return typeof value === "object" && value !== null && "clone" in value &&
    typeof (value as Response).status === "number" && (value as Response).headers !== undefined;
}
