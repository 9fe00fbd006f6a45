/**
 * Digests of contents.
 *
 * @module
 */
import { type Bytes, joinBytes, partsOf } from "../bytes.ts";

/**
 * Computes the first 128 bits of a SHA-256. Of a content in several parts it is the SHA-256 of their digests,
 * so a long text may have another than its bytes.
 *
 * @returns 22 characters of base64url (RFC 4648, section 5)
 */
export async function digest(content: string | Bytes): Promise<string> {
  const digests: Uint8Array[] = [];
  // Copies, since Bun digests nothing that can be resized.
  for (const part of partsOf(content)) digests.push(await sha256(part.slice()));
  const whole = digests.length === 1 ? digests[0]! : await sha256(joinBytes(digests));
  return btoa(String.fromCharCode(...whole.subarray(0, 16)))
    .replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}

const sha256 = async (bytes: Bytes): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
