/**
 * The door to the node, for its info, its descriptions and its calls: a client of HTTP/1.1 on sockets, and `fetch` where
 * there are none. It sends a request once where that matters, reads a response no faster than somebody wants it, and
 * follows, decodes and remembers nothing. The clients of the runtimes do not promise that: the `fetch` of Deno 2.9 and
 * that of Bun 1.4 send a request again that was read but not answered.
 *
 * @module
 */
import type { Bytes } from "../bytes.ts";
import { lazy } from "../lazy.ts";
import { HAS_SOCKETS } from "../platform.ts";
import { createSocketClient, openerOf } from "./connection.ts";
import type { Client } from "./exchange.ts";
import { SourceError } from "./failures.ts";
import { checkCredentials, readPlace, type SecretPlace } from "./secrets.ts";

export type { Client, NodeRequest, NodeResponse, RequestContent } from "./exchange.ts";

export interface NodePlace {
  readonly auth?: SecretPlace | undefined;
  /** Certificate authorities to trust besides those of the runtime. */
  readonly tls?: { readonly ca_file: string } | undefined;
}

export function createClient({ tls }: Pick<NodePlace, "tls"> = {}): Client {
  if (!HAS_SOCKETS && !tls) return clientOfFetch((input, init) => fetch(input, init));
  const client = lazy(async () => createSocketClient(await openerOf(tls && await readTrust(tls))));
  return async (request) => await (client.made ?? await client.get())(request);
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

async function readTrust(tls: NonNullable<NodePlace["tls"]>): Promise<string> {
  const found = HAS_SOCKETS
    ? await readPlace(tls)
    : { reason: "this runtime takes no certificate authority of one's own" };
  if ("text" in found && holdsCertificates(found.text)) return found.text;
  const reason = "reason" in found ? found.reason : "it holds no certificate in PEM";
  throw new SourceError("tls", "cannot be trusted: the file of node.tls cannot be read", {
    hint: `cannot read node.tls.ca_file ${tls.ca_file}: ${reason}`,
  });
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
