/**
 * The gateway to the node: the part that all forms of a call share.
 *
 * @module
 */
import type { Signal } from "../abort-signal.ts";
import { STATUS_CLIENT_CLOSED_REQUEST } from "../http/response.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Monitor } from "../info/monitor.ts";
import { type CallRecord, isLogged, type Log, type LogCalls } from "../log.ts";
import { CODES } from "../node/json-rpc.ts";
import type { Node } from "../node/node.ts";
import type { NodeOperation } from "../openapi/node-operation.ts";
import { Clients, NOBODY, TOKEN_LENGTH_MIN } from "./clients.ts";
import { ReservedBytes } from "./budget.ts";
import { JSON_MAX, NAMED_JSON_MAX } from "./content.ts";
import { Caller, type CallerRequest, tokenIn } from "./guard.ts";
import { type CallsToBegin, Lease } from "./lease.ts";
import { Capacity } from "./capacity.ts";
import { PathTable } from "./match.ts";
import {
  decide,
  FORWARD_DEFAULTS,
  type PolicyEntry,
  type ResolvedClient,
  type ResolvedForward,
} from "./policy.ts";
import { Quota } from "./quota.ts";
import type { OwnCredentials } from "./choose-headers.ts";
import { invalidCall, LATER, Refusal, refusalOf } from "./refusal.ts";
import { Sender } from "./sender.ts";
import { ANONYMOUS } from "./slots.ts";

interface GatewayOptions {
  readonly forward: ResolvedForward;
  readonly node: Node;
  readonly resources: NodeResources;
  readonly meters: { countCall(call: CallRecord): void } | undefined;
  readonly log: Log;
  readonly logCalls: LogCalls;
  /** True for a service of its own, not in a host's server. */
  readonly isStandalone: boolean;
}

/** The parts of the service that know the node. */
interface NodeResources {
  readonly monitor: Pick<Monitor, "findKind" | "noteCall"> & {
    readonly identityCheck: Pick<Monitor["identityCheck"], "reasonAgainstCalls">;
  };
  /** Resolves to the description, after its changes have been read. */
  description(): Promise<CallableDescription>;
}

interface CallableDescription {
  readonly current: {
    /** `undefined` if the description cannot be shown. */
    readonly operations?: readonly NodeOperation[] | undefined;
    /** A sentence for clients that have a wrong address, or an empty text. */
    readonly hint?: string | undefined;
  };
}

/** The calls that a description allows. */
export interface CallTable {
  /** False if the description cannot be shown, so that its operations are not known. */
  readonly isKnown: boolean;
  readonly hint: string;
  readonly entries: readonly PolicyEntry[];
  readonly paths: PathTable;
  readonly methods: ReadonlyMap<string, PolicyEntry>;
  /** The subscriptions by the methods that end them. */
  readonly unsubscribing: ReadonlyMap<string, PolicyEntry>;
}

const ALL_WITHOUT_TOKEN = "All callers without a token together";
/** A word that may contain a token. */
const LONG_WORD = new RegExp(`[\\w.~+/-]{${TOKEN_LENGTH_MIN}}`);

export class Gateway {
  readonly limit: number;
  readonly timeout: number;
  readonly hasClients: boolean;
  readonly ownCredentials: OwnCredentials;
  readonly node: Node;
  readonly #options: GatewayOptions;
  readonly #capacity: Capacity;
  readonly clients: Clients;
  /** The calls of all callers without a token. */
  readonly #quota: Quota | undefined;
  /** The table that was made last, and what it was made of. */
  #made: {
    readonly table: CallTable;
    readonly of: CallableDescription["current"];
    readonly kind: string | undefined;
  } | undefined;
  constructor(options: GatewayOptions) {
    const { forward, node } = options;
    this.limit = forward.limit;
    this.timeout = forward.timeout;
    this.hasClients = forward.clients.length > 0;
    this.ownCredentials = {
      secretHeader: node.auth && "header" in node.auth
        ? node.auth.header?.toLowerCase()
        : undefined,
      hasSecret: node.auth !== undefined,
      hasToken: this.hasClients,
    };
    this.node = node;
    this.#options = options;
    const { per_minute: perMinute } = forward;
    this.#quota = perMinute === undefined ? undefined : new Quota(perMinute, ALL_WITHOUT_TOKEN);
    this.clients = new Clients(forward.clients, (error) => {
      options.log(error, { code: "error", level: "error", error });
    });
    const verify = node.isExpected ? () => this.refusalOfNode() : undefined;
    this.#capacity = new Capacity(node, forward, verify);
  }

  get queuedCalls(): number {
    return this.#capacity.slots.queuedCalls;
  }

  close(): void {
    this.#capacity.close();
  }

  /** Resolves when all calls have ended. */
  idle(): Promise<void> {
    return this.#capacity.idle();
  }

  /** Resolves to a refusal if the node is not the one that `node.expect` describes. */
  async refusalOfNode(): Promise<Refusal | undefined> {
    const reason = await this.#options.resources.monitor.identityCheck.reasonAgainstCalls();
    return reason === undefined
      ? undefined
      : new Refusal(503, CODES.notReached, reason, { headers: LATER });
  }

  async table(): Promise<CallTable> {
    const { current } = await this.#options.resources.description();
    const known = this.#tableFor(current);
    if (known) return known;
    const { forward, resources } = this.#options;
    // While the kind is unknown, nobody knows how and where it must be called.
    await resources.monitor.findKind();
    const { kind } = this.node;
    this.#adapt(await this.node.definition());
    // Of the requests that came meanwhile, the first has made it.
    const made = this.#tableFor(current);
    if (made) return made;
    const table = tableOf(current, forward);
    this.#made = { table, of: current, kind };
    return table;
  }

  /** Another kind of node may handle more calls. */
  #tableFor(description: CallableDescription["current"]): CallTable | undefined {
    const made = this.#made;
    return made?.of === description && made.kind === this.node.kind ? made.table : undefined;
  }

  /** Returns the maximum length of JSON-RPC, and of content that is checked, in bytes. */
  jsonSizeMax({ client }: Caller): number {
    return client ? Math.max(JSON_MAX, Math.min(this.limit, NAMED_JSON_MAX)) : JSON_MAX;
  }

  #adapt(kind: Kind | undefined): void {
    this.#capacity.readsAnonymously = this.node.auth !== undefined && kind?.auth?.reads === "none";
    this.#capacity.slots.count = this.#options.forward.concurrency ?? kind?.concurrency ??
      FORWARD_DEFAULTS.concurrency;
  }

  async identify(request: CallerRequest, query: string): Promise<Caller> {
    const { forward: { origins }, isStandalone } = this.#options;
    let identity = NOBODY;
    if (this.hasClients) {
      identity = await this.clients.identify(tokenIn(request.headers));
      request.clientName = (identity.client ?? ANONYMOUS).name;
    }
    return new Caller(request, query, origins, identity, isStandalone);
  }

  /**
   * @param sent the names and texts of the parts that are sent to the node
   * @throws {Refusal} if one of them contains a client's token
   */
  async checkSent(sent: readonly (readonly [name: string, text: string])[]): Promise<void> {
    const long = sent.filter(([, text]) => LONG_WORD.test(text));
    if (long.length === 0) return;
    await this.clients.read();
    const leak = long.find(([, text]) => this.clients.holdsToken(text));
    if (!leak) return;
    throw invalidCall(`The ${leak[0]} contains a client's token, which is never forwarded`);
  }

  /**
   * The caller of this function must dispose the lease.
   *
   * @param disconnectSignal is aborted when the client disconnects
   */
  lease(disconnectSignal: Signal, { client }: Caller): Lease {
    return new Lease(this.#capacity, {
      disconnectSignal,
      client: client?.settings,
      quota: this.quotaOf({ client }),
      token: client?.token,
    });
  }

  /**
   * Waits for the slot of a lease.
   *
   * @param rpcPath the path of JSON-RPC calls, if it is not that of the node's endpoint
   * @throws {Refusal} if the client may make no more calls, or no slot becomes free
   */
  async begin(lease: Lease, calls: CallsToBegin, rpcPath?: string): Promise<Sender> {
    await lease.begin(calls);
    return new Sender(this.#capacity, lease, rpcPath);
  }

  get clientSettings(): readonly ResolvedClient[] {
    return this.#options.forward.clients;
  }

  quotaOf({ client }: Pick<Caller, "client">): Quota | undefined {
    return client ? client.quota : this.#quota;
  }

  /** The bytes that wait for a client that stays connected. */
  reserveFor({ client }: Caller): ReservedBytes {
    return new ReservedBytes(this.#capacity.budget, client ? "named client" : "response");
  }

  /**
   * Reads of some kinds are called without `node.auth`, so that responses contain no private data.
   */
  isAnonymous(operation: Pick<NodeOperation, "access">): boolean {
    return this.#capacity.isAnonymous(operation);
  }

  /** @param started on the clock of `performance.now()` */
  record(
    operation: RecordedOperation,
    lease: Lease,
    started: number = performance.now(),
  ): Recording {
    return new Recording(this, operation, lease, started);
  }

  /** Counts and logs a call that has ended. */
  report(call: CallRecord): void {
    const { meters, resources: { monitor }, log, logCalls } = this.#options;
    meters?.countCall(call);
    monitor.noteCall(call.status);
    if (!isLogged(call, logCalls)) return;
    const took = `${Math.round(call.milliseconds)} ms ${call.bytes} bytes`;
    const by = this.hasClients ? `${call.client} ` : "";
    log(`${call.operation} ${call.status} ${by}${took}`, { code: "call", level: "info", call });
  }
}

function tableOf(
  { operations, hint = "" }: CallableDescription["current"],
  forward: ResolvedForward,
): CallTable {
  const entries = decide(operations ?? [], forward);
  const methods = entries.filter(({ operation }) => operation.isMethod);
  return {
    isKnown: operations !== undefined,
    hint,
    entries,
    paths: new PathTable(entries),
    methods: new Map(methods.map((entry) => [entry.operation.name, entry])),
    unsubscribing: new Map(entries.flatMap((entry) => {
      const { subscription } = entry.operation;
      return subscription ? [[subscription.unsubscribe, entry] as const] : [];
    })),
  };
}

/** The name is the one that is logged. */
type RecordedOperation = Pick<NodeOperation, "name" | "access">;

/** The record of a call that is sent to the node. */
export class Recording {
  /** The number of bytes of the response. */
  bytes = 0;
  readonly #gateway: Gateway;
  readonly #operation: RecordedOperation;
  readonly #lease: Lease;
  readonly #started: number;
  constructor(gateway: Gateway, operation: RecordedOperation, lease: Lease, started: number) {
    this.#started = started;
    this.#gateway = gateway;
    this.#operation = operation;
    this.#lease = lease;
  }

  end(status: number): void {
    this.#gateway.report({
      operation: this.#operation.name,
      client: this.#lease.client.name,
      status,
      milliseconds: performance.now() - this.#started,
      bytes: this.bytes,
    });
  }

  fail(error: unknown): Refusal {
    const isRead = this.#operation.access === "read";
    const refusal = refusalOf(error, isRead);
    this.end(this.#lease.disconnectSignal.aborted ? STATUS_CLIENT_CLOSED_REQUEST : refusal.status);
    return refusal;
  }
}
