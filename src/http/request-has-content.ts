/**
 * Whether a request has content, by its head.
 *
 * @module
 */
import type { RequestHead } from "./message.ts";

/** Whether the head of a request says that there is content (RFC 9112, section 6). */
export function namesContent({ headers }: Pick<RequestHead, "headers">): boolean {
  const length = headers.get("content-length");
  return headers.has("transfer-encoding") || (length !== null && !/^0+$/.test(length));
}
