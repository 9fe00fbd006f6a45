/**
 * Sends a call to the node, with its secret, and reads the answer: what is short is collected, the rest streams.
 *
 * @module
 */
import { type Bytes, createCollector } from "../bytes.ts";
import type { Credentials } from "../node/credentials.ts";
import type { Client, NodeResponse, RequestContent } from "../node/http1.ts";
import { SMALL } from "./bytes-under-way.ts";
import { sizeText } from "./forward-settings.ts";
import type { Signal } from "../with-timeout.ts";

/** The answer of the node, of which no more is read than somebody wants. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** The first bytes, as they came, and whether these are all. */
  readonly parts: readonly Bytes[];
  readonly isWhole: boolean;
  /** How many these are, and how many have come on the wire for them. */
  readonly size: number;
  readonly received: number;
  /** Reads the next bytes; `undefined` at the end. Rejects where the answer breaks off or is too long. */
  next(): Promise<Bytes | undefined>;
  /** Reads the rest, up to the limit, and keeps nothing of it; resolves when the node has said all. */
  drain(): Promise<void>;
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
  readonly client: Client;
  readonly credentials: Credentials;
  /** The longest response in bytes: as it is set, and what other responses have left of it. */
  readonly limit: { readonly all: number; readonly left: number };
  /** Takes room for what has come, in bytes; `false` if there is none. */
  readonly grow: (received: number) => boolean;
}

/** What ends a call. */
export interface CallSignals {
  /** That nobody waits for the response: what comes is not kept. */
  readonly left: Signal;
  /** That the node is not waited for any longer: its connection is closed. */
  readonly node: Signal;
}

/**
 * Sends a call. Where the node wants another secret it is sent again, since it was not carried out.
 *
 * @param isRead whether it may also be sent again where a kept connection turns out to be closed
 * @param collect how many bytes are read before this resolves
 * @throws {UpstreamError} if there is no answer that can be passed on
 */
export async function callNode(
  { client, credentials, limit, grow }: Upstream,
  request: RequestContent,
  isRead: boolean,
  collect: number,
  { left: gone, node }: CallSignals,
): Promise<UpstreamAnswer> {
  const sent = { ...request, signal: node, isOnce: !isRead };
  const answer = await credentials.exchange(client, sent, ({ response, refusal }) => {
    // A node without a secret says itself who may do what.
    if (!refusal || response.status === 403) return response;
    response.cancel();
    throw new UpstreamError(502, "The node wants another secret", true);
  });
  const { status, headers } = answer;
  let size = 0;
  let isWhole = false;
  const next = async () => {
    const part = await answer.next();
    size += part?.byteLength ?? 0;
    // What stands around chunks counts where there is more of it than of any that are worth it.
    if (size > limit.left || answer.received() > limit.left * 1.125 + SMALL) {
      answer.cancel();
      throw new UpstreamError(502, tooLong(limit.all));
    }
    return part;
  };
  const drain = async () => {
    try {
      while (await next());
    } catch {
      // It has ended as well.
    }
  };
  try {
    const refusal = refusalOf(answer, limit);
    if (refusal !== undefined) throw new UpstreamError(502, refusal);
    const come = createCollector();
    while (!isWhole && size <= collect) {
      const part = await next();
      if (gone.aborted) break;
      if (!part) isWhole = true;
      else if (grow(answer.received())) come.push(part);
      else throw new UpstreamError(503, "Too many bytes are under way");
    }
    const received = answer.received();
    const parts = gone.aborted ? [] : come.take();
    return { status, headers, parts, isWhole, size, received, next, drain };
  } catch (error) {
    answer.cancel();
    throw error;
  }
}

const tooLong = (limit: number) =>
  `The response of the node is longer than ${
    sizeText(limit)
  }; "forward.limit" sets how long it may be`;

/** Why an answer is not read; `undefined` where it is. */
function refusalOf(
  { status, headers }: NodeResponse,
  { all, left }: Upstream["limit"],
): string | undefined {
  if (status >= 300 && status < 400) {
    return "The node redirects, which is not followed";
  }
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (coding !== "identity") return "The node encodes its answer, though nobody asked for that";
  return (lengthOf({ headers }) ?? 0) > left ? tooLong(all) : undefined;
}

function lengthOf({ headers }: Pick<NodeResponse, "headers">): number | undefined {
  const text = headers.get("content-length");
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
