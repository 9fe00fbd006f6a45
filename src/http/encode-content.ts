/**
 * The content codings that responses are offered in (RFC 9110, section 8.4.1).
 *
 * @module
 */
import { byteLengthOf, partsOf } from "../bytes.ts";
import { compress } from "../platform.ts";

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

/** Encodes a content in each coding that makes it shorter. */
export async function encode(content: string | Uint8Array<ArrayBuffer>): Promise<Encoded> {
  const size = sizeOf(content);
  if (size <= PACKET_SIZE) return {};
  const [br, gz] = await Promise.all([compress("br", partsOf(content)), gzip(content)]);
  return {
    ...(br && br.byteLength < size && { br }),
    ...(gz.byteLength < size && { gzip: gz }),
  };
}

/** Encodes a content that is to be kept. */
export async function keep(content: string | Uint8Array<ArrayBuffer>): Promise<KeptContent> {
  const encoded = await encode(content);
  const size = sizeOf(content);
  if (size > KEPT_MAX && encoded.gzip) return { codings: encoded, size };
  const identity = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { codings: { identity, ...encoded }, size };
}

const sizeOf = (content: string | Uint8Array): number =>
  typeof content === "string" ? byteLengthOf(content) : content.byteLength;

/** The bytes of a content that is kept. */
export async function identityOf({ codings }: KeptContent): Promise<Uint8Array<ArrayBuffer>> {
  return codings.identity ?? await gunzip(codings.gzip!);
}

/** Decodes gzip. */
export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Encodes a content as gzip. `CompressionStream` is asked last: Node does not say when it is done with a part. */
export async function gzip(
  content: string | Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const encoded = await compress("gzip", partsOf(content));
  if (encoded) return encoded;
  const parts = partsOf(content);
  const source = new ReadableStream<BufferSource>({
    pull(controller) {
      const { done, value } = parts.next();
      if (done) controller.close();
      else controller.enqueue(value.slice());
    },
  });
  const stream = source.pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
