/**
 * Calls of a method by its name: `GET` with a query, or `POST` with an object of parameters.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import { notFound } from "../http/no-route.ts";
import { problem } from "../http/problem-details.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { parsePercent } from "../percent-decode.ts";
import type { Room } from "./bytes-under-way.ts";
import { foreignCaller, nodeBusy, problemWith, wrongParameters } from "./call-refusals.ts";
import type { Call, Core } from "./every-call.ts";
import { isBusy, jsonAnswer, NONSENSE } from "./make-json-answer.ts";
import { readQuery } from "./parameters.ts";
import { decodeUtf8, readContent } from "./request-body.ts";
import { readParams } from "./parse-rpc-body.ts";
import { checkParams, readRpcAnswer, type RpcAnswer, withCost, writeCall } from "./one-rpc-call.ts";
import { statusOf } from "./rpc-error-codes.ts";
import { inTurn } from "./take-turns.ts";

/** Answers a call of a method. */
export async function callMethod(core: Core, call: Call, room: Room): Promise<Answer | Response> {
  const { mayCall, refuse, forward, rpcRequest } = core;
  const { head } = call;
  const decided = (await core.lookUp()).methods.get(parsePercent(call.path) ?? "");
  if (!decided) return notFound();
  const { operation, decision } = decided;
  const methods = operation.isGettable ? ["GET", "POST"] : ["POST"];
  if (!methods.includes(head.method)) {
    const allow = [...methods, "OPTIONS"].join(", ");
    return problem(405, `This path answers ${allow}`, { allow });
  }
  if (!mayCall(call, decision.right)) return foreignCaller();
  const refusal = await refuse(call, decided);
  if (refusal) return refusal;
  if (head.headers.has("upgrade")) return problem(400, "Connections are not upgraded here");
  const purpose = decision.right === "token" ? "token" : "body";
  const given = await paramsOf(operation, call, (bytes) => room.set(bytes, purpose));
  if (typeof given === "object" && "status" in given) return given;
  const size = typeof given === "string" ? given.length : 0;
  const { params, wrong } = await inTurn(size, () => checkParams(operation, given));
  if (wrong.length > 0) {
    const place = head.method === "GET" ? "query" : "body";
    return wrongParameters(wrong.map((one) => ({ ...one, in: place })));
  }
  const request = await rpcRequest(writeCall(operation, 1, params));
  return await forward(call, withCost(decided, params), request, (answer, end) => {
    const read = readRpcAnswer(answer);
    const made = read
      ? methodAnswer(read)
      : isBusy(answer)
      ? nodeBusy(answer)
      : problem(502, NONSENSE);
    end(made.body?.byteLength ?? 0);
    return made;
  });
}

/** The parameters of a method: in the query of a GET, each as JSON; in the content of a POST, all of them. */
async function paramsOf(
  operation: NodeOperation,
  call: Call,
  grow: (bytes: number) => boolean,
): Promise<string | ReadonlyMap<string, string> | Answer> {
  const isGet = call.head.method === "GET";
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

/** The answer to a call of a method by its name: the bare result. */
function methodAnswer(read: RpcAnswer): Answer {
  if ("result" in read) return jsonAnswer(200, read.result);
  const status = statusOf(read.code);
  const members = {
    code: read.code,
    message: JSON.stringify(read.message),
    data: read.data,
  };
  const headers: Record<string, string> = status === 503 ? { "retry-after": "5" } : {};
  return problemWith(status, "The node refuses the call", members, headers);
}
