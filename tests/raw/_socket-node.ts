/** A simulated Ethereum node that takes WebSocket connections, and clients of a service. */
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Test } from "uvu";
import WebSocket, { WebSocketServer } from "ws";
import type { JsonObject } from "../../src/json/values.ts";
import { type Beside, startBeside } from "../gateway/_beside.ts";
import { until } from "../nodes/_daemon.ts";

export interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** The result of a method, or a function that makes it and may send more after it. */
export type Results = Readonly<Record<string, unknown>>;

const RESULTS: Results = {
  eth_chainId: "0x1",
  eth_blockNumber: "0x10",
  eth_syncing: false,
  web3_clientVersion: "simulated/v1.0.0",
  eth_unsubscribe: true,
};

/** Waits until the connection sends no more while `ask` is done again and again. */
export async function untilStill(
  connection: WebSocket,
  ask: () => Promise<unknown>,
): Promise<void> {
  const waiting = connection.bufferedAmount;
  for (let turn = 0; turn < 20; turn++) await ask();
  if (connection.bufferedAmount !== waiting) await untilStill(connection, ask);
}

export class SocketNode {
  /** The calls that came over WebSocket. */
  readonly calls: Call[] = [];
  readonly connections: WebSocket[] = [];
  /** The headers of the handshakes. */
  readonly heads: Record<string, unknown>[] = [];
  takesSockets = true;
  /** Responds to a handshake in place of the node. */
  onHandshake: ((socket: Duplex) => void) | undefined;
  /** Makes the id of a subscription. */
  makeId: (() => unknown) | undefined;
  /** Called after a subscription has been confirmed. */
  onSubscribe: (connection: WebSocket, id: string, call: Call) => void = () => {};
  /** Delays the responses to calls. */
  hold: (call: Call) => Promise<unknown> | undefined = () => undefined;
  readonly #results: Results;
  readonly #sockets = new Set<Socket>();
  #above: Server | undefined;
  readonly #server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const asked = JSON.parse(text || "{}");
    const one = async (call: Call) => {
      await this.hold(call);
      return { jsonrpc: "2.0", id: call.id, result: this.#results[call.method] ?? null };
    };
    const answer = await (Array.isArray(asked) ? Promise.all(asked.map(one)) : one(asked));
    response.end(JSON.stringify(answer));
  });

  /**
   * @param results the results of further methods
   * @param port the port of a node that starts again
   */
  static async start(
    results: Results = {},
    port = 0,
  ): Promise<SocketNode> {
    const node = new SocketNode(results);
    const sockets = new WebSocketServer({ noServer: true });
    node.#server.on("connection", (socket) => node.#sockets.add(socket));
    node.#server.on("upgrade", (message, socket, head) => {
      node.heads.push({ ...message.headers, url: message.url });
      if (node.onHandshake) return void node.onHandshake(socket);
      if (!node.takesSockets) {
        return void socket.end("HTTP/1.1 404 Not Found\r\n\r\n");
      }
      sockets.handleUpgrade(
        message,
        socket,
        head,
        (connection) => node.#serve(connection),
      );
    });
    const above = createServer().on("upgrade", (message, socket, head) => {
      node.#server.emit("upgrade", message, socket, head);
    });
    above.on("connection", (socket) => node.#sockets.add(socket));
    // Solana's nodes take WebSocket connections one port above.
    while (!above.listening) {
      node.#server.close();
      await new Promise<void>((resolve) => node.#server.listen(port, "127.0.0.1", resolve));
      const nextPort = Number(new URL(node.url).port) + 1;
      await new Promise<void>((resolve) => {
        above.once("error", () => resolve()).listen(nextPort, "127.0.0.1", resolve);
      });
    }
    node.#above = above;
    return node;
  }

  private constructor(results: Results) {
    this.#results = { ...RESULTS, ...results };
  }

  /** Forgets what has been sent, and behaves as at first. */
  reset(): void {
    for (const list of [this.calls, this.connections, this.heads]) list.length = 0;
    this.takesSockets = true;
    this.onHandshake = undefined;
    this.makeId = undefined;
    this.onSubscribe = () => {};
    this.hold = () => undefined;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#above!.close(resolve));
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(connection: WebSocket): void {
    this.connections.push(connection);
    connection.on("error", () => {});
    connection.on("message", async (data) => {
      const call = JSON.parse(String(data)) as Call;
      this.calls.push(call);
      const held = this.hold(call);
      if (held) await held;
      const id = this.makeId ? this.makeId() as string : `0x${this.calls.length.toString(16)}`;
      const isSubscribing = /^(?!.*unsub).*subscribe|_follow$/i.test(call.method);
      const known = this.#results[call.method] ?? (isSubscribing ? id : null);
      const result = typeof known === "function" ? known(call, connection) : known;
      connection.send(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }));
      if (isSubscribing) this.onSubscribe(connection, id, call);
    });
  }
}

export const notification = (id: string, result: unknown): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    method: "eth_subscription",
    params: { subscription: id, result },
  });

/** A client of the service. */
export class SocketClient {
  readonly messages: Record<string, unknown>[] = [];
  readonly socket: WebSocket;
  /** The status of the handshake's response, and its body. */
  refused:
    | { status: number; headers: Record<string, unknown>; text: string }
    | undefined;
  isOpen = false;
  /** The code and reason with which the connection ended. */
  ended: readonly [number, string] | undefined;
  #nextId = 0;

  /** Resolves when the handshake has ended. */
  static async open(
    url: string,
    headers: Record<string, string> = {},
    protocols: readonly string[] = [],
  ): Promise<SocketClient> {
    const client = new SocketClient(
      url.replace(/^http/, "ws"),
      headers,
      protocols,
    );
    await new Promise<void>((resolve) => {
      client.socket.once("open", () => {
        client.isOpen = true;
        resolve();
      });
      client.socket.once("close", () => resolve());
    });
    return client;
  }

  private constructor(
    url: string,
    headers: Record<string, string>,
    protocols: readonly string[],
  ) {
    this.socket = new WebSocket(url, protocols, {
      headers,
      perMessageDeflate: false,
    });
    this.socket.on("error", () => {});
    leaveLater(() => this.socket.terminate());
    this.socket.on(
      "message",
      (data) => this.messages.push(JSON.parse(String(data))),
    );
    this.socket.on(
      "close",
      (code, reason) => this.ended = [code, String(reason)],
    );
    this.socket.on("unexpected-response", (_, response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => text += part);
      response.on("end", () => {
        this.refused = {
          status: response.statusCode,
          headers: response.headers,
          text,
        };
        this.socket.emit("close", 0, "");
      });
    });
  }

  async call(
    method: string,
    params: readonly unknown[] = [],
  ): Promise<Record<string, unknown>> {
    const id = ++this.#nextId;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const response = this.messages.find((message) => message.id === id);
      if (response) return response;
      if (this.ended) {
        throw new Error(`The connection has ended: ${this.ended}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** The notifications so far. */
  get notifications(): readonly { subscription: string; result: unknown }[] {
    return this.messages.filter(({ method }) => method === "eth_subscription")
      .map(({ params }) => params as { subscription: string; result: unknown });
  }
}

/** A service beside a simulated Ethereum node, which the tests of a suite share. */
export class SocketStage {
  readonly #command: readonly string[];
  readonly #forward: string | JsonObject;
  #node!: SocketNode;
  #beside!: Beside;
  #hasStopped = false;

  /** @param forward as for {@linkcode startBeside} */
  constructor(tests: Test, command: readonly string[], forward: string | JsonObject = "reads") {
    this.#command = [...command, "--metrics"];
    this.#forward = forward;
    tests.before(() => this.#start());
    tests.after(() => this.stop());
  }

  /** Returns a test that begins without clients, and whose clients leave at its end. */
  test(use: (url: string, node: SocketNode) => Promise<void>): () => Promise<void> {
    return async () => {
      try {
        await use(this.#beside.url, this.#node);
      } finally {
        for (const leave of leaving.splice(0)) leave();
        if (!this.#hasStopped) {
          await until(async () =>
            this.#node.connections.every(({ readyState }) => readyState === 3) &&
            await this.metric("nodeface_sockets") === 0
          );
        }
        this.#node.reset();
      }
    };
  }

  /** Returns the value of a metric; 0 if it is missing. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.#beside.url}/v1/metrics`)).text();
    const line = text.split("\n").find((line) => line.startsWith(`${name} `));
    return Number(line?.slice(name.length) ?? 0);
  }

  /** Stops the service. */
  async stopService(): Promise<void> {
    this.#hasStopped = true;
    await this.#beside.service.stop();
  }

  async stop(): Promise<void> {
    await this.stopService();
    await this.#node.close();
  }

  async #start(): Promise<void> {
    this.#node = await SocketNode.start();
    this.#beside = await startBeside(this.#node, "ethereum", this.#forward, this.#command);
  }
}

const leaving: (() => void)[] = [];

/** Calls `leave` at the end of the test. */
export const leaveLater = (leave: () => void): void => void leaving.push(leave);
