/**
 * `get` and `post`: JSON over HTTP.
 *
 * @module
 */
import type { GetSource, PostSource } from "../../kinds/kind.ts";
import { readAnswer, type SourceAnswer } from "../bound-answer.ts";
import { formatJson } from "../../json/lossless.ts";
import { type HttpContext, type RequestLimits, requestText } from "./http-request.ts";
import { ABSENT, failureOfStatus } from "./source-error.ts";

/**
 * Requests JSON.
 *
 * @param source what to request
 * @param url where
 * @throws {SourceError} if there is no answer in JSON with a status of success; with `keep_errors` also other
 * statuses are taken
 */
export async function requestJson(
  source: GetSource | PostSource,
  url: string,
  limits: RequestLimits,
  context: HttpContext,
): Promise<SourceAnswer> {
  const isGet = "get" in source;
  const body = isGet || source.json === undefined ? null : formatJson(source.json);
  const { status, text } = await requestText({
    ...limits,
    url,
    method: isGet ? "GET" : "POST",
    headers: {
      accept: (isGet && source.accept) || "application/json",
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    body,
  }, context);
  if (status >= 200 && status <= 299) return readAnswer(text);
  if (source.keep_errors && !ABSENT.includes(status) && /^\s*[[{]/.test(text)) {
    return readAnswer(text);
  }
  throw failureOfStatus(status);
}
