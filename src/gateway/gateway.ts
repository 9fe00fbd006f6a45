/**
 * Forwards what the description names and the operator allows: the calls of the node below `/v1/node` and `/v1/rpc`.
 *
 * @module
 */
import { callMethod } from "./call-rpc-method.ts";
import { callPath } from "./call-path.ts";
import { callRpc } from "./call-rpc-body.ts";
import { type Call, createCore, type GatewayOptions } from "./every-call.ts";

export type { Call, MakeResponse } from "./every-call.ts";

/** Responds to calls. */
export interface Gateway {
  /** Of the node's own paths. */
  callPath(call: Call): Promise<Response>;
  /** Of a method by its name. */
  callMethod(call: Call): Promise<Response>;
  /** Of a body of JSON-RPC. */
  callRpc(call: Call): Promise<Response>;
  /** How many calls wait for a place at the node. */
  readonly waiting: number;
  /** Sends away who waits, and breaks off what still runs after some seconds. */
  close(): void;
}

/** Makes a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const core = createCore(options);
  /** The room of a body is given back when its call is answered. */
  const answering = (answer: typeof callPath): Gateway["callPath"] => async (call) => {
    const room = core.leases.room();
    try {
      return await answer(core, call, room);
    } finally {
      room.end();
    }
  };
  return {
    callPath: answering(callPath),
    callMethod: answering(callMethod),
    callRpc: answering(callRpc),
    get waiting() {
      return core.leases.waiting;
    },
    close: core.leases.close,
  };
}
