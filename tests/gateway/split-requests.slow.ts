/**
 * Sends requests in parts of random sizes. Some requests are malformed. The node echoes the content
 * of each request, so that the test can compare it with the content that was sent. `NODEFACE_FUZZ`
 * sets the number of requests on Node, by default 10,000. Runtimes other than Node get a tenth as
 * many requests. 100,000 requests take some minutes. `RUNTIMES='Deno|Bun'` selects runtimes.
 */
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { buffer } from "node:stream/consumers";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createRandom } from "../_random.ts";
import { COMMANDS, start } from "../_server.ts";
import { makeFolder } from "../release/_folder.ts";

const COUNT = Number(process.env.NODEFACE_FUZZ ?? 10_000);
const SEED = Number(process.env.NODEFACE_SEED ?? Date.now() % 1_000_000);

/** There are twice as many slots as clients, so that no call is refused. */
const CLIENTS = 8;

const PATIENCE_MS = 20_000;

const PROGRESS = 10_000;

interface Sent {
  readonly id: string;
  readonly bytes: Buffer;
  readonly content: Buffer;
  /** The service must refuse a malformed request or close its connection. */
  readonly isBroken: boolean;
}

interface Seen {
  responses: number;
  refused: number;
  closed: number;
  reset: number;
  wrong: string[];
}

for (const [runtime, command] of Object.entries(COMMANDS)) {
  if (!new RegExp(process.env.RUNTIMES ?? "").test(runtime)) continue;
  const count = runtime === "Node" ? COUNT : Math.ceil(COUNT / 10);
  const split = suite(`${count} requests in parts on ${runtime}, seed ${SEED}`);

  split("each request arrives as sent or is refused, and gets its own response", async () => {
    const arrived = new Set<string>();
    const node = await startEcho(arrived);
    const service = await start([...command, "--config", configure(node)]);
    const seen: Seen = { responses: 0, refused: 0, closed: 0, reset: 0, wrong: [] };
    try {
      const random = createRandom(SEED);
      let left = count;
      let done = 0;
      const port = Number(new URL(service.url).port);
      const client = async () => {
        let kept: Socket | undefined;
        while (left > 0 && seen.wrong.length < 10) {
          const requests = makeBatch(random, () => String(left--), runtime === "Bun");
          // Tens of thousands of new connections in a minute would use up the ports.
          const socket = kept ?? connect(port, "127.0.0.1").setNoDelay();
          kept = await exchange(socket, requests, random, arrived, seen);
          for (const _ of requests) {
            if (++done % PROGRESS === 0) console.error(`${runtime}: ${done}`);
          }
        }
        kept?.destroy();
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
    } finally {
      await service.stop();
      node.closeAllConnections();
      node.close();
    }
    const { wrong, ...counts } = seen;
    console.log({ runtime, ...counts });
    assert.equal(wrong, []);
    assert.ok(counts.responses > count * 0.7);
    assert.ok(counts.reset <= count / 1000);
  });

  split.run();
}

async function startEcho(arrived: Set<string>): Promise<Server> {
  const node = createServer(async (request, response) => {
    const content = await buffer(request);
    const id = new URL(request.url!, "http://node").searchParams.get("id")!;
    // A repeated request gets `twice` instead of its own content, so that the test fails.
    response.setHeader("content-type", "application/octet-stream");
    response.end(arrived.has(id) ? "twice" : content);
    arrived.add(id);
  });
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  return node;
}

function configure(node: Server): string {
  const folder = makeFolder();
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const description = join(folder, "description.json");
  const operation = {
    "x-access": "read",
    parameters: [{ name: "id", in: "query", required: true, schema: { type: "string" } }],
    requestBody: { content: { "application/octet-stream": { schema: {} } } },
    responses: { 200: { description: "What was sent" } },
  };
  writeFileSync(
    description,
    JSON.stringify({
      openapi: "3.1.1",
      info: { title: "Echo", version: "1" },
      paths: { "/echo": { post: operation } },
    }),
  );
  const file = join(folder, "config.json");
  const forward = { open: ["reads"], concurrency: 2 * CLIENTS };
  writeFileSync(file, JSON.stringify({ node: { url, kind: "none" }, description, forward }));
  return file;
}

/**
 * Only the last request may be malformed. Bun 1.4 refuses trailers, and may close a connection with
 * pipelined requests.
 */
function makeBatch(random: () => number, nextId: () => string, isBun: boolean): Sent[] {
  const requests: Sent[] = [];
  const most = isBun ? 1 : 4;
  do requests.push(makeRequest(random, nextId(), !isBun)); while (
    !requests.at(-1)!.isBroken && requests.length < most && random() < 0.5
  );
  return requests;
}

const LENGTHS = [0, 1, 2, 10, 50, 100, 100, 200, 500, 1000, 1000, 5000, 70_000];
const BROKEN: readonly ((content: string, length: string) => string)[] = [
  (content, length) => `Content-Length: ${length}\r\nTransfer-Encoding: chunked\r\n\r\n${content}`,
  (content, length) => `Content-Length: ${length}\r\nContent-Length: 1${length}\r\n\r\n${content}`,
  (content, length) => `Content-Length: +${length}\r\n\r\n${content}`,
  (content, length) => `Content-Length: ${length}\r\nX : 1\r\n\r\n${content}`,
  (content, length) => `Content-Length: 1${length}\r\n\r\n${content}`,
  (content) => `Transfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n${content}`,
  ...["x", "-1", "1 ", "1\t", "1;\n", "1_", "0x1", "ffffffffffffffffff", ""].map((size) => () =>
    `Transfer-Encoding: chunked\r\n\r\n${size}\r\na\r\n0\r\n\r\n`
  ),
  () => "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
  () => "Transfer-Encoding: chunked\r\n\r\n1\r\na",
];

function makeRequest(
  random: () => number,
  id: string,
  takesTrailers: boolean,
): Sent {
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  const pick = <T>(list: readonly T[]): T => list[upTo(list.length - 1)]!;
  const content = Buffer.alloc(pick(LENGTHS), `${id} \r\n\r\n0\r\n\r\nPOST /`, "latin1");
  const head = `POST /v1/node/echo?id=${id} HTTP/1.1\r\nHost: localhost\r\n` +
    "Content-Type: application/octet-stream\r\n";
  const isBroken = random() < 0.05;
  if (isBroken) {
    const broken = pick(BROKEN)(content.toString("latin1"), String(content.length));
    return { id, content, isBroken, bytes: Buffer.from(head + broken, "latin1") };
  }
  if (random() < 0.5) {
    const fields = `Content-Length: ${content.length}\r\n\r\n`;
    return { id, content, isBroken, bytes: Buffer.concat([Buffer.from(head + fields), content]) };
  }
  let text = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  // Long content is sent in larger chunks, because a large number of small chunks would only slow
  // the test down.
  const most = Math.max(pick([3, 40, 1000, 70_000]), content.length / 50);
  for (let at = 0; at < content.length;) {
    const size = Math.min(content.length - at, Math.ceil(random() * most));
    const extension = random() < 0.05 ? pick([";a", ";a=b", ';a="b"']) : "";
    text += `${size.toString(16)}${extension}\r\n`;
    text += `${content.toString("latin1", at, at += size)}\r\n`;
  }
  text += `0\r\n${takesTrailers && random() < 0.1 ? "X-T: 1\r\n" : ""}\r\n`;
  return { id, content, isBroken, bytes: Buffer.from(text, "latin1") };
}

/** Returns the connection if further requests can be sent on it. */
function exchange(
  socket: Socket,
  requests: readonly Sent[],
  random: () => number,
  arrived: ReadonlySet<string>,
  seen: Seen,
): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const waiting = [...requests];
    let got = Buffer.alloc(0);
    const fail = (what: string) => {
      const { id, bytes } = waiting[0] ?? requests.at(-1)!;
      seen.wrong.push(`${id} ${what}: ${JSON.stringify(bytes.toString("latin1").slice(0, 400))}`);
      socket.destroy();
    };
    const done = (kept?: Socket) => {
      for (const event of ["data", "close", "timeout", "error"]) socket.removeAllListeners(event);
      socket.on("error", () => {});
      const broken = requests.find(({ isBroken }) => isBroken);
      if (broken && arrived.has(broken.id)) fail("is malformed, but has arrived");
      resolve(kept);
    };
    let isReset = false;
    socket.on("error", () => isReset = true);
    socket.setTimeout(PATIENCE_MS, () => fail("has waited for nothing"));
    socket.on("data", (part: Buffer) => {
      got = Buffer.concat([got, part]);
      for (;;) {
        const response = readResponse(got);
        if (!response) return;
        got = got.subarray(response.whole);
        const { head, status, content } = response;
        const request = waiting[0];
        if (!request) {
          // The service may parse the rest of a malformed request as a further request, and refuse
          // that request.
          return status >= 400 ? socket.destroy() : fail(`has an extra response: ${status}`);
        }
        // Too much content waits behind the first request, and the connection closes.
        if (status === 429 && request !== requests[0]) {
          seen.refused++;
          waiting.length = 0;
          return socket.destroy();
        }
        const isSame = status === 200 && content.equals(request.content);
        if (request.isBroken && status >= 400) seen.refused++;
        else if (request.isBroken || !isSame) return fail(`has the response ${head}`);
        else seen.responses++;
        waiting.shift();
        if (request.isBroken) return socket.destroy();
        if (waiting.length === 0 && got.length === 0 && isSent) return done(socket);
        endIfLast();
      }
    });
    socket.on("close", () => {
      const [request] = waiting;
      if (request?.isBroken) seen.closed++;
      // After a malformed request, the service closes the connection. Earlier responses in transit
      // may be lost.
      else if (request && isReset && requests.at(-1)!.isBroken) seen.reset++;
      else if (request && seen.wrong.length === 0) fail("has no response");
      done();
    });
    let isSent = false;
    // The server waits for the rest of an incomplete request until the client closes its side of
    // the connection. A server on Node then sends no more responses, so the client first waits for
    // the response to each complete request.
    const endIfLast = () => isSent && waiting[0]?.isBroken && waiting.length === 1 && socket.end();
    void sendInParts(socket, requests, random).then(() => {
      isSent = true;
      if (waiting.length === 0 && !socket.destroyed) done(socket);
      else endIfLast();
    });
  });
}

async function sendInParts(socket: Socket, requests: readonly Sent[], random: () => number) {
  const bytes = Buffer.concat(requests.map(({ bytes }) => bytes));
  const most = Math.max([7, 100, 1500, 100_000][Math.floor(random() * 4)]!, bytes.length / 50);
  for (let at = 0; at < bytes.length && !socket.destroyed;) {
    const size = Math.ceil(random() * most);
    socket.write(bytes.subarray(at, at += size));
    if (random() < 0.5) await new Promise((resolve) => setImmediate(resolve));
  }
}

function readResponse(bytes: Buffer) {
  const at = bytes.indexOf("\r\n\r\n") + 4;
  if (at < 4) return undefined;
  const head = bytes.toString("latin1", 0, at);
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
  // On Bun, long responses of the node are sent in chunks.
  if (/\r\ntransfer-encoding: *chunked\r\n/i.test(head)) {
    const chunked = readChunks(bytes, at);
    return chunked && { head, status, ...chunked };
  }
  const length = at + Number(/\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1] ?? NaN);
  // Bun's own error responses have no `Content-Length`, and end when Bun closes the connection.
  const whole = Number.isNaN(length) ? bytes.length : length;
  return bytes.length < whole
    ? undefined
    : { head, status, whole, content: bytes.subarray(at, whole) };
}

function readChunks(bytes: Buffer, start: number) {
  const parts: Buffer[] = [];
  for (let at = start;;) {
    const end = bytes.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, end), 16);
    at = end + 2 + size + 2;
    if (bytes.length < at) return undefined;
    if (size === 0) return { whole: at, content: Buffer.concat(parts) };
    parts.push(bytes.subarray(end + 2, at - 2));
  }
}
