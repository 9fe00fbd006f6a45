/**
 * Tests nodes from npm (hardhat, ganache and bcoin) with only a URL as configuration. Compares the
 * info object with the node's own values, before and after a write, and checks it while the node is
 * paused, stopped, or on another chain.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createNodeface } from "../../src/index.ts";
import { testWhere, without } from "../_needs.ts";
import { call, type Daemon, until } from "./_daemon.ts";
import { BCOIN, KEYS, startBcoin } from "./_start-bcoin.ts";
import { GANACHE, HARDHAT, startGanache, startHardhat } from "./_start-ethereum.ts";

const packages = suite("nodes from npm");

type Values = Record<string, unknown>;

interface Case {
  readonly path: string;
  readonly kind: string;
  start(port?: number): Promise<Daemon>;
  /** Starts a node with another chain. */
  startOther?(port: number): Promise<Daemon>;
  /** Asks the node itself for the expected values. */
  own(url: string): Promise<Values>;
  write(url: string): Promise<unknown>;
}

const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();

const ofEthereum = async (url: string): Promise<Values> => {
  const [client, chain, syncing] = await Promise.all(
    ["web3_clientVersion", "eth_chainId", "eth_syncing"].map((method) => call(url, method)),
  );
  const { number, timestamp } = await call(url, "eth_getBlockByNumber", ["latest", false]);
  // hardhat does not have this method.
  const peers = await call(url, "net_peerCount");
  return {
    ...peers !== undefined && { peers: Number(peers) },
    software: client.split("/")[0],
    version: client.split("/")[1].replace(/^v/, ""),
    chain_id: String(Number(chain)),
    height: Number(number),
    head_at: isoOf(Number(timestamp)),
    synced: syncing === false,
  };
};

const send = async (url: string) => {
  const [from, to] = await call(url, "eth_accounts");
  return await call(url, "eth_sendTransaction", [{ from, to, value: "0x1" }]);
};

const CASES: Readonly<Record<string, Case>> = {
  hardhat: {
    path: HARDHAT,
    kind: "ethereum",
    start: (port) => startHardhat(31337, port),
    startOther: (port) => startHardhat(31338, port),
    own: ofEthereum,
    write: send,
  },
  ganache: {
    path: GANACHE,
    kind: "ethereum",
    start: (port) => startGanache(1337, port),
    startOther: (port) => startGanache(1338, port),
    own: ofEthereum,
    write: send,
  },
  bcoin: {
    path: BCOIN,
    kind: "bcoin",
    start: (port) => startBcoin(undefined, port),
    async own(url) {
      const { version, network, chain, pool, time } = await (await fetch(url)).json();
      const header = await call(url, "getblockheader", [chain.tip]);
      return {
        software: pool.agent.slice(1).split(":")[0],
        version: version.replace(/^v/, ""),
        network,
        height: chain.height,
        head_at: isoOf(header.time),
        progress: chain.progress,
        peers: pool.inbound + pool.outbound,
        // The computed time varies by seconds from call to call, so it is rounded to the minute.
        started_at: new Date(Math.round((time.system - time.uptime) / 60) * 60_000).toISOString(),
        // Nobody else makes blocks on regtest.
        synced: true,
      };
    },
    async write(url) {
      const { address } = await call(url, "createmultisig", [1, KEYS]);
      return await call(url, "generatetoaddress", [1, address]);
    },
  },
};

const FACTS = ["status", "status_code", "status_reason", "api", "links"];

for (const [name, node] of Object.entries(CASES)) {
  testWhere(
    packages,
    without(node.path),
    `${name}: the info object has exactly the node's own values, whatever happens to the node`,
    async () => {
      let daemon = await node.start();
      const { url } = daemon;
      const app = createNodeface({
        node: { url, timeout: "1s" },
        info: { ttl: "0ms", stale: "0ms" },
        log() {},
      });
      const infoOf = async (): Promise<Values> =>
        await (await app.fetch(new Request("http://localhost/v1/info"))).json();
      const isAlive = async () =>
        !["starting", "unreachable"].includes(String((await infoOf()).status));
      const isTrue = async () => {
        const [info, own] = [await infoOf(), await node.own(url)];
        const values = Object.fromEntries(
          Object.entries(info).filter(([key]) => !FACTS.includes(key)),
        );
        if (values.started_at) {
          const minutes = Math.round(Date.parse(String(values.started_at)) / 60_000);
          values.started_at = new Date(minutes * 60_000).toISOString();
        }
        assert.equal(values, { ...values, ...own });
        assert.equal(Object.keys(values).filter((key) => !(key in own)), []);
      };
      try {
        await until(isAlive);
        await isTrue();
        const before = (await infoOf()).height as number;
        await node.write(url);
        await isTrue();
        assert.is((await infoOf()).height, before + 1);

        daemon.signal("SIGSTOP");
        await until(async () => (await infoOf()).status === "unreachable");
        const { height, last_seen } = await infoOf();
        assert.equal([height, (last_seen as Values).height], [undefined, before + 1]);
        daemon.signal("SIGCONT");
        await until(isAlive);
        await isTrue();

        await daemon.stop("SIGKILL");
        await until(async () => (await infoOf()).status_code === "connection_refused");
        const port = Number(new URL(url).port);
        daemon = await (node.startOther ?? node.start)(port);
        await until(isAlive);
        await isTrue();
        assert.ok((await infoOf()).height as number <= before);
      } finally {
        await app.close();
        await daemon.stop("SIGKILL");
      }
    },
  );
}

packages.run();
