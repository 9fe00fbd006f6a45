import { createServer, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { listener } from "../src/adapters/node.ts";
import { createHttpServer, listen, serveHttp } from "../src/adapters/node-server.ts";
import type { Callbacks, ResponseRecord, Servable } from "../src/adapters/shared.ts";
import { until } from "./_gateway.ts";

const pipelining = suite("pipelined requests on node:http");

const ALLOWED = 16;
const MANY = 1000;

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const numbered = (count: number) =>
  Array.from({ length: count }, (_, at) => get(`/${at}`)).join("");

type MakeServer = (app: Servable, callbacks: Callbacks) => { http: Server; close(): unknown };

const OWN: MakeServer = (app, callbacks) => createHttpServer(app, callbacks);
const OF_A_HOST: MakeServer = (app, callbacks) => {
  const http = createServer(listener(app, callbacks));
  return { http, close: () => http.close() };
};

/**
 * Responds with the path of a request, and counts the requests that are handled at the same time.
 */
class Echo implements Servable {
  readonly handled: string[] = [];
  most = 0;
  #current = 0;

  async fetch({ url }: Request): Promise<Response> {
    const { pathname } = new URL(url);
    this.handled.push(pathname);
    this.most = Math.max(this.most, ++this.#current);
    await new Promise((resolve) => setTimeout(resolve));
    this.#current--;
    return new Response(pathname);
  }
}

/** A server, and a client that has sent it `bytes`. */
class Exchange {
  readonly records: readonly ResponseRecord[];
  readonly socket: Socket;
  readonly #close: () => unknown;
  /** The server's end of the connection. */
  accepted: Socket | undefined;
  /** The response to the last parsed request. */
  last: ServerResponse | undefined;
  parsed = 0;
  received = "";
  isClosed = false;

  private constructor(http: Server, close: () => unknown, records: readonly ResponseRecord[]) {
    this.#close = close;
    this.records = records;
    http.on("connection", (socket) => this.accepted = socket);
    http.on("request", (_, response) => {
      this.parsed++;
      this.last = response;
    });
    this.socket = connect((http.address() as AddressInfo).port, "127.0.0.1");
    this.socket.setEncoding("latin1").on("data", (text: string) => this.received += text);
    this.socket.on("error", () => {}).on("close", () => this.isClosed = true);
  }

  static async start(make: MakeServer, app: Servable, bytes: string): Promise<Exchange> {
    const records: ResponseRecord[] = [];
    const { http, close } = make(app, { onResponse: (record) => records.push(record) });
    await listen(http, { hostname: "127.0.0.1", port: 0 });
    const exchange = new Exchange(http, close, records);
    exchange.socket.write(bytes);
    return exchange;
  }

  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
  }

  async end(): Promise<void> {
    this.socket.destroy();
    await this.#close();
  }
}

const RESPONSES = [...Array(ALLOWED).fill(200), 429];

for (const [name, make] of [["our server", OWN], ["a host's server", OF_A_HOST]] as const) {
  // Bun's own server handles pipelined requests, so there are no tests on Bun.
  if ("Bun" in globalThis) continue;

  pipelining(`${ALLOWED} requests are handled one at a time, in order: ${name}`, async () => {
    const app = new Echo();
    const exchange = await Exchange.start(make, app, numbered(ALLOWED));
    await until(() => exchange.isClosed || exchange.received.includes(`/${ALLOWED - 1}`));
    assert.not(exchange.isClosed);
    assert.equal(exchange.statuses, Array(ALLOWED).fill(200));
    assert.equal(app.handled, Array.from({ length: ALLOWED }, (_, at) => `/${at}`));
    assert.is(app.most, 1);
    await exchange.end();
  });

  pipelining(`of ${MANY} requests at once, only the first are parsed: ${name}`, async () => {
    const app = new Echo();
    const exchange = await Exchange.start(make, app, numbered(MANY));
    await until(() => exchange.isClosed);
    assert.is(exchange.parsed, ALLOWED + 1);
    assert.ok(app.handled.length <= ALLOWED, `${app.handled.length} requests`);
    assert.ok(exchange.records.length <= ALLOWED + 1, `${exchange.records.length} records`);
    await exchange.end();
  });

  pipelining(`a waiting request is not handled if the client leaves: ${name}`, async () => {
    const handled: string[] = [];
    let hasEnded = false;
    const app: Servable = {
      async fetch({ url, signal }) {
        handled.push(new URL(url).pathname);
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        hasEnded = true;
        return new Response(null);
      },
    };
    const exchange = await Exchange.start(make, app, numbered(3));
    await until(() => exchange.parsed === 3);
    exchange.socket.destroy();
    await until(() => hasEnded && exchange.records.length > 0);
    assert.equal(handled, ["/0"]);
    assert.equal(exchange.records.map(({ outcome }) => outcome), ["aborted"]);
    await exchange.end();
  });
}

const UPGRADE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const CONNECT = "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n";

for (const next of "Bun" in globalThis ? [] : [get("/"), UPGRADE, CONNECT, "garbage\r\n\r\n"]) {
  const [name] = next.split(" ");
  pipelining(`excess requests are refused after all responses: ${name!.trim()}`, async () => {
    const bytes = `${numbered(ALLOWED + 1)}${next}${numbered(MANY)}`;
    const exchange = await Exchange.start(OWN, new Echo(), bytes);
    await until(() => exchange.isClosed);
    assert.equal(exchange.statuses, RESPONSES);
    const { received } = exchange;
    const last = received.slice(received.lastIndexOf("HTTP/1.1"));
    assert.match(last, /^connection: close\r$/im);
    assert.match(last, "At most 16 requests of a connection may be unanswered");
    assert.equal(exchange.records.map(({ status }) => status), RESPONSES);
    await exchange.end();
  });
}

for (const next of "Bun" in globalThis ? [] : [UPGRADE, CONNECT]) {
  pipelining(`a long response is sent to its end before ${next.split(" ", 1)}`, async () => {
    const part = new Uint8Array(65_536).fill(97), parts = 100;
    const app: Servable = {
      fetch({ url }) {
        if (!url.endsWith("/long")) return new Response(null, { status: 404 });
        let sent = 0;
        const pull = (controller: ReadableStreamDefaultController) => {
          if (sent++ < parts) controller.enqueue(part);
          else controller.close();
        };
        return new Response(new ReadableStream({ pull }));
      },
    };
    const exchange = await Exchange.start(OWN, app, `${get("/long")}${next}`);
    await until(() => exchange.isClosed);
    assert.is(exchange.received.match(/a{100}/g)!.length >= parts * 655, true);
    assert.equal(exchange.statuses, [200, next === CONNECT ? 400 : 404]);
    await exchange.end();
  });
}

if (!("Bun" in globalThis)) {
  // Deno 2.9 itself reads no further request while the content of an earlier one is unread.
  const sizes = "Deno" in globalThis ? [1000] : [1000, 50_000];
  for (const length of sizes) {
    pipelining(`requests may wait with little content: ${length} bytes each`, async () => {
      const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`;
      let respond = () => {};
      const held = new Promise<void>((resolve) => respond = resolve);
      const app: Servable = {
        async fetch(request) {
          await held;
          return new Response(`${(await request.arrayBuffer()).byteLength}`);
        },
      };
      const bytes = `${head}${"x".repeat(length)}`.repeat(ALLOWED);
      const exchange = await Exchange.start(OWN, app, bytes);
      const isRefused = () => exchange.last?.shouldKeepAlive === false;
      await until(() => exchange.parsed === ALLOWED || isRefused());
      respond();
      await until(() => exchange.statuses.length === exchange.parsed);
      assert.is(isRefused(), length > 1000);
      if (isRefused()) assert.ok(exchange.parsed < 5, `${exchange.parsed} requests`);
      const [last, ...others] = exchange.statuses.reverse();
      assert.equal([last, new Set(others)], [isRefused() ? 429 : 200, new Set([200])]);
      await exchange.end();
    });
  }

  pipelining("garbage behind a slow response takes no memory per packet", async () => {
    let respond = (_: Response) => {};
    const app = { fetch: () => new Promise<Response>((resolve) => respond = resolve) };
    const exchange = await Exchange.start(OWN, app, get("/"));
    await until(() => exchange.last !== undefined);
    const { last, accepted } = exchange;
    const before = last!.listenerCount("finish");
    for (let packet = 0; packet < 20; packet++) {
      const { bytesRead } = accepted!;
      exchange.socket.write("garbage\r\n\r\n");
      await until(() => accepted!.bytesRead > bytesRead);
    }
    assert.ok(last!.listenerCount("finish") <= before + 1);
    respond(new Response("late"));
    await until(() => exchange.isClosed);
    assert.equal(exchange.statuses, [200, 400]);
    await exchange.end();
  });
}

if (!("Bun" in globalThis)) {
  pipelining("a server that cannot accept a connection runs on, and reports it once", async () => {
    const reported: string[] = [];
    const onError = (error: unknown, request: string) => reported.push(`${request}: ${error}`);
    let http!: Server;
    await using server = await serveHttp(new Echo(), { port: 0, onError }, (one) => {
      http = one;
      return () => {};
    });
    for (let i = 0; i < 3; i++) http.emit("error", new Error("accept ENFILE"));
    assert.is(await (await fetch(`${server.url}a`)).text(), "/a");
    assert.equal(reported, ["accept: Error: accept ENFILE"]);
  });
}

pipelining.run();
