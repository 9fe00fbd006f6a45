/**
 * Tests how soon `/v1/health` tells of the faults of real nodes, and of their ends, to clients that
 * ask at different intervals: anvil from npm, and Debian's litecoind and etcd. Run with `npm run
 * test:slow -- nodes/outages`. What is not installed is skipped.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { type Bench, bench, RUNTIME } from "./_bench.ts";
import { type Daemon, until } from "./_daemon.ts";
import { ETCD } from "./_start-services.ts";

const outages = suite("outages of real nodes");

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const LITECOIND = "/usr/lib/litecoin/litecoind";

/** How often clients ask, in seconds. */
const INTERVALS = [0.5, 5, 9, 30];
/** Twice the default `ttl`, in milliseconds. */
const AGE_MAX = 2000;
const BACK_MAX = 3000;
/** The timeout of the node, and what a busy machine adds, in milliseconds. */
const ANSWER_MAX = 2000 + 2000;
/** How long a fault lasts, and how long the node is well after it, in milliseconds. */
const TIME_MS = 36_000;

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

type Fault = "stop" | "hang" | "wrong password" | "other network" | "slow" | "half-answering";

/** Passes bytes on to a node, and can spoil what the node says. */
class Gate {
  fault: Fault | undefined;
  readonly #port: number;
  readonly #sockets = new Set<Socket>();
  #target: number;
  #server: Server | undefined;

  constructor(port: number, target: number) {
    this.#port = port;
    this.#target = target;
  }

  async open(): Promise<void> {
    this.#server = createServer((client) => this.#pass(client));
    await new Promise<void>((resolve) => this.#server!.listen(this.#port, "127.0.0.1", resolve));
  }

  close(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  /** Breaks all connections, as the end of a process does. */
  lead(target: number): void {
    this.#target = target;
    for (const socket of this.#sockets) socket.destroy();
  }

  #pass(client: Socket): void {
    const node = connect(this.#target, "127.0.0.1");
    for (const socket of [client, node]) {
      this.#sockets.add(socket);
      socket.on("error", () => {}).on("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        node.destroy();
      });
    }
    client.on("data", (part) => {
      if (this.fault !== "wrong password") return void node.write(part);
      client.end("HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    });
    let isHalf = false;
    node.on("data", (part) => {
      if (isHalf) return;
      isHalf = this.fault === "half-answering";
      const sent = isHalf ? part.subarray(0, part.length / 2) : part;
      if (this.fault === "slow") void wait(5000).then(() => client.write(sent));
      else client.write(sent);
    });
  }
}

interface Node {
  readonly config: Record<string, unknown>;
  readonly expect: Record<string, string>;
  readonly port: number;
  readonly otherPort: number;
  daemon: Daemon;
  start(): Promise<Daemon>;
  /** How the node's password becomes wrong, and right again, if it has one. */
  readonly setSecret?: (isRight: boolean) => Promise<void>;
}

async function startAnvils(bench: Bench): Promise<Node> {
  const [port, otherPort] = [await freePort(), await freePort()];
  const start = (at: number, chain: string) =>
    bench.daemon([ANVIL, "--port", `${at}`, "--silent", "--chain-id", chain], at);
  await start(otherPort, "1");
  return {
    config: { kind: "ethereum" },
    expect: { chain_id: "31337" },
    port,
    otherPort,
    daemon: await start(port, "31337"),
    start: () => start(port, "31337"),
  };
}

async function startEtcds(bench: Bench): Promise<Node> {
  const [port, otherPort] = [await freePort(), await freePort()];
  const start = (at: number, peers: number) => {
    const [url, peer] = [`http://127.0.0.1:${at}`, `http://127.0.0.1:${peers}`];
    return bench.daemon([
      ...[ETCD, `--data-dir=${bench.home}/${at}`, `--initial-cluster-token=${at}`],
      ...[`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
      ...[`--listen-peer-urls=${peer}`, `--initial-advertise-peer-urls=${peer}`],
      `--initial-cluster=default=${peer}`,
    ], at);
  };
  const peers = await freePort();
  const daemon = await start(port, peers);
  await start(otherPort, await freePort());
  const status = async () =>
    await (await fetch(`${daemon.url}/v3/maintenance/status`, { method: "POST", body: "{}" }))
      .json();
  await until(async () => "leader" in await status());
  const { header: { cluster_id } } = await status();
  return {
    config: { kind: "etcd" },
    expect: { cluster_id: BigInt(cluster_id).toString(16) },
    port,
    otherPort,
    daemon,
    start: () => start(port, peers),
  };
}

async function startLitecoinds(bench: Bench): Promise<Node> {
  const [port, otherPort] = [await freePort(), await freePort()];
  const start = async (at: number, network: string) => {
    const folder = join(bench.home, `${at}`);
    await mkdir(folder, { recursive: true });
    const flags = [network, "-server", "-listen=0", "-connect=0", "-dnsseed=0"];
    const login = ["-rpcuser=op", "-rpcpassword=right"];
    return await bench.daemon(
      [LITECOIND, ...flags, ...login, `-datadir=${folder}`, `-rpcport=${at}`],
      at,
    );
  };
  const secret = join(bench.home, "secret");
  const setSecret = (isRight: boolean) =>
    writeFile(secret, isRight ? "op:right\n" : "op:wrong\n", { mode: 0o600 });
  await setSecret(true);
  await start(otherPort, "-testnet");
  const daemon = await start(port, "-regtest");
  const ask = async (method: string, ...params: unknown[]) => {
    const headers = { authorization: `Basic ${btoa("op:right")}` };
    const body = JSON.stringify({ id: 1, method, params });
    return (await (await fetch(daemon.url, { method: "POST", headers, body })).json()).result;
  };
  await until(async () => await ask("uptime") !== null);
  await ask("createwallet", "wallet");
  await ask("generatetoaddress", 1, await ask("getnewaddress"));
  return {
    config: { kind: "bitcoin", auth: { basic_file: secret } },
    expect: { network: "regtest" },
    port,
    otherPort,
    daemon,
    start: () => start(port, "-regtest"),
    setSecret,
  };
}

/** Returns how each fault begins and ends. */
function faultsOf(
  node: Node,
  gate: Gate,
): Record<Fault, [begin: () => unknown, end: () => unknown]> {
  const bySpoiling = (fault: Fault): [() => unknown, () => unknown] => [
    () => gate.fault = fault,
    () => gate.fault = undefined,
  ];
  const { setSecret } = node;
  return {
    stop: [
      async () => {
        // After SIGKILL, litecoind would lack its latest block.
        await node.daemon.stop();
        gate.close();
      },
      async () => {
        node.daemon = await node.start();
        await gate.open();
      },
    ],
    hang: [() => node.daemon.signal("SIGSTOP"), () => node.daemon.signal("SIGCONT")],
    "wrong password": setSecret
      ? [() => setSecret(false), () => setSecret(true)]
      : bySpoiling("wrong password"),
    "other network": [() => gate.lead(node.otherPort), () => gate.lead(node.port)],
    slow: bySpoiling("slow"),
    "half-answering": bySpoiling("half-answering"),
  };
}

interface Reading {
  readonly begun: number;
  readonly ended: number;
  readonly status: number;
  readonly code: string;
}

async function ask(url: string, seconds: number, end: Promise<unknown>): Promise<Reading[]> {
  const readings: Reading[] = [];
  let isOver = false;
  void end.then(() => isOver = true);
  const one = async () => {
    const begun = performance.now();
    const response = await fetch(new URL("v1/health", url));
    const { status_code: code } = await response.json();
    readings.push({ begun, ended: performance.now(), status: response.status, code });
  };
  for (let next = performance.now(); !isOver; next += seconds * 1000) {
    await wait(Math.min(next - performance.now(), 1e6));
    void one();
  }
  return readings;
}

/**
 * Returns the milliseconds from a time to the first response of this status, and those to the start
 * of the last request in this time with another status.
 */
function follow(readings: readonly Reading[], status: number, [from, to]: readonly number[]) {
  const during = readings.filter(({ begun, ended }) => begun > from! && ended < to!);
  const found = readings.filter(({ ended }) => ended > from! && ended < to!)
    .find((one) => one.status === status);
  const others = during.filter((one) => one.status !== status).map(({ begun }) => begun - from!);
  const longest = Math.max(0, ...during.map(({ begun, ended }) => ended - begun));
  return {
    first: (found?.ended ?? NaN) - from!,
    late: Math.max(0, ...others),
    longest,
    code: found?.code,
  };
}

const seconds = (ms: number) => (ms / 1000).toFixed(1);

async function compare(bench: Bench, name: string, node: Node): Promise<string[]> {
  const front = await freePort();
  const gate = new Gate(front, node.port);
  await gate.open();
  const config = await bench.config("nodeface.json", {
    node: { url: `http://127.0.0.1:${front}`, ...node.config, expect: node.expect },
  });
  const services = await Promise.all(
    INTERVALS.map(() => bench.service(["--config", config])),
  );
  for (const { url } of services) {
    await until(async () => (await fetch(new URL("v1/health", url))).ok);
  }
  let finish = () => {};
  const end = new Promise<void>((resolve) => finish = resolve);
  const asking = services.map(({ url }, at) => ask(url, INTERVALS[at]!, end));
  const phases: { fault: string; begun: number; ended: number; left: number }[] = [];
  for (const [fault, [begin, stop]] of Object.entries(faultsOf(node, gate))) {
    await begin();
    const begun = performance.now();
    await wait(TIME_MS);
    await stop();
    const ended = performance.now();
    await wait(TIME_MS);
    phases.push({ fault, begun, ended, left: performance.now() });
  }
  finish();
  const all = await Promise.all(asking);
  gate.close();
  const problems: string[] = [];
  for (const { fault, begun, ended, left } of phases) {
    const cells = INTERVALS.map((interval, at) => {
      const readings = all[at]!.toSorted((a, b) => a.begun - b.begun);
      const down = follow(readings, 503, [begun, ended]);
      const back = follow(readings, 200, [ended, left]);
      const label = `${name}, ${fault}, asked every ${interval} s`;
      if (!(down.late <= AGE_MAX)) problems.push(`${label}: 200 after ${down.late} ms`);
      if (!(down.first <= ANSWER_MAX + AGE_MAX + interval * 1000)) {
        problems.push(`${label}: the first 503 after ${down.first} ms`);
      }
      if (!(back.late <= BACK_MAX)) problems.push(`${label}: 503 after ${back.late} ms`);
      if (!(back.first <= BACK_MAX + ANSWER_MAX + interval * 1000)) {
        problems.push(`${label}: the first 200 after ${back.first} ms`);
      }
      if (!(down.longest <= ANSWER_MAX)) problems.push(`${label}: waited ${down.longest} ms`);
      const [first, late] = [[down.first, back.first], [down.late, back.late]];
      return `${first.map(seconds).join(" ")} (${late.map(seconds).join(" ")}) ${down.code}`;
    });
    console.log(`| ${RUNTIME} | ${name} | ${fault} | ${cells.join(" | ")} |`);
  }
  return problems;
}

const NODES: Readonly<Record<string, [path: string, (bench: Bench) => Promise<Node>]>> = {
  anvil: [ANVIL, startAnvils],
  etcd: [ETCD, startEtcds],
  litecoind: [LITECOIND, startLitecoinds],
};

testWhere(
  outages,
  without(...Object.values(NODES).map(([path]) => path)),
  "each is told within twice ttl, and ends within three seconds",
  async () => {
    const problems = await Promise.all(
      Object.entries(NODES).map(async ([name, [, start]]) => {
        let found: string[] = [];
        await bench(`outages-${name}`, async (bench) => {
          found = await compare(bench, name, await start(bench));
        })();
        return found;
      }),
    );
    assert.equal(problems.flat(), []);
  },
);

outages.run();
