/**
 * JSON-RPC over WebSocket, and subscriptions as events: handshakes, and the connections of all
 * clients. Loaded at the first handshake or subscription.
 *
 * @module
 */
import { onAbort } from "../abort-signal.ts";
import { decodeBase64Url } from "../decode.ts";
import { SMALL_BYTES } from "../gateway/budget.ts";
import type { Call, Subscribed, Subscriber } from "../gateway/call.ts";
import type { CallTable, Gateway } from "../gateway/gateway.ts";
import { type Caller, type CallerRequest, refuseTokenIn } from "../gateway/guard.ts";
import {
  invalidCall,
  LATER,
  NOT_FORWARDED,
  problemOfRefusal,
  Refusal,
  STOPPING,
} from "../gateway/refusal.ts";
import { disconnectSignalOf, type ServedRequest } from "../http/request.ts";
import type { Connect, Upgrade } from "../http/socket.ts";
import type { PolicyEntry } from "../gateway/policy.ts";
import { CODES } from "../node/json-rpc.ts";
import { SsePeer } from "./sse-peer.ts";
import {
  type EndReason,
  type Handshake,
  Session,
  type SessionOwner,
  type SessionPeer,
  type SocketCounts,
} from "./session.ts";
import { NodeSocket } from "./node-socket.ts";

interface SocketsOptions {
  readonly gateway: Gateway;
  readonly counts: SocketCounts | undefined;
}

const SOCKETS_MAX = 256, CHECK_MS = 1000;
/** The time after a failed attempt in which no client tries the node again, in milliseconds. */
const ATTEMPTS_MS = 250;

/** While there is no room, messages of a client that are responded to at once may be as long. */
const MESSAGES_MAX = 1_048_576;

const TOO_MANY_CLIENTS = new Refusal(503, CODES.busy, "Too many clients are connected", {
  headers: LATER,
});

const NO_NODE = new Refusal(
  503,
  CODES.notReached,
  "The node takes no WebSocket connection; node.ws names another address",
  { headers: LATER },
);

const NO_CONNECTIONS = new Refusal(
  501,
  CODES.notAllowed,
  "There are no subscriptions in a host program; a service that is started has them",
);

export class Sockets implements SessionOwner, Subscriber {
  readonly gateway: Gateway;
  readonly counts: SocketCounts | undefined;
  readonly #sessions = new Set<Session>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #connect: Connect | undefined;
  /** Whether the last connection to the node was successful, and has not ended since. */
  #isNodeReady = false;
  /** The attempt to connect that goes on, for all clients that wait. */
  #attempt: Promise<void> | undefined;
  #failedAt = -Infinity;
  #hasEnded = false;
  /** The connections and handshakes of clients without a token, and with one. */
  readonly #places = { anonymous: 0, named: 0 };
  constructor(options: SocketsOptions) {
    this.gateway = options.gateway;
    this.counts = options.counts;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get subscriptions(): number {
    return [...this.#sessions].reduce((sum, { subscriptions }) => sum + subscriptions.size, 0);
  }

  /** Responds to a handshake, whose host has been checked. */
  async respond(request: ServedRequest, query: string, upgrade: Upgrade): Promise<Response> {
    try {
      checkHandshake(request);
      const { headers, word } = handshakeHeaders(request);
      const known: CallerRequest = { method: request.method, url: request.url, headers };
      let caller = await this.gateway.identify(known, query);
      const decoded = word !== undefined && !caller.client ? tokenOfWord(word) : undefined;
      if (decoded !== undefined) {
        headers.set("authorization", `Bearer ${decoded}`);
        caller = await this.gateway.identify(known, query);
      }
      request.clientName = known.clientName;
      const token = caller.client?.token;
      refuseTokenIn(query);
      caller.checkOrigin();
      const quota = this.gateway.quotaOf(caller)?.refusal;
      if (quota) throw quota;
      this.#connect = request.connect;
      // Only the node's kind tells how many connections it takes.
      const table = await this.gateway.table();
      const drop = await this.#takePlace(caller);
      await this.#checkNode(table).catch((error) => {
        drop();
        throw error;
      });
      const handshake = {
        request: known,
        query,
        caller,
        token,
        drop,
        closesAbruptly: closesAbruptly(table),
      };
      return upgrade.accept({
        protocol: word && BEARER,
        open: (peer) => this.#open(peer, handshake),
        drop,
      });
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const response = problemOfRefusal(error);
      response.headers.set("connection", "close");
      return response;
    }
  }

  /** Subscribes for a request whose rights have been checked. */
  async subscribe(
    { request, query, caller, lease: { token } }: Call,
    entry: PolicyEntry,
    params: string | undefined,
  ): Promise<Subscribed> {
    if (!request.connect) throw NO_CONNECTIONS;
    this.#connect = request.connect;
    const drop = await this.#takePlace(caller);
    const peer = new SsePeer();
    const session = this.#open(peer, { request, query, caller, token, drop });
    peer.attach(session);
    onAbort(disconnectSignalOf(request), () => peer.leave());
    const outcome = await session.subscribe({ entry, params, isHeavy: false });
    return { outcome, events: peer.body };
  }

  async openNodeSocket(isAnonymous: boolean): Promise<NodeSocket> {
    this.#isNodeReady = false;
    if (performance.now() - this.#failedAt < ATTEMPTS_MS) throw NO_NODE;
    const { node, timeout } = this.gateway;
    const opening = NodeSocket.open(node, this.#connect!, isAnonymous, timeout);
    const nodeSocket = await opening.catch(() => {
      this.#failedAt = performance.now();
      throw NO_NODE;
    });
    this.#isNodeReady = true;
    return nodeSocket;
  }

  onNodeSocketEnd(): void {
    this.#isNodeReady = false;
  }

  makeRoom({ isNamed }: Session): void {
    // A part of the budget is reserved for clients with a token.
    const candidates = [...this.#sessions].filter((session) => isNamed || !session.isNamed);
    const slowest = largestBy(candidates, ({ unread }) => unread);
    // Where the bytes of other calls take the room, the end of clients that read gives none back.
    if (slowest && slowest.unread > SMALL_BYTES) return slowest.end("slow");
    const busiest = largestBy(candidates, ({ waiting }) => waiting);
    if (!busiest || busiest.waiting <= MESSAGES_MAX) return;
    const isOfNode = busiest.subscriptions.unreadLength > busiest.waiting / 2;
    // The client may connect again, when there is room for what the node sends.
    busiest.end(isOfNode ? "node" : "flood");
  }

  onEnd(session: Session, reason: EndReason): void {
    if (!this.#sessions.delete(session)) return;
    this.counts?.countEnd(reason);
    if (this.#sessions.size === 0) clearInterval(this.#timer);
  }

  /** Ends the connections of all clients, who may connect again. */
  async endSessions(): Promise<void> {
    await Promise.all([...this.#sessions].map((one) => one.endAfterCalls("stopping")));
  }

  /** Takes no more clients. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await this.endSessions();
  }

  #open(peer: SessionPeer, handshake: Handshake): Session {
    const session = new Session(this, peer, handshake);
    if (this.#sessions.size === 0) {
      this.#timer = setInterval(() => {
        const now = performance.now();
        for (const session of this.#sessions) session.check(now);
      }, CHECK_MS);
    }
    this.#sessions.add(session);
    session.start();
    if (this.#hasEnded) session.end("stopping");
    return session;
  }

  /**
   * Resolves to a function that gives the place back.
   *
   * @throws {Refusal} if no more clients may connect
   */
  async #takePlace({ client }: Caller): Promise<() => void> {
    // Each client may take a connection to the node.
    const { connections = SOCKETS_MAX } = (await this.gateway.node.definition())?.websocket ?? {};
    if (this.#hasEnded) throw STOPPING;
    const places = this.#places;
    const kind = client ? "named" : "anonymous";
    const most = client || !this.gateway.hasClients ? connections : Math.ceil(connections / 2);
    if (places.anonymous + places.named >= connections || places[kind] >= most) {
      throw TOO_MANY_CLIENTS;
    }
    places[kind]++;
    return () => void places[kind]--;
  }

  /**
   * Tries the node if the last connection to it failed: a client that is accepted subscribes once,
   * and would be silent if that was refused.
   *
   * @throws {Refusal} if the node takes no connection
   */
  async #checkNode(table: CallTable): Promise<void> {
    if (!table.isKnown) throw NOT_FORWARDED.unknown;
    const unexpected = await this.gateway.refusalOfNode();
    if (unexpected) throw unexpected;
    if (this.#isNodeReady || table.unsubscribing.size === 0) return;
    await (this.#attempt ??= this.#attemptToConnect());
  }

  async #attemptToConnect(): Promise<void> {
    try {
      (await this.openNodeSocket(false)).end();
    } finally {
      this.#attempt = undefined;
    }
  }
}

function largestBy(
  sessions: readonly Session[],
  sizeOf: (session: Session) => number,
): Session | undefined {
  return sessions.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0];
}

/**
 * CometBFT's notifications are further responses. CosmJS, its client, connects again only after a
 * connection that ended as that of a node that dies.
 */
const closesAbruptly = ({ unsubscribing }: CallTable): boolean =>
  [...unsubscribing.values()].some(({ operation: { subscription } }) =>
    subscription!.notification === undefined
  );

/** @throws {Refusal} if the request is not a handshake (RFC 6455, section 4.2.1) */
function checkHandshake(request: Request): void {
  const { headers } = request;
  if (headers.get("sec-websocket-version") !== "13") {
    throw new Refusal(426, CODES.invalidCall, "The version of WebSocket must be 13", {
      headers: { "sec-websocket-version": "13" },
    });
  }
  if (!/^[A-Za-z0-9+/]{22}==$/.test(headers.get("sec-websocket-key") ?? "")) {
    throw invalidCall("The header Sec-WebSocket-Key must be 16 bytes in Base64");
  }
}

const BEARER = "bearer";

/**
 * Returns the headers that tell who the client is. Browsers can send a token as a protocol only:
 * `word` is what follows `bearer`, the token itself or its base64url.
 */
function handshakeHeaders(
  request: Request,
): { readonly headers: Headers; readonly word: string | undefined } {
  const headers = new Headers([...request.headers]
    .filter(([name]) => name !== "sec-websocket-protocol"));
  const offered = (request.headers.get("sec-websocket-protocol") ?? "").split(",")
    .map((name) => name.trim());
  const at = offered.indexOf(BEARER);
  if (at < 0) return { headers, word: undefined };
  const word = offered[at + 1] ?? "";
  if (headers.has("authorization") || !/^[\w-]+$/.test(word)) {
    throw invalidCall("The protocol bearer must be followed by the token, or by its base64url");
  }
  headers.set("authorization", `Bearer ${word}`);
  return { headers, word };
}

/** Returns `undefined` if the word is not the base64url of what a header may contain. */
function tokenOfWord(word: string): string | undefined {
  const token = decodeBase64Url(word) ?? "";
  return /^[\x21-\x7e]+$/.test(token) ? token : undefined;
}
