import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { FastResponse } from "srvx/node";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createConnections } from "../src/adapters/node-connections.ts";
import { listener } from "../src/adapters/node-listener.ts";
import { until } from "./_gateway.ts";

const slow = suite("clients that read slowly");

/** Below 1 kB/s for ten seconds in earnest; here below 2 MB/s for half of a second. */
const SLOWEST = { bytes: 1_000_000, time: 500, check: 50 };
const PART = new Uint8Array(65_536);
/** More than the system takes for who does not read. */
const LONG = new Uint8Array(50_000_000);
const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

const [fromBytes, fromStream] = [
  listener({ fetch: () => new FastResponse(LONG) }),
  listener({ fetch: () => new Response(LONG) }),
];

/** How a long response is written. */
const WAYS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "part by part": (response) => writeOn(response.writeHead(200)),
  "from bytes": (response) => fromBytes(response.req, response),
  "from a stream": (response) => fromStream(response.req, response),
};

// On Bun, its own server disconnects them.
for (const [way, respond] of "Bun" in globalThis ? [] : Object.entries(WAYS)) {
  slow(`are cut where they take less than the least, and no others: ${way}`, async () => {
    const connections = createConnections(SLOWEST);
    const http = createServer((_, response) => {
      connections.addAnswer(response);
      respond(response);
    });
    http.on("connection", connections.add);
    let cut = 0;
    http.on("connection", (socket) => socket.once("close", () => cut++));
    await once(http.listen(0, "127.0.0.1"), "listening");
    const { port } = http.address() as AddressInfo;
    const [steady, slowly] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    const drip = setInterval(() => slowly.read(1000), 20);
    try {
      for (const socket of [steady, slowly]) socket.on("error", () => {}).write(REQUEST);
      let taken = 0;
      steady.on("data", (part) => taken += part.length);
      slowly.on("readable", () => {});
      await until(() => cut === 1);
      assert.not(steady.destroyed);
      assert.ok(taken > SLOWEST.bytes);
      // What the system has taken for it arrives, and then the end.
      clearInterval(drip);
      slowly.removeAllListeners("readable").on("data", () => {}).resume();
      await once(slowly, "close");
    } finally {
      clearInterval(drip);
      for (const socket of [steady, slowly]) socket.destroy();
      http.close();
      await connections.end();
    }
  });
}

slow.run();

/** Writes as long as somebody reads. */
function writeOn(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(PART)) setImmediate(() => writeOn(response));
  else response.once("drain", () => writeOn(response));
}
