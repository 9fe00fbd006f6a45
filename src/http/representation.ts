/**
 * A representation (RFC 9110, section 3.2): its content, headers and validator, with and without
 * the content coding gzip.
 *
 * @module
 */
import Negotiator from "negotiator";
import type { Bytes } from "../bytes.ts";
import { memoize } from "../lazy.ts";
import { digest, type KeptContent, withGzip } from "./content-coding.ts";
import type { CommonHeaders } from "./common-headers.ts";
import { type HttpStatus, PreparedHead } from "./response.ts";

export interface RepresentationInit {
  type: string;
  cache: string;
  /** @default 200 */
  status?: HttpStatus;
  headers?: Readonly<Record<string, string>>;
  /**
   * The entity tag, without quotes. A change of the content requires a new tag. @default the
   * content's digest
   */
  tag?: string;
}

export async function represent(
  content: string | Bytes | KeptContent,
  init: RepresentationInit,
): Promise<Representation> {
  const kept = typeof content === "object" && "identity" in content
    ? content
    : await withGzip(content);
  return new Representation(kept, init.tag ?? await digest(kept.identity), init);
}

export class Representation {
  readonly #plain: Variant;
  readonly #gzip: Variant | undefined;

  constructor({ identity, gzip }: KeptContent, tag: string, init: RepresentationInit) {
    this.#plain = new Variant(identity, `"${tag}"`, init);
    this.#gzip = gzip && new Variant(gzip, `"${tag}-gzip"`, init, { "content-encoding": "gzip" });
  }

  /** The strong validator of the content without a coding (RFC 9110, section 8.8.3). */
  get etag(): string {
    return this.#plain.etag;
  }

  /** Headers of the representation override common headers of the same name. */
  respond({ headers }: Pick<Request, "headers">, common: CommonHeaders): Response {
    const isCompressed = this.#gzip && acceptsGzip(headers);
    const { etag, body, full, notModified } = isCompressed ? this.#gzip! : this.#plain;
    if (notModified && namesTag(headers.get("if-none-match"), etag)) {
      return notModified.respond(common, null);
    }
    return full.respond(common, body);
  }
}

class Variant {
  readonly body: Bytes;
  /** Includes its quotes. */
  readonly etag: string;
  readonly full: PreparedHead;
  /**
   * The head of a 304 response, with the headers that RFC 9110, section 15.4.5, requires.
   * Conditions apply only to responses that would otherwise be 2xx (section 13.2.1).
   */
  readonly notModified: PreparedHead | undefined;

  constructor(
    body: Bytes,
    etag: string,
    { type, cache, status = 200, headers = {} }: RepresentationInit,
    coding: Readonly<Record<string, string>> = {},
  ) {
    this.body = body;
    this.etag = etag;
    const policy = headers["cross-origin-resource-policy"];
    const validators = {
      "cache-control": cache,
      etag,
      vary: "Accept-Encoding",
      // Caches update stored headers from a 304 (RFC 9111, section 3.2).
      ...policy && { "cross-origin-resource-policy": policy },
    };
    this.full = new PreparedHead(status, {
      "content-type": type,
      "content-length": String(body.byteLength),
      ...coding,
      ...validators,
      ...headers,
    });
    this.notModified = status === 200 ? new PreparedHead(304, validators) : undefined;
  }
}

const CODINGS = ["gzip", "identity"];

export const acceptsGzip = (headers: Headers): boolean =>
  prefersGzip(headers.get("accept-encoding") ?? "");

const prefersGzip = memoize((accept) => {
  const negotiator = new Negotiator({ headers: { "accept-encoding": accept } });
  return negotiator.encodings(CODINGS, { preferred: CODINGS })[0] === "gzip";
});

/** A member of a comma-separated list; commas between quotes do not separate members. */
const MEMBER = /(?:"[^"]*"|[^",]+|")+/g;

/**
 * Tells whether `If-None-Match` names the current tag (RFC 9110, section 13.1.2).
 * `If-Modified-Since` is ignored, because no response has `Last-Modified`.
 */
function namesTag(list: string | null, etag: string): boolean {
  if (list === null) return false;
  return list.trim() === "*" ||
    [...list.matchAll(MEMBER)].some(([tag]) => tag.trim().replace(/^W\//, "") === etag);
}
