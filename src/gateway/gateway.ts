/**
 * Forwards what the description names and the operator allows: the calls of the node below `/v1/node` and `/v1/rpc`.
 *
 * @module
 */
import { type Call, createNode, type GatewayOptions, goneOf } from "./call.ts";
import { callPath } from "./call-path.ts";
import { callMethod, callRpc } from "./call-rpc.ts";
import { createLeases } from "./lease.ts";

export type { Call } from "./call.ts";

/** Responds to calls. */
export interface Gateway {
  /** Of the node's own paths. */
  callPath(call: Call): Promise<Response>;
  /** Of a method by its name. */
  callMethod(call: Call): Promise<Response>;
  /** Of a body of JSON-RPC. */
  callRpc(call: Call): Promise<Response>;
  /** How many calls wait for a slot at the node. */
  readonly waiting: number;
  /** Sends away who waits, and breaks off what still runs after some seconds. */
  close(): void;
}

/** Makes a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const node = createNode(options);
  const leases = createLeases(options);
  const withLease = (respond: typeof callPath): Gateway["callPath"] => async (call) => {
    const lease = leases.open(goneOf(call));
    try {
      return await respond(node, call, lease);
    } finally {
      lease.dispose();
    }
  };
  return {
    callPath: withLease(callPath),
    callMethod: withLease(callMethod),
    callRpc: withLease(callRpc),
    get waiting() {
      return leases.waiting;
    },
    close: leases.close,
  };
}
