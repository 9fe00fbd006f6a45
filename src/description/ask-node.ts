/**
 * Asks a node one thing, with its secret, and gives the whole text of what it answers.
 *
 * @module
 */
import type { Kind, Listing, MethodCall } from "../kinds/kind.ts";
import { formatJson, parseJson } from "../json/lossless.ts";
import { objectOf, textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { fetchForNode } from "../info/node-client.ts";
import { type NodeSettings, timesOf } from "../info/settings.ts";
import { createAuth } from "../info/sources/give-credentials.ts";
import { requestText } from "../info/sources/http-request.ts";
import { failureOfStatus, SourceError } from "../info/sources/source-error.ts";

/** What a node can be asked. */
export type Question = MethodCall | Listing;

/**
 * Asks the node.
 *
 * @returns the text of an answer over HTTP; of a method its result, as JSON unless it is a text
 * @throws {SourceError} if there is no answer, or it is an error
 */
export type AskNode = (question: Question) => Promise<string>;

/**
 * Makes what asks a node.
 *
 * @param node where it is and whom it lets in; it has a URL
 * @param kind the name of its kind
 * @param kinds all that are known
 */
export function createAsk(
  node: NodeSettings & { readonly url: string },
  kind: string,
  kinds: Readonly<Record<string, Kind>>,
): AskNode {
  const auth = createAuth({ nodeUrl: node.url, configured: node.auth, kind, kinds });
  const fetch = fetchForNode(node);
  const { timeout } = timesOf(node, {});

  const request = async (path: string, accept: string, json?: unknown) => {
    const { status, text } = await requestText({
      timeout,
      signal: new AbortController().signal,
      url: path === "" ? node.url : node.url.replace(/\/$/, "") + path,
      method: json === undefined ? "GET" : "POST",
      headers: { accept, ...json !== undefined && { "content-type": "application/json" } },
      body: json === undefined ? null : formatJson(json),
    }, { fetch, auth });
    return { status, text };
  };

  return async (question) => {
    if ("jsonrpc" in question) {
      const { jsonrpc: method, path = "" } = question;
      const call = { jsonrpc: "2.0", id: 1, method, params: [] };
      const { status, text } = await request(path, "application/json", call);
      return resultOf(status, text);
    }
    const { status, text } = "get" in question
      ? await request(question.get, "*/*")
      : await request(question.post, "*/*", question.json ?? {});
    if (status > 299) throw failureOfStatus(status);
    return text;
  };
}

/** The result of a call. */
function resultOf(status: number, text: string): string {
  const { result, error } = readObject(text);
  if (error) {
    const said = excerpt(textOf(objectOf(error).message) ?? "an error", 80);
    throw new SourceError("bad_answer", `answers: ${said}`);
  }
  if (status > 299) throw failureOfStatus(status);
  if (result === undefined) {
    throw new SourceError("bad_answer", "gives no result in JSON-RPC");
  }
  return typeof result === "string" ? result : formatJson(result);
}

/** An answer as an object; an empty one where it is none. */
function readObject(text: string): Record<string, unknown> {
  try {
    return objectOf(parseJson(text));
  } catch {
    return {};
  }
}
