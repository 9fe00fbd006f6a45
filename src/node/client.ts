/**
 * The door to the node, for its info, its descriptions and its calls: a client of HTTP/1.1 on sockets, and `fetch` where
 * there are none. It sends a request once where that matters, reads a response no faster than somebody wants it, and
 * follows, decodes and remembers nothing. The clients of the runtimes do not promise that: the `fetch` of Deno 2.9 and
 * that of Bun 1.4 send a request again that was read but not answered. Like `platform.ts` it goes out of web standards,
 * and imports modules of `node:` on demand.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { lazy } from "../lazy.ts";
import { HAS_SOCKETS, PlatformError, readFile } from "../platform.ts";
import type { Signal } from "../with-timeout.ts";
import { createSocketClient, type OpenSocket } from "./connection.ts";
import { SourceError } from "./failures.ts";
import { type ResponseHead, ResponseReader } from "./http1-response.ts";
import { checkCredentials, type SecretPlace } from "./secrets.ts";

/** What is sent. */
export interface RequestContent {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Bytes | undefined;
}

/** A request to the node. */
export interface NodeRequest extends RequestContent {
  /** Ends the exchange; its reason is what this rejects with. */
  readonly signal: Signal;
  /** Whether it must not arrive twice: it is not sent again where a kept connection turns out to be closed. */
  readonly isOnce: boolean;
  /** Those with the same one share connections, which no others use. */
  readonly owner?: object | undefined;
}

/** A response that is read as it is asked for. */
export interface NodeResponse extends ResponseHead {
  /** Reads the next bytes; `undefined` at the end. Rejects where the response breaks off. */
  next(): Promise<Bytes | undefined>;
  /** How many bytes have come on the wire, with the head and what stands around chunks. */
  received(): number;
  /** Lets go of the rest; the connection is closed, unless the response has ended. */
  cancel(): void;
}

/** Sends a request to the node. Follows no redirects, and decodes nothing. */
export type Client = (request: NodeRequest) => Promise<NodeResponse>;

/** How the node is reached. */
export interface NodePlace {
  /** Where the secret for it lies. */
  readonly auth?: SecretPlace | undefined;
  /** Whom to trust besides those that the runtime trusts. */
  readonly tls?: { readonly ca_file: string } | undefined;
}

/** Makes a client, which trusts whom the operator trusts. */
export function createClient({ tls }: Pick<NodePlace, "tls"> = {}): Client {
  if (!HAS_SOCKETS && !tls) return clientOfFetch((input, init) => fetch(input, init));
  const client = lazy(async () => createSocketClient(await openerOf(tls && await readTrust(tls))));
  return async (request) => await (client.made ?? await client.get())(request);
}

async function openerOf(ca: string | undefined): Promise<OpenSocket> {
  const [net, tls] = await Promise.all([import("node:net"), import("node:tls")]);
  const trust = ca !== undefined && { ca: [...tls.rootCertificates, ca] };
  return ({ protocol, hostname, port }) => {
    // Brackets belong to the URL.
    const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
    if (protocol !== "https:") return net.connect({ host, port: Number(port || 80) });
    const servername = net.isIP(host) === 0 ? host : "";
    return tls.connect({ host, port: Number(port || 443), servername, ...trust });
  };
}

/** Makes a client of `fetch`, which decides by itself whether to send again what was not answered. */
export function clientOfFetch(fetch: typeof globalThis.fetch): Client {
  return async ({ method, url, headers, body = null, signal }) => {
    const controller = new AbortController();
    const stop = () => controller.abort(signal.reason);
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    const init = { method, headers, body, redirect: "manual", signal: controller.signal } as const;
    const response = await fetch(url.href, init);
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

const BOUNDS = { limit: 1024 * 1024, timeout: 2000 } as const;

/** Reads the certificates to trust. */
async function readTrust({ ca_file: path }: NonNullable<NodePlace["tls"]>): Promise<string> {
  try {
    if (!HAS_SOCKETS) {
      throw new PlatformError("this runtime takes no certificate authority of one's own");
    }
    const text = new TextDecoder().decode(await readFile(path, BOUNDS));
    if (!holdsCertificates(text)) throw new PlatformError("it holds no certificate in PEM");
    return text;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    throw new SourceError("tls", "cannot be trusted: the file of node.tls cannot be read", {
      hint: `cannot read node.tls.ca_file ${path}: ${error.message}`,
    });
  }
}

/** Tells whether a text has certificates (RFC 7468, section 5), which the runtimes say late or not at all. */
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

/** Finds what cannot be read, a line for each: errors of the configuration, not of the node. */
export async function findUnreadable({ auth, tls }: NodePlace): Promise<string[]> {
  const [secret, authority] = await Promise.all([
    auth && checkCredentials(auth),
    tls && readTrust(tls).then(() => undefined, ({ hint }: SourceError) => hint),
  ]);
  return [secret, authority].filter((fault) => fault !== undefined);
}
