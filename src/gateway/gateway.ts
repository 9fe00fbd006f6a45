/**
 * Forwards calls below `/v1/node` and `/v1/rpc` that the description names and the operator allows. This file holds
 * what all calls share; `call-path.ts` and `call-rpc.ts` hold the two forms of a call.
 *
 * @module
 */
import type { NodeSettings } from "../info/settings.ts";
import type { Kind } from "../kinds/kind.ts";
import { lazy, memoize, type Resource } from "../lazy.ts";
import type { CallRecord } from "../log.ts";
import { createClient } from "../node/client.ts";
import { createCredentials } from "../node/credentials.ts";
import { RPC_HEADERS } from "../node/json-rpc.ts";
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { type Call, type CalledNode, type CallTable, goneOf } from "./call.ts";
import { callPath } from "./call-path.ts";
import { callMethod, callRpc } from "./call-rpc.ts";
import { createGuard } from "./guard.ts";
import { type LeaseOptions, Leases } from "./lease.ts";
import { createPathTable } from "./match.ts";
import { decide, type ResolvedForward } from "./policy.ts";
import { refusalOf, STATUS_GONE } from "./response.ts";

export interface Gateway {
  callPath(call: Call): Promise<Response>;
  callMethod(call: Call): Promise<Response>;
  callRpc(call: Call): Promise<Response>;
  readonly waiting: number;
  close(): void;
}

export interface KnownKind {
  kinds(): Promise<Readonly<Record<string, Kind>>>;
  kind(): Promise<string | undefined>;
  find(): Promise<{ readonly kind: string } | undefined>;
  /** The path of the node's JSON-RPC endpoint below its URL. */
  readonly rpcPath: Resource<string>;
  /** Remembers that the node reports a method as missing. */
  noteLacking(method: string): void;
}

export interface GatewayOptions {
  readonly forward: ResolvedForward;
  readonly node: NodeSettings & { readonly url: string };
  readonly beside: KnownKind;
  readonly operations: () => Promise<readonly NodeOperation[]>;
  /** Called after each call; never receives a path, a parameter or a body. */
  readonly onCall: (record: CallRecord) => void;
}

export function createGateway(options: GatewayOptions): Gateway {
  const node = createCalledNode(options);
  const credentials = createOperationCredentials(options);
  const leases = new Leases({
    ...options.forward,
    client: createClient(options.node),
    credentials,
  });
  const withLease = (form: typeof callPath) => async (call: Call): Promise<Response> => {
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
      return leases.slots.waiting;
    },
    close: () => leases.close(),
  };
}

function createOperationCredentials(
  { node: { url, auth, kind: named }, beside }: GatewayOptions,
): LeaseOptions["credentials"] {
  const withSecret = lazy(async () => {
    const [kind, kinds] = await Promise.all([beside.kind(), beside.kinds()]);
    return createCredentials({ nodeUrl: url, configured: auth, kind, kinds });
  });
  const anonymous = createCredentials({ nodeUrl: url });
  /** True if nodes of this kind serve reads without credentials; `undefined` until the kind is known. */
  let isReadBare = auth ? undefined : false;
  const askKind = async () => {
    const name = (await beside.find())?.kind ?? named;
    if (name === undefined) return false;
    const kinds = await beside.kinds();
    return isReadBare = Object.hasOwn(kinds, name) && kinds[name]!.auth?.reads === "none";
  };
  return async ({ isAnonymous, access }) => {
    const isBare = isAnonymous || (access === "read" && (isReadBare ?? await askKind()));
    return isBare ? anonymous : await withSecret.get();
  };
}

function createCalledNode(
  { forward, node, beside, operations, onCall }: GatewayOptions,
): CalledNode {
  const base = new URL(node.url).href.replace(/\/+$/, "");
  const encoder = new TextEncoder();
  const urlOf = memoize((path) => new URL(base + path));
  let made: { readonly of: readonly NodeOperation[]; readonly table: CallTable } | undefined;
  return {
    limit: forward.limit,
    secretHeader: node.auth && "header" in node.auth ? node.auth.header?.toLowerCase() : undefined,
    guard: createGuard(forward),
    base,
    async calls() {
      const current = await operations();
      if (made?.of !== current) made = { of: current, table: createCallTable(current, forward) };
      return made.table;
    },
    rpcRequest: async (text) => ({
      method: "POST",
      url: urlOf(await beside.rpcPath.get()),
      headers: RPC_HEADERS,
      body: encoder.encode(text),
    }),
    onNoMethod: ({ path: methodName }) => beside.noteLacking(methodName),
    record({ name }) {
      const started = performance.now();
      return (status, bytes) =>
        onCall({ operation: name, status, milliseconds: performance.now() - started, bytes });
    },
    fail(error, { access }, call, record) {
      const refusal = refusalOf(error, access === "read", forward.timeout);
      record(goneOf(call).aborted ? STATUS_GONE : refusal.status, 0);
      return refusal;
    },
  };
}

/** Applies the policy, and indexes its entries by path or by method name. */
function createCallTable(
  operations: readonly NodeOperation[],
  forward: ResolvedForward,
): CallTable {
  const entries = decide(operations, forward);
  const methods = new Map(
    entries.filter(({ operation }) => operation.isMethod)
      // The path of a method is its name.
      .map((entry) => [entry.operation.path, entry]),
  );
  return { paths: createPathTable(entries), methods };
}
