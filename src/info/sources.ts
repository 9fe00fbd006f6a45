/**
 * Queries sources of `/v1/info` in parallel, except that some wait for a value of another. Sources are HTTP requests,
 * JSON-RPC calls, files, programs, and the host program's `info` function.
 *
 * @module
 */
import { formatJson, toJson } from "../json/lossless.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import { formatPointer, isObject, objectOf, resolvePointer, textOf } from "../json/values.ts";
import type { GetSource, JsonRpcSource, PostSource, Reference } from "../kinds/kind.ts";
import type { Client } from "../node/http1.ts";
import type { Credentials } from "../node/credentials.ts";
import { ABSENT, failureOfStatus, SourceError } from "../node/failures.ts";
import {
  isNoMethod,
  readRpcResponse,
  RPC_HEADERS,
  type RpcResponse,
  writeCall,
} from "../node/json-rpc.ts";
import { type NodeAccess, type RequestLimits, requestText } from "../node/request.ts";
import { PlatformError, readFile, runProgram } from "../platform.ts";
import { describeValue, excerpt, quote, startOf } from "../untrusted-text.ts";
import { withSignal, withTimeout } from "../with-timeout.ts";
import { isKnown } from "./fields.ts";
import { LIMITS, notJson, readResponse, readText, type SourceResponse } from "./limit-response.ts";
import {
  type HostInfo,
  linkOf,
  linksOf,
  parseReference,
  placeOfParam,
  type PlannedSource,
} from "./query-plan.ts";
import { RESERVED_KEYS } from "./settings.ts";

/** The keys of this map are JSON Pointers. */
export type Taken = ReadonlyMap<string, unknown>;

export type QueryOutcome =
  /** The time that the response took to arrive, in milliseconds. */
  & { readonly took: number }
  & (
    | {
      readonly taken: Taken;
      readonly omitted: readonly string[];
      /** Set if the node lacks this optional method or path. */
      readonly absent?: SourceError;
    }
    | { readonly error: SourceError }
  );

/** The returned promises never reject. `remembered` returns the last known value of a source that is not queried. */
export type Query = (
  sources: ReadonlyMap<string, PlannedSource>,
  signal: AbortSignal,
  remembered?: (source: string, pointer: string) => unknown,
) => ReadonlyMap<string, Promise<QueryOutcome>>;

export function createQuery({ url: nodeUrl, credentials, client }: {
  readonly url: string | undefined;
  readonly credentials: Credentials | undefined;
  readonly client: Client;
}): Query {
  const endpoints = new Map<string, Endpoint>();
  const urlOf = (path: string) => {
    if (/^https?:/i.test(path)) return path;
    const url = nodeUrl ?? needsUrl();
    return path === "" ? url : url.replace(/\/$/, "") + path;
  };
  const access = (): NodeAccess => ({ client, credentials: credentials ?? needsUrl() });
  const callEndpoint = async (batch: readonly PlannedSource[], signal: AbortSignal) => {
    const calls = batch.map(({ source }) => source as JsonRpcSource);
    const url = urlOf(calls[0]!.path ?? "");
    let endpoint = endpoints.get(url);
    if (!endpoint) endpoints.set(url, endpoint = createEndpoint(url));
    const timeout = Math.max(...batch.map(({ timeout }) => timeout));
    return await endpoint(calls, { timeout, signal }, access());
  };

  return (sources, signal, remembered = () => undefined) => {
    const started = performance.now();
    const responses = new Map<string, Promise<SourceResponse>>();
    const valueOf = async (place: Reference): Promise<unknown> => {
      const [name, pointer] = parseReference(place);
      if (!sources.has(name)) return remembered(name, pointer);
      // Waits until `responses` has a promise for every source.
      await undefined;
      return resolvePointer((await responses.get(name))?.value, pointer);
    };

    const valueOfParam = async (param: unknown): Promise<unknown> => {
      const place = placeOfParam(param);
      const value = place ? await valueOf(place) : param;
      if (!place || isKnown(value)) return value;
      throw new SourceError("bad_answer", `has no value at ${place}`, { isAbsent: true });
    };

    const ask = async (planned: PlannedSource): Promise<SourceResponse> => {
      const { source, timeout } = planned;
      const limits = { timeout, signal };
      if ("call" in source) return callHost(source.call, limits);
      if ("file" in source) return readFileSource(source.file, limits);
      if ("command" in source) return runCommandSource(source.command, limits);
      if ("jsonrpc" in source) {
        const params = await Promise.all((source.params as unknown[]).map(valueOfParam));
        const [outcome] = await callEndpoint(
          [{ ...planned, source: { ...source, params } }],
          signal,
        );
        return responseOf(outcome!);
      }
      const link = linkOf(source);
      const url = link
        ? urlOfLink(await valueOf(link), urlOf(""), link)
        : urlOf("get" in source ? source.get : source.post);
      return requestJson(source, url, limits, access());
    };

    // A call that needs a value from another source is sent alone, since a whole batch would have to wait for the
    // value.
    const batches = new Map<string, [name: string, planned: PlannedSource][]>();
    for (const [name, planned] of sources) {
      const { source } = planned;
      if (!("jsonrpc" in source) || linksOf(source).length > 0) {
        responses.set(name, ask(planned));
        continue;
      }
      const { path = "" } = source;
      batches.set(path, [...batches.get(path) ?? [], [name, planned]]);
    }
    for (const batch of batches.values()) {
      const outcomes = callEndpoint(batch.map(([, planned]) => planned), signal);
      batch.forEach(([name], i) =>
        responses.set(name, outcomes.then((outcomes) => responseOf(outcomes[i]!)))
      );
    }

    const outcomeOf = async (name: string, planned: PlannedSource): Promise<QueryOutcome> => {
      const outcome = await take(responses.get(name)!, planned);
      return { ...outcome, took: performance.now() - started };
    };
    return new Map([...sources].map(([name, planned]) => [name, outcomeOf(name, planned)]));
  };
}

export async function settle(
  outcomes: ReadonlyMap<string, Promise<QueryOutcome>>,
): Promise<ReadonlyMap<string, QueryOutcome>> {
  const settled = [...outcomes].map(async ([name, outcome]) => [name, await outcome] as const);
  return new Map(await Promise.all(settled));
}

function needsUrl(): never {
  throw new SourceError("bad_answer", "has no URL; set node.url");
}

function responseOf(outcome: PromiseSettledResult<SourceResponse>): SourceResponse {
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

async function take(response: Promise<SourceResponse>, { source, pointers }: PlannedSource) {
  try {
    const { value, omitted } = await response;
    return { taken: new Map(pointers.map((p) => [p, resolvePointer(value, p)])), omitted };
  } catch (cause) {
    // Runtimes throw errors of their own types for operations that they forbid.
    const error = cause instanceof SourceError
      ? cause
      : new SourceError("bad_answer", "cannot be queried on this runtime", {
        hint: (cause as Error).name,
      });
    const isOptional = "optional" in source && source.optional;
    if (isOptional && error.isAbsent) return { taken: new Map(), omitted: [], absent: error };
    return { error };
  }
}

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
  const isKept = source.keep_errors && !ABSENT.includes(status) && /^\s*[[{]/.test(text);
  if ((status >= 200 && status <= 299) || isKept) return readResponse(text);
  throw failureOfStatus(status);
}

/** The host in the link is ignored, since the link may name the host of a proxy. */
export function urlOfLink(link: unknown, nodeUrl: string, place: string): string {
  if (typeof link !== "string") throw new SourceError("bad_answer", `has no link at ${place}`);
  const { origin } = new URL(nodeUrl);
  // The pattern rejects credentials and fragments, and also backslashes and white space, which URL parsers change.
  const match = /^(?:https?:\/\/[^/?#\\@\s]+)?(\/[^#\\\s]*)?$/i.exec(link);
  const url = match && link !== "" && URL.canParse(link, origin)
    ? new URL(link, origin)
    : undefined;
  const path = match?.[1] ?? "/";
  const target = origin + path;
  if (url?.pathname + (url?.search ?? "") !== path || new URL(target).href !== target) {
    const message = `returned a link that is not followed: ${quote(excerpt(link, 60))}`;
    throw new SourceError("bad_answer", message, { isQuoting: true });
  }
  return target;
}

type Endpoint = (
  calls: readonly JsonRpcSource[],
  limits: RequestLimits,
  access: NodeAccess,
) => Promise<PromiseSettledResult<SourceResponse>[]>;

export function createEndpoint(url: string): Endpoint {
  let takesBatches = true;
  return async (calls, limits, access) => {
    const callSingly = () =>
      Promise.allSettled(
        calls.map(async (call) => readResult(call, await callMethod(url, call, limits, access))),
      );
    if (calls.length <= 1 || !takesBatches) return await callSingly();
    try {
      const batch = await postCalls(url, `[${calls.map(textOfCall).join(",")}]`, limits, access);
      if (Array.isArray(batch)) {
        // If several responses have the same id, the first one is used.
        const byId = new Map(batch.toReversed().map((response) => [response.id, response]));
        const responses = calls.map((_, id) => byId.get(String(id)));
        if (responses.some((response) => response !== undefined)) {
          const read = calls.map(async (call, id) => await readResult(call, responses[id] ?? {}));
          return await Promise.allSettled(read);
        }
      }
    } catch (reason) {
      // Only the code `bad_answer` can mean that the node rejects batches.
      const isRefusal = reason instanceof SourceError && reason.code === "bad_answer";
      if (!isRefusal) return calls.map(() => ({ status: "rejected", reason }));
    }
    const outcomes = await callSingly();
    // If all single calls fail too, the batch may not be the cause, so batches stay enabled.
    takesBatches = !outcomes.some(({ status }) => status === "fulfilled");
    return outcomes;
  };
}

/** Returns JSON-RPC errors instead of throwing them. */
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
  // Some nodes send JSON-RPC errors with a status of 4xx or 5xx.
  if (status > 299 && !/^\s*[[{]/.test(text)) throw failureOfStatus(status);
  let response: RpcResponse | RpcResponse[];
  try {
    response = await readRpcResponse(text, Infinity, "last");
  } catch (error) {
    throw error instanceof JsonSyntaxError ? notJson(text) : error;
  }
  if (status > 299 && !Array.isArray(response) && !response.error?.startsWith("{")) {
    throw failureOfStatus(status);
  }
  return response;
}

function readResult({ keep_errors }: JsonRpcSource, response: RpcResponse): SourceResponse {
  const { error } = response;
  if (keep_errors && error !== undefined && !failureOfRpc(error).isAbsent) {
    return readResponse(`{"error":${error}}`);
  }
  const { value, omitted } = readResponse(resultOf(response));
  return { value: keep_errors ? { result: value } : value, omitted };
}

export function resultOf({ result, error }: RpcResponse): string {
  if (error !== undefined) throw failureOfRpc(error);
  if (result !== undefined) return result;
  throw new SourceError("bad_answer", "sent a response without a JSON-RPC result", {
    isForeign: true,
  });
}

function failureOfRpc(json: string): SourceError {
  const error = readResponse(json).value;
  const { code, message } = objectOf(error);
  const said = startOf(textOf(message) ?? textOf(error) ?? "an error", 1024);
  const number = typeof code === "number" ? code : undefined;
  const words = `${excerpt(said, 80)} (${excerpt(textOf(code) ?? "no code", 20)})`;
  return new SourceError("bad_answer", `responded with an error: ${words}`, {
    number,
    isAbsent: isNoMethod({ code: number, message: said }),
    isQuoting: true,
  });
}

export async function readFileSource(path: string, limits: RequestLimits): Promise<SourceResponse> {
  try {
    const bytes = await readFile(path, { limit: LIMITS.bytes, ...limits });
    return readText(new TextDecoder().decode(bytes));
  } catch (error) {
    throw failureOnHost(error, "has a file that cannot be read", path);
  }
}

export async function runCommandSource(
  command: readonly string[],
  limits: RequestLimits,
): Promise<SourceResponse> {
  try {
    return readText(await runProgram(command, { limit: LIMITS.bytes, ...limits }));
  } catch (error) {
    throw failureOnHost(error, "has a program that fails", command[0]!);
  }
}

function failureOnHost(error: unknown, message: string, name: string): unknown {
  if (!(error instanceof PlatformError)) return error;
  return new SourceError("bad_answer", message, { hint: `${name}: ${error.message}` });
}

async function callHost(
  call: HostInfo,
  { timeout, signal }: RequestLimits,
): Promise<SourceResponse> {
  try {
    const called = withSignal(Promise.resolve(call()), signal);
    const value = await withTimeout(called, timeout, () => {
      throw hostError(`takes longer than ${timeout} ms`);
    });
    return readHostResponse(value);
  } catch (error) {
    if (error instanceof SourceError) throw error;
    const thrown = error instanceof Error
      ? `${error.name}: ${error.message}`
      : describeValue(error);
    throw hostError(`threw ${thrown}`);
  }
}

/**
 * Errors and results of the host's `info` function may contain secrets. Only the hint quotes them, because hints are
 * never public.
 */
const hostError = (what: string): SourceError =>
  new SourceError("bad_answer", "cannot report its state", { hint: `info() ${what}` });

function readHostResponse(returned: unknown): SourceResponse {
  const odd: string[] = [];
  const value = toJson(returned, describeValue, (message, path) => {
    odd.push(`${formatPointer(path.map(String))} ${message}`);
  });
  if (!isObject(value)) throw hostError(`returned ${describeValue(returned)}, not an object`);
  for (const key of RESERVED_KEYS.filter((key) => Object.hasOwn(value, key))) {
    odd.push(`/${key} is set by this service${key === "status" ? " (return synced: false)" : ""}`);
  }
  const response = readResponse(formatJson(value));
  return { value: response.value, omitted: [...odd, ...response.omitted] };
}
