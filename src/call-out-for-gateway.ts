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
import { holdsCertificates, PlatformError, type Tls } from "./platform.ts";

/** A call of another server. */
export interface OutgoingCall extends ClientRequest, SendOptions {}

export type { SendOptions } from "./http1-client/client.ts";

/** The answer to a call, of which no more is read than is asked for. */
export type IncomingAnswer = ClientAnswer;

/** Calls another server. Follows no redirects, and decodes nothing. */
export type CallOut = (call: OutgoingCall) => Promise<IncomingAnswer>;

/**
 * Makes what calls other servers. There have to be sockets.
 *
 * @param tls whom to trust besides; without it, those that the runtime trusts
 * @throws {PlatformError} if the text holds no certificate
 */
export function createCallOut(tls?: Tls): CallOut {
  if (tls && !holdsCertificates(tls.ca)) {
    throw new PlatformError("it holds no certificate in PEM");
  }
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
