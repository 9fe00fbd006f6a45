/**
 * The chain node: its address, its kind, and everything that is sent to it.
 *
 * @module
 */
import { LightSignal } from "../abort-signal.ts";
import { isHttpUrl, isLoopbackListener } from "../http/host-names.ts";
import type { Connect, Peer, PeerEvents } from "../http/socket.ts";
import type { Kind, Kinds } from "../kinds/kind.ts";
import type { SecretPlace } from "../kinds/parts.ts";
import { lazy, memoize, type Resource } from "../lazy.ts";
import { Listeners } from "../listeners.ts";
import { IS_DENO } from "../platform.ts";
import { AddressBook, ServerAddress } from "./address-book.ts";
import { createClient, readTrust, type Trust } from "./http-client.ts";
import { type AuthorizedResponse, Credentials, type SecretChoice } from "./credentials.ts";
import { SourceError } from "./failures.ts";
import type { HttpClient, NodeRequest } from "./http1.ts";
import type { RpcOutcome } from "./json-rpc.ts";
import { RPC_HEADERS } from "./own-headers.ts";
import { type RequestLimits, requestText, type TextRequest, type TextResponse } from "./request.ts";
import { RpcEndpoint, type RpcRequest } from "./rpc.ts";

export interface NodeInit {
  /** Begins with `http:` or `https:`, and has neither a query nor a fragment. */
  readonly url?: string | undefined;
  /** The name of the node's kind, or `none`; `undefined` if the kind is not known yet. */
  readonly kind?: string | undefined;
  /** The URL for WebSocket connections. @default as the kind says, below `url` */
  readonly ws?: string | undefined;
  readonly auth?: SecretPlace | undefined;
  readonly tls?: Trust | undefined;
  /** The values of `/v1/info` that show that this is the expected node. */
  readonly expect?: Readonly<Record<string, string | number>> | undefined;
  /** The time limit of a response, in milliseconds. @default 2000 */
  readonly timeout?: number | undefined;
  readonly client?: HttpClient | undefined;
}

export interface RpcOptions
  extends Partial<RequestLimits>, SecretChoice, Pick<TextRequest, "limit"> {
  /** The path of the JSON-RPC endpoint, as for {@linkcode Node.resolve}. */
  readonly path?: string | undefined;
}

export class Node {
  readonly url: string | undefined;
  readonly auth: SecretPlace | undefined;
  readonly timeout: number;
  readonly expect: Readonly<Record<string, string | number>>;
  /** True if only a certain node may be at the address. */
  readonly isExpected: boolean;
  readonly kinds: Resource<Kinds>;
  readonly client: HttpClient;
  /** The node's JSON-RPC methods. */
  endpoint: RpcEndpoint;
  /**
   * Told the kind each time that it has become known or has changed: the description, which looks
   * for the new kind's, and the log of the names in `forward`.
   */
  readonly onKind: Listeners<[kind: string | undefined]> = new Listeners();
  /** Aborted when the node is closed. */
  readonly signal: LightSignal = new LightSignal();
  readonly #ws: string | undefined;
  readonly #tls: Trust | undefined;
  #kind: string | undefined;
  readonly #server: ServerAddress;
  #credentials: Credentials;

  constructor(options: NodeInit, kinds: () => Promise<Kinds>) {
    const { url, kind, auth, tls, timeout = 2000, expect = {} } = options;
    this.isExpected = Object.keys(expect).length > 0;
    // Deno may be allowed to connect to the name, but not to its address.
    const addresses = new AddressBook(this.isExpected && !IS_DENO);
    this.#server = url === undefined ? new ServerAddress(false) : addresses.of(new URL(url));
    const { client = createClient(tls, addresses) } = options;
    this.url = url;
    this.auth = auth;
    this.timeout = timeout;
    this.expect = expect;
    this.#ws = options.ws;
    this.#tls = tls;
    this.kinds = lazy(kinds);
    this.client = client;
    this.#kind = kind;
    this.endpoint = new RpcEndpoint(this);
    this.#credentials = new Credentials(this);
  }

  /** The name of the node's kind, or `none`; `undefined` while the kind is unknown. */
  get kind(): string | undefined {
    return this.#kind;
  }

  /**
   * Sets the kind, which may have another secret, and take batches.
   *
   * @param name as for {@linkcode kind}
   */
  useKind(name: string | undefined): void {
    if (name === this.#kind) return;
    this.#kind = name;
    this.#credentials = new Credentials(this);
    this.endpoint = new RpcEndpoint(this);
    this.onKind.emit(name);
  }

  /** Resolves to what is known of nodes of this kind; `none` stands for an unknown one. */
  async definition(): Promise<Kind | undefined> {
    return (await this.kinds.get())[this.#kind ?? "none"];
  }

  /** Resolves to the path of the JSON-RPC endpoint, as for {@linkcode resolve}. */
  async rpcPath(): Promise<string> {
    const kind = await this.definition();
    return kind?.openrpc?.path ?? kind?.rpc_path ?? "";
  }

  /**
   * The number of times that the node has refused, closed or broken a connection. Afterwards,
   * another node may be at its address.
   */
  get losses(): number {
    return this.#server.losses;
  }

  noteLoss(): void {
    this.#server.losses++;
  }

  /**
   * Returns the URL of a path, or of a path and a query. The empty path is the address itself; any
   * other path follows the address without its trailing slashes. A URL is returned as it is.
   *
   * @throws {SourceError} if the node has no address
   */
  readonly resolve: (path: string) => Readonly<URL> = memoize((path) => {
    if (isHttpUrl(path)) return new URL(path);
    if (this.url === undefined) throw new SourceError("bad_answer", "has no URL; set node.url");
    return new URL(path === "" ? this.url : this.url.replace(/\/+$/, "") + path);
  });

  /**
   * Opens a WebSocket connection to the node. Only the origin of `url` gets the secret. If the name
   * of an expected node has several addresses, the connection leads where HTTP does.
   */
  async connect(connect: Connect, isAnonymous: boolean, events: PeerEvents): Promise<Peer> {
    const { websocket } = await this.definition() ?? {};
    const url = new URL(this.#ws ?? this.resolve(websocket?.path ?? await this.rpcPath()));
    url.protocol = url.protocol.replace("http", "ws");
    const offset = this.#ws === undefined ? websocket?.port_offset : undefined;
    if (offset !== undefined && url.port !== "") url.port = String(Number(url.port) + offset);
    const { headers, secrets } = await this.#credentials.handshakeFor(url, isAnonymous);
    const ca = this.#tls && await readTrust(this.#tls);
    const isSameHost = this.url !== undefined && new URL(this.url).hostname === url.hostname;
    // All loopback addresses are this machine, whose ports may differ.
    const { pinned } = this.#server;
    const isPinned = isSameHost && pinned !== undefined && !isLoopbackListener(pinned);
    const address = isPinned ? pinned : undefined;
    let peer: Peer | undefined;
    return peer = await connect(url, { headers, ca, address }, {
      onText: (text) => secrets?.isIn(text) ? peer?.terminate() : events.onText(text),
      onBinary: (bytes) => events.onBinary(bytes),
      onControl: () => events.onControl(),
      onClose: () => events.onClose(),
    });
  }

  /**
   * Sends a request, and passes its response to `read`. With HTTP Digest, `read` should read the
   * whole response.
   */
  send<T>(
    request: Omit<NodeRequest, "connectionKey">,
    read: (exchanged: AuthorizedResponse) => T | Promise<T>,
    use?: SecretChoice,
  ): Promise<T> {
    return this.#credentials.send(request, read, use);
  }

  /** Rejects with a `SourceError`. */
  async request(path: string, request: TextRequest): Promise<TextResponse> {
    const { timeout = this.timeout, signal = this.signal } = request;
    return await requestText(this, this.resolve(path), { ...request, timeout, signal });
  }

  /** Queries methods for the service itself: see {@linkcode RpcEndpoint.call}. */
  async rpc(calls: readonly RpcRequest[], options: RpcOptions = {}): Promise<RpcOutcome[]> {
    const { path = "" } = options;
    const post = (body: string) =>
      this.request(path, { ...options, method: "POST", headers: RPC_HEADERS, body });
    return await this.endpoint.call(calls, { path, post, isForwarded: false });
  }

  /** Ends all requests that have no signal of their own. */
  close(): void {
    this.signal.abort();
  }
}
