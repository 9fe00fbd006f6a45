/**
 * A representation (RFC 9110, section 3.2) prepared once: its bytes in every content coding it is
 * offered in, each with the headers that go with it, made when the content changes and not when
 * it is asked for.
 *
 * @module
 */
import type { Platform } from "../platform.ts";
import type { Answer } from "./answer.ts";
import type { Status } from "./status.ts";

/** The content codings offered, best first (RFC 9110, section 8.4.1). */
export const CODINGS = ["br", "gzip", "identity"] as const;

/** One of the content codings offered. */
export type ContentCoding = (typeof CODINGS)[number];

/** A representation in one coding, and what it is answered with: the same objects every time. */
export interface Variant {
  /** The strong validator, quotes included (RFC 9110, section 8.8.3). */
  readonly etag: string;
  readonly full: Answer & { readonly body: Uint8Array<ArrayBuffer> };
  /** With the headers that a 304 repeats (RFC 9110, section 15.4.5). */
  readonly notModified: Answer;
}

/** What is prepared of a content. */
export interface Representation {
  /** By coding; `identity` is always there. */
  readonly variants: Readonly<Partial<Record<ContentCoding, Variant>>>;
}

/** What is known of a content apart from its bytes. */
export interface RepresentationInit {
  /** The media type, with its parameters. */
  type: string;
  /** The `Cache-Control` of an answer with this content. */
  cache: string;
  /** @default 200 */
  status?: Status;
  /** Further headers, names in lower case. */
  headers?: Record<string, string>;
  /**
   * What no other content of the same path is called, as the inside of a validator.
   *
   * @default the digest of the content
   */
  tag?: string;
  /** The content already encoded; a coding that is here is not made again. */
  encoded?: Partial<Record<ContentCoding, Uint8Array<ArrayBuffer>>>;
}

/** A content that fits in one packet gains nothing from being encoded. */
const PACKET = 1400;

/** How much is digested at a time, in bytes: `crypto.subtle` copies all that it is given. */
const DIGESTED = 1_048_576;

/** How much is encoded at a time, in bytes. */
const PIECE = 65_536;

const encoder = new TextEncoder();

/**
 * Prepares a representation.
 *
 * @param content the bytes, or text to be encoded as UTF-8
 * @param init its media type, cache rule and further headers
 * @param platform what encodes brotli, if anything does
 */
export async function represent(
  content: string | Uint8Array<ArrayBuffer>,
  init: RepresentationInit,
  platform: Pick<Platform, "brotli"> = {},
): Promise<Representation> {
  const identity = typeof content === "string" ? encoder.encode(content) : content;
  const encoded = init.encoded ?? await encode(identity, platform);
  const variants: Partial<Record<ContentCoding, Variant>> = {};
  for (const coding of CODINGS) {
    const bytes = coding === "identity" ? identity : encoded[coding];
    if (bytes) variants[coding] = await variant(coding, bytes, init);
  }
  return { variants };
}

/** The first 128 bits of the SHA-256 of some bytes, or of their parts' where they are many, as base64url. */
export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  let digested = bytes;
  if (bytes.byteLength > DIGESTED) {
    const sums: ArrayBuffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += DIGESTED) {
      sums.push(await crypto.subtle.digest("SHA-256", bytes.subarray(at, at + DIGESTED)));
    }
    digested = new Uint8Array(sums.flatMap((sum) => [...new Uint8Array(sum)]));
  }
  const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", digested)).subarray(0, 16);
  return btoa(String.fromCharCode(...sum)).replaceAll("+", "-").replaceAll("/", "_").slice(0, 22);
}

async function variant(
  coding: ContentCoding,
  bytes: Uint8Array<ArrayBuffer>,
  init: RepresentationInit,
): Promise<Variant> {
  const tag = init.tag ?? await digest(bytes);
  const etag = coding === "identity" ? `"${tag}"` : `"${tag}-${coding}"`;
  // A cache that is told otherwise by a 304 would keep that.
  const { "cross-origin-resource-policy": policy } = init.headers ?? {};
  const validators = {
    "cache-control": init.cache,
    etag,
    vary: "Accept-Encoding",
    ...(policy && { "cross-origin-resource-policy": policy }),
  };
  const headers = {
    "content-type": init.type,
    "content-length": String(bytes.byteLength),
    ...(coding === "identity" ? {} : { "content-encoding": coding }),
    ...validators,
    ...init.headers,
  };
  return {
    etag,
    full: { status: init.status ?? 200, headers, body: bytes },
    notModified: { status: 304, headers: validators, body: null },
  };
}

/** The codings worth offering: none for a content of one packet, none that makes it longer. */
async function encode(
  bytes: Uint8Array<ArrayBuffer>,
  platform: Pick<Platform, "brotli">,
): Promise<Partial<Record<ContentCoding, Uint8Array<ArrayBuffer>>>> {
  if (bytes.byteLength <= PACKET) return {};
  const [gz, br] = await Promise.all([gzip(bytes), platform.brotli?.(bytes)]);
  const shorter = (encoded: Uint8Array | undefined) =>
    encoded !== undefined && encoded.byteLength < bytes.byteLength;
  return {
    ...(br && shorter(br) ? { br } : {}),
    ...(shorter(gz) ? { gzip: gz } : {}),
  };
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  // A `Blob` would be a copy of the whole.
  const pieces = new ReadableStream<BufferSource>({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close();
      controller.enqueue(bytes.subarray(at, at += PIECE));
    },
  });
  const stream = pieces.pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
