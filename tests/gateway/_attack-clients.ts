/** Runs the attackers in their own process, so that they do not delay the measurement. */
import { connect, type Socket } from "node:net";
import process from "node:process";

export interface Order {
  attack: keyof typeof ATTACKS;
  count: number;
  url: string;
}

export interface Outcome {
  /**
   * The number of connections, keyed by response status. Status 0 means that the attacker read no
   * response.
   */
  statuses: Record<number, number>;
  /** The length of the longest response, in bytes. */
  longest: number;
}

interface Attack {
  readonly connections?: number;
  /** The time between two new connections, in milliseconds. */
  readonly every?: number;
  readonly path: string;
  /** Returns header lines and the body of a POST. Without `content`, the request is a GET. */
  readonly content?: (
    at: number,
  ) => readonly [fields: string, content: Buffer | string];
  /** @default true */
  readonly reads?: boolean;
  /**
   * The time in milliseconds after which the attacker disconnects. By default, the attacker waits
   * for the response.
   */
  readonly leavesAfter?: number;
}

const MIB = 1024 * 1024;
const TYPE = "Content-Type: application/json\r\n";

const withLength = (content: Buffer | string) =>
  [`${TYPE}Content-Length: ${content.length}\r\n`, content] as const;
const once = <T>(make: () => T) => {
  let made: T | undefined;
  return () => made ??= make();
};
const call = (method: string, params: string) =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${params}]}`;

const ATTACKS = {
  "abandoned heavy calls": {
    ...{ connections: 60, every: 20, path: "/v1/node/heavy", leavesAfter: 100 },
  },
  "abandoned light calls": {
    ...{ connections: 150, every: 10, path: "/v1/node/light", leavesAfter: 100 },
  },
  "abandoned long responses": {
    ...{ connections: 400, every: 5, path: "/v1/node/shorter", leavesAfter: 30 },
  },
  "long responses unread": {
    ...{ connections: 4, path: "/v1/rpc", reads: false, leavesAfter: 9000 },
    content: (at) => withLength(call("long", `${at}`)),
  },
  "all slots unread": {
    ...{
      connections: 64,
      path: "/v1/node/shorter",
      reads: false,
      leavesAfter: 30_000,
    },
  },
  "524,000 positions": {
    path: "/v1/rpc",
    content: once(() => withLength(call("eth_blockNumber", `${"0,".repeat(MIB / 2 - 50)}0`))),
  },
  "request in chunks of 1 byte": {
    path: "/v1/rpc",
    content: once(() => {
      const chunks = Buffer.alloc((MIB - 200) * 6, "1\r\n0\r\n");
      return [
        `${TYPE}Transfer-Encoding: chunked\r\n`,
        Buffer.concat([chunks, Buffer.from("0\r\n\r\n")]),
      ];
    }),
  },
  "response in chunks of 1 byte": { path: "/v1/node/tiny" },
  "names side by side": { path: `/v1/node/${"a".repeat(40)}` },
  "names between dashes": { path: `/v1/node/d/${"-".repeat(80)}` },
  "400 unfinished requests": {
    ...{ connections: 400, path: "/v1/rpc", leavesAfter: 4000 },
    content: once(() => [
      `${TYPE}Content-Length: ${MIB}\r\n`,
      Buffer.alloc(MIB - 1, "["),
    ]),
  },
} as const satisfies Record<string, Attack>;

process.on("message", async ({ attack, count, url }: Order) => {
  const { connections = 1, every = 0, ...what }: Attack = ATTACKS[attack];
  const outcome: Outcome = { statuses: {}, longest: 0 };
  await Promise.all(
    Array.from({ length: connections * count }, async (_, at) => {
      await new Promise((resolve) => setTimeout(resolve, at * every));
      const { status, length } = await exchange(url, what, at);
      outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
      outcome.longest = Math.max(outcome.longest, length);
    }),
  );
  process.send?.(outcome);
});
process.on("disconnect", () => process.exit());

function exchange(
  url: string,
  { path, content, reads = true, leavesAfter }: Attack,
  at: number,
): Promise<{ status: number; length: number }> {
  return new Promise((resolve) => {
    const { port, host } = new URL(url);
    const socket: Socket = connect(Number(port), "127.0.0.1").on(
      "error",
      () => {},
    );
    let status = 0;
    let length = 0;
    const [fields, bytes] = content?.(at) ?? [""];
    // Each GET has a different query, because the service coalesces equal calls.
    const line = bytes ? `POST ${path}` : `GET ${path}?n=${at}`;
    socket.write(
      `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${fields}\r\n`,
    );
    if (bytes) socket.write(bytes);
    if (reads) {
      socket.on("data", (part) => {
        if (length === 0) {
          status = Number(
            /^HTTP\/1\.1 (\d+)/.exec(part.toString("latin1"))?.[1],
          );
        }
        length += part.length;
      });
    } else socket.pause();
    if (leavesAfter !== undefined) {
      setTimeout(() => socket.destroy(), leavesAfter);
    }
    socket.on("close", () => resolve({ status, length }));
  });
}
