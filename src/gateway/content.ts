/**
 * Reads the content of a call, with limits on size and time.
 *
 * @module
 */
import { LightSignal } from "../abort-signal.ts";
import { type Bytes, createCollector, isInTinyParts, joinBytes } from "../bytes.ts";
import {
  declaresContent,
  READ_BY_HOST,
  type ReadChunks,
  type ServedRequest,
} from "../http/request.ts";
import type { Speed } from "../throughput.ts";
import { formatSize } from "../units.ts";
import type { ReservedBytes } from "./budget.ts";
import { FULL, invalidCall, type Refusal } from "./refusal.ts";

/** The maximum length of a content that is read as JSON, in bytes. */
export const JSON_MAX: number = 1024 * 1024;
/** The same for a client with a token: a block, or a transaction with blobs, has megabytes. */
export const NAMED_JSON_MAX: number = 16 * JSON_MAX;

/** The maximum nesting depth of JSON that is read. */
export const CALL_DEPTH_MAX = 64;

/**
 * The minimum speed of a request's content until it has arrived whole, and of a response that is
 * sent while other calls wait for a slot.
 */
export const MIN_CALL_RATE: Speed = { bytes: 65_536, timeMs: 10_000 };

/** The number of bytes, and the time, for which a refused content is read. */
const DISCARDED_MAX = 32 * 1024 * 1024, DISCARDING_MS = 10_000;
/** A refused content that has stopped arriving for this time is not waited for. */
const QUIET_MS = 500;

export interface Content {
  readonly bytes: Bytes | undefined;
  /** The media type in lower case, without parameters. */
  readonly type: string | undefined;
}

const NO_CONTENT: Content = { bytes: undefined, type: undefined };

const LATE = invalidCall("The content of the call did not arrive in time", 408);
const TINY = invalidCall("The content of the call arrived in too many small parts");
const BROKEN = invalidCall("The content of the call is incomplete");
const LOST = invalidCall("This server cannot read the content of a call with this method", 501);
const ENCODED = invalidCall("The content of a call must not be encoded", 415);

/** @throws {Refusal} if the content is encoded, for example compressed */
export function refuseEncoded({ headers }: Pick<Request, "headers">): void {
  if (headers.has("content-encoding")) throw ENCODED;
}

/** The content of a call. */
export class CallContent {
  readonly #request: ServedRequest;
  #hasBegun = false;
  #isRead = false;
  constructor(request: ServedRequest) {
    this.#request = request;
  }

  /** True if bytes of it may still be on the connection. */
  get isUnread(): boolean {
    return !this.#isRead && declaresContent(this.#request);
  }

  /**
   * Reads and drops a content that was refused unread, unless the server does so or it stops
   * arriving. Many clients read the response only after they have sent all.
   */
  async discard(): Promise<void> {
    const request = this.#request;
    const { headers } = request;
    const isLong = Number(headers.get("content-length")) > DISCARDED_MAX;
    if (this.#hasBegun || request.drainsContent || isLong) return;
    const readChunks = request.readChunks ??
      (isReadByHost(request) ? undefined : readerOf(request));
    if (!readChunks) return;
    const stop = new LightSignal();
    const discarding = new Discarding(stop);
    await readChunks((part) => discarding.accept(part), stop).catch(() => {});
    discarding.end();
  }

  /**
   * @param reserved counts the bytes that have arrived
   * @param types the allowed content types, in lower case, where `""` allows a missing header;
   * `any` allows content of any type and coding
   * @param sizeMax the maximum length of content of an allowed type, in bytes
   * @throws {Refusal} if the content is not allowed, or does not arrive
   */
  async read(
    reserved: ReservedBytes,
    types: readonly string[] | "any",
    sizeMax: number = JSON_MAX,
  ): Promise<Content> {
    const request = this.#request;
    const { headers } = request;
    const isAny = types === "any";
    // A lenient parser would mistake the bytes of an unknown transfer coding for the content.
    const transferred = headers.get("transfer-encoding") ?? "chunked";
    if (transferred.toLowerCase() !== "chunked") throw ENCODED;
    if (!isAny) refuseEncoded(request);
    const type = (headers.get("content-type") ?? "").split(";")[0]!.trim().toLowerCase();
    const isTaken = isAny || types.includes(type);
    const declared = Number(headers.get("content-length"));
    if (!isTaken && declared > 0) throw wrongType(types);
    const readChunks = (request.bodyUsed ? undefined : request.readChunks) ?? readerOf(request);
    if (!readChunks) {
      if (declaresContent(request)) throw LOST;
      this.#isRead = true;
      return NO_CONTENT;
    }
    // Empty content is accepted whatever its type. If `content-length` is missing, the content must
    // be read to find out whether it is empty.
    const most = isTaken ? Math.min(sizeMax, reserved.most) : 0;
    if (declared > most) throw tooLarge(most);
    this.#hasBegun = true;
    const isDiscarded = !request.drainsContent && declaresContent(request);
    const limit = { most, types: isTaken ? undefined : types, isDiscarded };
    const bytes = await new ArrivingContent(reserved, limit).read(readChunks);
    this.#isRead = true;
    if (bytes.byteLength > 0) return { bytes, type };
    // Bun 1.4 drops the content of GET and HEAD.
    if (declared > 0) throw LOST;
    return NO_CONTENT;
  }
}

const tooLarge = (most: number): Refusal =>
  invalidCall(`The content of this call may have at most ${formatSize(most)}`, 413);

const wrongType = (types: readonly string[]): Refusal =>
  invalidCall(
    types.length === 0
      ? "This operation accepts no content"
      : `The content of this call must be ${types.filter(Boolean).join(" or ")}`,
    415,
  );

const isReadByHost = ({ bodyUsed, body }: Request): boolean => bodyUsed || body?.locked === true;

/** @throws if the host has begun to read the content */
function readerOf(request: Request): ReadChunks | undefined {
  if (isReadByHost(request)) throw new Error(READ_BY_HOST);
  const { body } = request;
  return body === null ? undefined : async (accept, stop) => {
    const reader = body.getReader() as ReadableStreamDefaultReader<Bytes>;
    // Node 20 crashes if a stream is cancelled while it delivers a part, so this stream is
    // cancelled later.
    const cancel = () => void setTimeout(() => void reader.cancel().catch(() => {}), 0);
    stop.addEventListener("abort", cancel);
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      if (!accept(value)) return cancel();
    }
  };
}

/** Drops what is left of a refused content. */
class Discarding {
  readonly #stop: LightSignal;
  readonly #timer: ReturnType<typeof setTimeout>;
  #quiet: ReturnType<typeof setTimeout>;
  #length = 0;
  #count = 0;

  /** @param stop is aborted when nothing more is waited for */
  constructor(stop: LightSignal) {
    this.#stop = stop;
    this.#timer = setTimeout(() => stop.abort(), DISCARDING_MS);
    this.#quiet = setTimeout(() => stop.abort(), QUIET_MS);
  }

  /** Returns false if there is too much. */
  accept(part: Bytes): boolean {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.#stop.abort(), QUIET_MS);
    this.#length += part.byteLength;
    return this.#length <= DISCARDED_MAX && !isInTinyParts(++this.#count, this.#length);
  }

  end(): void {
    clearTimeout(this.#timer);
    clearTimeout(this.#quiet);
  }
}

interface LengthLimit {
  /** The maximum number of bytes. */
  readonly most: number;
  /** The types that longer content must have; `undefined` if it has one of them. */
  readonly types: readonly string[] | undefined;
  /** Whether the rest is read then: see {@linkcode CallContent.discard}. */
  readonly isDiscarded: boolean;
}

/** A content within limits of length, parts and time. */
class ArrivingContent {
  /** Aborted when nothing more is waited for. */
  readonly #stop = new LightSignal();
  readonly #reserved: ReservedBytes;
  readonly #limit: LengthLimit;
  readonly #parts = createCollector();
  #length = 0;
  #count = 0;
  /** The length that must have arrived when the timer ends. */
  #wanted = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #refusal: Refusal | undefined;
  /** Takes the rest of a content that is too long. */
  #discarding: Discarding | undefined;
  constructor(reserved: ReservedBytes, limit: LengthLimit) {
    this.#reserved = reserved;
    this.#limit = limit;
    this.#startPeriod();
  }

  /** @throws {Refusal} if the content is refused, or does not arrive */
  async read(readChunks: ReadChunks): Promise<Bytes> {
    await readChunks((part) => this.#accept(part), this.#stop).catch(() => this.#refuse(BROKEN));
    clearTimeout(this.#timer);
    this.#discarding?.end();
    if (this.#refusal) throw this.#refusal;
    return joinBytes(this.#parts.empty());
  }

  /** Returns false if nothing more is wanted. */
  #accept(part: Bytes): boolean {
    if (this.#discarding) return this.#discarding.accept(part);
    this.#length += part.byteLength;
    this.#count++;
    if (this.#length >= this.#wanted) this.#startPeriod();
    if (this.#length > this.#limit.most) return this.#refuseLonger();
    if (isInTinyParts(this.#count, this.#length)) this.#refuse(TINY);
    else if (!this.#reserved.set(this.#length)) this.#refuse(FULL);
    else this.#parts.push(part);
    return this.#refusal === undefined;
  }

  /** The first reason counts. */
  #refuse(reason: Refusal): void {
    this.#refusal ??= reason;
  }

  #startPeriod(): void {
    clearTimeout(this.#timer);
    this.#wanted = this.#length + MIN_CALL_RATE.bytes;
    this.#timer = setTimeout(() => {
      this.#refuse(LATE);
      this.#stop.abort();
    }, MIN_CALL_RATE.timeMs);
  }

  /** Returns false unless the rest is taken, and dropped. */
  #refuseLonger(): boolean {
    const { most, types, isDiscarded } = this.#limit;
    this.#refuse(types ? wrongType(types) : tooLarge(most));
    if (!isDiscarded) return false;
    clearTimeout(this.#timer);
    this.#parts.empty();
    this.#reserved.set(0);
    this.#discarding = new Discarding(this.#stop);
    return true;
  }
}
