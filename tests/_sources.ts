/** Helpers for tests that query a node. */
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import * as assert from "uvu/assert";
import { LightSignal } from "../src/abort-signal.ts";
import type { Kind, KindAuth, Kinds } from "../src/kinds/kind.ts";
import { createFetchClient } from "../src/node/http-client.ts";
import type { HttpClient } from "../src/node/http1.ts";
import type { SourceError } from "../src/node/failures.ts";
import { Node, type NodeInit } from "../src/node/node.ts";
import type { RequestLimits, TextResponse } from "../src/node/request.ts";

/** The default timeout of 10 s is longer than any passing test needs. */
export const within = (
  timeout = 10_000,
  signal: LightSignal = new LightSignal(),
): RequestLimits => ({ timeout, signal });

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

/** The `fetch` function gets request bodies as text. */
export const playedBy = (fetch: typeof globalThis.fetch): HttpClient =>
  createFetchClient((input, init) => {
    const body = init?.body instanceof Uint8Array ? new TextDecoder().decode(init.body) : null;
    return fetch(input, { ...init, body });
  });

export const contextFor = (
  url: string | undefined,
  { fetch, kinds = {}, ...options }: NodeInit & {
    fetch?: typeof globalThis.fetch;
    kinds?: Kinds;
  } = {},
): Node =>
  new Node(
    { url, client: fetch && playedBy(fetch), ...options },
    () => Promise.resolve(kinds),
  );

export const get = (
  url: string,
  context: Node = contextFor(url),
  limits = within(),
): Promise<TextResponse> => context.request(url, { ...limits, method: "GET" });

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

export interface Played {
  url: string;
  port: number;
  close(): Promise<void>;
}

export function play(answer: RequestListener): Promise<Played> {
  const server = createServer(answer);
  return listen(server, "http", () => server.closeAllConnections());
}

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

interface Listening {
  listen(port: number, host: string, ready: () => void): unknown;
  address(): unknown;
  close(done: () => void): unknown;
}

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
