/**
 * Sends a call to the node, with its secret, and reads the answer: what is short is collected, the rest streams.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import type { Attempt, Auth } from "../info/sources/give-credentials.ts";
import { type CallOut, type IncomingAnswer, SHOWS_BREAKS } from "../call-out-for-gateway.ts";
import type { Budget } from "./bytes-under-way.ts";

/** A call as the node gets it. */
export interface UpstreamRequest {
  readonly method: string;
  /** Below the node's URL, with its query. */
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
}

/** The answer of the node, of which no more is read than somebody wants. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** The first bytes, as they came, and whether these are all. */
  readonly parts: readonly Bytes[];
  readonly isWhole: boolean;
  /** How many these are. */
  readonly size: number;
  /** The length of the whole answer, in bytes, where the node says it. */
  readonly length: number | undefined;
  /** Reads the next bytes; `undefined` at the end. Rejects where the answer breaks off or is too long. */
  next(): Promise<Bytes | undefined>;
  /** Lets go of what was read, and of the rest. May be called again. */
  release(): void;
}

/** Why there is no answer of the node. */
export class UpstreamError extends Error {
  override name = "UpstreamError";
  readonly status: 502 | 503 | 504;
  /** Whether the node has surely not carried out what was asked for. */
  readonly wasRefused: boolean;

  constructor(status: 502 | 503 | 504, message: string, wasRefused = false) {
    super(message);
    this.status = status;
    this.wasRefused = wasRefused;
  }
}

/** What calls are sent with. */
export interface Upstream {
  readonly callOut: CallOut;
  readonly auth: Auth;
  /** The longest answer, in bytes. */
  readonly limit: number;
  readonly budget: Budget;
}

/**
 * Sends a call. Where the node wants another secret it is sent again, since it was not carried out.
 *
 * @param isRead whether it may also be sent again where a kept connection turns out to be closed
 * @param collect how many bytes are read before this resolves; all of them where a client could not see that the rest
 * breaks off
 * @param signal ends it
 * @throws {UpstreamError} if there is no answer that can be passed on
 */
export async function callNode(
  { callOut, auth, limit, budget }: Upstream,
  request: UpstreamRequest,
  isRead: boolean,
  collect: number,
  signal: AbortSignal,
): Promise<UpstreamAnswer> {
  const answer = await auth.exchange(
    () => send(callOut, auth, request, isRead, signal),
    signal,
  );
  const { status, headers } = answer;
  const said = lengthOf(answer);
  let read = 0;
  let held = 0;
  let isWhole = false;
  const release = () => {
    budget.giveBack(held);
    held = 0;
    if (!isWhole) answer.cancel();
  };
  const next = async () => {
    const part = await answer.next();
    read += part?.byteLength ?? 0;
    if (read > limit) {
      answer.cancel();
      throw new UpstreamError(502, TOO_LONG);
    }
    return part;
  };
  try {
    const refusal = refusalOf(answer, limit);
    if (refusal !== undefined) throw new UpstreamError(502, refusal);
    const most = said === undefined && !SHOWS_BREAKS ? limit : collect;
    const parts: Bytes[] = [];
    while (!isWhole && read <= most) {
      const part = await next();
      if (!part) isWhole = true;
      else if (budget.take(part.byteLength)) {
        held += part.byteLength;
        parts.push(part);
      } else throw new UpstreamError(503, "Too many answers are under way");
    }
    return { status, headers, parts, isWhole, size: held, length: said, next, release };
  } catch (error) {
    release();
    throw error;
  }
}

const TOO_LONG = "The answer of the node is longer than is passed on";

/** Why an answer is not read; `undefined` where it is. */
function refusalOf({ status, headers }: IncomingAnswer, limit: number): string | undefined {
  // The `fetch` of browsers says 0.
  if (status === 0 || (status >= 300 && status < 400)) {
    return "The node redirects, which is not followed";
  }
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") return "The node encodes its answer, though nobody asked for that";
  return (lengthOf({ headers }) ?? 0) > limit ? TOO_LONG : undefined;
}

function lengthOf({ headers }: Pick<IncomingAnswer, "headers">): number | undefined {
  const text = headers.get("content-length");
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Sends it, and again with another secret while the node refuses. */
async function send(
  callOut: CallOut,
  auth: Auth,
  { method, url, headers, body }: UpstreamRequest,
  isRead: boolean,
  signal: AbortSignal,
): Promise<IncomingAnswer> {
  const first = auth.first({ url: url.href, method });
  let attempt = "next" in first ? first : await first;
  // With HTTP Digest, some nodes have a nonce for each connection.
  const once = isRead ? undefined : {};
  for (;;) {
    const all = { "accept-encoding": "identity", ...headers, ...inLowerCase(attempt.headers) };
    const answer = await callOut({ method, url, headers: all, body, signal, once });
    const { status } = answer;
    if (status !== 401 && status !== 403) return answer;
    try {
      attempt = await attempt.next({ status, headers: answer.headers });
    } catch {
      // A node without a secret says itself who may do what.
      if (status === 403) return answer;
      answer.cancel();
      throw new UpstreamError(502, "The node wants another secret", true);
    }
    await discard(answer);
  }
}

/** Else a secret and a header of the visitor that differ in letter case would become one of both. */
function inLowerCase(headers: Attempt["headers"]): Record<string, string> {
  const lower: Record<string, string> = {};
  for (const name in headers) lower[name.toLowerCase()] = headers[name]!;
  return lower;
}

/** How much of a refusal is read, in bytes. */
const REFUSAL_MAX = 65_536;

/** Reads what is short, so that its connection can be used again. */
async function discard(answer: IncomingAnswer): Promise<void> {
  for (let length = 0; length < REFUSAL_MAX;) {
    const part = await answer.next();
    if (!part) return;
    length += part.byteLength;
  }
  answer.cancel();
}
