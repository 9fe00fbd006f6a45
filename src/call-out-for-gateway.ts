/**
 * Calls other servers for those who call the node: what `fetch` does not promise is what they need, that a request is
 * sent once, that an answer is read no faster than somebody wants it, and that one which breaks off looks so. Like
 * `platform.ts` it goes out of web standards, and imports modules of `node:` on demand.
 *
 * @module
 */
import type { Bytes } from "./bytes.ts";
import { createClient, type OpenSocket, type SendOptions } from "./http1-client/client.ts";
import type { ClientAnswer, ClientRequest } from "./http1-client/connection.ts";
import { lazy } from "./lazy.ts";
import { createFetch, holdsCertificates, PlatformError, type Tls } from "./platform.ts";
import { withSignal } from "./with-timeout.ts";

/** A call of another server. */
export interface OutgoingCall extends ClientRequest, SendOptions {}

export type { SendOptions } from "./http1-client/client.ts";

/** The answer to a call, of which no more is read than is asked for. */
export type IncomingAnswer = ClientAnswer;

/** Calls another server. Follows no redirects, and decodes nothing. */
export type CallOut = (call: OutgoingCall) => Promise<IncomingAnswer>;

/**
 * Makes what calls other servers: on sockets where there are any, and else with `fetch`.
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
    return callOutOfSockets(tls);
  }
  const fetch = createFetch(tls);
  return (call) => callByFetch(fetch, call);
}

function callOutOfSockets(tls: Tls | undefined): CallOut {
  const client = lazy(async () => createClient(await openerOf(tls)));
  return async (call) => await (await client.get())(call, call);
}

async function openerOf(authority: Tls | undefined): Promise<OpenSocket> {
  const [net, tls] = await Promise.all([import("node:net"), import("node:tls")]);
  const trust = authority && { ca: [...tls.rootCertificates, authority.ca] };
  return ({ protocol, hostname, port }) => {
    // Brackets belong to the URL.
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (protocol !== "https:") return net.connect({ host, port: Number(port || 80) });
    const servername = net.isIP(host) === 0 ? host : "";
    return tls.connect({ host, port: Number(port || 443), servername, ...trust });
  };
}

/** The same as a `fetch` of which no more is used than here: each request is on connections of its owner. */
export function fetchOf(callOut: CallOut): typeof globalThis.fetch {
  return async (input, init: RequestInit & { owner?: object } = {}) => {
    const { method = "GET", headers, body, signal, owner } = init;
    const { status, headers: answered, next, cancel } = await callOut({
      ...{ method, owner, isOnce: false, url: new URL(String(input)) },
      headers: Object.fromEntries(new Headers(headers)),
      body: typeof body === "string" ? new TextEncoder().encode(body) : undefined,
      signal: signal ?? new AbortController().signal,
    });
    const pull = async (controller: ReadableStreamDefaultController<Bytes>) => {
      const part = await next();
      if (part) controller.enqueue(part);
      else controller.close();
    };
    const content = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
    const ok = status >= 200 && status < 300;
    return { ok, status, headers: answered, body: content } as Response;
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
  let received = 0;
  return {
    status: response.status,
    headers: response.headers,
    async next() {
      const { value } = reader ? await withSignal(reader.read(), signal) : {};
      received += value?.byteLength ?? 0;
      return value as Bytes | undefined;
    },
    // Nobody tells what stands around chunks.
    received: () => received,
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
