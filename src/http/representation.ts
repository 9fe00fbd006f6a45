/**
 * A representation (RFC 9110, section 3.2): a content in every coding, each with its headers. It is
 * made when the content changes, not for each request.
 *
 * @module
 */
import {
  CODINGS,
  type ContentCoding,
  encode,
  type Encoded,
  identityOf,
  type KeptContent,
} from "./encode-content.ts";
import { digest } from "./content-digest.ts";
import type { Answer } from "./message.ts";
import type { Status } from "./status.ts";

/** A representation in one content coding. */
export interface Variant {
  /** The strong validator, quotes included (RFC 9110, section 8.8.3). */
  readonly etag: string;
  readonly full: Answer;
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

/** Makes a representation of bytes, of a text in UTF-8, or of a content that is kept. */
export async function represent(
  content: string | Uint8Array<ArrayBuffer> | KeptContent,
  init: RepresentationInit,
): Promise<Representation> {
  if (typeof content === "object" && "codings" in content) {
    return await representKept(content, init);
  }
  const identity = typeof content === "string" ? encoder.encode(content) : content;
  const codings = { ...init.encoded ?? await encode(identity), identity };
  return await representKept({ codings, size: identity.byteLength }, init);
}

async function representKept(
  content: KeptContent,
  init: RepresentationInit,
): Promise<Representation> {
  const variants: Partial<Record<ContentCoding, Variant>> = {};
  for (const coding of CODINGS) {
    const body = content.codings[coding];
    if (body) {
      const source = { body, size: body.byteLength, tag: init.tag ?? await digest(body) };
      variants[coding] = makeVariant(coding, source, init);
    } else if (coding === "identity") {
      // Another content has another gzip.
      const tag = init.tag ?? await digest(content.codings.gzip!);
      const source = {
        body: null,
        size: content.size,
        tag,
        load: share(() => identityOf(content)),
      };
      variants[coding] = makeVariant(coding, source, init);
    }
  }
  return { variants };
}

/** What is made anew when nobody has it any more: all slow clients have the same. */
function share<T extends WeakKey>(make: () => Promise<T>): () => Promise<T> {
  let last: WeakRef<T> | undefined;
  let making: Promise<T> | undefined;
  const makeAgain = async () => {
    try {
      const made = await make();
      last = new WeakRef(made);
      return made;
    } finally {
      making = undefined;
    }
  };
  return async () => last?.deref() ?? await (making ??= makeAgain());
}

/** The body of a variant, or how it is made, its size in bytes, and the beginning of its entity tag. */
type Source = Pick<Answer, "body" | "load"> & { readonly size: number; readonly tag: string };

function makeVariant(
  coding: ContentCoding,
  { body, load, size, tag }: Source,
  { type, cache, status = 200, headers = {} }: RepresentationInit,
): Variant {
  const isEncoded = coding !== "identity";
  const etag = `"${tag}${isEncoded ? `-${coding}` : ""}"`;
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
    "content-length": String(size),
    ...(isEncoded && { "content-encoding": coding }),
    ...validators,
    ...headers,
  };
  return {
    etag,
    full: { status, headers: all, body, ...load && { load }, completed: [] },
    notModified: { status: 304, headers: validators, body: null, completed: [] },
  };
}
