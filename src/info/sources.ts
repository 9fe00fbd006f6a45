/**
 * Queries sources of `/v1/info` in parallel, except that some wait for a value of another. Sources
 * are HTTP requests, JSON-RPC calls, files, programs, and the host program's `info` function.
 *
 * @module
 */
import { type LightSignal, withSignal } from "../abort-signal.ts";
import { formatJson, toJson } from "../json/lossless.ts";
import { formatPointer, isObject, resolvePointer } from "../json/values.ts";
import type { GetSource, JsonRpcSource, PostSource } from "../kinds/kind.ts";
import type { Reference } from "../kinds/parts.ts";
import type { SecretChoice } from "../node/credentials.ts";
import {
  ABSENT,
  failureBehind,
  failureOfGateway,
  failureOfStatus,
  isOfGateway,
  SourceError,
} from "../node/failures.ts";
import type { RpcOutcome } from "../node/json-rpc.ts";
import type { Node } from "../node/node.ts";
import type { RequestLimits } from "../node/request.ts";
import { rpcRequestOf } from "../node/rpc.ts";
import { PlatformError, readFile, runProgram } from "../platform.ts";
import { describeValue, excerpt, quote } from "../untrusted-text.ts";
import { withTimeout } from "../with-timeout.ts";
import { formOf, isKnown } from "./fields.ts";
import {
  type LimitedValue,
  readResponse,
  readSourceText,
  RESPONSE_LIMITS,
} from "./limit-response.ts";
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
export type PointerValues = ReadonlyMap<string, unknown>;

export type QueryOutcome =
  /** The time that the response took to arrive, in milliseconds. */
  & { readonly took: number }
  & (
    | {
      readonly values: PointerValues;
      readonly omitted: readonly string[];
      /** Set if an optional method or path is missing, forbidden, or too long to be read. */
      readonly absent?: SourceError;
    }
    | { readonly error: SourceError }
  );

export interface QueryOptions extends SecretChoice {
  readonly signal: LightSignal;
  /** Returns the last known value of a source that is not queried. */
  readonly remembered?: (source: string, pointer: string) => unknown;
  /** Other sources that are queried at the same time. */
  readonly others?: ReadonlyMap<string, Promise<QueryOutcome>> | undefined;
}

/** The returned promises never reject. */
export function querySources(
  node: Node,
  sources: ReadonlyMap<string, PlannedSource>,
  options: QueryOptions,
): ReadonlyMap<string, Promise<QueryOutcome>> {
  const query = new Query(node, sources, options);
  return new Map([...sources].map(([name, planned]) => [name, query.outcomeOf(name, planned)]));
}

class Query {
  readonly #node: Node;
  readonly #sources: ReadonlyMap<string, PlannedSource>;
  readonly #options: QueryOptions;
  readonly #started: number = performance.now();
  readonly #responses = new Map<string, Promise<LimitedValue>>();

  constructor(
    node: Node,
    sources: ReadonlyMap<string, PlannedSource>,
    options: QueryOptions,
  ) {
    this.#node = node;
    this.#sources = sources;
    this.#options = options;
    // A call that needs a value from another source is sent alone, since a whole batch would have
    // to wait for the value.
    const batches = new Map<string, string[]>();
    for (const [name, { source }] of sources) {
      if (!("jsonrpc" in source) || linksOf(source).length > 0) continue;
      const { path = "" } = source;
      batches.set(path, [...batches.get(path) ?? [], name]);
    }
    for (const [path, names] of batches) this.#callBatch(path, names);
  }

  async outcomeOf(name: string, planned: PlannedSource): Promise<QueryOutcome> {
    const { source, pointers } = planned;
    const took = () => performance.now() - this.#started;
    try {
      const { value, omitted } = await this.#responseOf(name);
      const values = new Map(pointers.map((pointer) => [pointer, resolvePointer(value, pointer)]));
      return { values, omitted, took: took() };
    } catch (cause) {
      // Runtimes throw errors of their own types for operations that they forbid.
      const error = cause instanceof SourceError
        ? failureBehind(cause)
        : new SourceError("bad_answer", "cannot be queried on this runtime", {
          hint: (cause as Error).name,
        });
      // A node with many peers may list more of them than are read. JSON-RPC calls share a batch.
      const isTooLong = error.isTooLarge && !("jsonrpc" in source);
      const isExcused = error.isAbsent || error.isMissing || isTooLong;
      if (!isMarkedOptional(planned) || !isExcused) return { error, took: took() };
      return absentBy(error, took());
    }
  }

  #responseOf(name: string): Promise<LimitedValue> {
    let response = this.#responses.get(name);
    if (!response) {
      response = this.#ask(this.#sources.get(name)!);
      this.#responses.set(name, response);
    }
    return response;
  }

  #callBatch(path: string, names: readonly string[]): void {
    const planned = names.map((name) => this.#sources.get(name)!);
    const sources = planned.map(({ source }) => source as JsonRpcSource);
    const timeout = Math.max(...planned.map(({ timeout }) => timeout));
    const outcomes = this.#node.rpc(sources.map(rpcRequestOf), { ...this.#options, path, timeout });
    for (const [at, name] of names.entries()) {
      const response = outcomes.then((outcomes) => readOutcome(sources[at]!, outcomes[at]!));
      this.#responses.set(name, response);
    }
  }

  async #ask({ source, timeout }: PlannedSource): Promise<LimitedValue> {
    const limits = { ...this.#options, timeout };
    if ("reach" in source) return await reach(this.#node, limits);
    if ("call" in source) return await callHost(this.#node, source.call, limits);
    if ("file" in source) return await readFileSource(source.file, limits);
    if ("command" in source) return await runCommandSource(source.command, limits);
    if ("jsonrpc" in source) {
      const given = source.params as unknown[];
      const params = await Promise.all(given.map((param) => this.#valueOfParam(param)));
      const request = rpcRequestOf({ jsonrpc: source.jsonrpc, params });
      const [outcome] = await this.#node.rpc([request], { ...limits, path: source.path });
      return readOutcome(source, outcome!);
    }
    const link = linkOf(source);
    const path = link
      ? urlOfLink(await this.#valueOf(link), this.#node.resolve(""), link)
      : "get" in source
      ? source.get
      : source.post;
    return await requestJson(this.#node, source, path, limits);
  }

  async #valueOf(place: Reference): Promise<unknown> {
    const [name, pointer] = parseReference(place);
    if (!this.#sources.has(name)) {
      const { others, remembered } = this.#options;
      const outcome = await others?.get(name);
      return outcome && "values" in outcome
        ? outcome.values.get(pointer)
        : remembered?.(name, pointer);
    }
    return resolvePointer((await this.#responseOf(name)).value, pointer);
  }

  async #valueOfParam(param: unknown): Promise<unknown> {
    const place = placeOfParam(param);
    const value = place ? await this.#valueOf(place) : param;
    if (!place || isKnown(value)) return value;
    throw new SourceError("bad_answer", `has no value at ${place}`, { isAbsent: true });
  }
}

export async function settle(
  outcomes: ReadonlyMap<string, Promise<QueryOutcome>>,
): Promise<ReadonlyMap<string, QueryOutcome>> {
  const settled = [...outcomes].map(async ([name, outcome]) => [name, await outcome] as const);
  return new Map(await Promise.all(settled));
}

/**
 * A proxy before the node may forbid paths of optional sources. That is no fault of a node that
 * responds to another source.
 */
export function excuseForbidden(
  outcomes: ReadonlyMap<string, QueryOutcome>,
  sources: ReadonlyMap<string, PlannedSource>,
  node: Node,
): ReadonlyMap<string, QueryOutcome> {
  const hasResponded = [...outcomes].some(([name, outcome]) =>
    !isMarkedOptional(sources.get(name)!) && "values" in outcome
  );
  if (!hasResponded) return outcomes;
  return new Map(
    [...outcomes].map(([name, outcome]) => [name, excused(outcome, sources.get(name)!, node)]),
  );
}

/** Makes an optional source that is forbidden count as one that the node lacks. */
export function excused(outcome: QueryOutcome, source: PlannedSource, node: Node): QueryOutcome {
  if (!("error" in outcome) || source.isOfIdentity || !isMarkedOptional(source)) return outcome;
  const { error, took } = outcome;
  // Credentials that are rejected are a fault of the settings.
  const isForbidden = error.number === 403 || (error.number === 401 && node.auth === undefined);
  return isForbidden ? absentBy(error, took) : outcome;
}

const isMarkedOptional = ({ source }: PlannedSource) => "optional" in source && source.optional;

const absentBy = (absent: SourceError, took: number): QueryOutcome => ({
  values: new Map(),
  omitted: [],
  absent,
  took,
});

/** Any response shows that the node can be reached, but not that of a proxy without a node. */
async function reach(node: Node, limits: RequestLimits): Promise<LimitedValue> {
  const { status } = await node.request("", { ...limits, method: "HEAD" });
  // Whatever the node is, a node that can be reached responds with something else.
  if (status === 503 || isOfGateway(status)) throw failureOfGateway(status);
  return { value: undefined, omitted: [] };
}

/** @param path as for {@linkcode Node.resolve} */
export async function requestJson(
  node: Node,
  source: GetSource | PostSource,
  path: string,
  limits: RequestLimits & SecretChoice,
): Promise<LimitedValue> {
  const isGet = "get" in source;
  const body = isGet || source.json === undefined ? undefined : formatJson(source.json);
  const { status, text } = await node.request(path, {
    ...limits,
    method: isGet ? "GET" : "POST",
    headers: {
      accept: (isGet && source.accept) || "application/json",
      ...body !== undefined && { "content-type": "application/json" },
    },
    body,
  });
  // An error of a proxy is none of the node's, even as JSON.
  const isKept = source.keep_errors && !isOfGateway(status) && !ABSENT.includes(status) &&
    /^\s*[[{]/.test(text);
  if ((status >= 200 && status <= 299) || isKept) return readResponse(text);
  throw failureOfStatus(status, text);
}

/** The host in the link is ignored, since the link may name the host of a proxy. */
export function urlOfLink(link: unknown, { origin }: URL, place: string): string {
  if (typeof link !== "string") throw new SourceError("bad_answer", `has no link at ${place}`);
  // The pattern rejects credentials and fragments, and also backslashes and white space, which URL
  // parsers change.
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

export function readOutcome(
  { keep_errors }: Pick<JsonRpcSource, "keep_errors">,
  outcome: RpcOutcome,
): LimitedValue {
  if (outcome.error === undefined) {
    const { value, omitted } = readResponse(outcome.result);
    return { value: keep_errors ? { result: value } : value, omitted };
  }
  const { error, json } = outcome;
  if (!keep_errors || json === undefined || error.isAbsent) throw error;
  return readResponse(`{"error":${json}}`);
}

export async function readFileSource(path: string, limits: RequestLimits): Promise<LimitedValue> {
  try {
    const bytes = await readFile(path, { limit: RESPONSE_LIMITS.bytes, ...limits });
    return readSourceText(new TextDecoder().decode(bytes));
  } catch (error) {
    throw failureOnHost(error, "has a file that cannot be read", path);
  }
}

export async function runCommandSource(
  command: readonly string[],
  limits: RequestLimits,
): Promise<LimitedValue> {
  try {
    return readSourceText(await runProgram(command, { limit: RESPONSE_LIMITS.bytes, ...limits }));
  } catch (error) {
    throw failureOnHost(error, "has a program that fails", command[0]!);
  }
}

function failureOnHost(error: unknown, message: string, name: string): unknown {
  if (!(error instanceof PlatformError)) return error;
  const hint = `${name}: ${error.message}`;
  return new SourceError("bad_answer", message, { hint, isMissing: error.isMissing });
}

/** The calls of a function that may run at once; one of a minute ago does not count any more. */
const CALLS_MAX = 4, CALL_MS = 60_000;
/** When the calls for each node began that have not ended. */
const running = new WeakMap<Node, Set<{ readonly begun: number }>>();

/**
 * Returns a function to call at the end.
 *
 * @throws {SourceError} if too many calls run
 */
function beginCall(node: Node): () => void {
  const calls = running.get(node) ?? new Set();
  running.set(node, calls);
  const now = performance.now();
  for (const each of calls) if (now - each.begun >= CALL_MS) calls.delete(each);
  if (calls.size >= CALLS_MAX) throw hostError(`has not ended ${CALLS_MAX} times`);
  const own = { begun: now };
  calls.add(own);
  return () => void calls.delete(own);
}

async function callHost(
  node: Node,
  call: HostInfo,
  { timeout, signal }: RequestLimits,
): Promise<LimitedValue> {
  const end = beginCall(node);
  try {
    const calling = (async () => await call())();
    calling.then(end, end);
    const called = withSignal(calling, signal);
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
 * Errors and results of the host's `info` function may contain secrets. Only the hint quotes them,
 * because hints are never public.
 */
const hostError = (what: string): SourceError =>
  new SourceError("bad_answer", "cannot report its state", { hint: `info() ${what}` });

function readHostResponse(returned: unknown): LimitedValue {
  const odd: string[] = [];
  const value = toJson(returned, describeValue, (message, path) => {
    odd.push(`${formatPointer(path.map(String))} ${message}`);
  });
  if (!isObject(value)) throw hostError(`returned ${describeValue(returned)}, not an object`);
  for (const key of RESERVED_KEYS.filter((key) => Object.hasOwn(value, key))) {
    odd.push(`/${key} is set by this service${key === "status" ? " (return synced: false)" : ""}`);
  }
  for (const [key, given] of Object.entries(value)) {
    if (isKnown(given) && formOf(key, given) === undefined) odd.push(`/${key} has the wrong type`);
  }
  const response = readResponse(formatJson(value));
  return { value: response.value, omitted: [...odd, ...response.omitted] };
}
