/** Helpers for tests that query a node. */
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import * as assert from "uvu/assert";
import type { Kind, KindAuth } from "../src/kinds/kind.ts";
import { clientOfFetch, createClient } from "../src/node/client.ts";
import type { Client } from "../src/node/http1.ts";
import { createCredentials, type CredentialsOptions } from "../src/node/credentials.ts";
import type { SourceError } from "../src/node/failures.ts";
import { type NodeAccess, type RequestLimits, requestText } from "../src/node/request.ts";

/** Returns limits that tests do not reach by accident. */
export const within = (
  timeout = 10_000,
  signal: AbortSignal = new AbortController().signal,
): RequestLimits => ({ timeout, signal });

/** Creates kinds of node that differ only in their names and in how the nodes refuse requests. */
export function kindsRefusing(
  auths: Readonly<Record<string, KindAuth>>,
): Record<string, Kind> {
  const kinds = Object.entries(auths).map((
    [name, auth],
  ): [string, Kind] => [name, {
    title: name,
    url: "http://127.0.0.1",
    detect: {},
    sources: {},
    fields: {},
    health: { ok: "it answers" },
    auth,
  }]);
  return Object.fromEntries(kinds);
}

/** Creates a client that sends requests with a test's `fetch`, to which it passes request bodies as text. */
export const playedBy = (fetch: typeof globalThis.fetch): Client =>
  clientOfFetch((input, init) => {
    const body = init?.body instanceof Uint8Array ? new TextDecoder().decode(init.body) : null;
    return fetch(input, { ...init, body });
  });

/** Returns the client and the credentials for queries to the node at a URL. By default, there are no credentials. */
export const contextFor = (
  nodeUrl: string,
  { fetch, tls, ...options }:
    & Partial<CredentialsOptions & { fetch: typeof globalThis.fetch }>
    & Parameters<typeof createClient>[0] = {},
): NodeAccess => ({
  client: fetch ? playedBy(fetch) : createClient({ tls }),
  credentials: createCredentials({ nodeUrl, ...options }),
});

/** Sends a GET request, and fails with the same error as a source of node values would. */
export const get = (
  url: string,
  context: NodeAccess = contextFor(url),
  limits = within(),
) => requestText({ ...limits, url, method: "GET" }, context);

/** Waits until a source fails, and returns its error. */
export async function failure(work: Promise<unknown>): Promise<SourceError> {
  try {
    await work;
  } catch (error) {
    assert.is(
      (error as Error).name,
      "SourceError",
      String((error as Error).stack),
    );
    return error as SourceError;
  }
  return assert.unreachable("it has not failed") as never;
}

/** A server that a test started. */
export interface Played {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** Starts an HTTP server. */
export function play(answer: RequestListener): Promise<Played> {
  const server = createServer(answer);
  return listen(server, "http", () => server.closeAllConnections());
}

/** Starts a server that receives raw connections. */
export function playTcp(
  connect: (socket: Socket) => void,
  scheme = "http",
): Promise<Played> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    connect(socket);
  });
  return listen(
    server,
    scheme,
    () => sockets.forEach((socket) => socket.destroy()),
  );
}

/** The methods that all types of server have in common. */
interface Listening {
  listen(port: number, host: string, ready: () => void): unknown;
  address(): unknown;
  close(done: () => void): unknown;
}

/** Makes a server listen on a free port. */
export function listen(
  server: Listening,
  scheme: string,
  cut: () => void,
): Promise<Played> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      const close = () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve());
          cut();
        });
      resolve({ url: `${scheme}://127.0.0.1:${port}`, port, close });
    });
  });
}
