/** Sends JSON-RPC calls and REST requests to real nodes. */
import { execFile } from "node:child_process";
import { parseJson } from "../../src/json/lossless.ts";
import { type AskedNode, METHOD_NOT_FOUND, type RpcAnswer } from "./_interface.ts";

export type Call = (method: string, params?: unknown) => Promise<RpcAnswer>;

export const callsTo = (url: string, headers?: () => Promise<Record<string, string>>): Call =>
  callsBy(requestsTo(url, headers), "");

export function callsBy(send: AskedNode["send"], path: string): Call {
  return async (method, params = []) => {
    const response = await send(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const { result, error } = parseJson(await response.text()) as {
      result: unknown;
      error?: { code: number; message: string } | null;
    };
    return error ? { error } : { result };
  };
}

export async function isKnown(call: Call, method: string, params?: unknown): Promise<boolean> {
  const answer = await call(method, params);
  return !("error" in answer) || answer.error.code !== METHOD_NOT_FOUND;
}

export async function resultOf<T>(
  call: Call,
  method: string,
  params: unknown,
): Promise<T> {
  const answer = await call(method, params);
  if ("error" in answer) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result as T;
}

export function requestsTo(
  url: string,
  own: () => Promise<Record<string, string>> = () => Promise.resolve({}),
): AskedNode["send"] {
  return async (path, { headers, ...init }) =>
    await fetch(url + path, { ...init, headers: { ...headers, ...await own() } });
}

export function askBy(send: AskedNode["send"]): NonNullable<AskedNode["request"]> {
  return async (method, { path, headers, body }) => {
    const response = await send(path, { method, headers, ...body !== undefined && { body } });
    const type = response.headers.get("content-type") ?? "";
    return { status: response.status, type, text: await response.text() };
  };
}

/** Uses curl for HTTP Digest, because curl shares no code with the service. */
export function digestRequestsTo(url: string, login: string): AskedNode["send"] {
  return async (path, { method, headers = {}, body }) => {
    const flags = ["--silent", "--digest", "--user", login, "--request", method];
    const lines = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const content = body === undefined ? [] : ["--data-binary", body];
    const end = ["--write-out", "\n%{http_code} %{content_type}", url + path];
    const printed = await new Promise<string>((resolve, reject) => {
      execFile("curl", [...flags, ...lines, ...content, ...end], {
        maxBuffer: 64 * 1024 * 1024,
      }, (error, stdout) => error ? reject(error) : resolve(stdout));
    });
    const at = printed.lastIndexOf("\n");
    const [status, type = ""] = printed.slice(at + 1).split(" ");
    return new Response(printed.slice(0, at), {
      status: Number(status),
      headers: { "content-type": type },
    });
  };
}
