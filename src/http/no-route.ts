/**
 * Answers requests that no route handles (RFC 9110, sections 9.3.7, 15.5.5 and 15.5.6).
 *
 * @module
 */
import type { Answer } from "./message.ts";
import { problem } from "./problem-details.ts";

/**
 * Answers OPTIONS with 204, another method with 405, and 404 if the path has no method at all.
 *
 * @param methods the methods of the path
 */
export function answerMethod(method: string, methods: Iterable<string>): Answer {
  const allow = [...methods, "OPTIONS"].join(", ");
  if (allow === "OPTIONS") return notFound();
  if (method === "OPTIONS") return { status: 204, headers: { allow }, body: null };
  return problem(405, `This path answers ${allow}`, { allow });
}

/** Makes the 404 answer. */
export function notFound(): Answer {
  return problem(404, "Nothing is served at this path; /v1/spec shows what is");
}
