/**
 * Third-party clients that subscribe through the service. `node tests/gateway/setup.mjs` installs
 * the clients.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { isDeepStrictEqual } from "node:util";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type WebSocket from "ws";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { COMMANDS, launch, run } from "../_server.ts";
import { callsTo } from "../nodes/_calls.ts";
import { startDaemon, until } from "../nodes/_daemon.ts";
import { ANVIL, startAnvil } from "../nodes/_start-ethereum.ts";
import { type Call, type Results, SocketClient, SocketNode } from "../raw/_socket-node.ts";
import { besideNode, installed, SERVICES } from "./_beside.ts";
import { DeployProxy, PROXIES } from "./_deploy-proxies.ts";

const sockets = suite("third-party clients that subscribe");

for (const name of ["ethers", "viem"]) {
  testWhere(
    sockets,
    without(installed(name), ANVIL),
    `the program with ${name} in docs/subscriptions.md works`,
    () =>
      besideNode(startAnvil(), "ethereum", async ({ url }, node) => {
        const page = await readFile(
          join(ROOT, "docs/subscriptions.md"),
          "utf8",
        );
        const programs = [...page.matchAll(/^```js\n([^]*?)^```/gm)].map((
          [, program],
        ) => program!);
        const program = programs.find((program) => program.includes(`from "${name}"`))!;
        // The program must be in the folder in which its packages are installed.
        const file = installed(`.${name}-sockets.mjs`);
        const call = callsTo(node.url);
        const miner = setInterval(() => void call("evm_mine", []), 200);
        try {
          await writeFile(
            file,
            program.replaceAll("127.0.0.1:8080", new URL(url).host),
          );
          const { code, stdout, stderr } = await run([process.execPath, file]);
          assert.is(code, 0, stderr);
          assert.match(stdout, /^\d+n?\n$/);
        } finally {
          clearInterval(miner);
          await rm(file, { force: true });
        }
      }),
  );
}

/** A node that can be started again at its port. */
interface Source {
  /** What a client of the node itself has been notified of, as the clients print it. */
  readonly own: readonly unknown[];
  start(port: number): Promise<void>;
  stop(): Promise<void>;
  /** Makes the node send a notification. */
  next(): Promise<unknown>;
}

class AnvilSource implements Source {
  readonly own: unknown[] = [];
  readonly #read: (head: { number: string; hash: string }) => unknown;
  #daemon: Awaited<ReturnType<typeof startDaemon>> | undefined;
  #call: ReturnType<typeof callsTo> | undefined;

  constructor(read: (head: { number: string; hash: string }) => unknown) {
    this.#read = read;
  }

  async start(port: number): Promise<void> {
    this.#daemon = await startDaemon([ANVIL, "--port", String(port)], port);
    const { url } = this.#daemon;
    this.#call = callsTo(url);
    const client = await SocketClient.open(url);
    await client.call("eth_subscribe", ["newHeads"]);
    client.socket.on("message", (data) => {
      const { method, params } = JSON.parse(String(data));
      if (method) this.own.push(this.#read(params.result));
    });
  }

  async stop(): Promise<void> {
    await this.#daemon!.stop();
  }

  async next(): Promise<unknown> {
    return await this.#call!("evm_mine", []);
  }
}

/** Results of nodes, by kind. */
const RESULTS: Readonly<Record<string, Results>> = {
  cosmos: { subscribe: {}, unsubscribe: {}, status: {} },
  substrate: {
    /** The extrinsics come as a notification, at once after the response. */
    chainHead_v1_body({ id, params: [subscription, hash] = [] }: Call, connection: WebSocket) {
      const operationId = String(id);
      const result = { event: "operationBodyDone", operationId, value: [hash] };
      const params = { subscription, result };
      const event = { jsonrpc: "2.0", method: "chainHead_v1_followEvent", params };
      queueMicrotask(() => connection.send(JSON.stringify(event)));
      return { result: "started", operationId };
    },
  },
};

class PlayedSource implements Source {
  readonly own: unknown[] = [];
  readonly #kind: string;
  readonly #read: (
    number: number,
    id: string,
    call: Call,
  ) => Record<string, unknown>;
  #node: SocketNode | undefined;
  #send: (number: number) => void = () => {};
  #number = 0;

  constructor(
    kind: string,
    read: (number: number, id: string, call: Call) => Record<string, unknown>,
  ) {
    this.#kind = kind;
    this.#read = read;
  }

  async start(port: number): Promise<void> {
    const node = this.#node = await SocketNode.start(RESULTS[this.#kind], port);
    if (this.#kind === "solana") node.makeId = () => 23;
    node.onSubscribe = (connection, id, call) => {
      this.#send = (number) => {
        const message = { jsonrpc: "2.0", ...this.#read(number, id, call) };
        connection.send(JSON.stringify(message));
      };
    };
  }

  async stop(): Promise<void> {
    this.#send = () => {};
    await this.#node!.close();
  }

  next(): Promise<void> {
    const number = ++this.#number;
    this.own.push(number);
    this.#send(number);
    return Promise.resolve();
  }
}

interface Subscriber {
  readonly name: string;
  readonly folder: string;
  readonly kind: string;
  readonly makeSource: () => Source;
  /** Returns what can be compared with the values of the source. */
  readonly read?: (value: never) => unknown;
}

const head = ({ number, hash }: { number: string; hash: string }) => ({
  number: Number(number),
  hash,
});

const SUBSCRIBERS: readonly Subscriber[] = [
  {
    name: "ethers",
    folder: "ethers",
    kind: "ethereum",
    makeSource: () => new AnvilSource(({ number }) => Number(number)),
  },
  {
    name: "viem",
    folder: "viem",
    kind: "ethereum",
    makeSource: () => new AnvilSource((head) => head),
  },
  {
    name: "web3",
    folder: "web3",
    kind: "ethereum",
    makeSource: () => new AnvilSource(head),
  },
  {
    name: "polkadot",
    folder: "@polkadot/rpc-provider",
    kind: "substrate",
    makeSource: () =>
      new PlayedSource("substrate", (number, subscription) => ({
        method: "chain_newHead",
        params: { subscription, result: number },
      })),
  },
  {
    name: "papi",
    folder: "@polkadot-api/substrate-client",
    kind: "substrate",
    makeSource: () =>
      new PlayedSource("substrate", (number, subscription) => ({
        method: "chainHead_v1_followEvent",
        params: {
          subscription,
          result: { event: "newBlock", blockHash: `0x${number.toString(16)}`, newRuntime: null },
        },
      })),
  },
  {
    name: "solana",
    folder: "@solana/kit",
    kind: "solana",
    makeSource: () =>
      new PlayedSource("solana", (slot, subscription) => ({
        method: "slotNotification",
        params: { subscription, result: { parent: slot - 1, root: 1, slot } },
      })),
    read: ({ slot }: { slot: string }) => Number(slot),
  },
  {
    name: "cosmos",
    folder: "@cosmjs/tendermint-rpc",
    kind: "cosmos",
    makeSource: () =>
      new PlayedSource("cosmos", (number, _, { id }) => ({
        id,
        result: { query: "tm.event='NewBlock'", data: { number }, events: {} },
      })),
  },
];

/** A client in a process of its own. */
class Program {
  readonly #process: ReturnType<typeof launch>;
  readonly #read: (value: never) => unknown;

  constructor({ name, read = (value) => value }: Subscriber, url: string) {
    const file = `${ROOT}tests/gateway/_socket-clients.mjs`;
    this.#process = launch(
      process.execPath,
      [file, name, url.replace(/^http/, "ws")],
      {},
      {},
    );
    this.#read = read;
  }

  lines(word: string): readonly string[] {
    return this.#process.printed.stdout.split("\n").slice(0, -1)
      .filter((line) => line.startsWith(`${word} `) || line === word)
      .map((line) => line.slice(word.length + 1));
  }

  get values(): readonly unknown[] {
    return this.lines("value").map((line) => this.#read(JSON.parse(line) as never));
  }

  async has(
    holds: () => boolean,
    next?: () => Promise<unknown>,
    ms?: number,
  ): Promise<void> {
    await until(async () => {
      const { child, printed } = this.#process;
      if (child.exitCode !== null) {
        throw new Error(`The client has ended: ${printed.stderr}`);
      }
      await next?.();
      return holds();
    }, ms);
  }

  /** Makes it end its subscription, or subscribe again. */
  toggle(): void {
    this.#process.child.kill("SIGUSR2");
  }

  async end(): Promise<void> {
    this.#process.child.kill("SIGTERM");
    await this.#process.ended;
  }
}

/** A service that can be started again at its port. */
class Service {
  readonly #command: readonly string[];
  readonly #port: number;
  #running: ReturnType<typeof launch> | undefined;

  constructor(command: readonly string[], port: number) {
    this.#command = command;
    this.#port = port;
  }

  async start(): Promise<void> {
    const [program, ...words] = this.#command;
    const args = [...words, "--port", String(this.#port)];
    this.#running = launch(program!, args, {}, {});
    const { ready, ended } = this.#running;
    const url = await Promise.race([ready, ended]);
    if (typeof url !== "string") {
      throw new Error(`The service has ended: ${url.stderr}`);
    }
  }

  async stop(): Promise<void> {
    this.#running?.child.kill("SIGTERM");
    await this.#running?.ended;
  }
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 200));

async function follow(
  subscriber: Subscriber,
  command: readonly string[],
  proxyName?: keyof typeof PROXIES,
): Promise<void> {
  const { name, kind } = subscriber;
  const [nodePort, port, folder] = await Promise.all([
    freePort(),
    freePort(),
    mkdtemp(join(tmpdir(), "nodeface-")),
  ]);
  const config = join(folder, "nodeface.yaml");
  await writeFile(
    config,
    JSON.stringify({
      node: { url: `http://127.0.0.1:${nodePort}`, kind },
      forward: { open: ["reads"] },
    }),
  );
  const source = subscriber.makeSource();
  const service = new Service([...command, "--config", config], port);
  await source.start(nodePort);
  await service.start();
  await until(async () => {
    const client = await SocketClient.open(`http://127.0.0.1:${port}/v1/rpc`);
    client.socket.terminate();
    return client.isOpen;
  });
  const own = `http://127.0.0.1:${port}`;
  const proxy = proxyName && await DeployProxy.start(proxyName, [own]);
  const program = new Program(subscriber, proxy ? `${proxy.urls[0]}/` : own);
  try {
    await program.has(() => program.lines("ready").length > 0);
    // Some clients are ready before the node has confirmed the subscription.
    await program.has(() => program.values.length > 0, async () => {
      await source.next();
      await pause();
    });
    for (let at = 0; at < 1000; at++) await source.next();
    const isWhole = () => isDeepStrictEqual(program.values.at(-1), source.own.at(-1));
    // The node's own client may be behind, too.
    await program.has(() => source.own.length > 1000 && isWhole());
    const { values } = program;
    assert.ok(values.length > 1000);
    assertSame(values, source.own.slice(-values.length), `${name}: a thousand values`);
    await program.has(() => program.lines("refused").length > 0);
    assert.match(
      program.lines("refused")[0]!,
      "does not exist/is not available",
      name,
    );

    program.toggle();
    await program.has(() => program.lines("stopped").length > 0);
    const { length } = program.values;
    for (let at = 0; at < 5; at++) await source.next();
    await pause();
    assert.is(
      program.values.length,
      length,
      `${name}: nothing may come after the end`,
    );
    program.toggle();
    await program.has(() => program.lines("again").length > 0);

    /** Waits for a notification, and compares all since then. */
    const comesBack = async (what: string, restart: () => Promise<void>) => {
      await restart();
      const before = program.values.length;
      await program.has(() => program.values.length > before, async () => {
        await source.next();
        await pause();
      }, 45_000).catch((error) => {
        throw new Error(
          `${name} has not come back after the restart of ${what}: ${error}`,
        );
      });
      for (let at = 0; at < 20; at++) await source.next();
      await program.has(isWhole);
      const values = program.values.slice(before);
      assertSame(values, source.own.slice(-values.length), `${name} after that of ${what}`);
    };
    await comesBack("the node", async () => {
      await source.stop();
      await pause();
      await source.start(nodePort);
    });
    await comesBack("the service", async () => {
      await service.stop();
      await service.start();
    });
  } finally {
    await program.end();
    await proxy?.stop();
    await service.stop();
    await source.stop();
    await rm(folder, { recursive: true });
  }
}

/** Tells the first difference alone: that of a thousand values takes uvu 0.5.6 minutes and GBs. */
function assertSame(values: readonly unknown[], wanted: readonly unknown[], what: string): void {
  const at = values.findIndex((value, at) => !isDeepStrictEqual(value, wanted[at]));
  if (at >= 0) assert.equal(values[at], wanted[at], `${what}, value ${at} of ${values.length}`);
  assert.is(values.length, wanted.length, what);
}

const SERVED: readonly {
  readonly name: string;
  readonly command: readonly string[];
  readonly files: readonly string[];
  readonly proxy?: keyof typeof PROXIES;
}[] = [
  ...SERVICES,
  { name: "Deno", command: COMMANDS.Deno, files: [] },
  { name: "Bun", command: COMMANDS.Bun, files: [] },
  ...(["nginx", "Caddy"] as const).map((proxy) => ({
    name: `Node behind ${proxy}`,
    command: COMMANDS.Node,
    files: [PROXIES[proxy].path],
    proxy,
  })),
];

/** All clients at once, since they mostly wait until they connect again. */
for (const { name, command, files, proxy } of SERVED) {
  const folders = SUBSCRIBERS.map(({ folder }) => installed(folder));
  testWhere(
    sockets,
    without(...folders, ANVIL, ...files),
    `clients have a thousand values in order, and come back after restarts, on ${name}`,
    async () => {
      const ends = await Promise.allSettled(
        SUBSCRIBERS.map((one) => follow(one, command, proxy)),
      );
      const reasons = ends.flatMap((end) => end.status === "rejected" ? [end.reason] : []);
      assert.equal(reasons.map((reason) => String(reason.stack)), []);
    },
  );
}

sockets.run();
