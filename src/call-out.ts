/**
 * Calls other servers for those who call the node: what `fetch` does not promise is what they need, that a request is
 * sent once, that an answer is read no faster than somebody wants it, and that one which breaks off looks so. Like
 * `platform.ts` it goes out of web standards, and imports modules of `node:` on demand.
 *
 * @module
 */
import type { IncomingMessage, RequestOptions } from "node:http";
import type { Bytes } from "./bytes.ts";
import {
  createFetch,
  holdsCertificates,
  IDLE_TIMEOUT,
  PlatformError,
  type Tls,
} from "./platform.ts";
import { withSignal } from "./with-timeout.ts";

/** A call of another server. */
export interface OutgoingCall {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
  /**
   * For a call that must not arrive twice: it gets a fresh connection, which it shares with others that have the same
   * object. Without one it is sent once more where a kept connection turns out to be closed.
   */
  readonly once?: object | undefined;
  /** Ends the call, and the reading of its answer; its reason is what these reject with. */
  readonly signal: AbortSignal;
}

/** The answer to a call, of which no more is read than is asked for. */
export interface IncomingAnswer {
  /** 200 to 599. */
  readonly status: number;
  readonly headers: Pick<Headers, "get">;
  /** Reads the next bytes; `undefined` at the end. Rejects where the answer breaks off. */
  next(): Promise<Bytes | undefined>;
  /** Lets go of the rest; the connection is not used again, unless the answer has ended. */
  cancel(): void;
}

/** Calls another server. Follows no redirects, and decodes nothing. */
export type CallOut = (call: OutgoingCall) => Promise<IncomingAnswer>;

/**
 * Makes what calls other servers, with `node:http` where there is one: the `fetch` of Deno 2.9 sends a request again
 * that was read but not answered, and that of Bun 1.4 does if it is a GET.
 *
 * @param tls as for `createFetch`
 * @throws {PlatformError} as `createFetch`
 */
export function createCallOut(tls?: Tls): CallOut {
  if (tls && !holdsCertificates(tls.ca)) {
    throw new PlatformError("it holds no certificate in PEM");
  }
  const { process, navigator } = globalThis;
  if (process?.versions?.node && navigator?.userAgent !== "Cloudflare-Workers") {
    return callOutOfNode(tls);
  }
  const fetch = createFetch(tls);
  return (call) => callByFetch(fetch, call);
}

/** What is used of `node:http`, or of `node:https`. */
interface HttpModule {
  readonly request: typeof import("node:http").request;
  readonly Agent: typeof import("node:http").Agent;
}

/** How long the connection of calls that have it to themselves is kept for the next of them, in milliseconds. */
const ONCE_TIMEOUT = 500;

function callOutOfNode(tls: Tls | undefined): CallOut {
  interface Client {
    readonly http: HttpModule;
    readonly kept: RequestOptions;
    readonly fresh: () => RequestOptions;
  }
  const clients: Record<string, Client> = {};
  const open = async (protocol: string): Promise<Client> => {
    const http: HttpModule =
      await (protocol === "https:"
        ? import("node:https") as Promise<unknown> as Promise<HttpModule>
        : import("node:http"));
    const { rootCertificates } = tls ? await import("node:tls") : { rootCertificates: [] };
    const trust = tls && { ca: [...rootCertificates, tls.ca] };
    const connect = (timeout: number, keepAlive = true) => ({
      agent: new http.Agent({ keepAlive, timeout }),
      ...trust,
    });
    const fresh = () => {
      const options = connect(ONCE_TIMEOUT);
      const { agent } = options as { agent: ReusingAgent };
      const { reuseSocket } = agent;
      agent.reuseSocket = (socket, request) => {
        reuseSocket.call(agent, socket, request);
        // Otherwise Deno 2.9 sends it again by itself when the connection closes.
        request.reusedSocket = false;
      };
      return options;
    };
    // Deno 2.9 never closes a connection that was used before where a call on it is cancelled.
    return clients[protocol] = {
      http,
      fresh,
      kept: connect(IDLE_TIMEOUT, !("Deno" in globalThis)),
    };
  };
  const connections = new WeakMap<object, RequestOptions>();
  return async (call) => {
    const { once, signal } = call;
    const url = new URL(call.url);
    const { http, kept, fresh } = clients[url.protocol] ?? await open(url.protocol);
    if (once) {
      const connection = connections.get(once) ?? fresh();
      connections.set(once, connection);
      return await sendOut(http, url, call, connection);
    }
    try {
      return await sendOut(http, url, call, kept);
    } catch (error) {
      if (!(error as Stale).isStale || signal.aborted) throw error;
      return await sendOut(http, url, call, fresh());
    }
  };
}

/** A method that `@types/node` leaves out (https://nodejs.org/api/http.html#agentreusesocketsocket-request). */
interface ReusingAgent {
  reuseSocket(socket: unknown, request: { reusedSocket: boolean }): void;
}

/** How much of an answer waits for whoever reads it, in bytes. */
const WAITING_MAX = 65_536;

/** An error on a kept connection, which the other side may have closed before the request. */
type Stale = Error & { isStale?: boolean };

function sendOut(
  { request }: HttpModule,
  { hostname, port, pathname, search }: URL,
  { method, headers, body, signal }: OutgoingCall,
  connection: RequestOptions,
): Promise<IncomingAnswer> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const options = {
      ...connection,
      ...{ method, headers: withLength(headers, method, body) },
      // Brackets belong to the URL.
      host: hostname.replace(/^\[|\]$/g, ""),
      path: pathname + search,
      ...port !== "" && { port },
    };
    let answer: IncomingMessage | undefined;
    let failure: { readonly reason: unknown } | undefined;
    let hasEnded = false;
    let wake = () => {};
    const waiting: Bytes[] = [];
    let waitingBytes = 0;
    const take = (part: Bytes) => {
      waiting.push(part);
      waitingBytes += part.byteLength;
      if (waitingBytes > WAITING_MAX) answer!.pause();
      wake();
    };
    const sent = request(options, (message) => {
      answer = message;
      const { statusCode: status = 0, rawHeaders } = message;
      message.on("data", take).on("error", fail);
      message.on("end", () => {
        // Deno 2.9 ends an answer that has broken off.
        if (!message.complete) return fail(closed());
        hasEnded = true;
        signal.removeEventListener("abort", stop);
        wake();
      });
      message.on("close", cancel);
      if (status < 200 || status > 599) {
        return fail(Object.assign(new Error("status"), { code: "HPE_INVALID_STATUS" }));
      }
      resolve({ status, headers: fieldsOf(rawHeaders), next, cancel });
    });
    const fail = (reason: unknown) => {
      if (hasEnded || failure) return;
      failure = { reason };
      signal.removeEventListener("abort", stop);
      sent.destroy();
      reject(reason);
      wake();
    };
    const stop = () => fail(signal.reason);
    const next = async (): Promise<Bytes | undefined> => {
      for (;;) {
        if (failure) throw failure.reason;
        const part = waiting.shift();
        if (part) {
          waitingBytes -= part.byteLength;
          if (waiting.length === 0 && answer!.isPaused()) answer!.resume();
          return part;
        }
        if (hasEnded) return undefined;
        await new Promise<void>((resolve) => wake = resolve);
      }
    };
    const cancel = () => {
      if (!hasEnded) fail(closed());
    };
    signal.addEventListener("abort", stop);
    sent.on("error", (error: Stale) => {
      error.isStale = sent.reusedSocket && !answer;
      fail(error);
    });
    // An upgrade, for one, ends a request without an error or an answer (Node 20.20).
    sent.on("close", () => answer || fail(closed()));
    sent.end(body);
  });
}

const closed = () => Object.assign(new Error("closed"), { code: "ECONNRESET" });

/** Says how long the content is, also where there is none but the method expects some (RFC 9110, section 8.6). */
function withLength(
  headers: OutgoingCall["headers"],
  method: string,
  body: Bytes | undefined,
): Record<string, string> {
  const isExpected = body !== undefined || /^(?:POST|PUT|PATCH)$/.test(method);
  return { ...headers, ...isExpected && { "content-length": String(body?.byteLength ?? 0) } };
}

/** Reads headers of alternating names and values; several values are joined by commas. */
function fieldsOf(raw: readonly string[]): Pick<Headers, "get"> {
  return {
    get(name) {
      const wanted = name.toLowerCase();
      let value: string | null = null;
      for (let at = 0; at < raw.length; at += 2) {
        if (raw[at]!.length !== wanted.length || raw[at]!.toLowerCase() !== wanted) continue;
        value = value === null ? raw[at + 1]! : `${value}, ${raw[at + 1]}`;
      }
      return value;
    },
  };
}

async function callByFetch(
  fetch: typeof globalThis.fetch,
  { method, url, headers, body, signal }: OutgoingCall,
): Promise<IncomingAnswer> {
  const init = { method, headers, body: body ?? null, redirect: "manual", signal } as const;
  const response = await withSignal(fetch(url, init), signal);
  const reader = response.body?.getReader();
  const cancel = () => void reader?.cancel().catch(() => {});
  return {
    status: response.status,
    headers: response.headers,
    next: async () =>
      reader && (await withSignal(reader.read(), signal)).value as Bytes | undefined,
    cancel,
  };
}

/** What workerd adds to the streams. */
interface WorkerdStreams {
  FixedLengthStream?: new (length: number) => TransformStream<Bytes, Bytes>;
}

/**
 * Whether a client can see that a body of unknown length breaks off: workerd sends the last chunk even where a stream
 * fails (seen in 2026-11).
 */
export const SHOWS_BREAKS: boolean = !(globalThis as WorkerdStreams).FixedLengthStream;

/**
 * Whether a request whose client has left may be forgotten: workerd then runs none of its timers, and no `finally`
 * (seen in 2026-11).
 */
export const FORGETS_REQUESTS: boolean = !SHOWS_BREAKS;

/** A body that looks broken where its stream fails, as far as {@linkcode SHOWS_BREAKS} allows. */
export function breakable(
  stream: ReadableStream<Bytes>,
  length: number | undefined,
): ReadableStream<Bytes> {
  const { FixedLengthStream } = globalThis as WorkerdStreams;
  if (!FixedLengthStream || length === undefined) return stream;
  const { readable, writable } = new FixedLengthStream(length);
  void stream.pipeTo(writable).catch(() => {});
  return readable;
}
