/**
 * Calls of a method by its name: `GET` with a query, or `POST` with an object of parameters.
 *
 * @module
 */
import { notFound, problem, problemWith } from "../http/problem-details.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../untrusted-text.ts";
import type { Room } from "./bytes-under-way.ts";
import { foreignCaller, nodeBusy, wrongParameters } from "./call-refusals.ts";
import type { Call, Core } from "./every-call.ts";
import { isBusy, nodeResponse, NONSENSE } from "./make-json-answer.ts";
import { readQuery } from "./parameters.ts";
import { decodeUtf8, readContent } from "./request-body.ts";
import { readParams } from "./parse-rpc-body.ts";
import { checkParams, readRpcAnswer, type RpcError, withCost, writeCall } from "./one-rpc-call.ts";
import { statusOf } from "./rpc-error-codes.ts";
import { inTurn } from "./take-turns.ts";

/** Responds to a call of a method. */
export async function callMethod(core: Core, call: Call, room: Room): Promise<Response> {
  const { mayCall, refuse, forward, rpcRequest } = core;
  const { request } = call;
  const decided = (await core.lookUp()).methods.get(parsePercent(call.path) ?? "");
  if (!decided) return notFound();
  const { operation, decision } = decided;
  const methods = operation.isGettable ? ["GET", "POST"] : ["POST"];
  if (!methods.includes(request.method)) {
    const allow = [...methods, "OPTIONS"].join(", ");
    return problem(405, `This path answers ${allow}`, { allow });
  }
  if (!mayCall(call, decision.right)) return foreignCaller();
  const refusal = await refuse(call, decided);
  if (refusal) return refusal;
  if (request.headers.has("upgrade")) return problem(400, "Connections are not upgraded here");
  const purpose = decision.right === "token" ? "token" : "body";
  const given = await paramsOf(operation, call, (bytes) => room.set(bytes, purpose));
  if (typeof given === "object" && "status" in given) return given;
  const size = typeof given === "string" ? given.length : 0;
  const { params, wrong } = await inTurn(size, () => checkParams(operation, given));
  if (wrong.length > 0) {
    const place = request.method === "GET" ? "query" : "body";
    return wrongParameters(wrong.map((one) => ({ ...one, in: place })));
  }
  const sent = await rpcRequest(writeCall(operation, 1, params));
  return await forward(call, withCost(decided, params), sent, (answer, end, release) => {
    const read = readRpcAnswer(answer);
    if (read && "result" in read) {
      const { response, length } = nodeResponse(read.result, release, request);
      end(length);
      return response;
    }
    release();
    const refusal = read
      ? nodeRefusal(read)
      : isBusy(answer)
      ? nodeBusy(answer)
      : problem(502, NONSENSE);
    end(Number(refusal.headers.get("content-length")));
    return refusal;
  });
}

/** The parameters of a method: in the query of a GET, each as JSON; in the content of a POST, all of them. */
async function paramsOf(
  operation: NodeOperation,
  call: Call,
  grow: (bytes: number) => boolean,
): Promise<string | ReadonlyMap<string, string> | Response> {
  const isGet = call.request.method === "GET";
  const content = await readContent(call, isGet ? [] : [TYPE], grow);
  if ("status" in content) return problem(content.status, content.detail, content.headers);
  const { given, wrong } = readQuery(
    isGet ? operation.parameters ?? [] : [],
    call.query,
    "body",
  );
  if (wrong.length > 0) return wrongParameters(wrong);
  if (isGet) {
    return new Map(given.map(({ parameter, texts, value }) => [
      parameter.name,
      // Digits stay as they are. What is no number and no truth value is text.
      ["number", "bigint", "boolean"].includes(typeof value)
        ? texts[0]!
        : JSON.stringify(texts.join(",")),
    ]));
  }
  if (!content.bytes) return new Map();
  const text = decodeUtf8(content.bytes);
  if (text === undefined) return problem(400, "The content is no text in UTF-8");
  const params = await inTurn(text.length, () => readParams(text));
  return typeof params === "string" ? params : problem(400, params.message);
}

const TYPE = "application/json";

/** Makes the response for an error of the node. */
function nodeRefusal(error: RpcError): Response {
  const status = statusOf(error.code);
  const members = {
    code: error.code,
    message: JSON.stringify(error.message),
    data: error.data,
  };
  const headers: Record<string, string> = status === 503 ? { "retry-after": "5" } : {};
  return problemWith(status, "The node refuses the call", members, headers);
}
