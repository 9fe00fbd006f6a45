import { existsSync, readFileSync } from "node:fs";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../nodes/_daemon.ts";
import { LARGE, type RawNode, startRawNode } from "./_raw-node.ts";
import { ask, send, type Service, SERVICES } from "./_services.ts";

const MIB = 1024 * 1024;

for (const [runtime, start] of SERVICES) {
  const sending = suite(`calls to the node on ${runtime}`);
  let node: RawNode;
  let service: Service;
  let quick: Service;
  sending.before(async () => {
    node = await startRawNode();
    [service, quick] = await Promise.all([
      start(node.url, { limit: "256MiB" }),
      start(node.url, { timeout: "1s", concurrency: 1, limit: "256MiB" }),
    ]);
  });
  sending.after(async () => {
    await Promise.all([service?.stop(), quick?.stop(), node?.stop()]);
  });
  const isIdle = (within = 10_000) => until(() => Promise.resolve(node.open === 0), within);

  for (const how of ["close", "reset"]) {
    for (const [method, path, body] of [["POST", "do", "{}"], ["GET", "get", ""]] as const) {
      sending(
        `a ${method} that is not read-only is sent only once if the node reads it (${how})`,
        async () => {
          for (const kept of [false, true]) {
            // After this call, the service can reuse its connection to the node.
            if (kept) assert.is((await ask(service.url, "/v1/node/ok")).status, 200);
            const target = `/${path}/${how}?id=${kept}`;
            const { status, text } = await ask(service.url, `/v1/node${target}`, method, body);
            assert.is(status, 502);
            assert.match(text, /may have been carried out/);
            assert.is(node.arrived(`${method} ${target}`), 1);
          }
        },
      );
    }
  }

  sending("a read-only call is sent again if the node has closed the connection", async () => {
    for (let i = 0; i < 10; i++) {
      assert.is((await ask(service.url, `/v1/node/last?id=${i}`)).status, 200);
    }
  });

  sending("connections are reused, but an abandoned one is closed after the timeout", async () => {
    await isIdle();
    const before = node.total.kept;
    for (let i = 0; i < 5; i++) await ask(quick.url, `/v1/node/ok?id=${i}`);
    assert.is(node.total.kept, before + 4);
    const socket = send(quick.url, "/v1/node/hang-later");
    await new Promise((resolve) => socket.once("data", resolve));
    assert.is(node.total.kept, before + 5);
    assert.is(node.open, 1);
    socket.destroy();
    await until(() => Promise.resolve(node.open === 0));
  });

  for (const name of ["short-length", "short-chunks", "short-small"]) {
    sending(`a response is incomplete if the node's response is incomplete (${name})`, async () => {
      const { status, isBroken } = await ask(service.url, `/v1/node/${name}`);
      if (name === "short-small") assert.is(status, 502);
      else assert.ok(isBroken);
    });
  }

  for (const name of ["hang", "hang-later"]) {
    sending(`a call ends in time after its client has disconnected (${name})`, async () => {
      await isIdle();
      const socket = send(quick.url, `/v1/node/${name}`);
      await until(() => Promise.resolve(node.open === 1));
      if (name === "hang-later") await new Promise((resolve) => socket.once("data", resolve));
      socket.destroy();
      await isIdle();
    });
  }

  sending("a call ends in time even if its response has begun", async () => {
    const isFree = async () => (await ask(quick.url, "/v1/node/ok")).status === 200;
    await until(isFree);
    for (const name of ["hang", "drip"]) {
      assert.is((await ask(quick.url, `/v1/node/${name}`)).status, 504);
    }
    assert.ok((await ask(quick.url, "/v1/node/hang-later")).isBroken);
    // A further call succeeds only after the earlier calls have released their slots.
    await until(isFree);
  });

  sending("a long response is passed on completely", async () => {
    const got = await new Promise<number>((resolve) => {
      let length = 0;
      const socket = send(service.url, "/v1/node/large");
      socket.on("data", (part) => (length += part.length) > LARGE && socket.destroy());
      socket.on("close", () => resolve(length));
    });
    assert.ok(got > LARGE);
  });

  sending("a long response takes only a little memory, even if it is read slowly", async () => {
    const before = memoryOf(service);
    const sent = node.sent;
    const sockets = Array.from({ length: 4 }, () => send(service.url, "/v1/node/large"));
    let got = 0;
    for (const socket of sockets) socket.on("data", (part) => got += part.length);
    await Promise.all(sockets.map((socket) => new Promise((go) => socket.once("data", go))));
    for (const socket of sockets) socket.pause();
    let most = 0;
    for (let i = 0; i < 20; i++) {
      for (const socket of sockets) socket.resume();
      await new Promise((resolve) => setTimeout(resolve, 1));
      for (const socket of sockets) socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 50));
      most = Math.max(most, memoryOf(service) - before);
    }
    const held = node.sent - sent - got;
    for (const socket of sockets) socket.destroy();
    // The operating system's buffers hold several MiB of each response.
    assert.ok(held < 4 * 24 * MIB, `${Math.round(held / MIB)} MiB are held`);
    assert.ok(most < 96 * MIB, `${Math.round(most / MIB)} MiB`);
    // After its client has disconnected, a call may continue for up to a minute.
    await isIdle(60_000);
  });

  sending.run();
}

/** Returns the resident memory of a service, in bytes. */
function memoryOf({ pid }: Service): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return 0;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, "utf8"))![1]) * 1024;
}
