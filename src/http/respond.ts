/**
 * Turns a prepared representation into the answer to one request: coding, conditions, HEAD.
 *
 * @module
 */
import { chooseVariant } from "./coding.ts";
import { noneMatch } from "./conditions.ts";
import { problem } from "./problem.ts";
import { CODINGS, type Representation } from "./representation.ts";

/** Tells workerd that the bytes are encoded already; it would encode them again. */
const ENCODED = { encodeBody: "manual" };

/**
 * Answers a GET or HEAD request with a representation.
 *
 * @param representation what to answer with
 * @param request its method and headers are read, nothing else
 */
export function respond(
  representation: Representation,
  request: Pick<Request, "method" | "headers">,
): Response {
  const { status, variants } = representation;
  const variant = chooseVariant(representation, request.headers.get("accept-encoding"));
  if (!variant) {
    const offered = CODINGS.filter((coding) => variants[coding]).join(", ");
    return problem(406, `Accept-Encoding excludes every coding offered here: ${offered}`, {
      vary: "Accept-Encoding",
    });
  }
  if (status === 200 && noneMatch(request.headers.get("if-none-match"), variant.etag)) {
    return new Response(null, { status: 304, headers: variant.validators });
  }
  const body = request.method === "HEAD" ? null : variant.bytes;
  return new Response(body, { ...ENCODED, status, headers: variant.headers });
}
