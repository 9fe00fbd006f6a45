/**
 * Answers a request with a representation: content coding and preconditions.
 *
 * @module
 */
import type { Answer, RequestHead } from "./message.ts";
import { chooseVariant } from "./choose-coding.ts";
import { evaluatePreconditions } from "./preconditions.ts";
import { problem } from "./problem-details.ts";
import type { Representation } from "./representation.ts";

/** Answers a GET or HEAD request that has these headers. */
export function respond(representation: Representation, headers: RequestHead["headers"]): Answer {
  const vary = "Accept-Encoding";
  const variant = chooseVariant(representation, headers.get("accept-encoding"));
  if (!variant) {
    const detail = "Accept-Encoding excludes every coding offered; identity always is one";
    return problem(406, detail, { vary });
  }
  const { etag, full, notModified } = variant;
  // Preconditions apply only to what would be answered with 2xx (RFC 9110, section 13.2.1).
  if (full.status !== 200) return full;
  switch (evaluatePreconditions(headers, etag)) {
    case 200:
      return full;
    case 304:
      return notModified;
    case 412:
      return problem(412, "If-Match names none of the current validators of this path", { vary });
  }
}
