/**
 * Digests of contents.
 *
 * @module
 */

/** How many bytes are digested at a time: `crypto.subtle` copies its input. */
const CHUNK_SIZE = 1_048_576;

/**
 * Computes the first 128 bits of a SHA-256. Above 1 MiB it is the SHA-256 of the chunks' digests.
 *
 * @returns 22 characters of base64url (RFC 4648, section 5)
 */
export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  let digested = bytes;
  if (bytes.byteLength > CHUNK_SIZE) {
    const sums: ArrayBuffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += CHUNK_SIZE) {
      sums.push(await crypto.subtle.digest("SHA-256", bytes.subarray(at, at + CHUNK_SIZE)));
    }
    digested = new Uint8Array(await new Blob(sums).arrayBuffer());
  }
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", digested)).subarray(0, 16);
  return btoa(String.fromCharCode(...sum)).replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}
