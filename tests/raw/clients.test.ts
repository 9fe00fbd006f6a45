import { existsSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FILES } from "../../src/generated/page.js";
import { forwarding, optionsFor, playNode, REST, RPC } from "../_gateway.ts";
import { CHOSEN_COMMANDS, type Running, serving, start, startEach, withEach } from "../_server.ts";
import { exchange } from "./_exchange.ts";
import { LARGE, LENGTH } from "./_large.ts";
import { closed, dial } from "./_socket.ts";

const REQUEST = "GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n";
const BLANK_LINES = "blank lines after a response";
const DRIPPING_HEAD = ["GET /v1/info HTTP/1.1\r\nHost: localhost\r\nX: ", "a"] as const;

/**
 * Clients that keep a connection open without a further request. Each client sends `first` once. A
 * client with `drip` also sends `drip` every 500 ms.
 */
const STUCK: readonly [kind: string, first: string, drip?: string][] = [
  ["silent", ""],
  ["half a head", "GET /v1/info HTTP/1.1\r\nHost: local"],
  ["a dripping head", ...DRIPPING_HEAD],
  ["a silent content", "POST /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"],
  [
    "a dripping content",
    "POST /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n",
    "a",
  ],
  [BLANK_LINES, REQUEST, "\r\n"],
  ["refused CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n", "a"],
];

const EACH = 10;
const WITHIN = 30_000;

const clients = suite("clients that misbehave");

let servers: Map<string, Running>;
clients.before(async () => {
  servers = await startEach();
});
clients.after(async () => {
  await Promise.all([...servers.values()].map((server) => server.stop()));
});

/** The runtimes are tested in parallel, because these tests spend most of their time waiting. */
function everywhere(name: string, check: (server: Running, runtime: string) => Promise<void>) {
  clients(name, async () => {
    await withEach(servers, check);
  });
}

everywhere(
  `${
    EACH * STUCK.length
  } stuck clients are disconnected within 30 s, and others are served meanwhile`,
  async ({ url }, runtime) => {
    const unread = standStill(LARGE[runtime]!);
    const waited = waitLong(LARGE[runtime]!);
    const resting = comeBack(url);
    // For Bun 1.4, a client that sends blank lines is idle.
    const kinds = STUCK.filter(([kind]) => runtime !== "Bun" || kind !== BLANK_LINES);
    const stuck = kinds.flatMap(([kind, first, drip]) =>
      Array.from({ length: EACH }, () => hang(url, kind, first, drip))
    );
    let waiting = true;
    const all = Promise.all(stuck).finally(() => waiting = false);
    // If an assertion fails, the others must not end the process.
    for (const one of [all, unread, waited, resting]) one.catch(() => {});
    let asked = 0;
    for (; waiting; asked++) {
      const response = await fetch(`${url}v1/info`);
      assert.is(response.status, 200);
      await response.arrayBuffer();
      await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 250))]);
    }
    await all;
    assert.ok(asked > 10);
    assert.ok(await unread < LENGTH, "a client that stops reading was not disconnected");
    assert.is(await waited, LENGTH, "a client that waits for the app was disconnected");
    assert.is(await resting, 2, "a client that sent nothing for 30 s was disconnected");
  },
);

everywhere("a request head that does not end is refused with 408", async ({ url }, runtime) => {
  const answer = await hang(url, "a dripping head", ...DRIPPING_HEAD);
  // Bun closes the connection without sending a response.
  if (runtime === "Bun") return assert.is(answer, "");
  assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assert.match(answer, /^content-type: application\/problem\+json\r$/m);
  assert.match(answer, '"The request did not arrive in time"');
});

clients("a call whose content does not end is refused with 408", async () => {
  const node = await playNode();
  const options = JSON.stringify({ ...optionsFor(node.url, RPC), forward: { open: ["reads"] } });
  await withEach(Object.entries(CHOSEN_COMMANDS), async (command, runtime) => {
    const server = await start([...serving(command, "tests/raw/_gateway-server.ts"), options]);
    const head = "POST /v1/rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const answers = await Promise.all([
      hang(server.url, "dripping content", `${head}Content-Length: 999\r\n\r\n`, " "),
      hang(
        server.url,
        "dripping chunks",
        `${head}Transfer-Encoding: chunked\r\n\r\n`,
        "1\r\n \r\n",
      ),
    ]);
    await server.stop();
    for (const answer of answers) {
      assert.match(answer, /^HTTP\/1\.1 408 Request Timeout\r\n/, runtime);
      assert.match(answer, "The content of the call did not arrive in time");
    }
  });
  assert.equal(node.received.filter(({ method }) => method === "POST"), []);
  await node.close();
});

clients("an upload that is steady is not cut", async () => {
  const node = await playNode();
  const options = JSON.stringify({ ...optionsFor(node.url, REST), forward: { open: ["reads"] } });
  const part = "x".repeat(20_000), count = 60;
  const runtimes = Object.entries(CHOSEN_COMMANDS);
  await withEach(runtimes, async (command, runtime) => {
    const server = await start([...serving(command, "tests/raw/_gateway-server.ts"), options]);
    const socket = await dial(server.url);
    const head = "POST /v1/node/raw HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
    socket.write(`${head}Content-Length: ${part.length * count}\r\n\r\n`);
    let answer = "";
    socket.on("data", (bytes) => answer += bytes);
    const end = closed(socket);
    // The whole takes 12 s.
    for (let sent = 0; sent < count && !socket.destroyed; sent++) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      socket.write(part);
    }
    await end;
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/, runtime);
    await server.stop();
  });
  assert.equal(
    node.received.map(({ body }) => body.byteLength),
    Array(runtimes.length).fill(part.length * count),
  );
  await node.close();
});

clients("a response that is not read is cut while other calls wait for its slot", async () => {
  const node = await playNode();
  node.answer = (request, response) => {
    response.writeHead(200, { "content-type": "application/octet-stream" });
    response.end(request.url === "/status" ? new Uint8Array(20_000_000) : "");
  };
  const { ask } = forwarding(node.url, REST, { open: ["reads"], concurrency: 1, timeout: "60s" });
  const unread = await ask("/v1/node/status");
  const began = performance.now();
  let status = 0;
  while (status !== 200) {
    ({ status } = await ask("/v1/node/blocks/1"));
  }
  const took = performance.now() - began;
  assert.ok(took > 9000, `the other call got ${status} after ${took} ms`);
  const error = await unread.arrayBuffer().then(() => undefined, (error: unknown) => error);
  assert.ok(error, "the response was not cut");
  await node.close();
});

clients("content that does not end gets one response from an operation of the host", async () => {
  // Bun 1.4 does not limit the time for content that a host's operation reads.
  const { Bun: _, ...withoutBun } = CHOSEN_COMMANDS;
  await withEach(Object.entries(withoutBun), async (command) => {
    const server = await start(serving(command, "tests/raw/_host-server.ts"));
    const head = "POST /own/echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999\r\n\r\n";
    const answer = await hang(server.url, "dripping content", head, " ");
    await server.stop();
    assert.equal(answer.match(/^HTTP\/1\.1 \d+/gm), ["HTTP/1.1 400"]);
  });
});

everywhere("the service survives clients that reset during a response", async ({ url }) => {
  const request = largestRequest();
  for (let i = 0; i < 50; i++) {
    const socket = await dial(url);
    socket.write(request);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.resetAndDestroy();
  }
  assert.is((await fetch(`${url}v1/info`)).status, 200);
});

everywhere("the service survives clients that reset after a refused CONNECT", async ({ url }) => {
  for (let i = 0; i < 20; i++) {
    const socket = await dial(url);
    socket.write("CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    socket.resetAndDestroy();
  }
  assert.is((await fetch(`${url}v1/info`)).status, 200);
});

everywhere("large responses that clients do not read take no memory", async ({ url, pid }) => {
  const request = largestRequest();
  const { body: { length } } = await exchange(url, request, { answers: 1, bodiless: false });
  const before = residentMemory(pid);
  const sockets = await Promise.all([1, 2, 3].map(() => dial(url)));
  for (const socket of sockets) socket.pause().write(request.repeat(100));
  // During these 20 requests, the server also handles the requests on `sockets`.
  for (let i = 0; i < 20; i++) await (await fetch(`${url}v1/info`)).arrayBuffer();
  const grown = residentMemory(pid) - before;
  for (const socket of sockets) socket.destroy();
  const answers = sockets.length * 100 * length / 2 ** 20;
  assert.ok(grown < answers / 2, `${grown} MiB for ${Math.round(answers)} MiB of responses`);
});

clients.run();

/** Returns the resident memory of a process in MiB, or 0 if the system has no `/proc`. */
function residentMemory(pid: number): number {
  if (!existsSync(`/proc/${pid}/status`)) return 0;
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Math.round(Number(kilobytes) / 1024);
}

/**
 * Returns everything that the server sends before it closes the connection. Rejects if the
 * connection is still open after 30 s.
 */
async function hang(url: string, kind: string, first: string, drip?: string): Promise<string> {
  const socket = await dial(url);
  let answer = "";
  socket.setEncoding("latin1").on("data", (text: string) => answer += text).write(first);
  const dripping = drip && setInterval(() => socket.write(drip), 500);
  const late = setTimeout(() => socket.destroy(new Error(`${kind}: not cut`)), WITHIN);
  try {
    await closed(socket);
    return answer;
  } finally {
    clearInterval(dripping || undefined);
    clearTimeout(late);
  }
}

/** Sends a second request after 30 s. Returns the number of responses. */
async function comeBack(url: string): Promise<number> {
  const socket = await dial(url);
  let text = "";
  socket.setEncoding("latin1").on("data", (part: string) => text += part).write(REQUEST);
  await new Promise((resolve) => setTimeout(resolve, WITHIN));
  const end = closed(socket);
  socket.write(REQUEST.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
  await end;
  return text.match(/^HTTP\/1\.1 200 OK\r$/gm)?.length ?? 0;
}

/** Stops reading a response for 30 s. Returns the number of bytes received. */
async function standStill(command: readonly string[]): Promise<number> {
  const server = await start(command);
  const socket = await dial(server.url);
  let received = 0;
  socket.on("data", (chunk: Buffer) => received += chunk.length);
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  await new Promise((resolve) => setTimeout(resolve, WITHIN));
  socket.resume();
  await closed(socket);
  await server.stop();
  return received;
}

/** The app sends the response only after the idle timeout. */
async function waitLong(command: readonly string[]): Promise<number> {
  const server = await start(command);
  const { byteLength } = await (await fetch(`${server.url}long`)).arrayBuffer();
  await server.stop();
  return byteLength;
}

function largestRequest(): string {
  return `GET /assets/${FILES.scalar}/standalone.esm.js HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}
