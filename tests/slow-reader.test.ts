import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { FastResponse } from "srvx";
import { createHttpServer, listen } from "../src/adapters/node-server.ts";
import type { ServedRequest } from "../src/http/request.ts";
import { HeldBytes, ResponseInParts } from "../src/http/response.ts";
import type { Peer } from "../src/http/socket.ts";
import { until } from "./_gateway.ts";

const slow = suite("clients that read slowly");

/** Even a busy machine reads 100 kB in 5 s. The default limit is 10 kB in 10 s. */
const SLOWEST = { bytes: 100_000, timeMs: 5000, checkMs: 50 };
const PART = new Uint8Array(65_536);
/** The response does not fit into the buffers of the system, so a client must read it. */
const LONG = new Uint8Array(20_000_000);
const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

const WAYS: Readonly<Record<string, () => Response>> = {
  "part by part": () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(PART) })),
  "from prepared bytes": () => new FastResponse(LONG),
  "from bytes": () => new Response(LONG),
  "from a blob": () => new Response(new Blob([LONG])),
  "from bytes that are held": () => heldResponse(() => {}),
};

function heldResponse(release: () => void): ResponseInParts {
  const headers = { "content-length": String(LONG.byteLength) };
  return new ResponseInParts(new HeldBytes([LONG], release), { headers });
}

// Bun's own server disconnects slow clients, so there is no test on Bun.
for (const [way, respond] of "Bun" in globalThis ? [] : Object.entries(WAYS)) {
  slow(`only clients that read too slowly are disconnected: ${way}`, async () => {
    const { http, close } = createHttpServer({ fetch: respond }, {}, SLOWEST);
    const cut = new Set<number | undefined>();
    const sent = new Set<number | undefined>();
    http.on("request", (message, response) => {
      const { remotePort } = message.socket;
      response.once("finish", () => sent.add(remotePort));
    });
    http.on("connection", (socket) => {
      const { remotePort } = socket;
      socket.once("close", () => cut.add(remotePort));
    });
    await listen(http, { hostname: "127.0.0.1", port: 0 });
    const { port } = http.address() as AddressInfo;
    const [steady, slowly] = [connect(port, "127.0.0.1"), connect(port, "127.0.0.1")];
    await Promise.all([once(steady, "connect"), once(slowly, "connect")]);
    // A socket that is closed has no port any more.
    const [steadyPort, slowPort] = [steady.localPort, slowly.localPort];
    let taken = 0;
    const drip = setInterval(() => {
      // At most 25 kB in 5 s
      slowly.read(100);
      taken += steady.read()?.length ?? 0;
    }, 20);
    try {
      for (const socket of [steady, slowly]) {
        socket.on("error", () => {}).on("readable", () => {}).write(REQUEST);
      }
      await until(() => cut.has(slowPort));
      await until(() => taken > SLOWEST.bytes);
      // A client to which all has been sent is idle, even if it has not read all of it.
      assert.ok(!cut.has(steadyPort) || sent.has(steadyPort));
      // The client sees the end of the connection only after it has read the buffered bytes.
      clearInterval(drip);
      slowly.removeAllListeners("readable").on("data", () => {}).resume();
      await once(slowly, "close");
    } finally {
      clearInterval(drip);
      for (const socket of [steady, slowly]) socket.destroy();
      await close();
    }
  });
}

if (!("Bun" in globalThis)) {
  slow(
    "the bytes of a response are free as soon as it is dropped, and when it is sent",
    async () => {
      let released = 0;
      const responses: ResponseInParts[] = [];
      const respond = () => {
        responses.push(heldResponse(() => released++));
        return responses.at(-1)!;
      };
      const { http, close } = createHttpServer({ fetch: respond }, { onError() {} });
      await listen(http, { hostname: "127.0.0.1", port: 0 });
      const { port } = http.address() as AddressInfo;
      const socket = connect(port, "127.0.0.1").on("error", () => {});
      socket.write(REQUEST);
      await once(socket, "readable");
      assert.is(released, 0);
      responses[0]!.held.drop(new Error("others need the memory"));
      assert.is(released > 0, true);
      socket.resume();
      await once(socket, "close");
      released = 0;
      const whole = await (await fetch(`http://127.0.0.1:${port}`)).arrayBuffer();
      assert.is(whole.byteLength, LONG.byteLength);
      await until(() => released > 0);
      await close();
    },
  );
}

// Deno 2.9 reports no progress during a write.
if (!("Bun" in globalThis) && !("Deno" in globalThis)) {
  slow("a WebSocket client that reads a long message is seen to read", async () => {
    let peer: Peer | undefined;
    const events = { onText() {}, onBinary() {}, onControl() {}, onClose() {} };
    const fetch = ({ upgrade }: ServedRequest) =>
      upgrade!.accept({
        protocol: undefined,
        open: (opened) => (peer = opened, events),
        drop() {},
      });
    const { http, close } = createHttpServer({ fetch }, {});
    await listen(http, { hostname: "127.0.0.1", port: 0 });
    const socket = connect((http.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => {}).on("readable", () => {}).write(
      "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    );
    try {
      await until(() => peer !== undefined);
      assert.is(peer!.unsentBytes, 0);
      peer!.send("x".repeat(40_000_000));
      let least = peer!.unsentBytes;
      for (let reads = 0; reads < 3; reads++) {
        await until(() => {
          socket.read(65_536);
          return peer!.unsentBytes < least;
        });
        least = peer!.unsentBytes;
        assert.ok(least > 1_000_000, `${least} bytes`);
      }
    } finally {
      socket.destroy();
      await close();
    }
  });
}

slow.run();
