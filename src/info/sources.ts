/**
 * The sources of the info: JSON over HTTP, methods of JSON-RPC, files and programs.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { objectOf, textOf } from "../json/values.ts";
import type { GetSource, JsonRpcSource, PostSource } from "../kinds/kind.ts";
import { ABSENT, failureOfStatus, SourceError } from "../node/failures.ts";
import { readRpcResponse, RPC_HEADERS, type RpcResponse, writeCall } from "../node/json-rpc.ts";
import { type NodeAccess, type RequestLimits, requestText } from "../node/request.ts";
import { PlatformError, readFile, runProgram } from "../platform.ts";
import { excerpt, quote, startOf } from "../untrusted-text.ts";
import { LIMITS, notJson, readResponse, readText, type SourceResponse } from "./limit-response.ts";

/** @throws {SourceError} if there is no JSON with a status of success; with `keep_errors` other statuses are taken too */
export async function requestJson(
  source: GetSource | PostSource,
  url: string,
  limits: RequestLimits,
  access: NodeAccess,
): Promise<SourceResponse> {
  const isGet = "get" in source;
  const body = isGet || source.json === undefined ? undefined : formatJson(source.json);
  const { status, text } = await requestText({
    ...limits,
    url,
    method: isGet ? "GET" : "POST",
    headers: {
      accept: (isGet && source.accept) || "application/json",
      ...body !== undefined && { "content-type": "application/json" },
    },
    body,
  }, access);
  if (status >= 200 && status <= 299) return readResponse(text);
  if (source.keep_errors && !ABSENT.includes(status) && /^\s*[[{]/.test(text)) {
    return readResponse(text);
  }
  throw failureOfStatus(status);
}

/** Finds where a link leads on the node; a proxy in front may have another host, so only the path and the query are taken. */
export function urlOfLink(link: string, nodeUrl: string): string {
  const { origin } = new URL(nodeUrl);
  // Without credentials, and with nothing that a parser drops, moves or reads as a slash.
  const match = /^(?:https?:\/\/[^/?#\\@\s]+)?(\/[^#\\\s]*)?$/i.exec(link);
  const url = match && link !== "" && URL.canParse(link, origin)
    ? new URL(link, origin)
    : undefined;
  const path = match?.[1] ?? "/";
  const target = origin + path;
  if (url?.pathname + (url?.search ?? "") !== path || new URL(target).href !== target) {
    throw new SourceError(
      "bad_answer",
      `gives a link that is not followed: ${quote(excerpt(link, 60))}`,
      { isQuoting: true },
    );
  }
  return target;
}

type Endpoint = (
  calls: readonly JsonRpcSource[],
  limits: RequestLimits,
  access: NodeAccess,
) => Promise<PromiseSettledResult<SourceResponse>[]>;

/** Makes an endpoint: calls go in one batch where the node takes one, singly where not. */
export function createEndpoint(url: string): Endpoint {
  let takesBatches = true;
  return async (calls, limits, access) => {
    const callSingly = () =>
      Promise.allSettled(
        calls.map(async (call) => resultOf(call, await callMethod(url, call, limits, access))),
      );
    if (calls.length <= 1 || !takesBatches) return await callSingly();
    try {
      const batch = await postCalls(url, `[${calls.map(textOfCall).join(",")}]`, limits, access);
      const responses = new Map(
        [batch].flat().reverse().map((response) => [response.id, response]),
      );
      const answered = calls.map((_, id) => responses.get(String(id)));
      if (Array.isArray(batch) && answered.some((response) => response !== undefined)) {
        const read = calls.map(async (call, id) => await resultOf(call, answered[id] ?? {}));
        return await Promise.allSettled(read);
      }
    } catch (reason) {
      // Only a response can mean that the node takes no batches.
      const isRefusal = reason instanceof SourceError && reason.code === "bad_answer";
      if (!isRefusal) return calls.map(() => ({ status: "rejected", reason }));
    }
    const outcomes = await callSingly();
    // A node that is starting refuses single calls as well.
    takesBatches = !outcomes.some(({ status }) => status === "fulfilled");
    return outcomes;
  };
}

/** @throws {SourceError} if there is no response of JSON-RPC; an error in one is none */
export async function callMethod(
  url: string,
  call: JsonRpcSource,
  limits: RequestLimits,
  access: NodeAccess,
): Promise<RpcResponse> {
  const response = await postCalls(url, textOfCall(call, 1), limits, access);
  return Array.isArray(response) ? {} : response;
}

const textOfCall = ({ jsonrpc: method, params = [] }: JsonRpcSource, id: number): string =>
  writeCall(method, id, formatJson(params));

async function postCalls(
  url: string,
  body: string,
  limits: RequestLimits,
  access: NodeAccess,
): Promise<RpcResponse | RpcResponse[]> {
  const sent = { ...limits, url, method: "POST", headers: RPC_HEADERS, body } as const;
  const { status, text } = await requestText(sent, access);
  // Errors come with statuses of their own from some nodes; the body says more.
  if (status > 299 && !/^\s*[[{]/.test(text)) throw failureOfStatus(status);
  let response: RpcResponse | RpcResponse[];
  try {
    response = readRpcResponse(text, Infinity, true);
  } catch (error) {
    throw error instanceof JsonSyntaxError ? notJson(text) : error;
  }
  if (status > 299 && !Array.isArray(response) && !response.error?.startsWith("{")) {
    throw failureOfStatus(status);
  }
  return response;
}

function resultOf(
  { keep_errors: keepErrors }: JsonRpcSource,
  { result, error }: RpcResponse,
): SourceResponse {
  if (error !== undefined) {
    const failure = failureOfRpc(error);
    if (!keepErrors || failure.isAbsent) throw failure;
    return readResponse(`{"error":${error}}`);
  }
  if (result === undefined) throw noResult();
  const { value, omitted } = readResponse(result);
  return { value: keepErrors ? { result: value } : value, omitted };
}

export const noResult = (): SourceError =>
  new SourceError("bad_answer", "sent no result in JSON-RPC", { isForeign: true });

const NO_METHOD = -32601;

/** Matches the words for it beside other codes: -32604 of Besu, -32004 of EIP-1474 (which is another thing on Solana). */
const NO_METHOD_WORDS =
  /\bmethod\b.{0,80}\b(?:not (?:found|supported|enabled|available|implemented)|does not exist|unknown)|\bunknown method/i;

export function failureOfRpc(json: string): SourceError {
  const error = readResponse(json).value;
  const { code, message } = objectOf(error);
  const said = startOf(textOf(message) ?? textOf(error) ?? "an error", 1024);
  const number = typeof code === "number" ? code : undefined;
  const words = `${excerpt(said, 80)} (${excerpt(textOf(code) ?? "no code", 20)})`;
  return new SourceError("bad_answer", `responded with an error: ${words}`, {
    number,
    isAbsent: number === NO_METHOD || NO_METHOD_WORDS.test(said),
    isQuoting: true,
  });
}

/** The path is absolute, relative to the working directory, or begins with a folder that `isAnchored` knows. */
export async function readFileSource(path: string, limits: RequestLimits): Promise<SourceResponse> {
  try {
    const bytes = await readFile(path, { limit: LIMITS.bytes, ...limits });
    return readText(new TextDecoder().decode(bytes));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError("bad_answer", "has a file that cannot be read", {
      hint: `${path}: ${error.message}`,
    });
  }
}

/** Runs a program to its end; no shell reads its arguments. */
export async function runCommandSource(
  command: readonly string[],
  limits: RequestLimits,
): Promise<SourceResponse> {
  try {
    return readText(await runProgram(command, { limit: LIMITS.bytes, ...limits }));
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError("bad_answer", "has a program that fails", {
      hint: `${command[0]}: ${error.message}`,
    });
  }
}
