/**
 * Fetches descriptions and lists of operations from the node, with `node.tls` and `node.auth`.
 *
 * @module
 */
import { type NodeSettings, timesOf } from "../info/settings.ts";
import { callMethod, resultOf } from "../info/sources.ts";
import { formatJson } from "../json/lossless.ts";
import type { Kind, Listing, MethodCall } from "../kinds/kind.ts";
import { lazy } from "../lazy.ts";
import { createClient } from "../node/client.ts";
import type { NodeResponse } from "../node/http1.ts";
import { createCredentials } from "../node/credentials.ts";
import { failureOfStatus, SourceError } from "../node/failures.ts";
import { type NodeAccess, requestText } from "../node/request.ts";
import { type FetchUrl, ReadError } from "../openapi/files.ts";
import type { CallMethod } from "./missing-methods.ts";

/** Resolves to text: the content of an HTTP response, or the result of a method. Rejects with a `SourceError`. */
export type AskNode = (question: MethodCall | Listing) => Promise<string>;

type NodeWithUrl = NodeSettings & { readonly url: string };
type Kinds = Readonly<Record<string, Kind>>;

function accessTo(node: NodeWithUrl, kind: string | undefined, kinds: Kinds): NodeAccess {
  return {
    client: createClient(node),
    credentials: createCredentials({ nodeUrl: node.url, configured: node.auth, kind, kinds }),
  };
}

export function createAsk(node: NodeWithUrl, kind: string, kinds: Kinds): AskNode {
  const access = accessTo(node, kind, kinds);
  const { timeout } = timesOf(node, {});
  const urlOf = (path: string) => urlBelow(node.url, path);
  return async (question) => {
    const limits = { timeout, signal: new AbortController().signal };
    if ("jsonrpc" in question) {
      const url = urlOf(question.path ?? "");
      const result = resultOf(await callMethod(url, question, limits, access));
      return result.startsWith('"') ? JSON.parse(result) : result;
    }
    const sent = "get" in question
      ? { url: urlOf(question.get), method: "GET" as const, headers: { accept: "*/*" } }
      : {
        ...{ url: urlOf(question.post), method: "POST" as const },
        headers: { accept: "*/*", "content-type": "application/json" },
        body: formatJson(question.json ?? {}),
      };
    const { status, text } = await requestText({ ...limits, ...sent }, access);
    if (status > 299) throw failureOfStatus(status);
    return text;
  };
}

export function createCallMethod(
  node: NodeWithUrl,
  { kind, kinds, path = "" }: {
    readonly kind: string;
    readonly kinds: Kinds;
    readonly path?: string | undefined;
  },
  signal: AbortSignal,
): CallMethod {
  const access = accessTo(node, kind, kinds);
  const { timeout } = timesOf(node, {});
  const url = urlBelow(node.url, path);
  return (jsonrpc, params) => callMethod(url, { jsonrpc, params }, { timeout, signal }, access);
}

const urlBelow = (url: string, path: string) => path === "" ? url : url.replace(/\/$/, "") + path;

/** Only requests to the node's own origin use the node's credentials. */
export function createFetchDescription(node: NodeSettings, kinds: () => Promise<Kinds>): FetchUrl {
  const { url: nodeUrl, kind } = node;
  if (nodeUrl === undefined) return (url, init) => fetch(url, init);
  const access = lazy(async () => accessTo({ ...node, url: nodeUrl }, kind, await kinds()));
  return async (url, init) => {
    if (url.origin !== new URL(nodeUrl).origin) return await fetch(url, init);
    const { headers, signal } = init;
    const { client, credentials } = await access.get();
    const request = { url, method: "GET", headers, signal, body: undefined, isOnce: false };
    try {
      // A user and password in the description's URL take precedence over `node.auth`.
      if ("authorization" in headers) return toResponse(await client(request));
      return await credentials.sendWith(client, request, ({ response, isSecret, refusal }) => {
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
