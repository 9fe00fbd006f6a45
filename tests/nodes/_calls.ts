/** Calls of JSON-RPC to real nodes. */
import { parseJson } from "../../src/json/lossless.ts";
import type { RpcAnswer } from "./_interface.ts";

/** Calls a method of a node. */
export type Call = (method: string, params?: unknown) => Promise<RpcAnswer>;

/** Posts calls of JSON-RPC to a URL. */
export function callsTo(
  url: string,
  headers: () => Promise<Record<string, string>> = () => Promise.resolve({}),
): Call {
  return async (method, params = []) => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", ...await headers() },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = parseJson(await response.text()) as {
      result: unknown;
      error?: { code: number; message: string } | null;
    };
    return error ? { error } : { result };
  };
}

/** The result of a call, which must succeed. */
export async function resultOf<T>(
  call: Call,
  method: string,
  params: unknown,
): Promise<T> {
  const answer = await call(method, params);
  if ("error" in answer) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result as T;
}
