/**
 * The attacked node, in its own process. Like a real daemon, the node continues a call after the
 * client has disconnected.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";

/** The numbers of concurrent calls. */
export interface NodeLoad {
  light: number;
  heavy: number;
}

const WORK_MS = 3000;

/** The number of one-byte chunks in the response of `/tiny`. */
const TINY = 6_000_000;
const CHUNK = "1\r\na\r\n";
const CHUNKS = Buffer.from(CHUNK.repeat(10_000));

/** `LIMIT` is the default of `forward.limit`, in bytes. */
const LIMIT = 32 * 1024 * 1024, SHORTER = Buffer.alloc(20_000_000, "a");
/** Made once, so that the node is not the bottleneck. */
const LONG = Buffer.alloc(LIMIT, "a");

/**
 * The node responds to each question with the peak load since the previous question. `forget` also
 * resets the current load, so that running calls from a stopped service are no longer counted.
 */
export type Question = "load" | "forget";

let now: NodeLoad = { light: 0, heavy: 0 };
let most: NodeLoad = { ...now };

const work = (sort: keyof NodeLoad) => (_: IncomingMessage, response: ServerResponse) => {
  const load = now;
  most[sort] = Math.max(most[sort], ++load[sort]);
  setTimeout(() => {
    load[sort]--;
    response.end("done");
  }, WORK_MS);
};

const PATHS: Readonly<
  Record<
    string,
    (request: IncomingMessage, response: ServerResponse) => unknown
  >
> = {
  "/ok": (_, response) => response.end("ok"),
  "/send": (_, response) => response.end("sent"),
  "/light": work("light"),
  "/heavy": work("heavy"),
  "/shorter": (_, response) => response.end(SHORTER),
  "/tiny": sendTiny,
};

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url!, "http://node");
  let body = "";
  for await (const part of request) body += part;
  const respond = PATHS[pathname];
  if (respond) return respond(request, response);
  // A node of no kind is asked whether it answers at all.
  if (body === "") return response.end();
  const { id, method } = JSON.parse(body);
  response.setHeader("content-type", "application/json");
  const start = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":"`, end = '"}';
  if (method !== "long") return response.end(`${start}0x1${end}`);
  response.write(start);
  response.write(LONG.subarray(start.length + end.length));
  response.end(end);
});
server.listen(
  0,
  "127.0.0.1",
  () => process.send?.((server.address() as AddressInfo).port),
);
process.on("message", (question: Question) => {
  if (question === "forget") now = { light: 0, heavy: 0 };
  process.send?.(most);
  most = { ...now };
});
process.on("disconnect", () => process.exit());

/**
 * Sends many chunks at once, so that the node is not the bottleneck. The connection is closed
 * afterwards, since Node's server would not respond to another request on it: for the server, this
 * response never ends.
 */
function sendTiny({ socket }: IncomingMessage): void {
  socket.write(
    "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n" +
      "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
  );
  let left = TINY;
  const go = () => {
    while (left > 0 && !socket.destroyed) {
      left -= CHUNKS.length / CHUNK.length;
      if (!socket.write(CHUNKS)) return socket.once("drain", go);
    }
    socket.end("0\r\n\r\n");
  };
  go();
}
