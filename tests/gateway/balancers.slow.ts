/**
 * Three Nodefaces beside three real anvils, or the members of an etcd cluster, behind the balancers of `deploy/` (`apt-get install
 * haproxy caddy nginx`): while a node hangs, stalls, dies, and is of another chain, reads succeed at
 * the others, and a write is carried out once.
 */
import { on, once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import WebSocket, { WebSocketServer } from "ws";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import type { Running } from "../_server.ts";
import { type Bench, bench } from "../nodes/_bench.ts";
import { call, type Daemon, until } from "../nodes/_daemon.ts";
import { ETCD } from "../nodes/_start-services.ts";
import { TOKEN } from "./_beside.ts";

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;

/** Around its own configuration, nginx needs folders and a process in the foreground. */
const inNginx = (text: string, folder: string) => `
  daemon off; pid ${folder}/nginx.pid; error_log stderr crit; worker_processes 1;
  events {}
  http {
    access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
    ${text}
  }`;

interface Balancer {
  readonly program: string;
  readonly file: string;
  readonly around?: (text: string, folder: string) => string;
  readonly command: (program: string, file: string, folder: string) => readonly string[];
  readonly asksHealth: boolean;
  /** Whether the streams of a node end when it is dropped. */
  readonly endsStreams?: true;
}

const BALANCERS: Readonly<Record<string, Balancer>> = {
  HAProxy: {
    program: "/usr/sbin/haproxy",
    file: "haproxy.cfg",
    command: (program, file) => [program, "-f", file],
    asksHealth: true,
    endsStreams: true,
  },
  Caddy: {
    program: "/usr/bin/caddy",
    file: "balancer.Caddyfile",
    around: (text) => `{\n\tadmin off\n}\n${text}`,
    command: (program, file) => [program, "run", "--adapter", "caddyfile", "--config", file],
    asksHealth: true,
  },
  nginx: {
    program: "/usr/sbin/nginx",
    file: "balancer.nginx.conf",
    around: inNginx,
    command: (program, file, folder) => [program, "-p", folder, "-c", file],
    asksHealth: false,
  },
};

/** Starts a balancer as `deploy/` has it, but for its ports. */
async function startBalancer(
  bench: Bench,
  { program, file, around = (text) => text, command }: Balancer,
  services: readonly Pick<Running, "url">[],
): Promise<{ reads: string; writes: string }> {
  const [reads, writes] = [await freePort(), await freePort()];
  const state = await freePort();
  const ports: Record<string, number> = { 8000: reads, 8001: writes, 8404: state };
  for (const [at, { url }] of services.entries()) ports[8081 + at] = Number(new URL(url).port);
  const text = await readFile(`${ROOT}deploy/${file}`, "utf8");
  const path = join(bench.home, file);
  const moved = text.replaceAll(
    /(?<=127\.0\.0\.1:|http:\/\/:)\d+/g,
    (port) => `${ports[port] ?? port}`,
  );
  await writeFile(path, around(moved, bench.home));
  await bench.daemon(command(program, path, bench.home), reads);
  return { reads: `http://127.0.0.1:${reads}`, writes: `http://127.0.0.1:${writes}` };
}

const healthOf = async ({ url }: Running) => (await fetch(new URL("v1/health", url))).status;

const CHAIN = "31337", ANOTHER = "1";
const CALL = { jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] };

/** The members of a response that the tests read. */
interface Answer {
  readonly error?: { readonly code: number };
  readonly result?: string;
  readonly header?: { readonly cluster_id: string };
  readonly etcdserver?: string;
}

function judgeChain(answer: Answer | string): string {
  const { error, result } = typeof answer === "string" ? { result: answer } : answer;
  return result === "0x7a69" ? "right" : error ? `error ${error.code}` : `wrong: ${result}`;
}

/** Reads until it is stopped, and counts what comes. */
class Reader {
  readonly counts: Record<string, number> = {};
  #isStopped = false;
  readonly #ended: Promise<unknown>;

  /** @param judge returns `right`, or what is wrong with a response of status 200 */
  constructor(
    base: string,
    init: RequestInit,
    path: string,
    judge: (answer: Answer) => string = judgeChain,
  ) {
    const read = async () => {
      while (!this.#isStopped) {
        const outcome = await fetch(base + path, init).then(async (response) => {
          if (response.status !== 200) return `${response.status}`;
          return judge(await response.json());
        }).catch(() => "broken");
        this.counts[outcome] = (this.counts[outcome] ?? 0) + 1;
      }
    };
    this.#ended = Promise.all([read(), read(), read(), read()]);
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0);
  }

  failed(): number {
    return Object.entries(this.counts).filter(([outcome]) => outcome !== "right")
      .reduce((total, [, count]) => total + count, 0);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#ended;
  }
}

/** With less, a fault might fall between two requests. */
const LEAST_READS = 10_000;

/** A stream through a balancer, which tells the number of its node first. */
interface OpenStream {
  node?: string;
  hasEnded?: true;
}

function openStream(base: string, path: string, headers: Record<string, string> = {}): OpenStream {
  const stream: OpenStream = {};
  const read = async () => {
    const { body } = await fetch(base + path, { headers });
    for await (const text of body!.pipeThrough(new TextDecoderStream())) stream.node ??= text;
  };
  void read().catch(() => {}).then(() => stream.hasEnded = true);
  return stream;
}

function openSocket(base: string): OpenStream {
  const stream: OpenStream = {};
  new WebSocket(base.replace("http:", "ws:"))
    .on("message", (text) => stream.node ??= String(text))
    .on("error", () => {}).on("close", () => stream.hasEnded = true);
  return stream;
}

for (const [name, balancer] of Object.entries(BALANCERS)) {
  const balanced = suite(`three nodes behind ${name}`);
  const missing = without(balancer.program, ANVIL);

  testWhere(
    balanced,
    missing,
    "reads succeed at the others while one hangs, stalls, dies, and is of another chain",
    bench("balancer", async (bench) => {
      const ports = [await freePort(), await freePort(), await freePort()];
      const anvil = (port: number, chain = CHAIN) =>
        bench.daemon(
          [ANVIL, "--port", `${port}`, "--block-time", "1", "--silent", "--chain-id", chain],
          port,
        );
      let [bad] = await Promise.all(ports.map((port) => anvil(port))) as [Daemon, ...Daemon[]];
      const services = await Promise.all(ports.map(async (port) => {
        const config = await bench.config(`${port}.yaml`, {
          node: { url: `http://127.0.0.1:${port}`, kind: "ethereum", expect: { chain_id: CHAIN } },
          info: { stalled_after: "10s" },
          forward: "reads",
        });
        return await bench.service(["--config", config]);
      }));
      const [first] = services as [Running, ...Running[]];
      for (const service of services) await until(async () => await healthOf(service) === 200);
      const { reads } = await startBalancer(bench, balancer, services);
      await until(async () => (await fetch(`${reads}/v1/health`)).status === 200);

      const begin = () => ({
        GET: new Reader(reads, {}, "/v1/rpc/eth_chainId"),
        POST: new Reader(reads, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(CALL),
        }, "/"),
      });
      const restart = async (chain?: string) => {
        await bad.stop("SIGKILL");
        bad = await anvil(ports[0]!, chain);
      };
      const faults: Record<string, [begin: () => unknown, end: () => unknown]> = {
        nothing: [() => {}, () => {}],
        hangs: [() => bad.signal("SIGSTOP"), () => bad.signal("SIGCONT")],
        stalls: [
          () => call(bad.url, "evm_setIntervalMining", [0] as unknown[]),
          () => call(bad.url, "evm_setIntervalMining", [1] as unknown[]),
        ],
        dies: [() => bad.stop("SIGKILL"), () => restart()],
        "another chain": [() => restart(ANOTHER), () => restart()],
      };
      const lines: string[] = [];
      const table: Record<string, ReturnType<typeof begin>> = {};
      for (const [fault, [start, end]] of Object.entries(faults)) {
        const readers = begin();
        table[fault] = readers;
        await start();
        if (fault !== "nothing") await until(async () => await healthOf(first) === 503);
        const total = () => readers.GET.total + readers.POST.total;
        await until(async () => {
          await fetch(`${reads}/v1/health`);
          return total() > LEAST_READS / 4;
        });
        await end();
        await until(async () => await healthOf(first) === 200);
        await Promise.all(Object.values(readers).map((reader) => reader.stop()));
        lines.push(
          ...Object.entries(readers).map(([method, { counts }]) =>
            [name, fault, method, JSON.stringify(counts)].join(" | ")
          ),
        );
      }
      console.log(`\n${lines.join("\n")}`);
      for (const [fault, readers] of Object.entries(table)) {
        for (const [method, reader] of Object.entries(readers)) {
          const wrong = Object.keys(reader.counts).filter((outcome) => outcome.startsWith("wrong"));
          assert.equal(wrong, [], `${fault}: wrong answers to ${method}`);
        }
        assert.is(readers.GET.failed(), 0, `${fault}: failed reads`);
      }
    }),
  );

  testWhere(
    balanced,
    without(balancer.program, ETCD),
    "reads of an etcd cluster succeed while a member hangs, dies, and is of another cluster",
    bench("etcd", async (bench) => {
      const ports = await Promise.all(
        [1, 2, 3].map(async () => [await freePort(), await freePort()]),
      );
      const cluster = ports.map(([, peer], at) => `n${at}=http://127.0.0.1:${peer}`);
      const member = (at: number, folder = `n${at}`, token = "ours", members = cluster) => {
        const [client, peer] = ports[at]!.map((port) => `http://127.0.0.1:${port}`);
        return bench.daemon([
          ...[ETCD, "--name", `n${at}`, "--data-dir", join(bench.home, folder)],
          ...["--listen-peer-urls", peer!, "--initial-advertise-peer-urls", peer!],
          ...["--listen-client-urls", client!, "--advertise-client-urls", client!],
          ...["--initial-cluster", members.join(), "--initial-cluster-token", token],
        ], ports[at]![0]!);
      };
      let [bad] = await Promise.all([0, 1, 2].map((at) => member(at))) as [Daemon, ...Daemon[]];
      const statusOf = (url: string) =>
        fetch(`${url}/v3/maintenance/status`, { method: "POST", body: "{}" })
          .then((response) => response.json());
      await until(async () => Number((await statusOf(bad.url)).leader ?? 0) > 0);
      const { header: { cluster_id } } = await statusOf(bad.url);
      const services = await Promise.all(ports.map(async ([port]) => {
        const url = `http://127.0.0.1:${port}`;
        const expect = { cluster_id: BigInt(cluster_id).toString(16) };
        const config = { node: { url, kind: "etcd", expect }, forward: "reads" };
        return await bench.service(["--config", await bench.config(`${port}.yaml`, config)]);
      }));
      const [first] = services as [Running, ...Running[]];
      for (const service of services) await until(async () => await healthOf(service) === 200);
      const { reads } = await startBalancer(bench, balancer, services);
      await until(async () => (await fetch(`${reads}/v1/health`)).status === 200);

      const init = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
      const judgeCluster = ({ header }: Answer) =>
        header?.cluster_id === cluster_id ? "right" : `wrong: ${header?.cluster_id}`;
      const judgeVersion = ({ etcdserver }: Answer) => etcdserver ? "right" : "wrong: no version";
      const faults: Record<string, [begin: () => unknown, end: () => unknown]> = {
        nothing: [() => {}, () => {}],
        hangs: [() => bad.signal("SIGSTOP"), () => bad.signal("SIGCONT")],
        dies: [() => bad.stop("SIGKILL"), async () => bad = await member(0)],
        "another cluster": [async () => {
          await bad.stop("SIGKILL");
          bad = await member(0, "other", "theirs", [cluster[0]!]);
        }, async () => {
          await bad.stop("SIGKILL");
          bad = await member(0);
        }],
      };
      for (const [fault, [begin, end]] of Object.entries(faults)) {
        const GET = new Reader(reads, {}, "/version", judgeVersion);
        const POST = new Reader(reads, init, "/v3/maintenance/status", judgeCluster);
        await begin();
        if (fault !== "nothing") await until(async () => await healthOf(first) === 503);
        await until(() => Promise.resolve(GET.total + POST.total > LEAST_READS / 4));
        await end();
        await until(async () => await healthOf(first) === 200);
        await Promise.all([GET.stop(), POST.stop()]);
        for (const [method, { counts }] of Object.entries({ GET, POST })) {
          console.log([`${name} etcd`, fault, method, JSON.stringify(counts)].join(" | "));
          const wrong = Object.keys(counts).filter((outcome) => outcome.startsWith("wrong"));
          assert.equal(wrong, [], `${fault}: wrong answers to ${method}`);
        }
        assert.is(GET.failed(), 0, `${fault}: failed reads`);
      }
    }),
  );

  testWhere(
    balanced,
    missing,
    "its ports are on this machine alone, under every name, and no path has two meanings",
    bench("names", async (bench) => {
      const port = await freePort();
      const anvil = await bench.daemon([ANVIL, "--port", `${port}`, "--silent"], port);
      const services = await Promise.all(["a", "b", "c"].map(async (name) => {
        const config = { node: { url: anvil.url }, hosts: ["node.example"], metrics: true };
        return await bench.service(["--config", await bench.config(`${name}.yaml`, config)]);
      }));
      const balanced = await startBalancer(bench, balancer, services);
      const statusAt = (base: string, path: string, host?: string, address = "127.0.0.1") =>
        new Promise<number | string>((resolve) => {
          const { port } = new URL(base);
          const headers = { host: host ?? `127.0.0.1:${port}` };
          request({ host: address, port, path, headers }, (response) => {
            let length = 0;
            response.on("data", (part: Uint8Array) => length += part.length)
              .on("end", () =>
                resolve(
                  response.statusCode === 200 && length === 0 ? "nothing" : response.statusCode!,
                ));
          }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code!)).end();
        });
      const outside = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
        .find(({ internal, family }) => !internal && family === "IPv4")?.address;
      await until(async () => await statusAt(balanced.reads, "/v1/info") === 200);
      for (const [side, base] of Object.entries(balanced)) {
        for (const host of ["node.example", "localhost", undefined]) {
          assert.is(await statusAt(base, "/v1/info", host), 200, `${side} ${host}`);
        }
        assert.is(await statusAt(base, "/v1/metrics"), 200, side);
        const paths = [
          "/v1\\metrics",
          ...name === "HAProxy" ? ["/v1/./metrics", "/%2E/v1/info"] : [],
        ];
        for (const path of paths) {
          // Caddy encodes the backslash, so that Nodeface finds no such path.
          const status = await statusAt(base, path);
          assert.ok(status === 400 || status === 404, `${side} ${path}: ${status}`);
        }
        if (!outside) continue;
        const host = `127.0.0.1:${new URL(base).port}`;
        assert.is(await statusAt(base, "/v1/info", host, outside), "ECONNREFUSED", side);
      }
    }),
  );

  testWhere(
    balanced,
    missing,
    "a write that breaks a connection is carried out once",
    bench("writes", async (bench) => {
      const port = await freePort();
      const anvil = await bench.daemon([ANVIL, "--port", `${port}`, "--silent"], port);
      const carriedOut: string[] = [];
      const nodes: Server[] = [];
      const services: Running[] = [];
      for (const node of ["a", "b", "c"]) {
        const server = createServer(async (request, response) => {
          const body = await text(request);
          if (body.includes("eth_sendRawTransaction")) {
            carriedOut.push(node);
            return request.socket.destroy();
          }
          const headers = { "content-type": "application/json" };
          const answer = await fetch(anvil.url, { method: "POST", headers, body });
          response.end(await answer.text());
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        nodes.push(server);
        const address = server.address() as { port: number };
        const config = await bench.config(`${node}.yaml`, {
          node: { url: `http://127.0.0.1:${address.port}`, kind: "ethereum" },
          forward: {
            open: ["reads"],
            clients: [{
              name: "wallet",
              token_file: await tokenFile(bench),
              allow: ["eth_sendRawTransaction"],
            }],
          },
        });
        const service = await bench.service(["--config", config]);
        await until(async () => await healthOf(service) === 200);
        services.push(service);
      }
      const { reads, writes } = await startBalancer(bench, balancer, services);
      for (const base of [writes, reads]) {
        carriedOut.length = 0;
        await until(async () => (await fetch(`${base}/v1/health`)).status === 200);
        const response = await fetch(`${base}/`, {
          method: "POST",
          headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
          body: JSON.stringify({ ...CALL, method: "eth_sendRawTransaction", params: ["0x00"] }),
        });
        const answer = await response.text();
        assert.match(answer, "may have been carried out", answer);
        assert.is(carriedOut.length, 1, `at ${base}`);
      }
      for (const node of nodes) node.close();
    }),
  );

  testWhere(
    balanced,
    without(balancer.program),
    "a write that fails is sent once, whatever its method, and a GET or HEAD again",
    bench("methods", async (bench) => {
      const seen: string[] = [];
      const servers: Server[] = [];
      for (let i = 0; i < 3; i++) {
        const server = createServer((request, response) => {
          if (request.url === "/v1/health") return void response.end();
          seen.push(`${request.method} ${request.url}`);
          if (request.url === "/broken") request.socket.destroy();
          else response.writeHead(502).end();
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        servers.push(server);
      }
      const services = servers.map((server) => ({
        url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
      }));
      const { reads, writes } = await startBalancer(bench, balancer, services);
      const isWell = async () => (await fetch(`${reads}/v1/health`)).status === 200;
      for (const base of [reads, writes]) {
        for (
          const method of [
            "POST",
            "PUT",
            "PATCH",
            "DELETE",
            ...(base === reads ? ["GET", "HEAD"] : []),
          ]
        ) {
          for (const path of ["/broken", "/failed"]) {
            // A balancer leaves out a service for a moment after its error.
            await until(isWell);
            seen.length = 0;
            await fetch(base + path, { method }).then(({ body }) => body?.cancel(), () => {});
            const sent = seen.filter((line) => line === `${method} ${path}`).length;
            const isRead = method === "GET" || method === "HEAD";
            assert.ok(isRead ? sent > 1 : sent <= 1, `${method} ${base}${path}: ${sent}`);
          }
        }
      }
      for (const server of servers) server.close();
    }),
  );

  testWhere(
    balanced,
    without(balancer.program),
    "a write goes to the next node if the first one takes no connection",
    bench("dead", async (bench) => {
      const server = createServer((_, response) => void response.end());
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const alive = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
      const dead = `http://127.0.0.1:${await freePort()}/`;
      const urls = [dead, alive, alive];
      const { reads, writes } = await startBalancer(bench, balancer, urls.map((url) => ({ url })));
      if (balancer.asksHealth) {
        await until(async () => (await fetch(`${reads}/v1/health`)).status === 200);
      }
      for (let i = 0; i < 3; i++) {
        const { status } = await fetch(`${writes}/write`, { method: "POST", body: "a" });
        assert.is(status, 200);
      }
      server.close();
    }),
  );

  testWhere(
    balanced,
    without(balancer.program),
    "a client whose reads fail takes no node from the others",
    bench("failing", async (bench) => {
      const seen = new Set<number>();
      const servers: Server[] = [];
      for (let at = 0; at < 3; at++) {
        const server = createServer((request, response) => {
          if (request.url === "/well") seen.add(at);
          response.writeHead(request.url === "/failed" ? 503 : 200).end();
        });
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        servers.push(server);
      }
      const services = servers.map((server) => ({
        url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
      }));
      const { reads } = await startBalancer(bench, balancer, services);
      const statusOf = (path: string) => fetch(reads + path).then(({ status }) => status);
      await until(async () => await statusOf("/v1/health") === 200);
      for (let i = 0; i < 10; i++) assert.is(await statusOf("/failed"), 503);
      const reader = Array.from({ length: 100 }, () => statusOf("/well"));
      assert.equal(new Set(await Promise.all(reader)), new Set([200]));
      assert.is(seen.size, 3, "a node was left out");
      for (const server of servers) server.close();
    }),
  );

  testWhere(
    balanced,
    missing,
    "a subscription goes through, and each notification arrives",
    bench("subscription", async (bench) => {
      const port = await freePort();
      await bench.daemon([ANVIL, "--port", `${port}`, "--block-time", "1", "--silent"], port);
      const service = await bench.service([`http://127.0.0.1:${port}`, "--forward", "reads"]);
      await until(async () => await healthOf(service) === 200);
      const { reads } = await startBalancer(bench, balancer, [service, service, service]);
      await until(async () => (await fetch(`${reads}/v1/health`)).status === 200);
      const client = new WebSocket(reads.replace("http:", "ws:"));
      await once(client, "open");
      const call = { ...CALL, method: "eth_subscribe", params: ["newHeads"] };
      client.send(JSON.stringify(call));
      const numbers: number[] = [];
      for await (const [message] of on(client, "message")) {
        const { method, params } = JSON.parse(String(message));
        if (method === "eth_subscription") numbers.push(Number(params.result.number));
        if (numbers.length === 3) break;
      }
      client.close(1000, "");
      const [first = 0] = numbers;
      assert.equal(numbers, [first, first + 1, first + 2]);
    }),
  );

  if (balancer.endsStreams) {
    testWhere(
      balanced,
      without(balancer.program),
      "connections and event streams at a node that is dropped end, and calls go on",
      bench("streams", async (bench) => {
        let isDropped = false;
        const held: ServerResponse[] = [];
        const servers = await Promise.all(["0", "1", "2"].map(async (node) => {
          const server = createServer(({ url }, response) => {
            if (url === "/held") return void held.push(response);
            const isWell = url !== "/v1/health" || node !== "0" || !isDropped;
            response.writeHead(isWell ? 200 : 503);
            if (url === "/v1/health") response.end();
            else response.write(node);
          });
          const sockets = new WebSocketServer({ noServer: true });
          server.on("upgrade", (message, socket, head) => {
            sockets.handleUpgrade(message, socket, head, (client) => client.send(node));
          });
          await once(server.listen(0, "127.0.0.1"), "listening");
          return server;
        }));
        const services = servers.map((server) => ({
          url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`,
        }));
        const { reads, writes } = await startBalancer(bench, balancer, services);
        const bases = [reads, writes, reads, writes, reads, writes, reads, writes];
        const calls = bases.map((base) => fetch(`${base}/held`));
        await until(() => Promise.resolve(held.length === calls.length));
        const streams = bases.flatMap((base) => [
          openStream(base, "/v1/events"),
          openStream(base, "/v1/rpc/eth_subscribe", { accept: "text/event-stream" }),
          openSocket(base),
        ]);
        await until(() => Promise.resolve(streams.every(({ node }) => node !== undefined)));
        isDropped = true;
        const ofDropped = streams.filter(({ node }) => node === "0");
        assert.ok(ofDropped.length > streams.length / 2);
        await until(() => Promise.resolve(ofDropped.every(({ hasEnded }) => hasEnded)));
        assert.is(streams.filter(({ hasEnded }) => hasEnded).length, ofDropped.length);
        for (const response of held) response.end();
        for (const { status } of await Promise.all(calls)) assert.is(status, 200);
        for (const server of servers) {
          server.closeAllConnections();
          server.close();
        }
      }),
    );
  }

  balanced.run();
}

async function text(request: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function tokenFile(bench: Bench): Promise<string> {
  const path = join(bench.home, "token");
  await writeFile(path, TOKEN);
  return path;
}
