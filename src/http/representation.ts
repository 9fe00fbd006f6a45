/**
 * A representation (RFC 9110, section 3.2) that is prepared once: its bytes in every content coding
 * that it is offered in, each with the headers that go with it. It is made when the content changes,
 * not when it is asked for.
 *
 * @module
 */
import { CODINGS, type ContentCoding, encode, type Encoded } from "./content-coding.ts";
import { digest } from "./digest.ts";
import type { Answer } from "./message.ts";
import type { Status } from "./status.ts";

/** A representation in one coding, and what it is answered with. */
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
   * The inside of the validator, which no other content of the same path has.
   *
   * @default the digest of the content
   */
  tag?: string;
  /** The content already encoded; nothing is encoded then. */
  encoded?: Encoded;
}

const encoder = new TextEncoder();

/**
 * Prepares a representation.
 *
 * @param content the bytes, or text to be encoded as UTF-8
 * @param init its media type, cache rule and further headers
 */
export async function represent(
  content: string | Uint8Array<ArrayBuffer>,
  init: RepresentationInit,
): Promise<Representation> {
  const identity = typeof content === "string" ? encoder.encode(content) : content;
  const encoded = init.encoded ?? await encode(identity);
  const variants: Partial<Record<ContentCoding, Variant>> = {};
  for (const coding of CODINGS) {
    const bytes = coding === "identity" ? identity : encoded[coding];
    if (bytes) variants[coding] = await makeVariant(coding, bytes, init);
  }
  return { variants };
}

async function makeVariant(
  coding: ContentCoding,
  bytes: Uint8Array<ArrayBuffer>,
  { type, cache, status = 200, headers = {}, tag }: RepresentationInit,
): Promise<Variant> {
  const isEncoded = coding !== "identity";
  const etag = `"${tag ?? await digest(bytes)}${isEncoded ? `-${coding}` : ""}"`;
  const policy = headers["cross-origin-resource-policy"];
  const validators = {
    "cache-control": cache,
    etag,
    vary: "Accept-Encoding",
    // A cache would take another policy from the 304.
    ...(policy && { "cross-origin-resource-policy": policy }),
  };
  const all = {
    "content-type": type,
    "content-length": String(bytes.byteLength),
    ...(isEncoded && { "content-encoding": coding }),
    ...validators,
    ...headers,
  };
  return {
    etag,
    full: { status, headers: all, body: bytes, completed: [] },
    notModified: { status: 304, headers: validators, body: null, completed: [] },
  };
}
