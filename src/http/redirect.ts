/**
 * Redirects within the service.
 *
 * @module
 */
import type { Answer } from "./answer.ts";

/**
 * Answers 307 with a relative reference, which is right behind any prefix (RFC 9110, section 10.2.2).
 *
 * @param location relative to the request's URL
 */
export function redirect(location: string): Answer {
  return {
    status: 307,
    headers: { location, "content-length": "0", "cache-control": "no-cache" },
    body: null,
  };
}
