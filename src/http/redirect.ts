/**
 * Redirects within the service.
 *
 * @module
 */

/**
 * Answers 307 with a relative reference, which is right behind any prefix (RFC 9110, section
 * 10.2.2). `Response.redirect` takes absolute URLs only.
 *
 * @param location relative to the request's URL
 */
export function redirect(location: string): Response {
  return new Response(null, { status: 307, headers: { location, "cache-control": "no-cache" } });
}
