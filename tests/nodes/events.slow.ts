/**
 * The events of real nodes: anvil from npm, and Debian's litecoind and etcd. Run with `npm run
 * test:slow -- nodes`.
 */
import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { createRandom } from "../_random.ts";
import { type Bench, bench } from "./_bench.ts";
import { call, until } from "./_daemon.ts";
import { EventReader } from "./_event-reader.ts";
import { PROGRAMS } from "./_start-chains.ts";
import { ETCD, startEtcdCluster } from "./_start-services.ts";

const events = suite("events of real nodes");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;

/** The maximum time until a listener learns of a new status, in milliseconds. */
const SOON = 5000;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const untilSeen = (holds: () => boolean) => until(() => Promise.resolve(holds()));

async function startAnvil(bench: Bench) {
  const port = await freePort();
  return await bench.daemon([ANVIL, "--port", `${port}`, "--silent"], port);
}

async function startBeside(bench: Bench, node: object, info: object) {
  const config = await bench.config("events.json", { node, info });
  return await bench.service(["--config", config]);
}

const BLOCKS = 200;
const RETURNS = 3;

testWhere(
  events,
  without(ANVIL),
  "each height in the info object is sent once, in order, even to clients that reconnect",
  bench("events", async (bench) => {
    const anvil = await startAnvil(bench);
    const { url } = await startBeside(bench, { url: anvil.url, kind: "ethereum" }, { ttl: "1s" });
    const heads = () => reader.of("head").map(({ height }) => height as number);
    const reader = await new EventReader(url).open();
    await untilSeen(() => reader.of("snapshot").length === 1);
    /**
     * Height 0 may have no `head` event, because the service may read height 0 before a client
     * listens.
     */
    const seen = new Set<number>();
    const look = async () => {
      const { height } = await (await fetch(new URL("v1/info", url))).json();
      if (height !== undefined) seen.add(height);
      return height;
    };
    await until(async () => await look() === 0);
    const random = createRandom(38);
    for (let block = 1; block <= BLOCKS; block++) {
      await sleep(random() * 300);
      await call(anvil.url, "evm_mine");
      await look();
      const at = block % (BLOCKS / RETURNS | 0);
      if (at === 50) reader.leave();
      if (at === 60) await reader.open();
    }
    await until(async () => await look() === BLOCKS);
    await untilSeen(() => heads().at(-1) === BLOCKS);
    assert.is(reader.of("snapshot").length, 1);
    const inOrder = [...new Set(heads())].sort((a, b) => a - b);
    assert.equal(heads(), inOrder);
    seen.delete(0);
    assert.equal([...seen].filter((height) => !heads().includes(height)), []);

    // The service queries the node more often than blocks are mined, so there must be an event for
    // each height.
    const slow = 5;
    for (let block = 0; block < slow; block++) {
      await sleep(2500);
      await call(anvil.url, "evm_mine");
    }
    await untilSeen(() => heads().at(-1) === BLOCKS + slow);
    const last = Array.from({ length: slow + 1 }, (_, i) => BLOCKS + i);
    assert.equal(heads().slice(-slow - 1), last);
  }),
);

testWhere(
  events,
  without(PROGRAMS.bitcoin!.path),
  "if litecoind invalidates a block, a head event reports the lower height",
  bench("events", async (bench) => {
    const node = await PROGRAMS.bitcoin!.start();
    try {
      const about = { url: node.url, kind: "bitcoin", auth: node.auth };
      const { url } = await startBeside(bench, about, { ttl: "1s" });
      const reader = await new EventReader(url, "head").open();
      const isAt = (height: number) => async () =>
        (await (await fetch(new URL("v1/info", url))).json()).height === height;
      await until(isAt(103));
      const from = reader.of("head").length;
      const { result } = await node.call!("getbestblockhash", []) as { result: string };
      await node.call!("invalidateblock", [result]);
      await untilSeen(() => reader.of("head").length > from);
      await node.call!("reconsiderblock", [result]);
      await untilSeen(() => reader.of("head").length > from + 1);
      assert.equal(reader.of("head").slice(from).map(({ height }) => height), [102, 103]);
      reader.leave();
    } finally {
      await node.stop();
    }
  }),
);

testWhere(
  events,
  without(ETCD),
  "the loss of two of three etcd members is reported within five seconds",
  bench("events", async (bench) => {
    const members = await startEtcdCluster(bench);
    const { url } = await bench.service([members[0]!.url]);
    const reader = await new EventReader(url, "status").open();
    const isNow = (status: string) => () => {
      const told = reader.of("status").at(-1) ?? reader.of("snapshot").at(-1);
      return told?.status === status;
    };
    await untilSeen(isNow("ok"));
    const others = members.slice(1);
    const from = performance.now();
    for (const member of others) member.signal("SIGSTOP");
    await untilSeen(isNow("degraded"));
    const told = reader.events.at(-1)!.at - from;
    for (const member of others) member.signal("SIGCONT");
    const since = performance.now();
    await untilSeen(isNow("ok"));
    const back = reader.events.at(-1)!.at - since;
    const killed = performance.now();
    await Promise.all(others.map((member) => member.stop("SIGKILL")));
    await untilSeen(isNow("degraded"));
    const again = reader.events.at(-1)!.at - killed;
    const times = [told, back, again];
    assert.ok(times.every((time) => time < SOON), `${times.join(", ")} ms`);
    reader.leave();
  }),
);

testWhere(
  events,
  without(ANVIL),
  "without requests, the watch logs an unreachable node",
  bench("events", async (bench) => {
    const anvil = await startAnvil(bench);
    const service = await startBeside(bench, { url: anvil.url, kind: "ethereum" }, { watch: "2s" });
    // With `watch`, the service adds samples to its history even if no client sends requests.
    await until(async () => {
      const { status } = await (await fetch(new URL("v1/history", service.url))).json();
      return status.includes("ok");
    });
    const before = service.stderr();
    await anvil.stop("SIGKILL");
    const from = performance.now();
    await untilSeen(() => service.stderr().length > before.length);
    const took = performance.now() - from;
    assert.ok(took < SOON, `${took} ms`);
  }),
);

/** The time without requests, in milliseconds: ten times the `ttl` of the service. */
const QUIET_MS = 10_000;

testWhere(
  events,
  without(ANVIL),
  "without requests and watch, the node is not queried",
  bench("events", async (bench) => {
    const anvil = await startAnvil(bench);
    let requests = 0;
    const counting = createServer((message, response) => {
      requests++;
      const { method, headers, url } = message;
      const through = request(anvil.url + url, { method, headers }, (got) => {
        response.writeHead(got.statusCode!, got.headers);
        got.pipe(response);
      });
      message.pipe(through);
    }).listen(0, "127.0.0.1");
    await once(counting, "listening");
    try {
      const url = `http://127.0.0.1:${(counting.address() as AddressInfo).port}`;
      const service = await startBeside(bench, { url, kind: "ethereum" }, {
        watch: "off",
        ttl: "1s",
      });
      await until(async () =>
        (await (await fetch(new URL("v1/info", service.url))).json()).status !== undefined
      );
      let before = 0;
      // On a busy machine, what the service asks once at its start takes longer.
      for (let looks = 0; before === 0 || requests !== before; looks++) {
        assert.ok(looks < 10, "the node is queried all the time");
        before = requests;
        await sleep(2000);
      }
      await sleep(QUIET_MS);
      assert.is(requests, before);
    } finally {
      counting.close();
      counting.closeAllConnections();
    }
  }),
);

events.run();
