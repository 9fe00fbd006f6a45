/**
 * Content codings (RFC 9110, section 8.4.1) and digests.
 *
 * @module
 */
import { byteLengthOf, type Bytes, joinBytes, partsOf } from "../bytes.ts";
import { compress } from "../platform.ts";

/** The content codings, in order of preference. */
export const CODINGS = ["br", "gzip", "identity"] as const;

export type ContentCoding = (typeof CODINGS)[number];

export type Encoded = Partial<Record<ContentCoding, Bytes>>;

/** Content above `KEPT_MAX` is kept only in compressed form, to save memory. */
export interface KeptContent {
  readonly codings: Encoded;
  readonly size: number;
}

export const PACKET_SIZE = 1400;
const KEPT_MAX = 1_048_576;

export async function encode(content: string | Bytes): Promise<Encoded> {
  const size = sizeOf(content);
  if (size <= PACKET_SIZE) return {};
  const [br, gz] = await Promise.all([compress("br", partsOf(content)), gzip(content)]);
  return { ...(br && br.byteLength < size && { br }), ...(gz.byteLength < size && { gzip: gz }) };
}

export async function keep(content: string | Bytes): Promise<KeptContent> {
  const encoded = await encode(content);
  const size = sizeOf(content);
  if (size > KEPT_MAX && encoded.gzip) return { codings: encoded, size };
  const identity = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { codings: { identity, ...encoded }, size };
}

const sizeOf = (content: string | Uint8Array): number =>
  typeof content === "string" ? byteLengthOf(content) : content.byteLength;

export async function identityOf({ codings }: KeptContent): Promise<Bytes> {
  return codings.identity ?? await gunzip(codings.gzip!);
}

async function gunzip(bytes: Bytes): Promise<Bytes> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * `CompressionStream` is used only on runtimes without `node:zlib`. On Node, `CompressionStream`
 * does not report when a part is finished.
 */
export async function gzip(content: string | Bytes): Promise<Bytes> {
  const encoded = await compress("gzip", partsOf(content));
  if (encoded) return encoded;
  const stream = new Blob([content]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * Base64 text for each coding, from `build/generated-modules.ts`. `identity` is omitted if `gzip`
 * is present.
 */
export type PackedContent = Readonly<Partial<Record<ContentCoding, string>>>;

export async function unpack(
  { br, gzip, identity }: PackedContent,
): Promise<Encoded & { identity: Bytes }> {
  const gz = gzip === undefined ? undefined : fromBase64(gzip);
  return {
    identity: gz ? await gunzip(gz) : fromBase64(identity ?? ""),
    ...(gz && { gzip: gz }),
    ...(br !== undefined && { br: fromBase64(br) }),
  };
}

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
  for (const part of partsOf(content)) digests.push(await sha256(part.slice()));
  const whole = digests.length === 1 ? digests[0]! : await sha256(joinBytes(digests));
  return btoa(String.fromCharCode(...whole.subarray(0, 16)))
    .replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}

const sha256 = async (bytes: Bytes): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
