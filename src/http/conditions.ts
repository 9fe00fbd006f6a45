/**
 * Evaluates the conditions a request puts on a validator (RFC 9110, section 13).
 *
 * @module
 */

/** One member of a list, in which commas between quotes do not separate. */
const MEMBER = /(?:"[^"]*"|[^",]+|")+/g;

/** An entity tag, weak or strong (RFC 9110, section 8.8.3). */
const ENTITY_TAG = /^(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/;

/**
 * Whether `If-None-Match` names the current validator, so that the answer is 304.
 *
 * The comparison is the weak one (RFC 9110, section 13.1.2). A malformed member never matches.
 *
 * @param header the value of `If-None-Match`, or `null` where the request has none
 * @param etag the current validator, quotes included
 */
export function noneMatch(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  for (const [member] of header.matchAll(MEMBER)) {
    if (ENTITY_TAG.exec(member.trim())?.[1] === etag) return true;
  }
  return false;
}
