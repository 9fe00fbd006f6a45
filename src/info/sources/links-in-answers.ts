/**
 * Links in a node's answers.
 *
 * @module
 */
import { excerpt, quote } from "../../untrusted-text.ts";
import { SourceError } from "./source-error.ts";

/**
 * Where a link leads on the node. A node behind a proxy names itself by its public host, so only the path and
 * the query are taken.
 *
 * @param link a URL with `http:` or `https:`, or a path that begins with `/`
 * @param nodeUrl the node's URL; no other origin is asked
 * @throws {SourceError} if the link is anything else, or reads differently once it is parsed
 */
export function urlOfLink(link: string, nodeUrl: string): string {
  const { origin } = new URL(nodeUrl);
  // Without credentials, and with nothing that a parser drops, moves or reads as a slash.
  const match = /^(?:https?:\/\/[^/?#\\@\s]+)?(\/[^#\\\s]*)?$/i.exec(link);
  const url = match && link !== "" && URL.canParse(link, origin)
    ? new URL(link, origin)
    : undefined;
  const path = match?.[1] ?? "/";
  const target = origin + path;
  if (url?.pathname + (url?.search ?? "") !== path || new URL(target).href !== target) {
    throw new SourceError(
      "bad_answer",
      `gives a link that is not followed: ${quote(excerpt(link, 60))}`,
    );
  }
  return target;
}
