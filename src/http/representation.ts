/**
 * A representation (RFC 9110, section 3.2): a content in every coding, each with its headers. It is
 * made when the content changes, not for each request.
 *
 * @module
 */
import { CODINGS, type ContentCoding, encode, type Encoded } from "./content-coding.ts";
import { digest } from "./content-digest.ts";
import type { Answer } from "./message.ts";
import type { Status } from "./status.ts";

/** A representation in one content coding. */
export interface Variant {
  /** The strong validator, quotes included (RFC 9110, section 8.8.3). */
  readonly etag: string;
  readonly full: Answer & { readonly body: Uint8Array<ArrayBuffer> };
  /** The 304 answer, with the headers that it repeats (RFC 9110, section 15.4.5). */
  readonly notModified: Answer;
}

/** A content that is ready to be sent. */
export interface Representation {
  /** Always has `identity`. */
  readonly variants: Readonly<Partial<Record<ContentCoding, Variant>>>;
}

/** What describes a content. */
export interface RepresentationInit {
  type: string;
  cache: string;
  /** @default 200 */
  status?: Status;
  /** Additional headers, names in lower case. */
  headers?: Record<string, string>;
  /** The entity tag without quotes; unique for each content of a path. @default its digest */
  tag?: string;
  encoded?: Encoded;
}

const encoder = new TextEncoder();

/** Makes a representation of bytes, or of a text in UTF-8. */
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
    // A cache updates stored headers from a 304 (RFC 9111, section 3.2); `finish` would set its own.
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
