/**
 * A representation (RFC 9110, section 3.2): its content, headers and validator in each content
 * coding.
 *
 * @module
 */
import Negotiator from "negotiator";
import type { Bytes } from "../bytes.ts";
import { memoize } from "../lazy.ts";
import {
  CODINGS,
  type ContentCoding,
  digest,
  encode,
  type Encoded,
  identityOf,
  type KeptContent,
} from "./content-coding.ts";
import {
  type CommonHeaders,
  completeHead,
  completeResponse,
  finish,
  type HttpStatus,
  problem,
} from "./response.ts";

export interface Representation {
  /** The variants always include `identity`. */
  readonly variants: Readonly<Partial<Record<ContentCoding, Variant>>>;
  /** Headers of the representation override common headers of the same name. */
  respond(
    request: Pick<Request, "method" | "headers">,
    common?: CommonHeaders,
  ): Response | Promise<Response>;
}

export interface Variant {
  /** The strong validator, including its quotes (RFC 9110, section 8.8.3). */
  readonly etag: string;
  readonly full: MakeHead;
  /** Makes the head of a 304 response, with the headers that RFC 9110, section 15.4.5, requires. */
  readonly notModified: MakeHead;
  /** The body is `undefined` if this coding is not stored. */
  readonly body: Bytes | undefined;
}

type MakeHead = (common: CommonHeaders) => ResponseInit;

interface RepresentationInit {
  type: string;
  cache: string;
  /** @default 200 */
  status?: HttpStatus;
  headers?: Record<string, string>;
  /**
   * The entity tag, without quotes. A change of the content requires a new tag. @default the
   * content's digest
   */
  tag?: string;
  encoded?: Encoded;
}

const encoder = new TextEncoder();

export async function represent(
  given: string | Bytes | KeptContent,
  init: RepresentationInit,
): Promise<Representation> {
  const { status = 200, encoded } = init;
  const content = typeof given === "object" && "codings" in given
    ? given
    : await withCodings(given, encoded);
  const variants: Partial<Record<ContentCoding, Variant>> = {};
  for (const coding of CODINGS) {
    const body = content.codings[coding];
    if (!body && coding !== "identity") continue;
    // If `identity` is not stored, its ETag is the digest of the gzip content.
    const tag = init.tag ?? await digest(body ?? content.codings.gzip!);
    variants[coding] = makeVariant(coding, body, body?.byteLength ?? content.size, tag, init);
  }
  const load = share(() => identityOf(content));
  const refuse = (status: 406 | 412, detail: string) =>
    problem(status, detail, { vary: "Accept-Encoding" });
  return {
    variants,
    respond(request, common = NOTHING) {
      const { method, headers } = request;
      const accept = headers.get("accept-encoding");
      const accepted = accept === null ? ["identity"] as const : acceptedCodings(accept);
      const coding = accepted.find((coding) => variants[coding]);
      const variant = coding && variants[coding];
      if (!variant) {
        const detail = "Accept-Encoding excludes every available coding, even identity";
        return finish(refuse(406, detail), common, request);
      }
      const { etag, full, notModified, body } = variant;
      // Preconditions apply only to responses that would otherwise be 2xx (RFC 9110, section
      // 13.2.1).
      const outcome = status === 200 ? evaluatePreconditions(headers, etag) : 200;
      if (outcome === 412) {
        const detail = "If-Match matches none of the current entity tags of this path";
        return finish(refuse(412, detail), common, request);
      }
      if (outcome === 304) return completeResponse(null, notModified(common));
      if (method === "HEAD") return completeResponse(null, full(common));
      if (body) return completeResponse(body, full(common));
      return load().then((body) => completeResponse(body, full(common)));
    },
  };
}

async function withCodings(content: string | Bytes, encoded?: Encoded): Promise<KeptContent> {
  const identity = typeof content === "string" ? encoder.encode(content) : content;
  const codings = { ...encoded ?? await encode(identity), identity };
  return { codings, size: identity.byteLength };
}

const NOTHING: CommonHeaders = { headers: {}, vary: undefined };

function makeVariant(
  coding: ContentCoding,
  body: Bytes | undefined,
  size: number,
  tag: string,
  { type, cache, status = 200, headers = {} }: RepresentationInit,
): Variant {
  const isEncoded = coding !== "identity";
  const etag = `"${tag}${isEncoded ? `-${coding}` : ""}"`;
  const policy = headers["cross-origin-resource-policy"];
  const validators = {
    "cache-control": cache,
    etag,
    vary: "Accept-Encoding",
    // A 304 also has this header, since caches update stored headers from a 304 (RFC 9111, section
    // 3.2).
    ...(policy && { "cross-origin-resource-policy": policy }),
  };
  const all = {
    "content-type": type,
    "content-length": String(size),
    ...(isEncoded && { "content-encoding": coding }),
    ...validators,
    ...headers,
  };
  return { etag, full: headMaker(status, all), notModified: headMaker(304, validators), body };
}

/** The cache needs no limit, since there are only a few sets of common headers. */
function headMaker(status: HttpStatus, own: Readonly<Record<string, string>>): MakeHead {
  const heads = new Map<CommonHeaders, ResponseInit>();
  return (common) => {
    const head = heads.get(common) ?? completeHead(status, own, common);
    heads.set(common, head);
    return head;
  };
}

/** Reuses the value of `make` until the value is garbage-collected. */
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

const acceptedCodings = memoize((accept): readonly ContentCoding[] =>
  new Negotiator({ headers: { "accept-encoding": accept } })
    .encodings(CODINGS, { preferred: CODINGS })
);

/** A member of a comma-separated list; commas between quotes do not separate members. */
const MEMBER = /(?:"[^"]*"|[^",]+|")+/g;

const ENTITY_TAG = /^(W\/)?("[\x21\x23-\x7e\x80-\xff]*")$/;

/**
 * Preconditions are evaluated in the order of RFC 9110, section 13.2.2. `If-Modified-Since` and
 * `If-Unmodified-Since` are ignored because no response has `Last-Modified`.
 */
function evaluatePreconditions(headers: Headers, etag: string): 200 | 304 | 412 {
  const match = headers.get("if-match");
  if (match !== null && !matchesEntityTag(match, etag, "strong")) return 412;
  const noneMatch = headers.get("if-none-match");
  return noneMatch !== null && matchesEntityTag(noneMatch, etag, "weak") ? 304 : 200;
}

function matchesEntityTag(list: string, etag: string, comparison: "strong" | "weak"): boolean {
  if (list === etag || list.trim() === "*") return true;
  for (const [member] of list.matchAll(MEMBER)) {
    const [, weak, tag] = ENTITY_TAG.exec(member.trim()) ?? [];
    if (tag === etag && !(weak && comparison === "strong")) return true;
  }
  return false;
}
