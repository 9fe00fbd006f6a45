/** Simulates a node that counts requests and behaves differently for each path. */
import { createServer, type Socket } from "node:net";

/** The length of the node's large response, in bytes. */
export const LARGE: number = 200 * 1024 * 1024;

export interface RawNode {
  url: string;
  /** `request` is a method and a target, such as `POST /do/close?id=true`. */
  arrived(request: string): number;
  /** `kept` counts the requests on reused connections. */
  readonly total: { arrived: number; kept: number };
  /** The number of open connections. */
  readonly open: number;
  /** The number of bytes sent in large responses. */
  readonly sent: number;
  stop(): Promise<void>;
}

const PART = new Uint8Array(65_536).fill(97);
const MANY = 1536 * 1024;
const head = (fields: string) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n${fields}\r\n\r\n`;
const parts = (socket: Socket, count: number) => {
  for (let at = 0; at < count; at += PART.length) socket.write(PART);
};

/** Operations below `/do` and `/get` have no `x-access` mark. */
export const describeNode = (url: string): string =>
  JSON.stringify({
    openapi: "3.1.1",
    info: { title: "Raw", version: "1" },
    servers: [{ url }],
    paths: Object.fromEntries([
      ...Object.keys(ANSWERS).map((name) => [`/${name}`, { get: operation("read") }]),
      ["/do/{how}", { post: operation(undefined, "how"), parameters: [HOW] }],
      ["/get/{how}", { get: operation(undefined), parameters: [HOW] }],
    ]),
  });

const HOW = { name: "how", in: "path", required: true, schema: { type: "string" } };

const operation = (access: string | undefined, body?: string) => ({
  ...access && { "x-access": access },
  parameters: [{ name: "id", in: "query", schema: { type: "string" } }],
  ...body && { requestBody: { content: { "application/json": { schema: {} } } } },
  responses: { 200: { description: "Done" } },
});

/** Each key is the last segment of a requested path. */
const ANSWERS: Readonly<Record<string, (socket: Socket, count: (bytes: number) => void) => void>> =
  {
    ok: (socket) => void socket.write(`${head("Content-Length: 2")}ok`),
    // The node closes the connection without a `Connection: close` header.
    last: (socket) => void socket.end(`${head("Content-Length: 2")}ok`),
    close: (socket) => void socket.end(),
    reset: (socket) => void socket.resetAndDestroy(),
    hang: () => {},
    "hang-later": (socket) => {
      socket.write(head(`Content-Length: ${LARGE}`));
      parts(socket, MANY);
    },
    drip(socket) {
      socket.write(head("Content-Length: 100000"));
      const timer = setInterval(() => socket.write("a"), 50);
      socket.on("close", () => clearInterval(timer));
    },
    "short-length"(socket) {
      socket.write(head(`Content-Length: ${2 * MANY}`));
      parts(socket, MANY);
      socket.end();
    },
    "short-chunks"(socket) {
      socket.write(`${head("Transfer-Encoding: chunked")}${MANY.toString(16)}\r\n`);
      parts(socket, MANY);
      socket.end("\r\n");
    },
    "short-small": (socket) => void socket.end(`${head("Content-Length: 100")}abc`),
    mega: (socket) => {
      socket.write(head(`Content-Length: ${1024 * 1024}`));
      parts(socket, 1024 * 1024);
    },
    large(socket, count) {
      socket.write(head(`Content-Length: ${LARGE}`));
      let left = LARGE;
      const go = () => {
        while (left > 0 && !socket.destroyed) {
          left -= PART.length;
          count(PART.length);
          if (!socket.write(PART)) return socket.once("drain", go);
        }
      };
      go();
    },
  };

export async function startRawNode(): Promise<RawNode> {
  const arrived = new Map<string, number>();
  const total = { arrived: 0, kept: 0 };
  const sockets = new Set<Socket>();
  let sent = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    let text = "";
    let before = 0;
    socket.setEncoding("latin1").on("data", (part: string) => {
      text += part;
      const end = endOf(text);
      if (end === undefined) return;
      const [method, target = ""] = text.split(" ");
      text = text.slice(end);
      const request = `${method} ${target}`;
      arrived.set(request, (arrived.get(request) ?? 0) + 1);
      total.arrived++;
      if (before++ > 0) total.kept++;
      const name = target.replace(/\?.*/, "").split("/").at(-1)!;
      const answer = ANSWERS[name];
      if (answer) answer(socket, (bytes) => sent += bytes);
      else socket.write("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    arrived: (request) => arrived.get(request) ?? 0,
    total,
    get open() {
      return sockets.size;
    },
    get sent() {
      return sent;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** `undefined` means that the first request in `text` is incomplete. */
function endOf(text: string): number | undefined {
  const end = text.indexOf("\r\n\r\n") + 4;
  if (end < 4) return undefined;
  const head = text.slice(0, end);
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) {
    return text.length < end + length ? undefined : end + length;
  }
  const last = text.indexOf("0\r\n\r\n", end);
  return last < 0 ? undefined : last + 5;
}
