import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { until } from "../nodes/_daemon.ts";
import { start, withEach } from "../_server.ts";
import { LARGE, LENGTH } from "./_large.ts";
import { dial } from "./_socket.ts";

const HOLDERS = 20;
const RESETS = 200;

const memory = suite("large responses");

const REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const MIB = 1024 * 1024;

const EACH = existsSync("/proc/self/status") ? Object.entries(LARGE) : [];

memory(
  "a large response that clients do not read is not copied per client, on every runtime",
  () =>
    withEach(EACH, async (command) => {
      const server = await start(command);
      await hold(server.url, 1);
      const before = memoryOf(server.pid);
      const sockets = await hold(server.url, HOLDERS);
      const grown = memoryOf(server.pid) - before;
      for (const socket of sockets) socket.destroy();
      await server.stop();
      assert.ok(grown < HOLDERS * LENGTH / 10, `${Math.round(grown / MIB)} MiB`);
    }),
);

memory(
  "a reset during a large response leaves no memory or descriptor in use, on every runtime",
  () =>
    withEach(EACH, async (command) => {
      const server = await start(command);
      const reset = async (count: number) => {
        for (let i = 0; i < count; i++) {
          for (const socket of await hold(server.url, 1)) socket.resetAndDestroy();
        }
      };
      await reset(20);
      const before = { memory: memoryOf(server.pid), descriptors: descriptorsOf(server.pid) };
      await reset(RESETS);
      // deno-lint-ignore require-await -- `until` expects a function that returns a promise
      await until(async () =>
        descriptorsOf(server.pid) <= before.descriptors &&
        memoryOf(server.pid) - before.memory < 3 * LENGTH
      );
      await server.stop();
    }),
);

memory.run();

function hold(url: string, count: number): Promise<Socket[]> {
  return Promise.all(Array.from({ length: count }, async () => {
    const socket = await dial(url);
    socket.write(REQUEST);
    await new Promise((resolve) => socket.once("data", resolve));
    return socket.pause();
  }));
}

/** Returns the resident memory of a process, in bytes. */
function memoryOf(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Number(kilobytes) * 1024;
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
