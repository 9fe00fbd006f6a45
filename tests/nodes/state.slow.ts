/**
 * Tests how soon `/v1/health` follows real nodes: anvil from npm, Debian's litecoind, and Debian's
 * HAProxy in front of two services. Run with `npm run test:slow -- nodes`. What is not installed is
 * skipped.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import type { Running } from "../_server.ts";
import { type Bench, bench } from "./_bench.ts";
import { type Daemon, until } from "./_daemon.ts";

const state = suite("the state of a real node, as a load balancer sees it");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const LITECOIND = "/usr/lib/litecoin/litecoind";
const HAPROXY = "/usr/sbin/haproxy";

/** The timeout, twice `ttl`, and what a busy machine adds, in milliseconds. */
const DOWN_MAX = 2000 + 2 * 1000 + 2000;
const BACK_MAX = 3000 + 2000;

const healthOf = async ({ url }: Running) => {
  const response = await fetch(new URL("v1/health", url));
  return { status: response.status, code: (await response.json()).status_code };
};

/** Asks twice a second, and returns the milliseconds until the status. */
async function untilHealth(service: Running, status: number): Promise<number> {
  const begun = performance.now();
  await until(async () => {
    if ((await healthOf(service)).status === status) return true;
    await new Promise((resolve) => setTimeout(resolve, 500));
    return false;
  });
  return performance.now() - begun;
}

const startAnvil = (bench: Bench, port: number, chain = "31337") =>
  bench.daemon(
    [ANVIL, "--port", `${port}`, "--block-time", "2", "--silent", "--chain-id", chain],
    port,
  );

async function startBeside(bench: Bench, port: number): Promise<Running> {
  return await bench.service([
    "--config",
    await bench.config(`${port}.yaml`, {
      node: { url: `http://127.0.0.1:${port}`, kind: "ethereum", expect: { chain_id: "31337" } },
      info: { stalled_after: "10s" },
      forward: "reads",
    }),
  ]);
}

state(
  "anvil stops, hangs, and is of another chain, and each time it is ok again",
  bench("state", async (bench) => {
    const port = await freePort();
    let anvil: Daemon = await startAnvil(bench, port);
    const service = await startBeside(bench, port);
    await untilHealth(service, 200);
    const faults: Record<string, [begin: () => unknown, end: () => unknown]> = {
      connection_refused: [
        () => anvil.stop("SIGKILL"),
        async () => anvil = await startAnvil(bench, port),
      ],
      timeout: [() => anvil.signal("SIGSTOP"), () => anvil.signal("SIGCONT")],
      wrong_network: [
        async () => {
          await anvil.stop("SIGKILL");
          anvil = await startAnvil(bench, port, "1");
        },
        async () => {
          await anvil.stop("SIGKILL");
          anvil = await startAnvil(bench, port);
        },
      ],
    };
    for (const [code, [begin, end]] of Object.entries(faults)) {
      await begin();
      const down = await untilHealth(service, 503);
      assert.ok(down < DOWN_MAX, `${code}: 503 after ${down} ms`);
      await until(async () => (await healthOf(service)).code === code);
      await end();
      const back = await untilHealth(service, 200);
      assert.ok(back < BACK_MAX, `${code}: 200 after ${back} ms`);
    }
  }),
);

testWhere(
  state,
  without(LITECOIND),
  "litecoind without peers has no peers, and with a peer that has no blocks it is stalled",
  bench("alone", async (bench) => {
    const place = join(bench.home, "secret");
    await writeFile(place, "op:right\n");
    const start = async (...more: string[]) => {
      const port = await freePort();
      const folder = join(bench.home, `${port}`);
      await mkdir(folder);
      const flags = [`-datadir=${folder}`, `-rpcport=${port}`, "-server", "-dnsseed=0", ...more];
      return await bench.daemon([LITECOIND, ...flags, "-rpcuser=op", "-rpcpassword=right"], port);
    };
    const beside = async ({ url }: Daemon) => {
      const node = { url, auth: { basic_file: place } };
      const config = { node, info: { stalled_after: "10s" } };
      const file = await bench.config(`${new URL(url).port}.yaml`, config);
      return await bench.service(["--config", file]);
    };
    const port = await freePort();
    const empty = await start(
      "-listen=1",
      `-bind=127.0.0.1:${port}`,
      `-port=${port}`,
      "-connect=0",
    );
    const service = await beside(empty);
    await until(async () => (await healthOf(service)).code === "no_peers");
    const synced = await beside(await start("-listen=0", `-connect=127.0.0.1:${port}`));
    await until(async () => (await healthOf(synced)).code === "stalled");
    assert.is((await healthOf(synced)).status, 503);
  }),
);

const READS = 1000;

testWhere(
  state,
  without(HAPROXY),
  "behind HAProxy, no read fails while one of two nodes hangs",
  bench("haproxy", async (bench) => {
    const ports = [await freePort(), await freePort()];
    const [bad] = await Promise.all(ports.map((port) => startAnvil(bench, port)));
    const services = await Promise.all(ports.map((port) => startBeside(bench, port)));
    for (const service of services) await untilHealth(service, 200);
    const front = await freePort();
    const hosts = services.map(({ url }) => new URL(url).host);
    const file = join(bench.home, "haproxy.cfg");
    await writeFile(
      file,
      `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 5s
listen nodes
  bind 127.0.0.1:${front}
  option httpchk
  http-check send meth GET uri /v1/health ver HTTP/1.1 hdr Host 127.0.0.1
  http-response set-header x-server %s
${hosts.map((host, at) => `  server s${at} ${host} check inter 1s fall 1 rise 1\n`).join("")}`,
    );
    const proxy = await bench.daemon([HAPROXY, "-f", file], front);
    const read = async () => {
      const { status, headers } = await fetch(`${proxy.url}/v1/rpc/eth_blockNumber`);
      return `${status} ${headers.get("x-server")}`;
    };
    const isUsed = async () => {
      const seen = await Promise.all(Array.from({ length: 10 }, read));
      return seen.includes("200 s0");
    };
    await until(isUsed);
    bad!.signal("SIGSTOP");
    await untilHealth(services[0]!, 503);
    // The next check of HAProxy sees it, too.
    await until(async () => await read() === "200 s1" && await read() === "200 s1");
    for (let i = 0; i < READS; i++) assert.is(await read(), "200 s1");
    bad!.signal("SIGCONT");
    await until(isUsed);
  }),
);

state.run();
