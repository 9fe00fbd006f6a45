/**
 * Requests to the node, and its responses: apart from `connection.ts`, so that what hosts import names no type of `node:`.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import type { Signal } from "../with-timeout.ts";
import type { ResponseHead } from "./http1-response.ts";

export interface RequestContent {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
}

export interface NodeRequest extends RequestContent {
  /** Ends the exchange; its reason is what this rejects with. */
  readonly signal: Signal;
  /** If true, it must not arrive twice: it is not sent again if a kept connection turns out to be closed. */
  readonly isOnce: boolean;
  /** Those with the same one share connections, which no others use. */
  readonly owner?: object | undefined;
}

export interface NodeResponse extends ResponseHead {
  /** Reads the next bytes; `undefined` at the end. Rejects where the response breaks off. */
  next(): Promise<Bytes | undefined>;
  /** Number of bytes that have come on the wire, with the head and chunk framing. */
  received(): number;
  /** Lets go of the rest; the connection is closed, unless the response has ended. */
  cancel(): void;
}

/** Sends a request to the node. Follows no redirects, and decodes nothing. */
export type Client = (request: NodeRequest) => Promise<NodeResponse>;
