/**
 * Tests clients that disconnect before a response ends, or do not read the response. The
 * environment variable `NODEFACE_SOAK` sets the duration of a round in seconds, 8 by default.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { COMMANDS } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { type RawNode, startRawNode } from "./_raw-node.ts";
import { ask, send, type Service, startService } from "./_services.ts";

const SECONDS = Number(process.env.NODEFACE_SOAK ?? 8);
const MIB = 1024 * 1024, GROWTH_MAX = 64 * MIB;

const CLIENTS = 24;

/** The times in milliseconds after which clients disconnect. */
const VISITS = [
  ["ok", 200],
  ["mega", 200],
  ["mega", 2],
  ["large", 50],
  ["large", 300],
  ["hang", 100],
  ["hang-later", 100],
  ["drip", 150],
  ["short-length", 200],
  ["close", 100],
  ["nothing-like-it", 50],
] as const;

const soak = suite(`calls to the node, for ${SECONDS} s`);

// Only Linux reports the resources of a process in `/proc`.
for (const [runtime, command] of Object.entries(existsSync("/proc/self/fd") ? COMMANDS : {})) {
  soak(`clients that disconnect leak no memory and no connections, on ${runtime}`, async () => {
    const node = await startRawNode();
    const service = await startService(command, node.url, { limit: "256MiB", concurrency: 16 });
    try {
      await visit(service, Math.max(10, SECONDS / 6));
      const before = await settled(service, node);
      let after = before;
      // After some visits, the memory may be high because of garbage, but only a leak keeps it high
      // after every visit.
      for (let visits = 0; visits < 3; visits++) {
        await visit(service, SECONDS);
        after = await settled(service, node);
        if (after.memory - before.memory < GROWTH_MAX) break;
      }
      assert.ok(after.descriptors <= before.descriptors + 2, `${after.descriptors} descriptors`);
      const grown = after.memory - before.memory;
      const [mib, open] = [grown / MIB, after.descriptors - before.descriptors];
      console.log(`${runtime}: ${mib.toFixed(1)} MiB and ${open} descriptors more`);
      assert.ok(grown < GROWTH_MAX, `${Math.round(grown / MIB)} MiB`);
      assert.is((await ask(service.url, "/v1/node/ok")).status, 200);
    } finally {
      await Promise.all([service.stop(), node.stop()]);
    }
  });

  soak(`waiting calls never block the service's own responses, on ${runtime}`, async () => {
    const node = await startRawNode();
    const service = await startService(command, node.url);
    // Each call is different, because the service coalesces equal calls.
    const waiting = Array.from(
      { length: 60 },
      (_, at) => send(service.url, `/v1/node/hang?id=${at}`),
    );
    try {
      await until(() => Promise.resolve(node.open >= 8));
      for (const path of ["/v1/info", "/spec.json"]) {
        assert.is((await ask(service.url, path)).status, 200);
      }
    } finally {
      for (const socket of waiting) socket.destroy();
      await Promise.all([service.stop(), node.stop()]);
    }
  });
}

soak.run();

async function visit({ url }: Service, seconds: number): Promise<void> {
  const end = performance.now() + seconds * 1000;
  let next = 0;
  const client = async () => {
    while (performance.now() < end) {
      const [name, stay] = VISITS[next++ % VISITS.length]!;
      // `id` has only 20 values, so that the service coalesces some calls.
      const socket = send(url, `/v1/node/${name}?id=${next % 20}`).on("data", () => {});
      if (next % 3 === 0) socket.pause();
      await new Promise((resolve) => setTimeout(resolve, stay));
      if (next % 2 === 0) socket.resetAndDestroy();
      else socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Waits until idle connections have closed. */
async function settled({ pid = 0 }: Service, node: RawNode) {
  await until(() => Promise.resolve(node.open === 0));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return {
    memory: Number(kilobytes) * 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}
