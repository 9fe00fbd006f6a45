/**
 * Tests how old the values of a node are that is 100 ms away and has a block every two seconds,
 * when they are asked for at different intervals. Run with `npm run test:slow -- nodes/far`.
 */
import { connect, createServer, type Socket } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { bench } from "./_bench.ts";
import { call } from "./_daemon.ts";

const far = suite("a node that is 100 ms away");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;

/** How often clients ask, in seconds. */
const INTERVALS = [1, 3, 5, 8, 9, 30];
/** As many current heights are read as fit into this time, in seconds, however long it takes. */
const TIME = 60, PATIENCE_MS = 600_000;
/** The delay of each direction, in milliseconds. */
const DELAY_MS = 50;
/** Twice the default `ttl`, and the interval at which the test looks at the node itself. */
const AGE_MAX = 2000 + 20;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Returns a function that closes the proxy. */
async function delay(from: number, to: number): Promise<() => void> {
  const sockets = new Set<Socket>();
  const later = (source: Socket, target: Socket) => {
    sockets.add(source);
    const end = () => void target.destroy();
    source.on("error", end).on("close", end);
    source.on("data", (part) => void wait(DELAY_MS).then(() => target.write(part)));
  };
  const server = createServer((client) => {
    const node = connect(to, "127.0.0.1");
    later(client, node);
    later(node, client);
  });
  await new Promise<void>((resolve) => server.listen(from, "127.0.0.1", resolve));
  return () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
}

/** The times at which the node's height was first and last seen, by height. */
type Seen = Map<number, { first: number; last: number }>;

async function look(url: string, seen: Seen, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    const begun = performance.now();
    const height = Number(await call(url, "eth_blockNumber"));
    seen.set(height, { first: seen.get(height)?.first ?? begun, last: performance.now() });
    await wait(20);
  }
}

interface Reading {
  readonly begun: number;
  readonly height: number;
}

/** Returns the heights that were said to be current. */
async function ask(url: string, seconds: number): Promise<Reading[]> {
  const readings: Reading[] = [];
  const end = performance.now() + PATIENCE_MS;
  while (readings.length < TIME / seconds) {
    const begun = performance.now();
    assert.ok(begun < end, `asked every ${seconds} s: ${readings.length} heights`);
    const info = await (await fetch(new URL("v1/info", url))).json();
    if (info.height !== undefined && info.updated_at === undefined) {
      readings.push({ begun, height: info.height });
    }
    await wait(seconds * 1000 - (performance.now() - begun));
  }
  return readings;
}

far(
  "has no height without updated_at that it had not within twice ttl before",
  bench("far", async (bench) => {
    const [port, proxy] = [await freePort(), await freePort()];
    const node = await bench.daemon([ANVIL, "--port", `${port}`, "--block-time", "2"], port);
    const close = await delay(proxy, port);
    const args = [`http://127.0.0.1:${proxy}`, "--kind", "ethereum"];
    const services = await Promise.all(INTERVALS.map(() => bench.service(args)));
    const seen: Seen = new Map();
    const end = new AbortController();
    const looking = look(node.url, seen, end.signal);
    const found = await Promise.all(
      INTERVALS.map((seconds, at) => ask(services[at]!.url, seconds)),
    );
    end.abort();
    await looking;
    close();
    for (const [at, readings] of found.entries()) {
      const seconds = INTERVALS[at]!;
      // A busy machine may miss a height, which then ended when the next one was seen first.
      const endOf = (height: number) =>
        seen.get(height)?.last ?? seen.get(height + 1)?.first ?? Infinity;
      const ages = readings.map(({ begun, height }) => begun - endOf(height));
      const oldest = Math.round(Math.max(...ages));
      console.log(`asked every ${seconds} s: ${readings.length} heights, at most ${oldest} ms old`);
      assert.ok(oldest <= AGE_MAX, `asked every ${seconds} s: a height that is ${oldest} ms old`);
    }
  }),
);

far.run();
