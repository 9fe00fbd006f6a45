/**
 * Fetches descriptions and lists of operations from the node, with `node.tls` and `node.auth`.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import type { Listing, MethodCall } from "../kinds/kind.ts";
import type { NodeResponse } from "../node/http1.ts";
import { failureOfStatus, SourceError } from "../node/failures.ts";
import type { Node } from "../node/node.ts";
import { type FetchUrl, ReadError } from "../openapi/files.ts";

/** Resolves to text: the content of an HTTP response, or the result of a method. Rejects with a `SourceError`. */
export async function askNode(node: Node, question: MethodCall | Listing): Promise<string> {
  if ("jsonrpc" in question) {
    const [outcome] = await node.rpc([question], { path: question.path });
    if (outcome!.error) throw outcome!.error;
    const { result } = outcome!;
    return result.startsWith('"') ? JSON.parse(result) : result;
  }
  const isGet = "get" in question;
  const { status, text } = await node.request(isGet ? question.get : question.post, {
    method: isGet ? "GET" : "POST",
    headers: { accept: "*/*", ...!isGet && { "content-type": "application/json" } },
    body: isGet ? undefined : formatJson(question.json ?? {}),
  });
  if (status > 299) throw failureOfStatus(status);
  return text;
}

/** Only requests to the node's own origin use the node's credentials. */
export function createFetchDescription(node: Node): FetchUrl {
  return async (url, init) => {
    if (node.url === undefined || url.origin !== node.resolve("").origin) {
      return await fetch(url, init);
    }
    const { headers, signal } = init;
    const request = { url, method: "GET", headers, signal, body: undefined, isOnce: false };
    try {
      // A user and password in the description's URL take precedence over `node.auth`.
      if ("authorization" in headers) return toResponse(await node.client(request));
      return await node.send(request, ({ response, isSecret, refusal }) => {
        if (!refusal && !(isSecret && response.headers.get("location") !== null)) {
          return toResponse(response);
        }
        response.cancel();
        throw refusal ??
          new ReadError(
            "the node redirects a request that contains a secret; the redirect is not followed",
          );
      });
    } catch (error) {
      throw asReadError(error);
    }
  };
}

const asReadError = (error: unknown) =>
  error instanceof SourceError ? new ReadError(`the node ${error.message}`) : error;

function toResponse({ status, headers, next, cancel }: NodeResponse): Response {
  const body = new ReadableStream({
    async pull(controller) {
      try {
        const part = await next();
        if (part) controller.enqueue(part);
        else controller.close();
      } catch (error) {
        controller.error(asReadError(error));
      }
    },
    cancel,
  }, { highWaterMark: 0 });
  return { ok: status >= 200 && status < 300, status, headers, body } as unknown as Response;
}
