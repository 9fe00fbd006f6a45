/**
 * Answers a request whose method its path does not have: OPTIONS, an unknown path, a method that is
 * not allowed (RFC 9110, sections 9.3.7, 15.5.5 and 15.5.6).
 *
 * @module
 */
import type { Answer } from "./message.ts";
import { problem } from "./problem-details.ts";

/**
 * Answers OPTIONS and methods that are not allowed.
 *
 * @param method the request's method
 * @param methods those that the path has; none where nothing is served there
 */
export function answerMethod(method: string, methods: Iterable<string>): Answer {
  const allow = [...methods, "OPTIONS"].join(", ");
  if (allow === "OPTIONS") return notFound();
  if (method === "OPTIONS") return { status: 204, headers: { allow }, body: null };
  return problem(405, `This path answers ${allow}`, { allow });
}

/** Answers that a path names nothing. */
export function notFound(): Answer {
  return problem(404, "Nothing is served at this path; /v1/spec shows what is");
}
