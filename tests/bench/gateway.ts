/** Compares calls through Nodeface with calls through a proxy that checks nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";
import { FOLDER } from "./answers.ts";
import { type Options, type Section, step, Table } from "./output.ts";
import { memory, type Running, start } from "./processes.ts";
import { chosen, PROGRAMS, type Runtime } from "./servers.ts";
import { median, ratio, spread } from "./statistics.ts";
import { type Asked, CONNECTIONS, measureInTurn, modeOf } from "./wrk.ts";

/** Every operation of this benchmark has this parameter. */
const NUMBER = { name: "n", schema: { type: "integer" } };
const READ = {
  "x-access": "read",
  parameters: [{ ...NUMBER, in: "query" }],
  responses: { 200: { description: "Done" } },
};
const CALL: Omit<Asked, "path"> = {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: '{"jsonrpc":"2.0","id":1,"method":"read","params":[{n}]}',
};

const NODES: readonly {
  readonly cases: Readonly<Record<string, readonly [own: Asked, proxy: Asked]>>;
  readonly description: object;
}[] = [
  {
    cases: {
      "POST /v1/rpc": [{ ...CALL, path: "/v1/rpc" }, { ...CALL, path: "/v1/node/" }],
    },
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
  {
    cases: {
      "GET, small": [{ path: "/v1/node/small?n=0" }, { path: "/v1/node/small?n=0" }],
      "GET, 1 MB": [{ path: "/v1/node/large?n=0" }, { path: "/v1/node/large?n=0" }],
    },
    description: {
      openapi: "3.1.1",
      info: { title: "Benchmark", version: "1" },
      paths: { "/small": { get: READ }, "/large": { get: READ } },
    },
  },
];

interface Entrant {
  readonly name: string;
  readonly isProxy: boolean;
  command(port: number): readonly string[];
}

export async function gateway({ only, isQuick, beside }: Options): Promise<Section> {
  const node = await start((port) => [
    PROGRAMS["Node 26"],
    ...[`${ROOT}tests/bench/bare/upstream.mjs`, `${port}`],
  ]);
  const url = `http://127.0.0.1:${node.port}`;
  const table = new Table(["a call", "µs", "× http-proxy", "calls/s", "failed", "MB"]);
  for (const { cases, description } of NODES) {
    const config = writeConfig(url, description);
    for (const runtime of chosen(only)) {
      step(`${runtime.name}: starting`);
      const running = new Map<Entrant, Running>();
      for (const entrant of entrantsOn(runtime, beside, config, url)) {
        running.set(entrant, await start(entrant.command));
      }
      for (const [name, [own, proxy]] of Object.entries(cases)) {
        step(`${runtime.name}: ${name}`);
        const askedOf = ({ isProxy }: Entrant) => isProxy ? proxy : own;
        const seen = await measureInTurn(running, askedOf, modeOf(isQuick));
        const [proxyCpu = []] = [...running.keys()].filter(({ isProxy }) => isProxy)
          .map((entrant) => seen.get(entrant)!.map(({ cpu }) => cpu));
        for (const [entrant, { pid }] of running) {
          const samples = seen.get(entrant)!;
          const cpu = samples.map(({ cpu }) => cpu);
          table.add(
            `${entrant.name}, ${name}`,
            spread(cpu),
            entrant.isProxy ? NaN : ratio(cpu, proxyCpu),
            median(samples.map(({ rate }) => rate)),
            `${samples.reduce((sum, { failed }) => sum + failed, 0)}`,
            memory(pid, "VmRSS"),
          );
        }
      }
      for (const { stop } of running.values()) await stop();
    }
  }
  await node.stop();
  return { title: "Calls of the node", text: TEXT, table };
}

function entrantsOn(
  { nodeface, nodefaceIn, proxyProgram }: Runtime,
  beside: readonly string[],
  config: string,
  node: string,
): Entrant[] {
  const [release] = Object.entries(PROGRAMS).find(([, program]) => program === proxyProgram)!;
  const own = [nodeface, ...beside.map((folder) => nodefaceIn(folder))];
  return [
    {
      name: `http-proxy, ${release}`,
      isProxy: true,
      command: (port) => [proxyProgram, `${ROOT}tests/bench/peers/proxy.mjs`, node, `${port}`],
    },
    ...own.map(({ name, command }): Entrant => ({
      name,
      isProxy: false,
      command: (port) => [...command(port, ""), "--config", config],
    })),
  ];
}

function writeConfig(url: string, content: object): string {
  const description = join(FOLDER, "node.json");
  writeFileSync(description, JSON.stringify(content));
  const config = join(FOLDER, "gateway.json");
  const forward = { open: ["reads"], concurrency: CONNECTIONS };
  writeFileSync(config, JSON.stringify({ node: { url, kind: "none" }, description, forward }));
  return config;
}

const TEXT = `Calls through Nodeface are compared with calls through
[\`@fastify/http-proxy\`](https://github.com/fastify/fastify-http-proxy). All servers forward to the same node, which sends prepared responses: 111 bytes of JSON, or 1 MB. Every call has a different parameter.
Nodeface checks and rewrites each JSON-RPC call; the proxy forwards each call unchanged. \`POST /v1/rpc\` is compared
with the same POST through the proxy. Nodeface on Node is compared with the proxy on the same release of Node. On other runtimes,
Nodeface is compared with the proxy on Node 26. Unlike the proxy, Nodeface checks the path, the parameters and the
caller, and limits concurrent calls and bytes. The last column is the server's resident memory at the end.`;
