/**
 * JSON-RPC 2.0 over HTTP: all calls in one batch where the node takes one, singly where not.
 *
 * @module
 */
import type { JsonRpcSource } from "../../kinds/kind.ts";
import { askHttp, type HttpContext } from "./http-request.ts";
import { parseAnswer } from "./get-and-post.ts";
import { formatJson } from "../../json/lossless.ts";
import { textOf } from "../../json/values.ts";
import { excerpt } from "../../text.ts";
import { SourceError } from "./source-error.ts";

/** What a call gave, or why it gave nothing. */
export type CallOutcome = { value: unknown } | { error: SourceError };

/** Calls methods of one endpoint, which remembers whether it takes batches. */
export type Endpoint = (
  calls: readonly JsonRpcSource[],
  timeout: number,
  context: HttpContext,
) => Promise<CallOutcome[]>;

/** Makes what calls the methods behind one URL. */
export function createEndpoint(url: string): Endpoint {
  let takesBatches = true;

  const post = async (body: unknown, timeout: number, context: HttpContext) => {
    const { status, text } = await askHttp({
      url,
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: formatJson(body),
      timeout,
    }, context);
    // Errors come with statuses of their own from some nodes; the body says more.
    const isJson = /^\s*[[{]/.test(text);
    if (status > 299 && !isJson) {
      throw new SourceError(`answers with status ${status}`, status < 500);
    }
    return parseAnswer(text);
  };

  const callOne = async (call: JsonRpcSource, timeout: number, context: HttpContext) => {
    try {
      return outcomeOf(await post(requestOf(call, 1), timeout, context));
    } catch (error) {
      return failed(error);
    }
  };

  return async (calls, timeout, context) => {
    if (calls.length > 1 && takesBatches) {
      try {
        const answer = await post(calls.map(requestOf), timeout, context);
        if (Array.isArray(answer)) return calls.map((_, id) => outcomeOf(byId(answer, id)));
        takesBatches = false;
      } catch (error) {
        // Only an answer tells that batches are not understood; a silence would be one again.
        if (!(error instanceof SourceError && error.isRefusal)) {
          return calls.map(() => failed(error));
        }
        takesBatches = false;
      }
    }
    return await Promise.all(calls.map((call) => callOne(call, timeout, context)));
  };
}

function requestOf({ jsonrpc: method, params = [] }: JsonRpcSource, id: number) {
  return { jsonrpc: "2.0", id, method, params };
}

const byId = (answers: unknown[], id: number) =>
  answers.find((answer) => (answer as { id?: unknown } | null)?.id === id);

/** Not every node writes the members that JSON-RPC 2.0 asks for; these two are enough. */
function outcomeOf(answer: unknown): CallOutcome {
  const { result, error } = (answer ?? {}) as { result?: unknown; error?: unknown };
  if (error) {
    const { code, message } = error as { code?: unknown; message?: unknown };
    const text = excerpt(`${textOf(message) ?? "an error"} (${textOf(code) ?? "no code"})`);
    return { error: new SourceError(`answers: ${text}`, true) };
  }
  if (result === undefined) return { error: new SourceError("gives no result in JSON-RPC", true) };
  return { value: result };
}

function failed(error: unknown): CallOutcome {
  if (error instanceof SourceError) return { error };
  throw error;
}
