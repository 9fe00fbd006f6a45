/**
 * Answers what no route answered: OPTIONS, a method that the path does not have, an unknown path
 * (RFC 9110, sections 9.3.7 and 15.5).
 *
 * @module
 */
import type { Answer } from "./answer.ts";
import { problem } from "./problem-details.ts";

/** What is read of a route of the table: its method and the pattern of its path. */
export type RoutePattern = readonly [method: string, pattern: RegExp, ...rest: unknown[]];

/**
 * Answers a request that no handler took.
 *
 * @param routes the router's own table, from which `Allow` is derived
 * @param method the request's method
 * @param pathname the request's path, as it was sent
 */
export function unrouted(
  routes: readonly RoutePattern[],
  method: string,
  pathname: string,
): Answer {
  const methods = new Set<string>();
  for (const [routed, pattern] of routes) {
    if (pattern.test(pathname)) methods.add(routed);
  }
  if (methods.size === 0) return notFound();
  const allow = [...methods, "OPTIONS"].join(", ");
  if (method === "OPTIONS") return { status: 204, headers: { allow }, body: null };
  return problem(405, `This path answers ${allow}`, { allow });
}

/** Answers that a path names nothing. */
export function notFound(): Answer {
  return problem(404, "Nothing is served at this path; /v1/spec shows what is");
}
