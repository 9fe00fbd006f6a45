/**
 * Forwards what the description names and the operator allows: the calls of the node below `/v1/node` and `/v1/rpc`. Here is
 * what all calls share; how each form of a call goes on is in `call-path.ts` and `call-rpc.ts`.
 *
 * @module
 */
import { memoize } from "../lazy.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Call, type CalledNode, type CallTable, type GatewayOptions, goneOf } from "./call.ts";
import { callPath } from "./call-path.ts";
import { callMethod, callRpc } from "./call-rpc.ts";
import { createGuard } from "./guard.ts";
import { createLeases, type Lease } from "./lease.ts";
import { createPathTable } from "./match.ts";
import { decide, type ResolvedForward } from "./policy.ts";
import { refusalOf, STATUS_GONE } from "./response.ts";

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

/** Responds to calls of one form, with what calls share and what this one holds at the node. */
type Form = (node: CalledNode, call: Call, lease: Lease) => Promise<Response>;

/** Makes a gateway. */
export function createGateway(options: GatewayOptions): Gateway {
  const node = createCalledNode(options);
  const leases = createLeases(options);
  const withLease = (form: Form) => async (call: Call): Promise<Response> => {
    const lease = leases.open(goneOf(call));
    try {
      return await form(node, call, lease);
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

function createCalledNode(options: GatewayOptions): CalledNode {
  const base = new URL(options.url).href.replace(/\/+$/, "");
  const encoder = new TextEncoder();
  const urlOf = memoize((path) => new URL(base + path));
  let made: { readonly of: readonly NodeOperation[]; readonly table: CallTable } | undefined;
  return {
    options,
    guard: createGuard(options.forward),
    base,
    async calls() {
      const operations = await options.operations();
      if (made?.of !== operations) {
        made = { of: operations, table: createCallTable(operations, options.forward) };
      }
      return made.table;
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

/** Decides of each operation, and puts the entries where calls look them up: by path, or by the name of a method. */
function createCallTable(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
): CallTable {
  const entries = decide(operations, forward);
  const methods = new Map(
    entries.filter(({ operation }) => operation.isMethod).map((entry) => {
      const { path: methodName } = entry.operation;
      return [methodName, entry];
    }),
  );
  return { paths: createPathTable(entries), methods };
}
