/**
 * The content codings that responses are offered in (RFC 9110, section 8.4.1).
 *
 * @module
 */
import { brotli } from "../platform.ts";

/** The content codings, best first. */
export const CODINGS = ["br", "gzip", "identity"] as const;

/** One of {@linkcode CODINGS}. */
export type ContentCoding = (typeof CODINGS)[number];

/** The encoded forms of a content. */
export type Encoded = Partial<Record<ContentCoding, Uint8Array<ArrayBuffer>>>;

/** A content as bytes, by coding. */
export type EncodedContent = Encoded & { identity: Uint8Array<ArrayBuffer> };

/** A content that is kept: a large one without `identity`, which is made of `gzip` for those who want it. */
export interface KeptContent {
  readonly codings: Encoded;
  /** The length of `identity`, in bytes. */
  readonly size: number;
}

/** A content up to this size, in bytes, fits in one packet: encoding it gains nothing. */
export const PACKET_SIZE = 1400;

/** Of a content up to this size, in bytes, `identity` is kept: few clients cannot read gzip. */
const KEPT_MAX = 1_048_576;

const CHUNK_SIZE = 65_536;

/** Encodes a content in each coding that makes it shorter. */
export async function encode(bytes: Uint8Array<ArrayBuffer>): Promise<Encoded> {
  if (bytes.byteLength <= PACKET_SIZE) return {};
  const [gz, br] = await Promise.all([gzip(bytes), brotli(bytes)]);
  return {
    ...(br && br.byteLength < bytes.byteLength && { br }),
    ...(gz.byteLength < bytes.byteLength && { gzip: gz }),
  };
}

/** Encodes a content that is to be kept. */
export async function keep(identity: Uint8Array<ArrayBuffer>): Promise<KeptContent> {
  const encoded = await encode(identity);
  const size = identity.byteLength;
  const isLarge = size > KEPT_MAX && encoded.gzip !== undefined;
  return { codings: isLarge ? encoded : { identity, ...encoded }, size };
}

/** The bytes of a content that is kept. */
export async function identityOf({ codings }: KeptContent): Promise<Uint8Array<ArrayBuffer>> {
  return codings.identity ?? await gunzip(codings.gzip!);
}

/** Decodes gzip. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  // `new Blob([bytes]).stream()` would copy all bytes first.
  const parts = new ReadableStream<BufferSource>({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at += CHUNK_SIZE));
    },
  });
  const stream = parts.pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
