/**
 * `get` and `post`: JSON over HTTP.
 *
 * @module
 */
import type { GetSource, PostSource } from "../../kinds/kind.ts";
import { formatJson, parseJson } from "../../json/lossless.ts";
import { DEPTH_MAX, JsonDepthError } from "../../json/scan.ts";
import { askHttp, type HttpContext } from "./http-request.ts";
import { excerpt, quote } from "../../text.ts";
import { SourceError } from "./source-error.ts";

/**
 * Asks for JSON.
 *
 * @param source what to ask for
 * @param url where
 * @param timeout in milliseconds
 * @throws {SourceError} where the answer is not JSON with a status of success
 */
export async function askJson(
  source: GetSource | PostSource,
  url: string,
  timeout: number,
  context: HttpContext,
): Promise<unknown> {
  const isGet = "get" in source;
  const body = isGet || source.json === undefined ? null : formatJson(source.json);
  const { status, text } = await askHttp({
    url,
    method: isGet ? "GET" : "POST",
    headers: {
      accept: (isGet && source.accept) || "application/json",
      ...(body === null ? {} : { "content-type": "application/json" }),
    },
    body,
    timeout,
  }, context);
  if (status < 200 || status > 299) {
    throw new SourceError(`answers with status ${status}`, status >= 400 && status < 500);
  }
  return parseAnswer(text);
}

/**
 * Parses a node's answer.
 *
 * @throws {SourceError} where it is not JSON, or is nested too deep
 */
export function parseAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonDepthError) {
      throw new SourceError(`nests its answer more than ${DEPTH_MAX} levels deep`);
    }
    const start = text.length === 0 ? "nothing" : quote(excerpt(text, 40));
    throw new SourceError(`gives something other than JSON: ${start}`);
  }
}
