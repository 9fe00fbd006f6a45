/**
 * Calls of a method by its name: `GET` with a query, or `POST` with an object of parameters.
 *
 * @module
 */
import type { Answer } from "../http/message.ts";
import { notFound } from "../http/method-not-allowed.ts";
import { problem } from "../http/problem-details.ts";
import type { NodeOperation } from "../openapi/node-operations.ts";
import { foreignCaller, problemWith, unsupported, wrongParameters } from "./call-problem.ts";
import type { Call, Core } from "./core.ts";
import { jsonAnswer, NONSENSE } from "./json-answer.ts";
import { readQuery } from "./parameters.ts";
import { decodeUtf8, readBody } from "./request-body.ts";
import { isFault, type RawParams, readParams } from "./rpc-body.ts";
import { checkParams, readRpcAnswer, type RpcAnswer, writeCall } from "./rpc-call.ts";
import { statusOf } from "./rpc-errors.ts";

/** Answers a call of a method. */
export async function callMethod(core: Core, call: Call): Promise<Answer | Response> {
  const { mayCall, refuse, forward, rpcRequest } = core;
  const { head, query } = call;
  const decided = (await core.lookUp()).methods.get(decode(call.path) ?? "");
  if (!decided) return mayCall(call, "open") ? notFound() : foreignCaller();
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
  const params = head.method === "GET" ? paramsOfQuery(operation, query) : await paramsOfBody(call);
  if ("status" in params) return params;
  const wrong = checkParams(operation, params);
  if (wrong.length > 0) {
    const place = head.method === "GET" ? "query" : "body";
    return wrongParameters(wrong.map((one) => ({ ...one, in: place })));
  }
  const request = await rpcRequest(writeCall(operation, 1, params));
  return await forward(call, decided, request, (answer, end) => {
    const text = new TextDecoder().decode(answer.start);
    const read = answer.isWhole ? readRpcAnswer(text) : undefined;
    const made = read ? methodAnswer(read) : problem(502, NONSENSE);
    end(made.body?.byteLength ?? 0);
    return made;
  });
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The parameters of a method in a query, each as JSON. */
function paramsOfQuery(operation: NodeOperation, query: string): RawParams | Answer {
  const { given, wrong } = readQuery(operation.parameters ?? [], query, "body");
  if (wrong.length > 0) return wrongParameters(wrong);
  return new Map(given.map(({ parameter, texts, value }) => [
    parameter.name,
    typeof value === "string" ? JSON.stringify(value) : texts[0]!,
  ]));
}

/** The parameters of a method in a body. */
async function paramsOfBody({ head, makeRequest }: Call): Promise<RawParams | Answer> {
  const { headers } = head;
  if (headers.has("content-encoding")) return unsupported("The content of a call is not encoded");
  const request = await makeRequest();
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  const bytes = await readBody(request);
  if ("status" in bytes) return problem(bytes.status, bytes.detail);
  if (bytes.byteLength === 0) return new Map();
  if (type !== "application/json") {
    return unsupported("The content of this call is application/json");
  }
  const text = decodeUtf8(bytes);
  if (text === undefined) return problem(400, "The content is no text in UTF-8");
  const params = readParams(text);
  return isFault(params) ? problem(400, params.message) : params;
}

/** The answer to a call of a method by its name: the bare result. */
function methodAnswer(read: RpcAnswer): Answer {
  if ("result" in read) return jsonAnswer(200, read.result);
  const status = statusOf(read);
  const members = {
    code: read.code === undefined ? undefined : JSON.stringify(read.code),
    message: JSON.stringify(read.message),
    data: read.data,
  };
  const headers: Record<string, string> = status === 503 ? { "retry-after": "5" } : {};
  return problemWith(status, "The node refuses the call", members, headers);
}
