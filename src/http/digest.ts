/**
 * Digests of contents.
 *
 * @module
 */

/** How much is digested at a time, in bytes: `crypto.subtle` copies what it is given. */
const PART = 1_048_576;

/**
 * The first 128 bits of the SHA-256 of some bytes; where they are many, of their parts' digests.
 *
 * @returns 22 characters of base64url (RFC 4648, section 5)
 */
export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  let digested = bytes;
  if (bytes.byteLength > PART) {
    const sums: ArrayBuffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += PART) {
      sums.push(await crypto.subtle.digest("SHA-256", bytes.subarray(at, at + PART)));
    }
    digested = new Uint8Array(await new Blob(sums).arrayBuffer());
  }
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", digested)).subarray(0, 16);
  return btoa(String.fromCharCode(...sum)).replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}
