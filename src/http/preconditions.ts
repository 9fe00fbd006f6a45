/**
 * Evaluates `If-Match` and `If-None-Match` (RFC 9110, section 13).
 *
 * @module
 */
import type { RequestHead } from "./message.ts";

/** One member of a list; a comma between quotes does not separate. */
const MEMBER = /(?:"[^"]*"|[^",]+|")+/g;

/** An entity tag, weak or strong (RFC 9110, section 8.8.3). */
const ENTITY_TAG = /^(W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/;

/**
 * Evaluates the preconditions of a GET or HEAD request in their order of precedence (section 13.2.2).
 * Conditions on dates are ignored: no response here has a `Last-Modified`.
 *
 * @param etag the current strong validator, quotes included
 * @returns the status to answer with
 */
export function evaluatePreconditions(
  headers: RequestHead["headers"],
  etag: string,
): 200 | 304 | 412 {
  const match = headers.get("if-match");
  if (match !== null && !matchesEntityTag(match, etag, "strong")) return 412;
  const noneMatch = headers.get("if-none-match");
  return noneMatch !== null && matchesEntityTag(noneMatch, etag, "weak") ? 304 : 200;
}

/**
 * Whether a list of entity tags contains a validator. A malformed member never matches.
 *
 * @param list the value of `If-Match` or `If-None-Match`
 * @param etag the current strong validator, quotes included
 * @param comparison the comparison function of section 8.8.3.2; `strong` matches no weak tag
 */
function matchesEntityTag(
  list: string,
  etag: string,
  comparison: "strong" | "weak",
): boolean {
  if (list === etag || list.trim() === "*") return true;
  for (const [member] of list.matchAll(MEMBER)) {
    const [, weak, tag] = ENTITY_TAG.exec(member.trim()) ?? [];
    if (tag === etag && !(weak && comparison === "strong")) return true;
  }
  return false;
}
