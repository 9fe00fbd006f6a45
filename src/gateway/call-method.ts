/**
 * Forwards requests to `/v1/rpc/METHOD`, each of which calls one of the node's methods.
 *
 * @module
 */
import { parsePercent } from "../decode.ts";
import { EVENT_HEADERS } from "../http/event-stream.ts";
import { isWebSocket } from "../http/request.ts";
import { notAllowed, notFound, problemResponse } from "../http/problem.ts";
import { completeResponse, type HttpStatus } from "../http/response.ts";
import type { Resource } from "../lazy.ts";
import { CODES, isNoMethod, readRpcError, type RpcError } from "../node/json-rpc.ts";
import type { CallOutcome } from "../node/rpc.ts";
import { METHODS_PATH } from "../openapi/home.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { decodeUtf8 } from "../utf8.ts";
import type { Call, CallProtocol, Subscribed, Subscriber } from "./call.ts";
import type { CallTable, Gateway } from "./gateway.ts";
import { refuseTokenIn } from "./guard.ts";
import { paramsOfQuery, readParams } from "./params.ts";
import type { PolicyEntry } from "./policy.ts";
import {
  howToSubscribe,
  invalidCall,
  LATER,
  NO_UPGRADE,
  problemOfRefusal,
  Refusal,
  refusalOfFailure,
} from "./refusal.ts";
import { JSON_HEADERS } from "./response-headers.ts";
import { readRpcParams } from "./read-rpc.ts";
import { respondWithTexts } from "./rpc-replies.ts";
import type { Sender } from "./sender.ts";

export const methodCalls = (subscriber: Resource<Subscriber>): CallProtocol => ({
  prefix: METHODS_PATH,
  respond: (gateway, call) => callMethod(gateway, call, subscriber),
  toResponse: problemOfRefusal,
  methodsAt(table, path) {
    const entry = entryOf(table, path);
    return entry && methodsOf(entry.operation);
  },
});

const entryOf = ({ methods }: CallTable, path: string): PolicyEntry | undefined =>
  methods.get(parsePercent(path) ?? "");

const methodsOf = ({ isGettable }: NodeOperation): readonly string[] =>
  isGettable ? ["GET", "HEAD", "POST"] : ["POST"];

/** A response to HEAD has no events. Clients such as curl take any type. */
const wantsEvents = ({ method, headers }: Request): boolean =>
  method !== "HEAD" &&
  /^\*\/\*$|\btext\/event-stream\b/i.test(headers.get("accept") ?? "*/*");

async function callMethod(
  gateway: Gateway,
  call: Call,
  subscriber: Resource<Subscriber>,
): Promise<Response> {
  const { request, path, table, caller, lease } = call;
  const entry = entryOf(table, path);
  if (!entry) return notFound(path, table.hint);
  const { operation } = entry;
  const methods = methodsOf(operation);
  if (!methods.includes(request.method)) return notAllowed(methods, table.hint);
  caller.check(entry);
  if (isWebSocket(request)) throw NO_UPGRADE;
  const { subscription } = operation;
  if (subscription && (operation.isOfConnection || !wantsEvents(request))) {
    throw invalidCall(`${operation.name}: ${howToSubscribe(operation)}`, 406);
  }
  const given = await paramsOf(operation, call, gateway.jsonSizeMax(caller));
  const sent = await readParams(operation, given, { isOperationCall: true });
  const recording = gateway.record(operation, lease);
  let sender: Sender, subscribed: Subscribed | undefined;
  try {
    const { isHeavy } = sent;
    sender = await gateway.begin(lease, { isHeavy, isLongPoll: operation.isLongPoll });
    if (subscription) {
      subscribed = await (await subscriber.get()).subscribe(call, entry, sent.params);
    }
  } catch (error) {
    throw recording.fail(error);
  }
  const outcome: CallOutcome = subscribed?.outcome ??
    (await sender.call([{ entry, ...sent }]))[0]!;
  recording.bytes = outcome.response?.size ?? 0;
  if (outcome.error && outcome.json === undefined) throw recording.fail(refusalOfFailure(outcome));
  const response = outcome.error
    ? refuseAsNode(await readRpcError(outcome.json!))
    : subscribed
    ? completeResponse(200, { ...JSON_HEADERS, ...EVENT_HEADERS }, subscribed.events, call.common)
    : await respondWithTexts({ texts: [outcome.result] }, call);
  recording.end(response.status);
  return response;
}

/** Returns the parameters as the JSON text of an array or an object. */
async function paramsOf(operation: NodeOperation, call: Call, sizeMax: number): Promise<string> {
  const isInQuery = call.request.method !== "POST";
  const { bytes } = await call.content.read(
    call.lease.requestBytes,
    isInQuery ? [] : ["application/json"],
    sizeMax,
  );
  if (isInQuery) return paramsOfQuery(operation, call.query);
  refuseTokenIn(call.query);
  if (!bytes) return "{}";
  const text = decodeUtf8(bytes);
  const params = text === undefined
    ? { code: CODES.noJson, message: "The content is not UTF-8" }
    : await readRpcParams(text);
  if (typeof params === "string") return params;
  throw new Refusal(400, params.code, params.message);
}

function refuseAsNode(error: RpcError): Response {
  const { code, messageJson: message, data } = error;
  const status = statusOfNodeError(error);
  const members = { code, message, data };
  return problemResponse(status, "The node refused the call", status === 503 ? LATER : {}, members);
}

function statusOfNodeError(error: RpcError): HttpStatus {
  const code = Number(error.code);
  if (code === CODES.wrongParams) return 400;
  if (isNoMethod(error)) return 404;
  // Bitcoin Core responds with -28 while it starts.
  return code === -28 ? 503 : 422;
}
