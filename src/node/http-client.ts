/**
 * Sends requests to the node through sockets, or with `fetch` if the runtime has no sockets. In
 * Deno 2.9 and Bun 1.4, `fetch` may resend a request that the node has already received.
 *
 * @module
 */
import { toAbortSignal } from "../abort-signal.ts";
import type { Bytes } from "../bytes.ts";
import { lazy } from "../lazy.ts";
import type { SecretPlace } from "../kinds/parts.ts";
import { HAS_SOCKETS } from "../platform.ts";
import type { AddressBook } from "./address-book.ts";
import { createConnector, SocketClient } from "./connection.ts";
import { failureOf, SourceError } from "./failures.ts";
import { type HttpClient, targetOf } from "./http1.ts";
import {
  checkCredentials,
  type NoSecret,
  readPlace,
  type Secret,
  type Unusable,
  unusable,
} from "./secrets.ts";

/**
 * The certificate authorities in this file are trusted in addition to the authorities of the
 * runtime.
 */
export interface Trust {
  readonly ca_file: string;
}

/** @param addresses notes where the connections lead */
export function createClient(tls?: Trust, addresses?: AddressBook): HttpClient {
  if (!HAS_SOCKETS && !tls) return createFetchClient((input, init) => fetch(input, init));
  let made: { readonly ca: string | undefined; readonly client: SocketClient } | undefined;
  const make = async () => {
    const ca = tls && await readTrust(tls);
    if (made?.ca === ca && made) return made.client;
    made = { ca, client: new SocketClient(createConnector(ca), addresses) };
    return made.client;
  };
  let client = lazy(make);
  const send: HttpClient = (request) =>
    client.current?.send(request) ?? client.get().then((made) => made.send(request));
  if (!tls) return send;
  return async (request) => {
    try {
      return await send(request);
    } catch (error) {
      // The file may have another certificate by now.
      if (failureOf(error).code === "tls") client = lazy(make);
      throw error;
    }
  };
}

export function createFetchClient(fetch: typeof globalThis.fetch): HttpClient {
  return async (request) => {
    const { method, url, headers, body = null } = request;
    const target = targetOf(request);
    const signal = toAbortSignal(request.signal);
    const init = { method, headers, body, redirect: "manual", signal } as const;
    const response = await fetch(url.origin + target, init);
    const reader = response.body?.getReader() as ReadableStreamDefaultReader<Bytes> | undefined;
    let received = 0;
    return {
      status: response.status,
      headers: response.headers,
      async next() {
        const part = (await reader?.read())?.value;
        received += part?.byteLength ?? 0;
        return part;
      },
      received: () => received,
      cancel: () => void reader?.cancel().catch(() => {}),
    };
  };
}

/** Returns the certificates, in PEM. */
export async function readTrust(tls: Trust): Promise<string> {
  const found = await readCertificates(tls);
  if ("text" in found) return found.text;
  throw new SourceError("tls", "cannot be verified: the file of node.tls cannot be read", {
    hint: cannotReadTrust(tls, found),
  });
}

async function readCertificates(tls: Trust): Promise<Secret> {
  if (!HAS_SOCKETS) {
    return { reason: "this runtime does not support a custom certificate authority" };
  }
  const found = await readPlace(tls);
  if ("reason" in found || holdsCertificates(found.text)) return found;
  return { reason: "no PEM certificate in the file" };
}

const cannotReadTrust = ({ ca_file }: Trust, { reason }: NoSecret): string =>
  `cannot read node.tls.ca_file ${ca_file}: ${reason}`;

/**
 * Checks PEM certificates (RFC 7468), since runtimes report malformed certificates late or never.
 */
function holdsCertificates(text: string): boolean {
  const blocks = [...text.matchAll(/-----BEGIN CERTIFICATE-----([^-]*)-----END CERTIFICATE-----/g)];
  return blocks.length > 0 && blocks.every(([, base64 = ""]) => {
    try {
      return atob(base64.replaceAll(/\s/g, "")).startsWith("\x30");
    } catch {
      return false;
    }
  });
}

export async function findUnusable(
  { auth, tls }: { readonly auth?: SecretPlace | undefined; readonly tls?: Trust | undefined },
): Promise<Unusable[]> {
  const [secret, authority] = await Promise.all([
    auth && checkCredentials(auth),
    tls && checkTrust(tls),
  ]);
  return [secret, authority].filter((found) => found !== undefined);
}

async function checkTrust(tls: Trust): Promise<Unusable | undefined> {
  const found = await readCertificates(tls);
  return "reason" in found ? unusable(cannotReadTrust(tls, found), found) : undefined;
}
