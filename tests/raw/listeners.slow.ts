/**
 * A thousand clients that listen to events, on each runtime. Run with `npm run test:slow -- raw`.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { type Running, start, withEach } from "../_server.ts";
import { call, type Daemon, startDaemon, until } from "../nodes/_daemon.ts";
import { Crowd } from "./_crowd.ts";
import { RELEASES } from "./_servers.ts";

const listeners = suite("many listeners");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const EXECUTABLE = `${ROOT}dist/nodeface`;
const LINUX = process.platform === "linux" ? without(ANVIL) : "needs Linux";

const COMMANDS: readonly (readonly [string, readonly string[]])[] = [
  ...RELEASES,
  ...(existsSync(EXECUTABLE) ? [["executable", [EXECUTABLE]] as const] : []),
];

const COUNT = 1000;
const PER_ADDRESS = 250;

const folder = mkdtempSync(join(tmpdir(), "nodeface-listeners-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function startService(command: readonly string[], node: Daemon, perAddress: number) {
  const config = join(folder, `${perAddress}.json`);
  writeFileSync(
    config,
    JSON.stringify({
      node: { url: node.url, kind: "ethereum" },
      info: { ttl: "1s" },
      events: { listeners: COUNT, per_address: perAddress },
      metrics: true,
    }),
  );
  return start([...command, "--config", config]);
}

async function withAnvil(act: (anvil: Daemon) => Promise<void>): Promise<void> {
  const port = await freePort();
  const anvil = await startDaemon([ANVIL, "--port", `${port}`, "--silent"], port);
  try {
    await act(anvil);
  } finally {
    await anvil.stop("SIGKILL");
  }
}

/** Returns the resident memory of a process, in MiB. */
function memoryOf({ pid }: Running): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
}

const descriptorsOf = ({ pid }: Running) => readdirSync(`/proc/${pid}/fd`).length;

async function listenersOf({ url }: Running): Promise<number> {
  const text = await (await fetch(new URL("v1/metrics", url))).text();
  return Number(/^nodeface_event_listeners (\d+)/m.exec(text)![1]);
}

/**
 * The node has a new block for each query. While clients listen, the service queries the node every
 * two seconds, so 30 blocks take a minute.
 */
const BLOCKS = 30;

/** `MEMORY_MAX` is in MiB, and applies to all listeners together. */
const MEMORY_MAX = 100, ENDED_MS = 5000;

// The runtimes are tested one after the other, because the listeners take processor time.
for (const [runtime, command] of COMMANDS) {
  const name = `each listener gets each head at low cost, even if one does not read, on ${runtime}`;
  testWhere(listeners, LINUX, name, () =>
    withAnvil(async (anvil) => {
      const service = await startService(command, anvil, COUNT);
      const crowd = new Crowd();
      try {
        await until(async () =>
          (await (await fetch(new URL("v1/info", service.url))).json()).height === 0
        );
        const [memory, descriptors] = [memoryOf(service), descriptorsOf(service)];
        const { open, statuses } = await crowd.open({ url: service.url, count: COUNT });
        assert.is(open, COUNT, JSON.stringify(statuses));
        assert.is(await listenersOf(service), COUNT);
        await crowd.pause(0);
        let most = 0;
        let heads = "";
        for (let block = 1; block <= BLOCKS; block++) {
          await call(anvil.url, "evm_mine");
          heads += ` ${block}`;
          await until(async () => {
            most = Math.max(most, memoryOf(service));
            return (await crowd.tell()).heads[heads]! >= COUNT - 1;
          });
        }
        await crowd.resume(0);
        // The service either sends the missed events to the resumed listener, or disconnects this
        // listener.
        await until(async () => {
          const told = await crowd.tell();
          return told.heads[heads] === COUNT || told.open === COUNT - 1;
        });
        assert.ok(most - memory < MEMORY_MAX, `${memory} to ${most} MB`);
        await crowd.leave();
        await until(async () => await listenersOf(service) === 0);
        // HTTP keep-alive may leave a few connections of this test open.
        await until(() => Promise.resolve(descriptorsOf(service) <= descriptors + 5));

        const again = new Crowd();
        try {
          assert.is((await again.open({ url: service.url, count: COUNT })).open, COUNT);
          const from = performance.now();
          assert.is((await service.stop()).code, 0);
          const took = performance.now() - from;
          assert.ok(took < ENDED_MS, `${took} ms`);
          await until(async () => (await again.tell()).open === 0);
        } finally {
          again.end();
        }
      } finally {
        crowd.end();
        await service.stop("SIGKILL");
      }
    }));
}

testWhere(
  listeners,
  LINUX,
  "the number of listeners is limited per address",
  () =>
    withAnvil(async (anvil) => {
      await withEach(COMMANDS, async (command) => {
        const service = await startService(command, anvil, PER_ADDRESS);
        const crowd = new Crowd();
        try {
          const { url } = service;
          for (let last = 1; last <= 4; last++) {
            const from = `127.0.0.${last}`;
            const told = await crowd.open({ url, count: PER_ADDRESS + 1, from });
            assert.equal(told.statuses, { 200: last * PER_ADDRESS, 503: last }, from);
          }
          const told = await crowd.open({ url, count: 1, from: "127.0.0.5" });
          assert.equal(told.statuses, { 200: COUNT, 503: 5 });
        } finally {
          crowd.end();
          await service.stop();
        }
      });
    }),
);

/** This pause is much longer than the idle timeout of any runtime or adapter. */
const SILENCE_MS = 180_000;

testWhere(
  listeners,
  LINUX,
  "listeners stay connected even if nothing is sent for minutes",
  () =>
    withAnvil(async (anvil) => {
      await withEach(COMMANDS, async (command) => {
        const service = await startService(command, anvil, COUNT);
        const crowd = new Crowd();
        try {
          assert.is((await crowd.open({ url: service.url, count: 3 })).open, 3);
          await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
          assert.is((await crowd.tell()).open, 3);
          await call(anvil.url, "evm_mine");
          await until(async () => !("" in (await crowd.tell()).heads));
        } finally {
          crowd.end();
          await service.stop();
        }
      });
    }),
);

listeners.run();
