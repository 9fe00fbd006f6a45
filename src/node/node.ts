/**
 * The chain node: its address, its kind, and everything that is sent to it.
 *
 * @module
 */
import type { Connect, Peer, PeerEvents } from "../http/socket.ts";
import { formatJson } from "../json/lossless.ts";
import { JsonSyntaxError } from "../json/scan.ts";
import type { JsonRpcSource, Kinds } from "../kinds/kind.ts";
import { lazy, type Resource } from "../lazy.ts";
import { Listeners } from "../listeners.ts";
import { createClient, readTrust, type Trust } from "./client.ts";
import { Credentials, type Exchanged, type SecretUse } from "./credentials.ts";
import { failureOf, failureOfStatus, notJson, SourceError } from "./failures.ts";
import type { Client, NodeRequest } from "./http1.ts";
import {
  outcomeOf,
  readRpcResponse,
  RPC_HEADERS,
  type RpcOutcome,
  type RpcResponse,
  writeCall,
} from "./json-rpc.ts";
import { type RequestLimits, requestText, type TextRequest, type TextResponse } from "./request.ts";
import type { SecretPlace } from "./secrets.ts";
import { tryAbort } from "../with-timeout.ts";

export interface NodeOptions {
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
  readonly client?: Client | undefined;
}

/** A method to call, and its parameters. */
export interface RpcRequest extends Pick<JsonRpcSource, "jsonrpc"> {
  /** A text is JSON. With `null`, no parameters are sent. @default [] */
  readonly params?: JsonRpcSource["params"] | string | null;
}

/** Sends the text of a call or of a batch, and resolves to the node's response. */
export type PostRpc = (body: string) => Promise<TextResponse>;

export interface RpcOptions extends Partial<RequestLimits>, SecretUse {
  /** The path of the JSON-RPC endpoint, as for {@linkcode Node.resolve}. */
  readonly path?: string | undefined;
  /** @default a query with the limits of these options */
  readonly post?: PostRpc;
  /**
   * The maximum nesting depth of a response, which may not have two results. @default any depth,
   * and the last of several results
   */
  readonly depthMax?: number;
}

export class Node {
  readonly url: string | undefined;
  readonly auth: SecretPlace | undefined;
  readonly timeout: number;
  readonly expect: Readonly<Record<string, string | number>>;
  /** True if only a certain node may be at the address. */
  readonly isExpected: boolean;
  readonly kinds: Resource<Kinds>;
  readonly client: Client;
  /**
   * The number of times that the node has refused, closed or broken a connection. Afterwards,
   * another node may be at its address.
   */
  losses = 0;
  /** Told the kind each time that it has become known or has changed. */
  readonly onKind: Listeners<[kind: string | undefined]> = new Listeners();
  readonly #ws: string | undefined;
  readonly #tls: Trust | undefined;
  #life: AbortController | undefined;
  #kind: string | undefined;
  #credentials: Credentials;
  /** The paths of the endpoints that take no batches. */
  readonly #single = new Set<string>();

  constructor(options: NodeOptions, kinds: () => Promise<Kinds>) {
    const { url, kind, auth, tls, timeout = 2000, expect = {} } = options;
    const origin = url === undefined ? undefined : new URL(url).origin;
    const onLoss = (lost: URL) => {
      if (lost.origin === origin) this.losses++;
    };
    const { client = createClient(tls, onLoss) } = options;
    this.url = url;
    this.auth = auth;
    this.timeout = timeout;
    this.expect = expect;
    this.isExpected = Object.keys(expect).length > 0;
    this.#ws = options.ws;
    this.#tls = tls;
    this.kinds = lazy(kinds);
    this.client = client;
    this.#kind = kind;
    this.#credentials = new Credentials(this);
  }

  /** The name of the node's kind, or `none`; `undefined` while the kind is unknown. */
  get kind(): string | undefined {
    return this.#kind;
  }

  /** Another kind of node may have another secret, and take batches. */
  set kind(name: string | undefined) {
    if (name === this.#kind) return;
    this.#kind = name;
    this.#credentials = new Credentials(this);
    this.#single.clear();
    this.onKind.tell(name);
  }

  /**
   * Returns the URL of a path, or of a path and a query. The empty path is the address itself; any
   * other path follows the address without its trailing slashes. A URL is returned as it is.
   *
   * @throws {SourceError} if the node has no address
   */
  resolve(path: string): URL {
    if (/^https?:/i.test(path)) return new URL(path);
    if (this.url === undefined) throw new SourceError("bad_answer", "has no URL; set node.url");
    return new URL(path === "" ? this.url : this.url.replace(/\/+$/, "") + path);
  }

  /**
   * Opens a WebSocket connection to the node. Only the origin of `url` gets the secret.
   *
   * @param rpcPath the path of the JSON-RPC endpoint, as for {@linkcode resolve}
   */
  async connect(
    connect: Connect,
    rpcPath: string,
    isAnonymous: boolean,
    events: PeerEvents,
  ): Promise<Peer> {
    const { websocket } = (await this.kinds.get())[this.#kind ?? "none"] ?? {};
    const url = new URL(this.#ws ?? this.resolve(websocket?.path ?? rpcPath));
    url.protocol = url.protocol.replace("http", "ws");
    const offset = this.#ws === undefined ? websocket?.port_offset : undefined;
    if (offset !== undefined && url.port !== "") url.port = String(Number(url.port) + offset);
    const headers = isAnonymous ? {} : await this.#credentials.headersFor(url);
    const ca = this.#tls && await readTrust(this.#tls);
    return await connect(url, { headers, ca }, events);
  }

  /**
   * Sends a request, and passes its response to `read`. With HTTP Digest, `read` should read the
   * whole response.
   */
  send<T>(
    request: Omit<NodeRequest, "owner">,
    read: (exchanged: Exchanged) => T | Promise<T>,
    use?: SecretUse,
  ): Promise<T> {
    return this.#credentials.send(request, read, use);
  }

  /** Rejects with a `SourceError`. */
  async request(path: string, request: TextRequest): Promise<TextResponse> {
    const { timeout = this.timeout, signal = this.signal } = request;
    return await requestText(this, this.resolve(path), { ...request, timeout, signal });
  }

  /**
   * Calls methods: several, which must only read, in one batch, or one by one if the node takes no
   * batches. Never rejects: the outcome of a call that failed has an `error`.
   */
  async rpc(calls: readonly RpcRequest[], options: RpcOptions = {}): Promise<RpcOutcome[]> {
    const { path = "", post = (body) => this.#post(body, options), depthMax } = options;
    const ask: AskRpc = async (body) => await readAnswer(await post(body), depthMax);
    const max = await this.#batchMax(path);
    if (calls.length === 1 || max === 1) return await callSingly(calls, ask);
    const outcomes: RpcOutcome[] = [];
    for (let at = 0; at < calls.length; at += max) {
      outcomes.push(...await this.#callBatch(calls.slice(at, at + max), path, ask));
    }
    return outcomes;
  }

  async #callBatch(
    calls: readonly RpcRequest[],
    path: string,
    ask: AskRpc,
  ): Promise<RpcOutcome[]> {
    try {
      const texts = calls.map((call, id) => textOfCall(call, id));
      const batch = await ask(`[${texts.join(",")}]`);
      if (Array.isArray(batch)) {
        // If several responses have the same id, the first one is used.
        const byId = new Map(batch.toReversed().map((response) => [response.id, response]));
        const responses = calls.map((_, id) => byId.get(String(id)));
        if (responses.some((response) => response !== undefined)) {
          return await Promise.all(responses.map((response = {}) => outcomeOf(response)));
        }
      }
    } catch (reason) {
      const error = failureOf(reason);
      // Only the code `bad_answer` can mean that the node refuses batches.
      if (error.code !== "bad_answer" || isBusy(error.number)) {
        return calls.map(() => ({ error, reason }));
      }
    }
    const outcomes = await callSingly(calls, ask);
    // If all single calls fail too, the batch may not be the cause.
    if (outcomes.some((outcome) => "result" in outcome)) this.#single.add(path);
    return outcomes;
  }

  /** Resolves to the number of calls that the node takes in one batch. */
  async #batchMax(path: string): Promise<number> {
    if (this.#single.has(path)) return 1;
    const kind = (await this.kinds.get())[this.#kind ?? "none"];
    return kind?.batch_max ?? Infinity;
  }

  /**
   * Aborted when the node is closed. On workerd, a controller can be made only while a request is
   * handled.
   */
  get signal(): AbortSignal {
    return (this.#life ??= new AbortController()).signal;
  }

  /** Ends all requests that have no signal of their own. */
  close(): void {
    if (this.#life) tryAbort(this.#life);
  }

  async #post(body: string, options: RpcOptions): Promise<TextResponse> {
    const request = { ...options, method: "POST", headers: RPC_HEADERS, body } as const;
    return await this.request(options.path ?? "", request);
  }
}

type AskRpc = (body: string) => Promise<RpcResponse | RpcResponse[]>;

function callSingly(calls: readonly RpcRequest[], ask: AskRpc): Promise<RpcOutcome[]> {
  return Promise.all(calls.map(async (call) => {
    try {
      const response = await ask(textOfCall(call, 1));
      return await outcomeOf(Array.isArray(response) ? {} : response);
    } catch (reason) {
      return { error: failureOf(reason), reason };
    }
  }));
}

/** @throws {SourceError} if the response is not JSON-RPC */
async function readAnswer(
  { status, text }: TextResponse,
  depthMax: number = Infinity,
): Promise<RpcResponse | RpcResponse[]> {
  // Some nodes send JSON-RPC errors with a status of 4xx or 5xx.
  if (status > 299 && !/^\s*[[{]/.test(text)) throw failureOfStatus(status);
  let response: RpcResponse | RpcResponse[];
  try {
    response = await readRpcResponse(text, depthMax, depthMax === Infinity ? "last" : "wanted");
  } catch (error) {
    throw error instanceof JsonSyntaxError ? notJson(text) : error;
  }
  if (status > 299 && !Array.isArray(response) && !isRpcError(response)) {
    throw failureOfStatus(status);
  }
  return response;
}

/** A text without an id may be an error of another server. */
const isRpcError = ({ id, error = "" }: RpcResponse): boolean =>
  error.startsWith("{") || (error.startsWith('"') && id !== undefined);

/** Tells whether a status means that the node has too much to do. */
export const isBusy = (status: number | undefined): boolean => status === 429 || status === 503;

function textOfCall({ jsonrpc: method, params = [] }: RpcRequest, id: number): string {
  const text = typeof params === "string" ? params : params && formatJson(params);
  return writeCall(method, id, text ?? undefined);
}
