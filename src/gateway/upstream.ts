/**
 * Sends a request to the node, and reads its response within limits of size and memory.
 *
 * @module
 */
import { type Signal, withSignal } from "../abort-signal.ts";
import { type Bytes, createCollector } from "../bytes.ts";
import {
  isRedirect,
  type NodeRequest,
  type NodeResponse,
  type ResponseHead,
} from "../node/http1.ts";
import { CODES } from "../node/json-rpc.ts";
import type { Node } from "../node/node.ts";
import { formatSize } from "../units.ts";
import { type ReservedBytes, SMALL_BYTES } from "./budget.ts";
import {
  CREDENTIALS_REJECTED,
  CREDENTIALS_WANTED,
  FULL,
  Refusal,
  STREAMED,
  toUncertain,
} from "./refusal.ts";

export interface UpstreamAuth {
  /** True if the request is sent without the node's secret. */
  readonly isAnonymous: boolean;
  /** True if the request has credentials of the client. */
  readonly hasCredentials?: boolean;
}

export interface UpstreamLimits {
  /** The number of bytes that the response may have. */
  readonly bytesLeft: number;
  /** The number with which `bytesLeft` began: the setting `forward.limit`, or less. */
  readonly limit: number;
  /** The number of bytes after which the rest is left to whoever sends the response. */
  readonly collect: number;
  /** The bytes that have been read, as they count against the budget. */
  readonly reserved: ReservedBytes;
  /** Aborted when nobody waits for the response any more. */
  readonly stop: Signal;
}

const DRAIN_MAX = 65_536;
const EVENTS = /^ *text\/event-stream *(?:;|$)/i;

/** Resolves when the response has ended or is longer than `limits.collect` bytes. */
export async function sendUpstream(
  node: Pick<Node, "send">,
  request: NodeRequest,
  { isAnonymous, hasCredentials = false }: UpstreamAuth,
  limits: UpstreamLimits,
): Promise<UpstreamResponse> {
  const response = await node.send(request, ({ response, rejection, isSecret }) => {
    // A 403 from the node is passed on, since the node may refuse only this call. A 401 is about
    // the service's credentials, unless the client sent its own.
    if (!rejection || response.status === 403 || hasCredentials) return response;
    response.cancel();
    throw isSecret ? CREDENTIALS_REJECTED : CREDENTIALS_WANTED;
  }, { isAnonymous });
  const upstream = new UpstreamResponse(request.method, response, limits);
  await upstream.collect();
  return upstream;
}

export class UpstreamResponse {
  /** What has been read, without the parts that were sent already. */
  parts: Bytes[] = [];
  /** True if `parts` has all bytes. */
  isWhole = false;
  /** The number of bytes that have been read. */
  size = 0;
  readonly #method: string;
  readonly #response: NodeResponse;
  readonly #limits: UpstreamLimits;
  constructor(method: string, response: NodeResponse, limits: UpstreamLimits) {
    this.#method = method;
    this.#response = response;
    this.#limits = limits;
  }

  get status(): number {
    return this.#response.status;
  }

  get headers(): ResponseHead["headers"] {
    return this.#response.headers;
  }

  /** The size with chunk framing. */
  get received(): number {
    return this.#response.received();
  }

  /** @throws {Refusal} if the response cannot be passed on, or the budget has no room for it */
  async collect(): Promise<void> {
    const { collect, reserved, stop } = this.#limits;
    const collector = createCollector();
    try {
      this.#checkHead();
      while (!this.isWhole && this.size <= collect) {
        const read = this.#read();
        const part = read instanceof Promise ? await read : read;
        if (stop.aborted) return;
        if (!part) this.isWhole = true;
        else if (reserved.set(Math.max(this.received, SMALL_BYTES))) collector.push(part);
        else throw toUncertain(FULL);
      }
      this.parts = collector.empty();
    } catch (error) {
      this.#response.cancel();
      throw error;
    }
  }

  /** Rejects if the response breaks off or is too long, or if nobody waits for it any more. */
  async next(): Promise<Bytes | undefined> {
    return await withSignal(Promise.resolve(this.#read()), this.#limits.stop);
  }

  /**
   * Reads and discards the rest, whose end tells that the node has finished. A node that is sending
   * more notices a closed connection.
   */
  async drain(): Promise<void> {
    const before = this.size;
    try {
      for (let part = await this.#read(); part; part = await this.#read()) {
        if (this.size - before > DRAIN_MAX) return this.#response.cancel();
      }
    } catch {
      // An error also ends the response.
    }
  }

  #read(): Bytes | undefined | Promise<Bytes | undefined> {
    const part = this.#response.next();
    return part instanceof Promise ? part.then((part) => this.#count(part)) : this.#count(part);
  }

  #count(part: Bytes | undefined): Bytes | undefined {
    const { bytesLeft } = this.#limits;
    this.size += part?.byteLength ?? 0;
    // An eighth is allowed for chunk framing.
    if (this.size > bytesLeft || this.received > bytesLeft * 1.125 + SMALL_BYTES) {
      this.#response.cancel();
      throw this.#tooLong();
    }
    return part;
  }

  /** @throws {Refusal} if the response must not be read */
  #checkHead(): void {
    const { status, headers } = this.#response;
    if (isRedirect(status)) {
      throw unusableResponse("The node responded with a redirect, which is not followed");
    }
    const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
    if (coding !== "identity") {
      throw unusableResponse("The node compressed its response without being asked to");
    }
    // Without content, type and length are those of what a GET gets (RFC 9110, section 8.6).
    if (this.#method === "HEAD" || status === 204 || status === 304) return;
    const length = headers.get("content-length");
    const isStream = status < 300 && length === null &&
      EVENTS.test(headers.get("content-type") ?? "");
    if (isStream) throw STREAMED;
    if (Number(length) > this.#limits.bytesLeft) throw this.#tooLong();
  }

  #tooLong(): Refusal {
    const limit = formatSize(this.#limits.limit);
    return unusableResponse(
      `The node's response is longer than ${limit}, the maximum; see "forward.limit"`,
    );
  }
}

const unusableResponse = (message: string): Refusal =>
  new Refusal(502, CODES.notReached, message, { isUncertain: true });
