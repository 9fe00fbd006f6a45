/** Clients that attack the service. */
import { Buffer } from "node:buffer";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { MB } from "./_cost-contents.ts";
import { sleep } from "./_honest-client.ts";

export interface Result {
  /** The number of responses by outcome, such as a status. */
  readonly outcomes: Record<string, number>;
  /** The reason why the attack succeeded, whatever it costs. */
  readonly fault?: string | undefined;
}

export type Act = (url: string) => Promise<Result>;

export interface Asked {
  readonly path: string;
  /** With a body, the request is a `POST`. */
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The maximum number of requests at the same time. */
const LANES = 8;

export async function ask(url: string, asked: readonly Asked[]): Promise<Result> {
  const outcomes: Result["outcomes"] = {};
  const left = asked.values();
  const lane = async () => {
    for (const each of left) {
      const outcome = await exchange(url, each);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return { outcomes };
}

/** The number of characters in which an error of JSON-RPC is looked for. */
const START = 150;

const JSON_TYPE = { "content-type": "application/json" };

function exchange(url: string, { path, body, headers }: Asked): Promise<string> {
  const { hostname, port } = new URL(url);
  const method = body === undefined ? "GET" : "POST";
  const sent = { hostname, port, method, path, headers: { ...body && JSON_TYPE, ...headers } };
  return new Promise((resolve) => {
    const message = request(sent, (response) => {
      const status = String(response.statusCode);
      if (response.headers["content-type"]?.startsWith("text/event-stream")) {
        resolve(status);
        return response.destroy();
      }
      let start = "", length = 0;
      response.on("data", (part: Buffer) => {
        length += part.length;
        if (start.length < START) start += part.toString("latin1", 0, START);
      });
      response.on("close", () => {
        const error = start.includes('"error":{') ? ` ${start.slice(0, START)}` : "";
        const size = length > MB ? `, ${(length / MB).toFixed(0)} MB` : "";
        resolve(`${status}${error}${size}${response.complete ? "" : ", cut"}`);
      });
    });
    message.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code ?? "error"));
    message.end(body);
  });
}

/** The time for which a client that reads nothing stays connected, in milliseconds. */
const STAY_MS = 4000;

/** Sends `count` requests at once on each connection. */
export async function pipeline(
  url: string,
  path: string,
  count: number,
  connections: number,
  reads: boolean,
): Promise<Result> {
  const content = Buffer.from(headOf(path).repeat(count));
  const counts = await Promise.all(Array.from({ length: connections }, async () => {
    const socket = connectTo(url);
    socket.write(content);
    if (reads) return await countResponses(socket, count);
    await sleep(STAY_MS, undefined);
    socket.destroy();
    return 0;
  }));
  return { outcomes: { responses: counts.reduce((sum, count) => sum + count, 0) } };
}

export const headOf = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

function countResponses(socket: Socket, most: number): Promise<number> {
  let count = 0;
  let rest = "";
  return new Promise((resolve) => {
    socket.setEncoding("latin1").on("close", () => resolve(count)).on("data", (part: string) => {
      const seen = rest + part;
      count += seen.split(STATUS).length - 1;
      rest = seen.slice(1 - STATUS.length);
      if (count >= most) socket.destroy();
    });
  });
}

const STATUS = "HTTP/1.1 ";

/** Asks for the events many times on one connection, and then once on another. */
export async function listen(url: string, count: number): Promise<Result> {
  const socket = connectTo(url);
  socket.write(headOf("/v1/events").repeat(count));
  await sleep(1000, undefined);
  const status = await exchange(url, { path: "/v1/events" });
  socket.destroy();
  const fault = status === "200" ? undefined : `the next client of the events got ${status}`;
  return { outcomes: { [status]: 1 }, fault };
}

/** The maximum length of the metrics, in bytes. */
const METRICS_MAX = 100_000;

/** Asks for many paths, and then for the metrics. */
export async function askForMany(url: string, count: number): Promise<Result> {
  await ask(url, Array.from({ length: count }, (_, at) => ({ path: `/v1/rpc/m${at}` })));
  const { length } = await (await fetch(`${url}v1/metrics`)).text();
  const fault = length > METRICS_MAX ? `/v1/metrics has ${length} bytes` : undefined;
  return { outcomes: { "bytes of /v1/metrics": length }, fault };
}

function connectTo(url: string): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname).on("error", () => {});
}
