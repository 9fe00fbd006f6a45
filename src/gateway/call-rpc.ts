/**
 * Forwards calls to the node's methods: single JSON-RPC calls, JSON-RPC batches, and requests to
 * `/v1/rpc/METHOD`.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import {
  FastResponse,
  type HttpStatus,
  notAllowed,
  notFound,
  problemWith,
  REASONS,
} from "../http/response.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import {
  CODES,
  isFault,
  isNoMethod,
  readRpcBody,
  readRpcError,
  readRpcParams,
  readRpcResponse,
  type RpcCall,
  type RpcError,
  writeCall,
  writeRpcResponse,
} from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import { type Call, type CallForm, decodeUtf8, DEPTH_MAX, inTurn, readContent } from "./call.ts";
import type { CallTable, Gateway, Recording } from "./gateway.ts";
import { hasTokenInQuery, looksLikeBrowser, TOKEN_IN_QUERY } from "./guard.ts";
import type { Lease, UpstreamResponse } from "./lease.ts";
import { paramsOfQuery, readParams, type SentParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import { busyNode, JSON_HEADERS, LATER, NO_UPGRADE, Refusal, refuse } from "./response.ts";

/** An HTML form cannot send any of these content types. */
const TYPES = ["application/json", "application/json-rpc", "application/jsonrequest"];

const WRONG_TYPE = new Refusal(415, CODES.invalidCall, "A call must be sent as application/json");

export const rpcCalls: CallForm = {
  start: "/v1/rpc",
  respond: callRpc,
  refuse: refuseRpc,
  methodsAt: () => ["POST"],
};

/** A call of a batch: either it is ready to be sent, or it has a response already. */
interface CheckedCall {
  readonly ready?: ReadyCall;
  /** `undefined` for a notification, which gets no response. */
  readonly response?: string | undefined;
}

interface ReadyCall extends SentParams {
  readonly call: RpcCall;
  readonly entry: PolicyEntry;
}

async function callRpc(gateway: Gateway, call: Call): Promise<Response> {
  const { request, query, caller, lease, makeResponse } = call;
  const foreign = caller.refusalForPage();
  if (foreign) throw foreign;
  if (hasTokenInQuery(query)) throw TOKEN_IN_QUERY;
  if (request.headers.has("upgrade")) throw NO_UPGRADE;
  // The npm package bitcoin-core sends no content type. A request from a browser must have a
  // content type: any web page can make a browser send a request without a content type.
  const types = looksLikeBrowser(request.headers) ? TYPES : [...TYPES, ""];
  const { bytes } = await readContent(call, types);
  if (!bytes) throw WRONG_TYPE;
  const text = decodeUtf8(bytes);
  const body = text === undefined
    ? { id: "null", code: CODES.noJson, message: "The body is not UTF-8" }
    : await readRpcBody(text, DEPTH_MAX);
  if (isFault(body)) {
    const status = body.code === CODES.noJson ? 400 : 200;
    return jsonResponse(status, writeRpcResponse(body, { error: body }));
  }
  const checked: CheckedCall[] = [];
  for (const one of body.calls) {
    checked.push(
      isFault(one)
        ? { response: writeRpcResponse(one, { error: one }) }
        : await checkCall(call, one),
    );
  }
  const ready = checked.flatMap(({ ready }) => ready ?? []);
  const [first] = ready;
  if (first) {
    try {
      await lease.begin(ready.some(({ isHeavy }) => isHeavy));
    } catch (error) {
      throw gateway.record(first.entry.operation, lease).fail(error);
    }
  }
  const responses: string[] = [];
  // Some nodes accept no batch, so the calls are sent one by one. If the connection breaks, the
  // outcome of only one call is unknown.
  for (const { ready, response } of checked) {
    const text = ready ? await sendOne(gateway, ready, lease) : response;
    if (text !== undefined) responses.push(text);
  }
  if (responses.length > 0) {
    const text = body.isBatch ? `[${responses.join(",")}]` : responses[0]!;
    return await sendJson(text, call);
  }
  return makeResponse(204, { "cache-control": "no-store" }, null);
}

async function checkCall({ table, caller }: Call, call: RpcCall): Promise<CheckedCall> {
  const { method, params = "" } = call;
  const fail = ({ code, message }: RpcError, data?: object): CheckedCall => ({
    response: responseTo(call, { error: { code, message, data: data && JSON.stringify(data) } }),
  });
  const entry = table.methods.get(method);
  if (!entry) return fail({ code: CODES.noMethod, message: "Unknown method" });
  const refusal = caller.refusal(entry, method);
  if (refusal) return fail(refusal, { setting: refusal.details.setting });
  try {
    const sent = await inTurn(params.length, () => readParams(entry.operation, call.params));
    return { ready: { call, entry, ...sent } };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return fail(error);
  }
}

async function sendOne(gateway: Gateway, { call, entry, params }: ReadyCall, lease: Lease) {
  const { operation } = entry;
  const recording = gateway.record(operation, lease);
  try {
    const outcome = await send(gateway, operation, params, lease, recording);
    recording.end(200);
    return responseTo(call, outcome);
  } catch (error) {
    const { code, message } = recording.fail(error);
    return responseTo(call, { error: { code, message } });
  }
}

const responseTo = (call: RpcCall, outcome: Outcome): string | undefined =>
  call.id === undefined ? undefined : writeRpcResponse(call, outcome);

export const methodCalls: CallForm = {
  start: "/v1/rpc/",
  respond: callMethod,
  refuse,
  methodsAt(table, path) {
    const entry = entryOf(table, path);
    return entry && methodsOf(entry.operation);
  },
};

const entryOf = ({ methods }: CallTable, path: string): PolicyEntry | undefined =>
  methods.get(parsePercent(path) ?? "");

async function callMethod(gateway: Gateway, call: Call): Promise<Response> {
  const { request, path, table, caller, lease } = call;
  const entry = entryOf(table, path);
  if (!entry) return notFound(gateway.hint);
  const { operation } = entry;
  const methods = methodsOf(operation);
  if (!methods.includes(request.method)) return notAllowed(methods, gateway.hint);
  const refusal = caller.refusal(entry);
  if (refusal) throw refusal;
  if (request.headers.has("upgrade")) throw NO_UPGRADE;
  const given = await paramsOf(operation, call);
  const read = () => readParams(operation, given, true);
  const { params, isHeavy } = await inTurn(given.length, read);
  const recording = gateway.record(operation, lease);
  let outcome: Outcome;
  try {
    await lease.begin(isHeavy);
    outcome = await send(gateway, operation, params, lease, recording);
  } catch (error) {
    throw recording.fail(error);
  }
  const response = "result" in outcome
    ? await sendJson(outcome.result, call)
    : refuseAsNode(outcome.error);
  recording.end(response.status);
  return response;
}

const methodsOf = ({ isGettable }: NodeOperation): readonly string[] =>
  isGettable ? ["GET", "HEAD", "POST"] : ["POST"];

function refuseAsNode(error: RpcError): Response {
  const { code, message, data } = error;
  const status = statusOf(error);
  const members = { code: code?.toString(), message: JSON.stringify(message), data };
  return problemWith(status, "The node refused the call", members, status === 503 ? LATER : {});
}

/** Returns the parameters as the JSON text of an array or an object. */
async function paramsOf(operation: NodeOperation, call: Call): Promise<string> {
  const isInQuery = call.request.method !== "POST";
  const { bytes } = await readContent(call, isInQuery ? [] : ["application/json"]);
  if (isInQuery) return paramsOfQuery(operation, call.query);
  if (hasTokenInQuery(call.query)) throw TOKEN_IN_QUERY;
  if (!bytes) return "{}";
  const text = decodeUtf8(bytes);
  const params = text === undefined
    ? { code: CODES.noJson, message: "The content is not UTF-8" }
    : await readRpcParams(text, DEPTH_MAX);
  if (typeof params === "string") return params;
  throw new Refusal(400, params.code, params.message);
}

/** The JSON text of the result, or the node's error. */
type Outcome = { readonly result: string } | { readonly error: RpcError };

/** @throws {Refusal} if the response is not JSON-RPC */
async function send(
  gateway: Gateway,
  operation: NodeOperation,
  params: string | undefined,
  lease: Lease,
  recording: Recording,
): Promise<Outcome> {
  const request = await gateway.rpcRequest(writeCall(operation.path, 1, params));
  const upstream = await lease.send(request, operation, gateway.limit);
  const outcome = await readResponse(upstream, lease);
  recording.bytes = upstream.size;
  if (outcome) return outcome;
  if (upstream.status === 503 || upstream.status === 429) {
    throw busyNode(upstream.status, upstream.headers.get("retry-after"));
  }
  throw new Refusal(502, CODES.notReached, "The node's response is not JSON-RPC");
}

/** Returns `undefined` if the response is not JSON-RPC. */
async function readResponse(
  { isWhole, parts, size }: UpstreamResponse,
  lease: Lease,
): Promise<Outcome | undefined> {
  if (!isWhole) return undefined;
  // The text needs about as much memory as its bytes, which are held already.
  const release = lease.hold(size);
  try {
    const join = () => parts.length === 1 ? parts[0]! : joinBytes(parts);
    const bytes = await inTurn(size, join);
    const text = await inTurn(size, () => decodeUtf8(bytes));
    if (text === undefined) return undefined;
    const response = await readRpcResponse(text, DEPTH_MAX);
    if (Array.isArray(response)) return undefined;
    const { result, error } = response;
    if (error !== undefined) return { error: await readRpcError(error, DEPTH_MAX) };
    return result === undefined ? undefined : { result };
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  } finally {
    release();
  }
}

function statusOf(error: RpcError): HttpStatus {
  const code = Number(error.code);
  if (code === CODES.wrongParams) return 400;
  if (isNoMethod(error)) return 404;
  // Bitcoin Core responds with -28 while it starts.
  return code === -28 ? 503 : 422;
}

function refuseRpc({ status, code, message, details: { headers } }: Refusal): Response {
  return jsonResponse(status, writeRpcResponse({}, { error: { code, message } }), headers);
}

const encoder = new TextEncoder();
const headersOf = (length: number) => ({ ...JSON_HEADERS, "content-length": String(length) });

function jsonResponse(
  status: HttpStatus,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Response {
  const bytes = encoder.encode(text);
  return new FastResponse(bytes, {
    status,
    statusText: REASONS[status],
    headers: Object.entries({ ...headersOf(bytes.byteLength), ...headers }),
  });
}

async function sendJson(text: string, { lease, makeResponse }: Call): Promise<Response> {
  const bytes = await inTurn(text.length, () => encoder.encode(text));
  return makeResponse(200, headersOf(bytes.byteLength), lease.handOverBytes([bytes]));
}
