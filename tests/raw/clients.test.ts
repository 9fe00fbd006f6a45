import { connect, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { platform } from "../../src/platform.ts";
import { readManifest } from "../../src/explorer/manifest.ts";
import { COMMANDS, type Running, start } from "../_server.ts";

/** Clients that keep a server waiting: what they send first, and what they send on and on. */
const STUCK: readonly [kind: string, first: string, drip?: string][] = [
  ["silent", ""],
  ["half a head", "GET /v1/info HTTP/1.1\r\nHost: local"],
  ["a dripping head", "GET /v1/info HTTP/1.1\r\nHost: localhost\r\nX: ", "a"],
  ["a silent content", "POST /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n"],
  [
    "a dripping content",
    "POST /v1/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9999\r\n\r\n",
    "a",
  ],
  ["idle", "GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n"],
];

const EACH = 50;
const WITHIN = 30_000;

const clients = suite("clients that misbehave");

let servers: Running[];
clients.before.each(async () => {
  servers = await Promise.all(Object.values(COMMANDS).map((command) => start(command)));
});
clients.after.each(async () => void await Promise.all(servers.map((server) => server.stop())));

/** Registers a test that is run against all runtimes at once: most of it is waiting. */
function everywhere(name: string, check: (server: Running) => Promise<void>): void {
  clients(name, async () => void await Promise.all(servers.map(check)));
}

everywhere(
  `${EACH * STUCK.length} stuck ones are cut in 30 s, and others answered meanwhile`,
  async ({ url }) => {
    const since = performance.now();
    const stuck = STUCK.flatMap(([kind, first, drip]) =>
      Array.from({ length: EACH }, () => hang(url, kind, first, drip))
    );
    let waiting = true;
    const all = Promise.all(stuck).finally(() => waiting = false);
    let asked = 0;
    for (; waiting; asked++) {
      const response = await fetch(`${url}v1/info`);
      assert.is(response.status, 200);
      await response.arrayBuffer();
      await Promise.race([all, new Promise((resolve) => setTimeout(resolve, 250))]);
    }
    await all;
    assert.ok(asked > 10);
    assert.ok(performance.now() - since < WITHIN);
  },
);

everywhere("those that reset in the middle of an answer cost nothing", async ({ url }) => {
  const request = await largestRequest();
  for (let i = 0; i < 50; i++) {
    const socket = await dial(url);
    socket.write(request);
    await new Promise((resolve) => socket.once("data", resolve));
    socket.resetAndDestroy();
  }
  assert.is((await fetch(`${url}v1/info`)).status, 200);
});

everywhere(
  "told to stop, a server ends an answer in flight and cuts idle and half-sent ones",
  async (server) => {
    const [reader, half, idle] = await Promise.all([
      dial(server.url),
      dial(server.url),
      dial(server.url),
    ]);
    half.resume().write("GET /v1/info HTTP/1.1\r\nHost: loc");
    idle.write("GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await new Promise((resolve) => idle.once("data", resolve));
    let received = "";
    reader.setEncoding("latin1").on("data", (text: string) => received += text);
    reader.write(await largestRequest());
    await new Promise((resolve) => reader.once("data", resolve));
    reader.pause();

    const stopped = server.stop();
    const since = performance.now();
    await Promise.all([closed(half), closed(idle)]);
    reader.resume();
    await closed(reader);
    const [head, ...body] = received.split("\r\n\r\n");
    const length = Number(/content-length: (\d+)/i.exec(head!)?.[1]);
    assert.is(body.join("\r\n\r\n").length, length);
    assert.is((await stopped).code, 0);
    assert.ok(performance.now() - since < 5000);
  },
);

clients.run();

/** Connects, keeps the server waiting, and resolves when it is cut. */
async function hang(url: string, kind: string, first: string, drip?: string): Promise<void> {
  const socket = await dial(url);
  socket.resume().write(first);
  const dripping = drip && setInterval(() => socket.write(drip), 500);
  const late = setTimeout(() => socket.destroy(new Error(`${kind}: not cut`)), WITHIN);
  try {
    await closed(socket);
  } finally {
    clearInterval(dripping || undefined);
    clearTimeout(late);
  }
}

function dial(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(socket)).once("error", reject);
    // To be cut may come as a reset, or as the end of what the other side sends.
    socket.on("error", () => {});
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    if (socket.destroyed) return resolve();
    socket.on("close", () => {
      const { errored } = socket;
      if (errored && /not cut/.test(errored.message)) reject(errored);
      else resolve();
    });
    socket.on("end", () => socket.destroy());
  });
}

/** Asks for a content that is more than one read of a connection brings. */
async function largestRequest(): Promise<string> {
  const { scalar } = await readManifest(platform);
  return `GET /assets/${scalar}/standalone.esm.js HTTP/1.1\r\nHost: localhost\r\n\r\n`;
}
