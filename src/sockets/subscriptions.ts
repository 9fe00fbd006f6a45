/**
 * The subscriptions of a client, and the calls about them, on a connection to the node of its own.
 *
 * @module
 */
import type { SentCall } from "../gateway/call-rpc.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { Refusal } from "../gateway/refusal.ts";
import type { ReadyCall } from "../gateway/sender.ts";
import { failureOf, SourceError } from "../node/failures.ts";
import { CODES, type RpcOutcome } from "../node/json-rpc.ts";
import type { CallAtNode, NodeSocket, NodeSocketOwner, Notification } from "./node-socket.ts";
import { isShortCall, Subscription, SUBSCRIPTION_ID } from "./subscription.ts";

/** The way to the node, which all clients share. */
export interface NodeAccess {
  readonly gateway: Gateway;
  /** @throws {Refusal} if the node takes no connection */
  openNodeSocket(isAnonymous: boolean): Promise<NodeSocket>;
}
interface SubscriptionsOwner extends NodeSocketOwner {
  /** Ends the connection of the client, which may connect again, when it has its responses. */
  endAfterCalls(reason: "node"): Promise<void>;
}

/** `@solana/kit` begins another connection after as many. */
const SUBSCRIPTIONS_MAX = 100;

const TOO_MANY = new Refusal(
  403,
  CODES.limited,
  `A connection may have at most ${SUBSCRIPTIONS_MAX} subscriptions`,
);

const TOO_LONG = new Refusal(
  400,
  CODES.wrongParams,
  "The id and the parameters of a subscription are too long",
);

const MIXED = new Refusal(
  403,
  CODES.notAllowed,
  "This subscription needs a connection of its own: those before were made with other credentials",
);

const NO_SUBSCRIPTION = new Refusal(400, CODES.wrongParams, "There is no such subscription");

export class Subscriptions {
  readonly #access: NodeAccess;
  readonly #owner: SubscriptionsOwner;
  readonly #all = new Map<string, Subscription>();
  /** The number of calls that subscribe, and have no response yet. */
  #subscribing = 0;
  #opening: Promise<NodeSocket> | undefined;
  #nodeSocket: NodeSocket | undefined;
  #hasEnded = false;

  constructor(access: NodeAccess, owner: SubscriptionsOwner) {
    this.#access = access;
    this.#owner = owner;
  }

  /** The number of subscriptions that the node has not ended. */
  get size(): number {
    return [...this.#all.values()].filter(({ hasEnded }) => !hasEnded).length;
  }

  /** Returns the subscription that the notification belongs to, and notes whether it ends. */
  accept(notification: Notification): Subscription | undefined {
    const subscription = this.#all.get(notification.subscription);
    return subscription?.accept(notification) ? subscription : undefined;
  }

  /** The length of what the node has sent and nobody has read. */
  get unreadLength(): number {
    return this.#nodeSocket?.unreadLength ?? 0;
  }

  ping(): void {
    this.#nodeSocket?.ping();
  }

  /** Called once a second. */
  check(now: number): void {
    this.#nodeSocket?.check(now);
  }

  end(): void {
    this.#hasEnded = true;
    this.#all.clear();
    this.#nodeSocket?.end();
  }

  /**
   * Resolves when the call is on its way to the node, or cannot be sent, to its outcome. Adds to
   * `deferred` the subscriptions whose notifications wait until they are released, so that they
   * come after the response, as at the node.
   *
   * @param isOnly true if no other call of the message is sent
   */
  async send(call: ReadyCall, isOnly: boolean, deferred: Subscription[]): Promise<SentCall> {
    const refusal = this.#refusalOf(call);
    if (refusal) return { outcome: Promise.resolve(failure(refusal)) };
    const sending = this.#send(call);
    const outcome = this.#complete(call, sending, isOnly, deferred).catch(failure);
    await sending.catch(() => {});
    return { outcome };
  }

  #refusalOf(call: ReadyCall): Refusal | undefined {
    if (call.unsubscribe !== undefined) {
      return this.#endedBy(call).length === 0 ? NO_SUBSCRIPTION : undefined;
    }
    if (!call.entry.operation.subscription) return undefined;
    if (this.size + this.#subscribing >= SUBSCRIPTIONS_MAX) return TOO_MANY;
    return !hasNotification(call) && !isShortCall(call) ? TOO_LONG : undefined;
  }

  /** Rejects if the call cannot be sent. */
  async #send({ entry: { operation }, params, unsubscribe }: ReadyCall): Promise<CallAtNode> {
    if (unsubscribe !== undefined) return this.#nodeSocket!.call(unsubscribe, params);
    const nodeSocket = await this.#open(this.#access.gateway.isAnonymous(operation));
    await this.#checkNode();
    return nodeSocket.call(operation.name, params);
  }

  #complete(
    call: ReadyCall,
    sending: Promise<CallAtNode>,
    isOnly: boolean,
    deferred: Subscription[],
  ): Promise<RpcOutcome> {
    if (call.unsubscribe !== undefined) return this.#unsubscribe(call, sending);
    if (call.entry.operation.subscription) return this.#subscribe(call, sending, deferred);
    // What another call of the message takes must not keep notifications waiting.
    return this.#call(call, sending, isOnly ? deferred : undefined);
  }

  async #subscribe(
    call: ReadyCall,
    sending: Promise<CallAtNode>,
    deferred: Subscription[],
  ): Promise<RpcOutcome> {
    this.#subscribing++;
    try {
      const { responding, callId } = await sending;
      const outcome = await responding;
      if (outcome.error || this.#hasEnded) return outcome;
      const id = hasNotification(call) ? outcome.result : callId;
      if (!SUBSCRIPTION_ID.test(id)) {
        void this.#owner.endAfterCalls("node");
        throw new SourceError("bad_answer", "sent no id of a subscription");
      }
      const subscription = new Subscription(id, call);
      this.#all.set(subscription.id, subscription);
      this.#forgetEnded();
      subscription.defer();
      deferred.push(subscription);
      return outcome;
    } finally {
      this.#subscribing--;
    }
  }

  async #call(
    { params }: ReadyCall,
    sending: Promise<CallAtNode>,
    deferred: Subscription[] | undefined,
  ): Promise<RpcOutcome> {
    const outcome = await (await sending).responding;
    for (const [id, subscription] of this.#all) {
      if (!deferred || !params?.includes(id)) continue;
      subscription.defer();
      deferred.push(subscription);
    }
    return outcome;
  }

  async #unsubscribe(call: ReadyCall, sending: Promise<CallAtNode>): Promise<RpcOutcome> {
    const ended = this.#endedBy(call);
    const outcome = await (await sending).responding;
    for (const { id, hasEnded } of ended) {
      // A node says false of what it has ended itself.
      if (hasEnded || (!outcome.error && outcome.result !== "false")) this.#all.delete(id);
    }
    return outcome;
  }

  #endedBy({ unsubscribe, params }: ReadyCall): Subscription[] {
    return [...this.#all.values()].filter((one) => one.isEndedBy(unsubscribe!, params));
  }

  /**
   * Another node may have taken over the address while the call waited for its slot.
   *
   * @throws {Refusal} if the node is not the expected one
   */
  async #checkNode(): Promise<void> {
    const unexpected = await this.#access.gateway.refusalOfNode();
    if (!unexpected) return;
    // Nothing would be lost, and the next connection may reach the expected node.
    if (this.size === 0) void this.#owner.endAfterCalls("node");
    throw unexpected;
  }

  /** Drops the first of the subscriptions that the node has ended, if there are many. */
  #forgetEnded(): void {
    const ended = [...this.#all].filter(([, { hasEnded }]) => hasEnded);
    if (ended.length > SUBSCRIPTIONS_MAX) this.#all.delete(ended[0]![0]);
  }

  async #open(isAnonymous: boolean): Promise<NodeSocket> {
    this.#opening ??= this.#access.openNodeSocket(isAnonymous);
    let nodeSocket: NodeSocket;
    try {
      nodeSocket = await this.#opening;
    } catch (error) {
      // A client that keeps the connection would never subscribe again.
      void this.#owner.endAfterCalls("node");
      throw error;
    }
    if (!this.#nodeSocket) this.#use(nodeSocket);
    if (nodeSocket.isAnonymous !== isAnonymous) throw MIXED;
    return nodeSocket;
  }

  #use(nodeSocket: NodeSocket): void {
    if (this.#hasEnded) return nodeSocket.end();
    this.#nodeSocket = nodeSocket;
    nodeSocket.owner = this.#owner;
    if (nodeSocket.hasEnded) this.#owner.onNodeSocketEnd();
  }
}

const hasNotification = ({ entry: { operation } }: ReadyCall): boolean =>
  operation.subscription!.notification !== undefined;

const failure = (reason: unknown): RpcOutcome => ({ error: failureOf(reason), reason });
