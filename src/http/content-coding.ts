/**
 * The content coding gzip (RFC 9110, section 8.4.1), and digests.
 *
 * @module
 */
import { type Bytes, encodeText, joinBytes, partsOf } from "../bytes.ts";

/** Content, and its compressed form if that is shorter. */
export interface KeptContent {
  readonly identity: Bytes;
  readonly gzip?: Bytes | undefined;
}

/** Content of at most this size, in bytes, is not compressed, since it fits in one packet. */
export const PACKET_SIZE = 1400;

export async function withGzip(content: string | Bytes): Promise<KeptContent> {
  const identity = encode(content);
  if (identity.byteLength <= PACKET_SIZE) return { identity };
  const compressed = await gzip(identity);
  return compressed.byteLength < identity.byteLength
    ? { identity, gzip: compressed }
    : { identity };
}

const encode = (content: string | Bytes): Bytes =>
  typeof content === "string" ? encodeText(content) : content;

export const gzip = (content: string | Bytes): Promise<Bytes> =>
  transform(content, new CompressionStream("gzip"));

async function transform(
  content: string | Bytes,
  stream: CompressionStream | DecompressionStream,
): Promise<Bytes> {
  const transformed = new Blob([content]).stream().pipeThrough(stream);
  return new Uint8Array(await new Response(transformed).arrayBuffer());
}

/** Base64 text, from `build/generated-modules.ts`. Has either `gzip` or `identity`. */
export interface PackedContent {
  readonly gzip?: string;
  readonly identity?: string;
}

export async function unpack(packed: PackedContent): Promise<KeptContent> {
  const compressed = compressedIn(packed);
  if (compressed === undefined) return { identity: fromBase64(packed.identity ?? "") };
  return {
    identity: await transform(compressed, new DecompressionStream("gzip")),
    gzip: compressed,
  };
}

export const compressedIn = ({ gzip }: PackedContent): Bytes | undefined =>
  gzip === undefined ? undefined : fromBase64(gzip);

function fromBase64(text: string): Bytes {
  const chars = atob(text);
  const bytes = new Uint8Array(chars.length);
  for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
  return bytes;
}

/**
 * Returns 22 base64url characters. Long content is hashed in parts, and then the hashes of all
 * parts are hashed.
 */
export async function digest(content: string | Bytes): Promise<string> {
  const digests: Uint8Array[] = [];
  // Each part is copied, since Bun cannot digest resizable buffers.
  for (const part of partsOf(encode(content))) digests.push(await sha256(part.slice()));
  const whole = digests.length === 1 ? digests[0]! : await sha256(joinBytes(digests));
  return btoa(String.fromCharCode(...whole.subarray(0, 16)))
    .replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}

const sha256 = async (bytes: Bytes): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
