/**
 * The content codings that answers are offered in (RFC 9110, section 8.4.1).
 *
 * @module
 */
import { brotli } from "../platform.ts";

/** The content codings offered, best first. */
export const CODINGS = ["br", "gzip", "identity"] as const;

/** One of the content codings offered. */
export type ContentCoding = (typeof CODINGS)[number];

/** A content in some codings besides its own bytes. */
export type Encoded = Partial<Record<ContentCoding, Uint8Array<ArrayBuffer>>>;

/** A content of at most so many bytes fits in one packet, and gains nothing from being encoded. */
const PACKET = 1400;

/** How much is encoded at a time, in bytes. */
const PART = 65_536;

/** Encodes a content in the codings that are worth offering: those that make it shorter. */
export async function encode(bytes: Uint8Array<ArrayBuffer>): Promise<Encoded> {
  if (bytes.byteLength <= PACKET) return {};
  const [gz, br] = await Promise.all([gzip(bytes), brotli(bytes)]);
  return {
    ...(br && br.byteLength < bytes.byteLength && { br }),
    ...(gz.byteLength < bytes.byteLength && { gzip: gz }),
  };
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  // A `Blob` would be a copy of the whole.
  const parts = new ReadableStream<BufferSource>({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at += PART));
    },
  });
  const stream = parts.pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
