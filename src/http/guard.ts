/**
 * What is asked of a request before anything else reads it.
 *
 * @module
 */
import { problem } from "./problem.ts";

/**
 * Refuses a request whose address cannot be parsed: some runtimes hand on a `url` that is only a
 * path, or that has a broken `Host` in it.
 *
 * @param request only its `url` is read
 * @returns the refusal, or `undefined` where the request may go on
 */
export function guard(request: Pick<Request, "url">): Response | undefined {
  if (URL.canParse(request.url)) return undefined;
  return problem(400, "The request target or the Host header is not a valid URL");
}
