/**
 * A call of the node, and what all calls share: the policy that is looked up, the guard, the node's URL, and the log.
 *
 * @module
 */
import type { ServedRequest } from "../http/request.ts";
import { memoize } from "../lazy.ts";
import type { CallRecord } from "../log.ts";
import type { RequestContent } from "../node/http1.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import type { Signal } from "../with-timeout.ts";
import { createGuard, type Guard, type TokenPlace } from "./guard.ts";
import type { LeaseOptions } from "./lease.ts";
import { createPathTable, type PathTable } from "./match.ts";
import { decide, type ForwardSettings, type PolicyEntry } from "./policy.ts";
import { type MakeResponse, type Refusal, refusalOf, STATUS_GONE } from "./response.ts";

/** A call that has come. */
export interface Call {
  readonly request: ServedRequest;
  /** The path after `/v1/node` or `/v1/rpc/`, percent-encoded as it came. */
  readonly path: string;
  /** Without `?`. */
  readonly query: string;
  /** Whether the content has been read to its end; the connection is closed otherwise. */
  readonly content: { isRead: boolean };
  /** Makes the response with what the node says; what others lack of the common headers is added to them. */
  readonly respond: MakeResponse;
}

/** Is aborted when the client leaves. */
export const goneOf = ({ request }: Pick<Call, "request">): Signal =>
  request.gone ?? request.signal;

/** The parts that a gateway is made of. */
export interface GatewayOptions extends LeaseOptions {
  readonly forward: ForwardSettings;
  readonly origins: readonly string[] | "*";
  readonly token: TokenPlace;
  /** Where the node answers. */
  readonly url: string;
  /** Where its methods are posted to, below that. */
  readonly rpcPath: () => Promise<string>;
  /** The header of the node's secret, where the operator names it; no client sets it. */
  readonly secretHeader?: string | undefined;
  /** The operations of the description that is served now. */
  readonly operations: () => Promise<readonly NodeOperation[]>;
  /** Is told of each call that was made: never a path, a parameter or a body. */
  readonly log: (record: CallRecord) => void;
}

/** The policy for what is called: made once for a description. */
export interface Policy {
  readonly paths: PathTable;
  readonly methods: ReadonlyMap<string, PolicyEntry>;
}

/** The node as calls see it. */
export interface CalledNode extends Guard {
  readonly options: GatewayOptions;
  /** The node's URL as parsers write it, without a slash at its end. */
  readonly base: string;
  policy(): Promise<Policy>;
  /** Makes the request for a call of JSON-RPC. */
  rpcRequest(text: string): Promise<RequestContent>;
  /** Starts the line of the log for a call; whoever ends it says its status and the bytes of its response. */
  record(operation: NodeOperation): CallRecorder;
  /** Makes the refusal of a call that failed, and records it. */
  fail(error: unknown, operation: NodeOperation, call: Call, record: CallRecorder): Refusal;
}

/** Writes the line of the log for a call. */
export type CallRecorder = (status: number, bytes: number) => void;

/** Makes the node as calls see it. */
export function createNode(options: GatewayOptions): CalledNode {
  const base = new URL(options.url).href.replace(/\/+$/, "");
  const encoder = new TextEncoder();
  const urlOf = memoize((path) => new URL(base + path));
  let made: { readonly of: readonly NodeOperation[]; readonly policy: Policy } | undefined;
  return {
    ...createGuard(options),
    options,
    base,
    async policy() {
      const operations = await options.operations();
      if (made?.of !== operations) {
        made = { of: operations, policy: createPolicy(operations, options.forward) };
      }
      return made.policy;
    },
    rpcRequest: async (text) => ({
      method: "POST",
      url: urlOf(await options.rpcPath()),
      headers: { "content-type": "application/json", accept: "application/json" },
      body: encoder.encode(text),
    }),
    record({ name }) {
      const started = performance.now();
      return (status, bytes) =>
        options.log({
          operation: name,
          status,
          milliseconds: performance.now() - started,
          bytes,
        });
    },
    fail(error, { access }, call, record) {
      const refusal = refusalOf(error, access === "read", options.timeout);
      record(goneOf(call).aborted ? STATUS_GONE : refusal.status, 0);
      return refusal;
    },
  };
}

function createPolicy(operations: readonly NodeOperation[], forward: ForwardSettings): Policy {
  const entries = decide(operations, forward);
  const methods = entries.filter(({ operation }) => operation.isMethod)
    .map((entry) => [entry.operation.path, entry] as const);
  return { paths: createPathTable(entries), methods: new Map(methods) };
}
