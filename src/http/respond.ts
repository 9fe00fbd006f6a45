/**
 * Answers one request with a prepared representation: coding and conditions.
 *
 * @module
 */
import type { Answer } from "./answer.ts";
import { chooseVariant } from "./negotiation.ts";
import { evaluate } from "./preconditions.ts";
import type { RequestHead } from "./head.ts";
import { problem } from "./problem-details.ts";
import type { Representation } from "./representation.ts";

/**
 * Answers a GET or HEAD request.
 *
 * @param representation what to answer with
 * @param headers those of the request
 */
export function respond(representation: Representation, headers: RequestHead["headers"]): Answer {
  const variant = chooseVariant(representation, headers.get("accept-encoding"));
  if (!variant) {
    return problem(406, "Accept-Encoding excludes every coding offered; identity always is one", {
      vary: "Accept-Encoding",
    });
  }
  const { etag, full, notModified } = variant;
  // Conditions are for what would be answered with 2xx (RFC 9110, section 13.2.1).
  const verdict = full.status === 200 ? evaluate(headers, etag) : full.status;
  if (verdict === 304) return notModified;
  if (verdict === 412) {
    return problem(412, "If-Match names none of the current validators of this path", {
      vary: "Accept-Encoding",
    });
  }
  return full;
}
