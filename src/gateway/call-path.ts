/**
 * Calls of the node's own paths.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { parseJson } from "../json/lossless.ts";
import type { Answer } from "../http/message.ts";
import { notFound } from "../http/method-not-allowed.ts";
import { problem } from "../http/problem-details.ts";
import type { Status } from "../http/status.ts";
import type { NodeOperation, ValueRule } from "../openapi/node-operations.ts";
import { answerHeaders } from "./answer-headers.ts";
import { foreignCaller, unsupported, wrongParameters } from "./call-problem.ts";
import { checkValue } from "./check-value.ts";
import { type Call, type Core, spansOf } from "./core.ts";
import { buildPath } from "./match-path.ts";
import {
  type GivenParameter,
  readHeaders,
  type ReadParameters,
  readPathParameters,
  readQuery,
  type WrongParameter,
} from "./parameters.ts";
import { decodeUtf8, readBody } from "./request-body.ts";
import { breakable } from "../call-out.ts";
import type { UpstreamAnswer } from "./upstream.ts";

/** Headers of the visitor that an operation may not name. */
const DENIED_HEADERS =
  /^(?:authorization|proxy-.*|cookie2?|host|origin|referer|connection|keep-alive|transfer-encoding|content-length|content-encoding|expect|upgrade|range|if-.*|te|trailer|forwarded|via|x-forwarded-.*|x-real-ip|x-http-method.*|x-method-override|sec-.*|access-control-.*|accept-encoding|user-agent|x-nodeface)$/;

/** Answers a call of a path. */
export async function callPath(core: Core, call: Call): Promise<Answer | Response> {
  const { mayCall, refuse, forward } = core;
  const base = core.options.url.replace(/\/+$/, "");
  const { head, query } = call;
  const { paths } = await core.lookUp();
  const found = paths.match(call.path);
  if ("refusal" in found) {
    if (!mayCall(call, "open")) return foreignCaller();
    return found.refusal === "unknown"
      ? notFound()
      : wrongParameters([{ in: "path", name: found.name, rule: found.rule }]);
  }
  const match = found.find(({ value }) => value.operation.method === head.method);
  if (!match) {
    const allow = [...found.map(({ value }) => value.operation.method), "OPTIONS"].join(", ");
    return problem(405, `This path answers ${allow}`, { allow });
  }
  const { value: decided, parameters } = match;
  const { operation, decision } = decided;
  if (!mayCall(call, decision.right)) return foreignCaller();
  const refusal = await refuse(call, decided);
  if (refusal) return refusal;
  if (head.headers.has("upgrade")) return problem(400, "Connections are not upgraded here");
  const body = await readContent(call, operation);
  if ("status" in body) return body;
  const list = operation.parameters ?? [];
  const read = [
    readPathParameters(list, parameters),
    readQuery(list, query),
    readHeaders(list, (name) => head.headers.get(name)),
  ];
  const wrong = [...read.flatMap(({ wrong }) => wrong), ...body.wrong];
  if (wrong.length > 0) return wrongParameters(wrong);
  const path = buildPath(operation.path, parameters, spansOf(operation));
  // The node may read a parameter as a path of its own: `/peers/{address}` as `/peers/connect`.
  const isOwn = paths.similar(path).some(({ operation: { path } }) => path === operation.path);
  const url = isOwn ? join(base, path, queryOf(read[1]!)) : undefined;
  if (url === undefined) return notFound();
  const headers = {
    accept: head.headers.get("accept") ?? "*/*",
    ...body.type !== undefined && { "content-type": body.type },
    ...headersOf(read[2]!),
  };
  const request = { method: operation.method, url, headers, body: body.bytes };
  return await forward(call, decided, request, passOn(operation));
}

/** The content of a call: its bytes, or the answer that refuses it. */
async function readContent(call: Call, { body, method }: NodeOperation) {
  const { headers } = call.head;
  const none = { bytes: undefined, type: undefined, wrong: [] as WrongParameter[] };
  const length = headers.get("content-length");
  const hasContent = headers.has("transfer-encoding") || (length !== null && length !== "0");
  if (headers.has("content-encoding")) return unsupported("The content of a call is not encoded");
  if (!body) {
    if (!hasContent) return none;
    return unsupported(`This operation takes no content`);
  }
  if (!hasContent && method !== "GET") {
    const request = await call.makeRequest();
    if (!request.body) {
      return body.isRequired ? wrongParameters([REQUIRED_BODY]) : none;
    }
  }
  const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
  if (!Object.hasOwn(body.rules, type)) {
    return unsupported(`The content of this call is ${Object.keys(body.rules).join(" or ")}`);
  }
  const bytes = await readBody(await call.makeRequest());
  if ("status" in bytes) return problem(bytes.status, bytes.detail);
  if (bytes.byteLength === 0) {
    return body.isRequired ? wrongParameters([REQUIRED_BODY]) : none;
  }
  return { bytes, type, wrong: /[/+]json$/.test(type) ? wrongIn(bytes, body.rules[type]!) : [] };
}

const REQUIRED_BODY: WrongParameter = { in: "body", name: "body", rule: "is required" };

/** The node's URL with a path and a query; `undefined` where a parser makes something else of it. */
function join(base: string, path: string, query: string): string | undefined {
  const text = base + path + (query === "" ? "" : `?${query}`);
  if (!URL.canParse(text)) return undefined;
  const { href, origin } = new URL(text);
  return href === text && origin === new URL(base).origin ? text : undefined;
}

function queryOf({ given }: ReadParameters): string {
  return given.flatMap(({ parameter: { name }, texts }) =>
    texts.map((text) => `${encodeURIComponent(name)}=${encodeURIComponent(text)}`)
  ).join("&");
}

/** The headers that an operation names, but for those that no call may set. */
function headersOf({ given }: ReadParameters): Record<string, string> {
  const headers = given.filter(({ parameter }) =>
    !DENIED_HEADERS.test(parameter.name.toLowerCase())
  )
    .map(({ parameter, texts }: GivenParameter) => [parameter.name.toLowerCase(), texts[0]!]);
  return Object.fromEntries(headers);
}

/** What is wrong in a body of JSON. */
function wrongIn(bytes: Uint8Array, rule: ValueRule): WrongParameter[] {
  const text = decodeUtf8(bytes);
  const refuse = (rule: string, name = "body") => [{ in: "body", name, rule }];
  if (text === undefined) return refuse("must be text in UTF-8");
  try {
    const wrong = checkValue(rule, parseJson(text));
    return wrong ? refuse(wrong.rule, wrong.path.join(".") || "body") : [];
  } catch {
    return refuse("must be JSON");
  }
}

const NOTHING = new Uint8Array();

/** Passes the answer of a node on, whole or as a stream. */
const passOn = ({ access, answerHeaders: named }: NodeOperation) =>
(
  answer: UpstreamAnswer,
  end: (bytes: number) => void,
): Answer | Response => {
  const { status, parts } = answer;
  const size = parts.reduce((size, { byteLength }) => size + byteLength, 0);
  if (status >= 500 || [401, 407, 421].includes(status)) {
    end(0);
    const maybe = access === "read" ? "" : "; it may have been carried out";
    return problem(
      502,
      status >= 500
        ? `The node fails: it answers ${status}${maybe}`
        : "The node wants another secret",
    );
  }
  const headers = answerHeaders(answer.headers, named);
  if (!answer.isWhole) {
    const body = breakable(streamOf(answer, end), answer.length);
    return new Response(body, { status, headers });
  }
  end(size);
  const isEmpty = status === 204 || status === 205;
  const length = isEmpty ? {} : { "content-length": String(size) };
  return {
    // A node may have one that this service never gives by itself.
    status: status as Status,
    headers: { ...headers, ...length },
    body: isEmpty ? null : parts[0] ?? NOTHING,
    ...!isEmpty && parts.length > 1 && { rest: parts.slice(1) },
  };
};

/** What has been read of an answer, and the rest as it comes. What is cut looks cut. */
function streamOf(answer: UpstreamAnswer, end: (bytes: number) => void): ReadableStream<Bytes> {
  let sent = answer.start.byteLength;
  return new ReadableStream({
    start: (controller) => controller.enqueue(answer.start),
    async pull(controller) {
      try {
        const part = await answer.next();
        if (part) {
          sent += part.byteLength;
          return controller.enqueue(part);
        }
        end(sent);
        controller.close();
      } catch (error) {
        end(sent);
        controller.error(error);
      }
    },
    cancel: () => end(sent),
  }, { highWaterMark: 0 });
}
