/**
 * The connection of a client: its messages, its notifications, and its end.
 *
 * @module
 */
import { LightSignal, type Signal } from "../abort-signal.ts";
import { type OwnConnection, refuseMessage, respondToMessage } from "../gateway/call-rpc.ts";
import type { ReadyCall } from "../gateway/sender.ts";
import type { Caller, CallerRequest } from "../gateway/guard.ts";
import type { ReservedBytes } from "../gateway/budget.ts";
import { MIN_CALL_RATE } from "../gateway/content.ts";
import { FULL, NOT_FORWARDED, Refusal, STOPPING } from "../gateway/refusal.ts";
import type { Peer, PeerEvents } from "../http/socket.ts";
import { CODES, type RpcOutcome } from "../node/json-rpc.ts";
import { pause } from "../slices.ts";
import { Throughput } from "../throughput.ts";
import { decodeUtf8 } from "../utf8.ts";
import { waitAtMost } from "../with-timeout.ts";
import { Inbox } from "./inbox.ts";
import { CONTROLS_MAX, type NodeSocketOwner, type Notification } from "./node-socket.ts";
import { Outbox } from "./outbox.ts";
import type { Subscription } from "./subscription.ts";
import { type NodeAccess, Subscriptions } from "./subscriptions.ts";

/** A client, which may take notifications in a form of its own. */
export interface SessionPeer extends Peer {
  /** In milliseconds. */
  readonly pingInterval?: number;
  /** When the client has read last (`performance.now()`), if it can give no other sign of life. */
  readonly readAt?: number;
  /** True if the client has one subscription, gets its bare values, and ends with it. */
  readonly hasOneSubscription?: true;
}

/** Counts what happens on all connections, for the metrics. */
export interface SocketCounts {
  countMessage(direction: "received" | "sent"): void;
  countEnd(reason: EndReason): void;
}

/** What a session needs of all sessions. */
export interface SessionOwner extends NodeAccess {
  onNodeSocketEnd(): void;
  /** Ends sessions until the bytes that wait for clients have room again. */
  makeRoom(session: Session): void;
  readonly counts: SocketCounts | undefined;
  onEnd(session: Session, reason: EndReason): void;
}

const END_REASONS = {
  left: [1000, ""],
  finished: [1000, "The node has ended the subscription"],
  node: [1012, "The connection to the node has ended"],
  stopping: [1012, "The service is restarting"],
  right: [1008, "The client's token is not valid any more"],
  slow: [1013, "The client reads too slowly"],
  flood: [1008, "Too many messages or control frames"],
  binary: [1003, "Messages must be text"],
  // After 1001, web3.js does not connect again.
  silent: [1013, "The client does not respond"],
  failed: [1011, "Internal error"],
} as const;

export type EndReason = keyof typeof END_REASONS;

/** What calls get that come while the connection is ending. */
const REFUSALS_WHILE_ENDING: Readonly<Record<"node" | "stopping", Refusal>> = {
  node: new Refusal(503, CODES.notReached, END_REASONS.node[1]),
  stopping: STOPPING,
};

/** The number of bytes that may wait, besides those of responses. */
const WAITING_MAX = 8_388_608;

/** With more bytes, a message must arrive as fast as the content of a call. */
const UNFINISHED_MAX = 65_536;

/**
 * How long an ending connection waits for the calls of its client: longer than a service that stops
 * (`CLOSING_GRACE_MS`), and less than its server (`TIMEOUTS.grace`).
 */
const RESPONDING_MS = 4500;

/** How long an ended connection may take to close. */
const CLOSING_MS = 500;
/** With more bytes that wait for the client, the connection ends at once. */
const CLOSING_WAITING_MAX = 65_536;

/** After this time, what a client has not read is dropped as soon as others need the memory. */
const OVERDUE_MS = 25_000;

const PING_MS = 25_000, SILENCE_MS = 55_000;

/**
 * What the client has in memory is limited whenever it grows: `unread` by a limit of its own, and
 * `waiting` by the bytes that all clients share (`#waitingBytes`). Once a second, `check` compares
 * its times: how fast a long message arrives (`#arrival`), the last sign of life (`#heardAt`) and
 * ping (`#pingedAt`), and since when it has had too much to read (`#fullSince`).
 *
 * A connection first refuses calls (`#reasonToEnd`), if it can wait for those that run, and
 * then ends (`#endReason`).
 */
export class Session implements PeerEvents, NodeSocketOwner {
  readonly subscriptions: Subscriptions;
  readonly #owner: SessionOwner;
  readonly #peer: SessionPeer;
  readonly #handshake: Handshake;
  readonly #inbox: Inbox;
  readonly #outbox: Outbox;
  readonly #waitingBytes: ReservedBytes;
  readonly #disconnectSignal = new LightSignal();
  /** Resolves when the last message that waited may begin. */
  #turn: Promise<void> = Promise.resolve();
  /** Ends the connection if others need the memory. */
  readonly #drop = (): void => this.end("slow");
  #fullSince: number | undefined;
  /** The speed at which a long message arrives. */
  #arrival: Throughput | undefined;
  #controls = 0;
  #heardAt = performance.now();
  #pingedAt = performance.now();
  /** Why calls are refused that come while those before are responded to. */
  #reasonToEnd: keyof typeof REFUSALS_WHILE_ENDING | undefined;
  #ending: Promise<void> | undefined;
  #endReason: EndReason | undefined;

  constructor(owner: SessionOwner, peer: SessionPeer, handshake: Handshake) {
    this.#owner = owner;
    this.#peer = peer;
    this.#handshake = handshake;
    this.#inbox = new Inbox(peer, (text) => this.#respond(text).catch(() => this.end("failed")));
    this.#outbox = new Outbox(peer, {
      onSend: () => owner.counts?.countMessage("sent"),
      onGrowth: () => this.#limitWaiting(),
      onStuck: () => this.end("slow"),
    });
    this.subscriptions = new Subscriptions(owner, this);
    this.#waitingBytes = owner.gateway.reserveFor(handshake.caller);
  }

  /** Ends the connection when its token becomes invalid. */
  start(): void {
    const { token } = this.#handshake;
    token?.addEventListener("abort", this.#endRight);
    if (token?.aborted) this.#endRight();
  }

  readonly #endRight = (): void => this.end("right");

  get isNamed(): boolean {
    return this.#handshake.caller.client !== undefined;
  }

  /** The length of what the client has not read, and of its messages that wait for others. */
  get unread(): number {
    return this.#endReason ? 0 : this.#outbox.waiting + this.#inbox.unreadLength;
  }

  /**
   * What the client keeps in memory: what is unread, messages that are responded to, and what the
   * node has sent for it.
   */
  get waiting(): number {
    if (this.#endReason) return 0;
    return this.unread + this.#inbox.pendingLength + (this.#peer.unfinishedBytes ?? 0) +
      this.subscriptions.unreadLength;
  }

  onText(text: string): void {
    if (this.#endReason) return;
    this.#owner.counts?.countMessage("received");
    this.#heardAt = performance.now();
    this.#arrival = undefined;
    if (!this.#inbox.add(text)) return this.end("flood");
    this.#limitWaiting();
  }

  /** web3.py marks its messages as binary, which nodes take, too. */
  onBinary(bytes: Uint8Array): void {
    const text = decodeUtf8(bytes);
    if (text === undefined) this.end("binary");
    else this.onText(text);
  }

  onControl(): void {
    this.#heardAt = performance.now();
    if (++this.#controls > CONTROLS_MAX) this.end("flood");
  }

  onClose(): void {
    this.#finish("left");
  }

  /**
   * Refuses further calls, and ends the connection when the client has the responses to those that
   * run, or after `RESPONDING_MS`. The first reason counts.
   */
  endAfterCalls(reason: keyof typeof REFUSALS_WHILE_ENDING): Promise<void> {
    return this.#ending ??= this.#endAfterCalls(reason);
  }

  async #endAfterCalls(reason: keyof typeof REFUSALS_WHILE_ENDING): Promise<void> {
    this.#reasonToEnd = reason;
    const answered = this.#inbox.drain().then(() => {
      // Else the events of a busy subscription would keep the outbox full.
      this.subscriptions.end();
      return this.#outbox.drain(0);
    });
    await waitAtMost(answered, RESPONDING_MS);
    this.end(reason);
  }

  end(reason: EndReason): void {
    if (this.#endReason) return;
    const { unsentBytes } = this.#peer;
    this.#finish(reason);
    // A closing frame would wait behind what the client does not read, which keeps the memory.
    if (reason === "slow" && unsentBytes > CLOSING_WAITING_MAX) return this.#peer.terminate();
    const { closesAbruptly } = this.#handshake;
    if (closesAbruptly && (reason === "node" || reason === "stopping")) {
      return this.#peer.terminate();
    }
    const [code, text] = END_REASONS[reason];
    this.#peer.close(code, text);
    setTimeout(() => this.#peer.terminate(), CLOSING_MS);
  }

  /** Called once a second. */
  check(now: number): void {
    this.#controls = 0;
    if (this.#arrivesTooSlowly(now)) return this.end("flood");
    if (this.#isSilent(now)) return this.end("silent");
    this.#pingWhenDue(now);
    this.#offerOverdue(now);
    // This may end the connection, after which nothing may be offered.
    this.subscriptions.check(now);
    this.#limitWaiting();
  }

  /** Starts, continues or ends the measurement of a long message. */
  #arrivesTooSlowly(now: number): boolean {
    const { unfinishedBytes = 0 } = this.#peer;
    // While reading is paused, a message cannot become whole.
    const isArriving = !this.#inbox.isPaused && unfinishedBytes > UNFINISHED_MAX;
    if (!isArriving) this.#arrival = undefined;
    else this.#arrival ??= new Throughput(MIN_CALL_RATE, unfinishedBytes, now);
    return this.#arrival?.isTooLow(unfinishedBytes, now) ?? false;
  }

  /** Looks for a sign of life besides messages and control frames. */
  #isSilent(now: number): boolean {
    // While reading is paused or a long message arrives, no sign of life can. A ping waits behind
    // what the client is still reading.
    const isAlive = this.#arrival || this.#inbox.isPaused || this.#outbox.noteProgress();
    this.#heardAt = Math.max(isAlive ? now : this.#heardAt, this.#peer.readAt ?? 0);
    return now - this.#heardAt > SILENCE_MS;
  }

  #pingWhenDue(now: number): void {
    if (now - this.#pingedAt <= (this.#peer.pingInterval ?? PING_MS)) return;
    this.#pingedAt = now;
    this.#peer.ping();
    this.subscriptions.ping();
  }

  /** Lets others have the memory of a client that has not read for long. */
  #offerOverdue(now: number): void {
    this.#fullSince = this.#outbox.isFull ? this.#fullSince ?? now : undefined;
    const isOverdue = now - (this.#fullSince ?? now) > OVERDUE_MS;
    if (isOverdue) this.#waitingBytes.offer(this.#drop);
    else this.#waitingBytes.withdraw();
  }

  /** Resolves when the client can take the next notification. */
  async onNotification(notification: Notification): Promise<void> {
    const subscription = this.subscriptions.accept(notification);
    if (!subscription) return;
    const { hasOneSubscription } = this.#peer;
    const text = hasOneSubscription ? notification.result : subscription.textOf(notification);
    // A further response that is an error ends the subscription.
    if (text === undefined) return void this.endAfterCalls("node");
    if (this.#outbox.keep(text, subscription)) return;
    await this.#outbox.notify(text);
    await this.#endFinished(subscription);
  }

  /** Ends the connection of a client that has only this subscription, if the node has ended it. */
  async #endFinished({ hasEnded }: Subscription): Promise<void> {
    if (!hasEnded || !this.#peer.hasOneSubscription) return;
    await this.#outbox.drain(0);
    this.end("finished");
  }

  onUnread(): void {
    this.#limitWaiting();
  }

  onNodeSocketEnd(): void {
    this.#owner.onNodeSocketEnd();
    this.subscriptions.end();
    void this.endAfterCalls("node");
  }

  /** Makes the only subscription of a client. */
  async subscribe(call: ReadyCall): Promise<RpcOutcome> {
    const deferred: Subscription[] = [];
    const outcome = await (await this.subscriptions.send(call, true, deferred)).outcome;
    this.#outbox.release(deferred);
    if (outcome.error) this.#finish(this.#reasonToEnd ?? "left");
    for (const subscription of deferred) void this.#endFinished(subscription);
    return outcome;
  }

  /** A client with many messages keeps none but itself waiting: it has one place in the lane. */
  #takeTurn(): Promise<void> {
    return this.#turn = this.#turn.then(() => pause("messages"));
  }

  async #respond(message: string): Promise<void> {
    await this.#takeTurn();
    if (this.#reasonToEnd) {
      const text = await refuseMessage(REFUSALS_WHILE_ENDING[this.#reasonToEnd], message);
      if (text !== undefined) this.#outbox.respond(text);
      return await this.#outbox.sending;
    }
    const { gateway } = this.#owner;
    const table = await gateway.table();
    const caller = await this.#identify();
    if (!caller || this.#endReason) return;
    const lease = gateway.lease(this.#disconnectSignal, caller);
    const deferred: Subscription[] = [];
    const connection: OwnConnection = {
      send: (call, isOnly) => this.subscriptions.send(call, isOnly, deferred),
    };
    try {
      const refusal = !table.isKnown
        ? NOT_FORWARDED.unknown
        : lease.quota?.refusal ?? (lease.requestBytes.set(message.length) ? undefined : FULL);
      const text = refusal ? await refuseMessage(refusal, message) : await respondToMessage(
        gateway,
        { table, caller, lease },
        message,
        connection,
      );
      if (text !== undefined) this.#outbox.respond(text);
    } finally {
      lease.dispose();
    }
    await this.#outbox.sending;
    this.#outbox.release(deferred);
  }

  /** Ends the connection if its token has become invalid, or another client's. */
  async #identify(): Promise<Caller | undefined> {
    const { request, query, caller: { client } } = this.#handshake;
    const caller = await this.#owner.gateway.identify(request, query);
    if (caller.client === client) return caller;
    this.end("right");
    return undefined;
  }

  #limitWaiting(): void {
    const { unread, waiting } = this;
    // A client that reads no responses is ended by `Outbox.drain`, however large they are.
    const isTooMuch = unread - this.#outbox.takeResponseLength() > WAITING_MAX;
    if (isTooMuch) this.end("slow");
    else if (!this.#waitingBytes.set(waiting)) this.#owner.makeRoom(this);
  }

  #finish(reason: EndReason): void {
    if (this.#endReason) return;
    this.#endReason = reason;
    this.#handshake.token?.removeEventListener("abort", this.#endRight);
    this.#disconnectSignal.abort(new DOMException("The client has disconnected", "AbortError"));
    this.#inbox.close();
    this.#outbox.close();
    this.subscriptions.end();
    this.#waitingBytes.dispose();
    this.#handshake.drop();
    this.#owner.onEnd(this, reason);
  }
}

/** The handshake of a client that may connect. */
export interface Handshake {
  readonly request: CallerRequest;
  readonly query: string;
  readonly caller: Caller;
  /** The token that the caller was recognized by. */
  readonly token: Signal | undefined;
  /** Gives the place of the client back. */
  readonly drop: () => void;
  /** Whether the connection ends without a closing handshake when it should be made again. */
  readonly closesAbruptly?: boolean;
}
