/** Calls of a node through Nodeface, beside proxies that look at nothing. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";
import { FOLDER } from "./answers.ts";
import { rangeOf, type Section, step, Table } from "./output.ts";
import { memory, processorTime, type Running, start } from "./processes.ts";
import { chosen, PROGRAMS } from "./servers.ts";
import { median, ratiosOf } from "./statistics.ts";
import { load } from "./wrk.ts";

const NGINX = "/usr/sbin/nginx";

/** Each request has a number, as most calls have parameters. */
const NUMBER = { name: "n", schema: { type: "integer" } };
const READ = {
  "x-access": "read",
  parameters: [{ ...NUMBER, in: "query" }],
  responses: { 200: { description: "Done" } },
};

/** What is asked of nodes of either kind. The proxies have no methods, and are asked for the small JSON. */
const NODES = [
  {
    cases: [
      { name: "small", own: "/v1/node/small?n=0", proxy: "/v1/node/small?n=0" },
      { name: "1 MB", own: "/v1/node/large?n=0", proxy: "/v1/node/large?n=0" },
    ],
    description: {
      openapi: "3.1.1",
      info: { title: "Benchmark", version: "1" },
      paths: { "/small": { get: READ }, "/large": { get: READ } },
    },
  },
  {
    cases: [{ name: "method", own: "/v1/rpc/read?n=0", proxy: "/v1/node/small?n=0" }],
    description: {
      openrpc: "1.3.2",
      info: { title: "Benchmark", version: "1" },
      methods: [{
        name: "read",
        "x-access": "read",
        params: [NUMBER],
        result: { name: "is", schema: {} },
      }],
    },
  },
];

const CONNECTIONS = 32;

/** A server in front of the node. */
interface Entrant {
  name: string;
  isProxy: boolean;
  /** The proxy of the same program, which it is held against. */
  beside: string;
  command(port: number, node: string): readonly string[];
}

const proxyOn = (release: "Node 22" | "Node 26"): Entrant => ({
  name: `http-proxy, ${release}`,
  isProxy: true,
  beside: `http-proxy, ${release}`,
  command: (port, node) => [
    PROGRAMS[release],
    ...[`${ROOT}tests/bench/peers/proxy.mjs`, node, `${port}`],
  ],
});

const nginx: Entrant = {
  name: "nginx",
  isProxy: true,
  beside: "http-proxy, Node 26",
  command(port, node) {
    const file = join(FOLDER, "nginx.conf");
    writeFileSync(
      file,
      `daemon off; master_process off; worker_processes 1; pid ${FOLDER}/nginx.pid; error_log stderr;
      events {}
      http {
        access_log off;
        client_body_temp_path ${FOLDER}/body; proxy_temp_path ${FOLDER}/proxy;
        fastcgi_temp_path ${FOLDER}/fastcgi; uwsgi_temp_path ${FOLDER}/uwsgi;
        scgi_temp_path ${FOLDER}/scgi;
        upstream node { server ${new URL(node).host}; keepalive ${CONNECTIONS}; }
        server {
          listen 127.0.0.1:${port};
          location = /v1/info { return 200 "{}"; }
          location /v1/node/ {
            proxy_pass http://node/; proxy_http_version 1.1; proxy_set_header Connection "";
          }
        }
      }`,
    );
    return [NGINX, "-c", file, "-e", "stderr"];
  },
};

/** How many rounds there are, of a second each, after those that warm up. */
const ROUNDS = { full: 10, quick: 2 };
const WARM_UP = { full: 3, quick: 1 };

interface Sample {
  rate: number;
  /** Processor time of the server for one request, in microseconds. */
  cpu: number;
  failed: number;
}

/** Measures the runtimes that are named, or all. */
export async function gateway(only: readonly string[], isQuick: boolean): Promise<Section> {
  const mode = isQuick ? "quick" : "full";
  const node = await start((port) => [
    PROGRAMS["Node 26"],
    ...[`${ROOT}tests/bench/bare/upstream.mjs`, `${port}`],
  ]);
  const url = `http://127.0.0.1:${node.port}`;
  const table = new Table([
    "beside http-proxy",
    "rate",
    "of rounds",
    "CPU",
    "× nginx",
    "a second",
    "failed",
    "MB",
  ]);
  for (const { cases, description } of NODES) {
    const config = writeConfig(url, description);
    const entrants = entrantsFor(only, config);
    const running = new Map<Entrant, Running>();
    for (const entrant of entrants) {
      step(`${entrant.name}: starting`);
      running.set(entrant, await start((port) => entrant.command(port, url)));
    }
    for (const { name, own, proxy } of cases) {
      const samples = new Map<string, Sample[]>(entrants.map(({ name }) => [name, []]));
      for (let round = -WARM_UP[mode]; round < ROUNDS[mode]; round++) {
        for (const [entrant, server] of round % 2 ? [...running].toReversed() : running) {
          step(`${entrant.name}, ${name}: ${round < 0 ? "warming up" : `round ${round + 1}`}`);
          const sample = await measure(server, entrant.isProxy ? proxy : own);
          if (round >= 0) samples.get(entrant.name)!.push(sample);
        }
      }
      for (const [entrant, { pid }] of running) {
        const values = (of: string, what: keyof Sample) =>
          (samples.get(of) ?? []).map((sample) => sample[what]);
        const ratios = (of: string, what: keyof Sample) =>
          ratiosOf(values(entrant.name, what), values(of, what));
        const rates = ratios(entrant.beside, "rate");
        table.add(
          `${entrant.name}, ${name}`,
          ...[median(rates), rangeOf(rates)],
          ...[median(ratios(entrant.beside, "cpu")), median(ratios("nginx", "rate"))],
          median(values(entrant.name, "rate")),
          `${values(entrant.name, "failed").reduce((sum, count) => sum + count, 0)}`,
          memory(pid, "VmRSS"),
        );
      }
    }
    for (const server of running.values()) await server.stop();
  }
  await node.stop();
  return { title: "Calls of the node", text: TEXT, table };
}

const TEXT =
  `Requests a second beside those of [\`@fastify/http-proxy\`](https://github.com/fastify/fastify-http-proxy),
where more is better, and the processor time of a request beside that of the same, where less is; then
the rate beside that of nginx (\`proxy_pass\` with kept connections, one process). All of them stand before the
same node, which sends answers made beforehand: JSON of 111 bytes, and 1 MB. ${CONNECTIONS} connections ask at a
time. A _method_ is one of JSON-RPC, asked for by \`GET\`, which proxies cannot do: it
stands beside their small JSON. They are measured in turn for a second each, to and fro, ten times after they are
warmed up; _rounds_ has the lowest and the highest rate. Nodeface on Node 22 is held
against the proxy on Node 22, all others against that on Node 26. Nodeface checks path, parameters and
caller, keeps count of places and bytes, and logs each call, which the proxies do not. The last column is the resident
memory after the case.`;

async function measure({ port, pid }: Running, path: string): Promise<Sample> {
  const before = processorTime(pid);
  const url = `http://127.0.0.1:${port}${path}`;
  const { requests, rate, failed } = await load(url, {}, CONNECTIONS, 1);
  return { rate, failed, cpu: (processorTime(pid) - before) / requests };
}

/** The settings of Nodeface, with as many places as there are connections. */
function writeConfig(url: string, content: object): string {
  const description = join(FOLDER, "node.json");
  writeFileSync(description, JSON.stringify(content));
  const config = join(FOLDER, "gateway.json");
  const forward = { open: ["reads"], concurrency: CONNECTIONS };
  writeFileSync(config, JSON.stringify({ node: { url, kind: "none" }, description, forward }));
  return config;
}

function entrantsFor(only: readonly string[], config: string): Entrant[] {
  const own = chosen(only).map(({ id, nodeface }): Entrant => ({
    name: nodeface.name,
    isProxy: false,
    beside: id === "node22" ? "http-proxy, Node 22" : "http-proxy, Node 26",
    command: (port) => [...nodeface.command(port, ""), "--config", config],
  }));
  const proxies = [proxyOn("Node 26"), ...existsSync(NGINX) ? [nginx] : []];
  if (own.some(({ beside }) => beside === "http-proxy, Node 22")) {
    proxies.unshift(proxyOn("Node 22"));
  }
  return [...proxies, ...own];
}
