/**
 * Asks sources, all side by side; each fails alone.
 *
 * @module
 */
import type { JsonRpcSource, Reference, Source } from "../kinds/kind.ts";
import { formatJson, toJson } from "../json/lossless.ts";
import { formatPointer, isObject, resolvePointer } from "../json/values.ts";
import type { Credentials } from "../node/credentials.ts";
import { SourceError } from "../node/failures.ts";
import type { Client } from "../node/http1.ts";
import type { NodeAccess, RequestLimits } from "../node/request.ts";
import { quote } from "../untrusted-text.ts";
import { withSignal, withTimeout } from "../with-timeout.ts";
import { isKnown } from "./fields.ts";
import { readResponse, type SourceResponse } from "./limit-response.ts";
import {
  type HostInfo,
  linkOf,
  linksOf,
  parseReference,
  placeOfParam,
  type PlannedSource,
} from "./query-plan.ts";
import { RESERVED_KEYS } from "./settings.ts";
import {
  createEndpoint,
  readFileSource,
  requestJson,
  runCommandSource,
  urlOfLink,
} from "./sources.ts";

export type Taken = ReadonlyMap<string, unknown>;

export async function settle(
  outcomes: ReadonlyMap<string, Promise<Outcome>>,
): Promise<ReadonlyMap<string, Outcome>> {
  const settled = [...outcomes].map(async ([name, outcome]) => [name, await outcome] as const);
  return new Map(await Promise.all(settled));
}

export type Outcome =
  & { readonly took: number }
  & (
    | {
      readonly taken: Taken;
      readonly omitted: readonly string[];
      /** The node does not have this optional method or path, which is as good as a response. */
      readonly absent?: SourceError;
    }
    | { readonly error: SourceError }
  );

interface QueryContext {
  readonly url: string | undefined;
  readonly credentials: Credentials | undefined;
  readonly client: Client;
}

/** Asks some sources. No promise rejects. `remembered` finds the links of sources that are not asked this time. */
export type Query = (
  sources: ReadonlyMap<string, PlannedSource>,
  signal: AbortSignal,
  remembered?: (source: string, pointer: string) => unknown,
) => ReadonlyMap<string, Promise<Outcome>>;

export function createQuery(context: QueryContext): Query {
  const endpoints = new Map<string, ReturnType<typeof createEndpoint>>();

  const urlOf = (path: string | undefined) => {
    if (path && /^https?:/i.test(path)) return path;
    const url = context.url ?? needsUrl();
    return path ? url.replace(/\/$/, "") + path : url;
  };

  const access = (): NodeAccess => ({
    client: context.client,
    credentials: context.credentials ?? needsUrl(),
  });

  const callEndpoint = async (batch: readonly Planned[], signal: AbortSignal) => {
    const calls = batch.map(([, { source }]) => source as JsonRpcSource);
    const url = urlOf(calls[0]?.path);
    let endpoint = endpoints.get(url);
    if (!endpoint) endpoints.set(url, endpoint = createEndpoint(url));
    const timeout = Math.max(...batch.map(([, { timeout }]) => timeout));
    return await endpoint(calls, { timeout, signal }, access());
  };

  return (sources, signal, remembered = () => undefined) => {
    const started = performance.now();
    const responses = new Map<string, Promise<SourceResponse>>();

    /** Finds what stands at a place: of a source that is asked now, or was before. */
    const valueOf = async (place: Reference): Promise<unknown> => {
      const [name, pointer] = parseReference(place);
      if (!sources.has(name)) return remembered(name, pointer);
      // All are under way by then.
      await undefined;
      return resolvePointer((await responses.get(name))?.value, pointer);
    };
    const valueOfParam = async (param: unknown): Promise<unknown> => {
      const place = placeOfParam(param);
      const value = place ? await valueOf(place) : param;
      if (!place || isKnown(value)) return value;
      throw new SourceError("bad_answer", `has no value at ${place}`, { isAbsent: true });
    };

    // All calls of an endpoint go together, but for those that wait for others.
    const batches = new Map<string, Planned[]>();
    for (const planned of sources) {
      const { source } = planned[1];
      if (!("jsonrpc" in source) || linksOf(source).length > 0) continue;
      const { path = "" } = source;
      batches.set(path, [...batches.get(path) ?? [], planned]);
    }
    for (const batch of batches.values()) {
      const outcomes = callEndpoint(batch, signal);
      batch.forEach(([name], at) =>
        responses.set(name, outcomes.then((outcomes) => responseOf(outcomes[at]!)))
      );
    }

    const ask = async ([name, planned]: Planned): Promise<SourceResponse> => {
      const { source, timeout } = planned;
      const limits = { timeout, signal };
      if ("call" in source) return await callHost(source.call, limits);
      if ("file" in source) return await readFileSource(source.file, limits);
      if ("command" in source) return await runCommandSource(source.command, limits);
      if ("jsonrpc" in source) {
        const params = await Promise.all((source.params as unknown[]).map(valueOfParam));
        const [outcome] = await callEndpoint(
          [[name, { ...planned, source: { ...source, params } }]],
          signal,
        );
        return responseOf(outcome!);
      }
      return await requestJson(source, await urlOfSource(source), limits, access());
    };
    const urlOfSource = async (source: Exclude<Source, JsonRpcSource>) => {
      const link = linkOf(source);
      if (!link) return urlOf("get" in source ? source.get : "post" in source ? source.post : "");
      const target = await valueOf(link);
      if (typeof target !== "string") {
        throw new SourceError("bad_answer", `has no link at ${link}`);
      }
      return urlOfLink(target, urlOf(undefined));
    };
    for (const planned of sources) {
      if (!responses.has(planned[0])) responses.set(planned[0], ask(planned));
    }

    const outcomeOf = async (name: string, planned: PlannedSource): Promise<Outcome> => {
      const outcome = await take(responses.get(name)!, planned);
      return { ...outcome, took: performance.now() - started };
    };
    return new Map([...sources].map(([name, planned]) => [name, outcomeOf(name, planned)]));
  };
}

function responseOf(outcome: PromiseSettledResult<SourceResponse>): SourceResponse {
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

type Planned = [name: string, planned: PlannedSource];

function needsUrl(): never {
  throw new SourceError("bad_answer", "has no URL; set node.url");
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
    // What the host throws may hold anything: it is for the log alone.
    throw hostError(`threw ${describeThrown(error)}`);
  }
}

const hostError = (what: string): SourceError =>
  new SourceError("bad_answer", "cannot say how it is", { hint: `info() ${what}` });

function describeThrown(error: unknown): string {
  if (error instanceof Error) return `${error.name}: ${error.message}`;
  return typeof error === "string" ? quote(error) : describeType(error);
}

function readHostResponse(said: unknown): SourceResponse {
  const odd: string[] = [];
  const value = toJson(said, describeType, (message, path) => {
    odd.push(`${formatPointer(path.map(String))} ${message}`);
  });
  if (!isObject(value)) throw hostError(`returned ${describeType(said)}, not an object`);
  for (const key of RESERVED_KEYS.filter((key) => Object.hasOwn(value, key))) {
    odd.push(`/${key} is set by this service${key === "status" ? " (return synced: false)" : ""}`);
  }
  const response = readResponse(formatJson(value));
  return { value: response.value, omitted: [...odd, ...response.omitted] };
}

function describeType(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

async function take(response: Promise<SourceResponse>, { source, pointers }: PlannedSource) {
  try {
    const { value, omitted } = await response;
    return { taken: new Map(pointers.map((p) => [p, resolvePointer(value, p)])), omitted };
  } catch (cause) {
    // A runtime that does not allow something throws an error of its own.
    const error = cause instanceof SourceError
      ? cause
      : new SourceError("bad_answer", "cannot be asked here", { hint: (cause as Error).name });
    const isOptional = "optional" in source && source.optional;
    if (isOptional && error.isAbsent) return { taken: new Map(), omitted: [], absent: error };
    return { error };
  }
}
