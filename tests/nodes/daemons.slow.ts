/**
 * Real daemons from Debian packages: `apt-get install litecoind monero etcd-server nats-server
 * syncthing`, then `npm run test:slow -- nodes`. A daemon that is not installed is skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testWhere, without } from "../_needs.ts";
import { freePort } from "../_port.ts";
import { COMMANDS, start } from "../_server.ts";
import { infoOf, startDaemon, until } from "./_daemon.ts";

interface Example {
  program: string;
  /** `other` is a second free port. */
  args(port: number, home: string, other: number): string[];
  /** The expected values come from the daemon itself. */
  expected(url: string, home: string): Promise<Record<string, unknown>>;
  /**
   * The paths that the description must contain, and the minimum number of paths that match `form`.
   */
  shown(url: string, home: string): Promise<{ paths: string[]; least: number; form: RegExp }>;
  /** A path that responds with a 2xx status once the daemon is ready. */
  ready?: { path: string; method?: string };
}

const json = async (url: string, init?: RequestInit) => await (await fetch(url, init)).json();
const post = (url: string, body: unknown) =>
  json(url, { method: "POST", body: JSON.stringify(body) });

async function callLitecoind(url: string, home: string, method: string) {
  const cookie = await readFile(join(home, ".litecoin/regtest/.cookie"), "utf8");
  const headers = { authorization: `Basic ${btoa(cookie)}` };
  const body = JSON.stringify({ method, id: 1 });
  return (await json(url, { method: "POST", headers, body })).result;
}

const shows = (form: RegExp, least: number, ...paths: string[]) => () =>
  Promise.resolve({ form, least, paths });

const DAEMONS: Readonly<Record<string, Example>> = {
  litecoind: {
    // Debian's wrapper script for litecoind is not used, because it would configure a password.
    program: "/usr/lib/litecoin/litecoind",
    args: (port) => [
      ...["-regtest", "-server", "-listen=0", `-rpcport=${port}`],
    ],
    async expected(url, home) {
      const call = (method: string) => callLitecoind(url, home, method);
      const [net, chain] = [await call("getnetworkinfo"), await call("getblockchaininfo")];
      const [, software, version] = /^\/(.+):(.+)\/$/.exec(net.subversion)!;
      return {
        software,
        version,
        network: chain.chain,
        height: chain.blocks,
        // Nobody else makes blocks on regtest.
        synced: true,
        peers: net.connections,
      };
    },
    async shown(url, home) {
      const help: string = await callLitecoind(url, home, "help");
      const [others = ""] = help.split("== Wallet ==");
      const paths = [...others.matchAll(/^[a-z]\w*/gm)].map(([name]) => `/v1/rpc/${name}`);
      return { paths, least: paths.length, form: /^\/v1\/rpc\// };
    },
  },
  monerod: {
    program: "/usr/bin/monerod",
    args: (port, home, other) => [
      ...["--offline", "--non-interactive", "--no-zmq", "--data-dir", home],
      ...["--rpc-bind-port", String(port), "--p2p-bind-ip", "127.0.0.1"],
      ...["--p2p-bind-port", String(other)],
    ],
    async expected(url) {
      const info = await json(`${url}/get_info`);
      return {
        software: "monerod",
        version: info.version,
        network: info.nettype,
        height: info.height - 1,
        status: "degraded",
        status_code: "no_peers",
        peers: info.incoming_connections_count + info.outgoing_connections_count,
      };
    },
    shown: shows(/./, 40, "/v1/rpc/get_block", "/get_transactions", "/stop_daemon"),
    ready: { path: "/get_info" },
  },
  etcd: {
    program: "/usr/bin/etcd",
    args: (port, home, other) => [
      ...["--data-dir", join(home, "data"), "--listen-peer-urls", `http://127.0.0.1:${other}`],
      ...["--listen-client-urls", `http://127.0.0.1:${port}`],
      ...["--advertise-client-urls", `http://127.0.0.1:${port}`],
    ],
    async expected(url) {
      const { version, header } = await post(`${url}/v3/maintenance/status`, {});
      const { members } = await post(`${url}/v3/cluster/member/list`, {});
      return {
        software: "etcd",
        version,
        cluster_id: BigInt(header.cluster_id).toString(16),
        revision: Number(header.revision),
        node_id: BigInt(header.member_id).toString(16),
        members: members.length,
      };
    },
    shown: shows(/^\/v3\//, 40, "/v3/kv/range", "/v3/maintenance/status", "/v3/auth/enable"),
  },
  "nats-server": {
    program: "/usr/sbin/nats-server",
    args: (port, _, other) => ["-a", "127.0.0.1", "-p", String(other), "-m", String(port)],
    async expected(url) {
      const varz = await json(`${url}/varz`);
      const version = execFileSync("/usr/sbin/nats-server", ["--version"], { encoding: "utf8" });
      return {
        software: "nats-server",
        version: /v(\d\S+)/.exec(version)![1],
        node_id: varz.server_id,
        peers: varz.remotes,
        clients: varz.connections,
      };
    },
    shown: shows(/z$/, 10, "/varz", "/connz", "/jsz", "/healthz"),
  },
  syncthing: {
    program: "/usr/bin/syncthing",
    args: (port) => ["--no-browser", `--gui-address=127.0.0.1:${port}`],
    async expected(url, home) {
      const config = await readFile(join(home, ".config/syncthing/config.xml"), "utf8");
      const headers = { "x-api-key": /<apikey>(.+)<\/apikey>/.exec(config)![1]! };
      const { version } = await json(`${url}/rest/system/version`, { headers });
      const { myID } = await json(`${url}/rest/system/status`, { headers });
      return { software: "syncthing", version: version.slice(1), node_id: myID, peers: 0 };
    },
    shown: shows(/^\/rest\//, 40, "/rest/system/version", "/rest/config", "/rest/db/status"),
  },
};

const daemons = suite("daemons from Debian");

for (const [name, { program, args, expected, shown, ready }] of Object.entries(DAEMONS)) {
  testWhere(
    daemons,
    without(program),
    `${name} is detected by its URL alone, and the values that it reports are shown`,
    async () => {
      const home = await mkdtemp(join(tmpdir(), `nodeface-${name}-`));
      const port = await freePort();
      const env = { HOME: home, XDG_CONFIG_HOME: "", XDG_STATE_HOME: "" };
      const daemon = await startDaemon([program, ...args(port, home, await freePort())], port, env);
      const service = await start([...COMMANDS.Node, daemon.url], { HOME: home });
      try {
        if (ready) await until(async () => (await fetch(daemon.url + ready.path)).ok);
        await until(async () => (await infoOf(service.url)).info.software !== undefined);
        const { info } = await infoOf(service.url);
        const usual = { status: info.synced === false ? "syncing" : "ok" };
        const told = { ...usual, ...await expected(daemon.url, home) };
        for (const [key, value] of Object.entries(told)) assert.equal(info[key], value, key);
        assert.not.match(JSON.stringify(info), home);
        const { paths, least, form } = await shown(daemon.url, home);
        let there: string[] = [];
        await until(async () => {
          const spec = await json(new URL("spec.json", service.url).href);
          there = Object.keys(spec.paths).filter((path) => form.test(path));
          return there.length >= least;
        });
        assert.equal(paths.filter((path) => !there.includes(path)), []);
      } finally {
        const { stderr } = await service.stop();
        await daemon.stop("SIGKILL");
        assert.match(stderr, "is of the kind");
      }
    },
  );
}

daemons.run();
