import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createConnections } from "../../src/adapters/node-connections.ts";
import { until } from "../nodes/_daemon.ts";
import { dial } from "./_socket.ts";

const slow = suite("clients that read slowly");

/** Below 1 kB/s for ten seconds in earnest; here below 2 MB/s for half of a second. */
const SLOWEST = { bytes: 1_000_000, time: 500, check: 50 };
const PART = new Uint8Array(65_536);
const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

slow("are cut where they take less than the least, and those that take more are not", async () => {
  const connections = createConnections(SLOWEST);
  const http = createServer((_, response) => {
    connections.addAnswer(response);
    writeOn(response.writeHead(200));
  });
  http.on("connection", connections.add);
  let cut = 0;
  http.on("connection", (socket) => socket.once("close", () => cut++));
  await once(http.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const [steady, slowly] = await Promise.all([dial(url), dial(url)]);
  const drip = setInterval(() => slowly.read(1000), 20);
  try {
    for (const socket of [steady, slowly]) socket.on("error", () => {}).write(REQUEST);
    let taken = 0;
    steady.on("data", (part) => taken += part.length);
    slowly.on("readable", () => {});
    await until(() => Promise.resolve(cut === 1), 20_000);
    assert.not(steady.destroyed);
    assert.ok(taken > SLOWEST.bytes);
    await once(steady, "data");
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

slow.run();

/** Writes as long as somebody reads. */
function writeOn(response: ServerResponse): void {
  if (response.destroyed) return;
  if (response.write(PART)) setImmediate(() => writeOn(response));
  else response.once("drain", () => writeOn(response));
}
