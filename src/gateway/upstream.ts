/**
 * Sends a call to the node, with its secret, and reads the answer: what is short is collected, the rest streams.
 *
 * @module
 */
import { joinBytes } from "../bytes.ts";
import type { Attempt, Auth } from "../info/sources/credentials.ts";
import { withSignal } from "../with-timeout.ts";
import type { Budget } from "./budget.ts";

/** A call as the node gets it. */
export interface UpstreamRequest {
  readonly method: string;
  /** Below the node's URL, with its query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer> | undefined;
}

/** The answer of the node, of which no more is read than somebody wants. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The first bytes, and whether these are all. */
  readonly start: Uint8Array<ArrayBuffer>;
  readonly isWhole: boolean;
  /** Reads the next bytes; `undefined` at the end. Rejects where the answer breaks off or is too long. */
  next(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Lets go of what was read, and of the rest. */
  release(): void;
}

/** Why there is no answer of the node. */
export class UpstreamError extends Error {
  override name = "UpstreamError";
  readonly status: 502 | 503 | 504;

  constructor(status: 502 | 503 | 504, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** What calls are sent with. */
export interface Upstream {
  readonly fetch: typeof fetch;
  readonly auth: Auth;
  /** The longest answer, in bytes. */
  readonly limit: number;
  readonly budget: Budget;
}

/** Keeps Bun from unpacking an answer before anybody can refuse it. */
const PACKED = { decompress: false };

/**
 * Sends a call once. Only where the node wants another secret it is sent again.
 *
 * @param collect how many bytes are read before this resolves
 * @param signal ends it
 * @throws {UpstreamError} if there is no answer that can be passed on
 */
export async function callNode(
  { fetch, auth, limit, budget }: Upstream,
  request: UpstreamRequest,
  collect: number,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const response = await auth.exchange(() => send(fetch, auth, request, signal), signal);
  const { status, headers } = response;
  const reader = response.body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => {});
  const refuse = (message: string): never => {
    cancel();
    throw new UpstreamError(502, message);
  };
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    refuse("The node redirects, which is not followed");
  }
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") refuse("The node encodes its answer, though nobody asked for that");
  const said = Number(headers.get("content-length") ?? 0);
  if (said > limit) refuse("The answer of the node is longer than is passed on");

  let length = 0;
  const next = async () => {
    const { done, value } = await withSignal(reader!.read(), signal);
    if (done) return undefined;
    length += value.byteLength;
    if (length > limit) {
      cancel();
      throw new UpstreamError(502, "The answer of the node is longer than is passed on");
    }
    return value as Uint8Array<ArrayBuffer>;
  };
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let isWhole = !reader;
  while (!isWhole && length <= collect) {
    const part = await next();
    if (!part) isWhole = true;
    else {
      if (!budget.take(part.byteLength)) {
        budget.giveBack(length - part.byteLength);
        cancel();
        throw new UpstreamError(503, "Too many answers are under way");
      }
      parts.push(part);
    }
  }
  let held = length;
  return {
    ...{ status, headers, isWhole, next },
    start: joinBytes(parts),
    release() {
      budget.giveBack(held);
      held = 0;
      cancel();
    },
  };
}

/** Sends it, and again with another secret while the node refuses. */
async function send(
  fetch: Upstream["fetch"],
  auth: Auth,
  { method, url, headers, body }: UpstreamRequest,
  signal: AbortSignal,
): Promise<Response> {
  let attempt: Attempt = await auth.first({ url, method: method as "GET" | "POST" });
  for (;;) {
    const response = await withSignal(
      fetch(url, {
        method,
        headers: { "accept-encoding": "identity", ...headers, ...attempt.headers },
        body: body ?? null,
        redirect: "manual",
        signal,
        ...PACKED,
      }),
      signal,
    );
    const { status } = response;
    if (status !== 401 && status !== 403 && status !== 407) return response;
    if (status === 407) return response;
    try {
      attempt = await attempt.next({ status, headers: response.headers });
    } catch (error) {
      // A node without a secret says itself who may do what.
      if (status === 403) return response;
      await response.body?.cancel().catch(() => {});
      throw new UpstreamError(502, "The node wants another secret", { cause: error });
    }
    await response.body?.cancel().catch(() => {});
  }
}
