/**
 * Starts the service as the files in `deploy/kubernetes` do, and requests each path that they name.
 * The schemas of Kubernetes are tested by `tools/kubernetes.slow.ts`.
 */
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse, parseAllDocuments } from "yaml";
import { ROOT } from "../_paths.ts";
import { COMMANDS, run, type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";

const kubernetes = suite("deploy/kubernetes");

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: unknown;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly mountPath: string }[];
}

const read = (file: string) => readFileSync(`${ROOT}deploy/kubernetes/${file}`, "utf8");
const documents = (file: string) => parseAllDocuments(read(file)).map((one) => one.toJS());
const podOf = (file: string) => parse(read(file)).spec.template.spec;
const config = parse(read("base/nodeface.yaml"));

const PODS: Readonly<Record<string, { containers: [Container]; [key: string]: unknown }>> = {
  deployment: podOf("base/deployment.yaml"),
  sidecar: podOf("sidecar/nodeface.yaml"),
};
const SERVICES = [...documents("base/service.yaml"), ...documents("ethereum/nodes.yaml")]
  .filter(({ kind }) => kind === "Service");
const [monitor] = documents("monitoring/servicemonitor.yaml");

const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
kubernetes.after(() => rm(folder, { recursive: true }));

const RESULTS: Readonly<Record<string, unknown>> = {
  web3_clientVersion: "Geth/v1.16.0",
  eth_chainId: "0x7a69",
  eth_blockNumber: "0x5",
  eth_syncing: false,
  net_peerCount: "0x3",
};

async function startNode(): Promise<Server> {
  const answer = ({ id, method }: { id: number; method: string }) =>
    Object.hasOwn(RESULTS, method)
      ? { jsonrpc: "2.0", id, result: RESULTS[method] }
      : { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    if (!text) return response.writeHead(404).end();
    const calls = JSON.parse(text);
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(Array.isArray(calls) ? calls.map(answer) : answer(calls)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** `fetch` cannot set `Host`, which is the pod's address in a probe. */
const statusOf = ({ url }: Running, path: string, host: string) =>
  new Promise<number>((resolve, reject) => {
    request(new URL(path, url), { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    }).on("error", reject).end();
  });

/** Starts the container's command, with the files and the node of this test. */
async function startContainer({ args, env = [] }: Container, node: Server): Promise<Running> {
  const { port } = node.address() as AddressInfo;
  const file = join(folder, "nodeface.yaml");
  const url = `http://127.0.0.1:${port}`;
  await writeFile(file, read("base/nodeface.yaml").replace(config.node.url, url));
  const here = args.map((arg) =>
    arg.replace("/etc/nodeface/nodeface.yaml", file).replace("http://127.0.0.1:8545", url)
  );
  const variables = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  return await start([...COMMANDS.Node, ...here], variables);
}

for (const [name, { containers: [container] }] of Object.entries(PODS)) {
  kubernetes(`the ${name} responds to its probes while its node is ok, and after it`, async () => {
    const node = await startNode();
    const service = await startContainer(container, node);
    const { startupProbe, livenessProbe, readinessProbe } = container;
    const probe = ({ httpGet: { path } }: Probe) => statusOf(service, path, "10.1.2.3:8080");
    try {
      assert.is(await probe(startupProbe), 200);
      await until(async () => await probe(readinessProbe) === 200);
      assert.is(await probe(livenessProbe), 200);
      for (const { port, path } of monitor.spec.endpoints) {
        assert.is(port, "http");
        assert.is(await statusOf(service, path, "10.1.2.3:8080"), 200);
      }
      const hosts = SERVICES.map(({ metadata }) => metadata.name as string)
        .flatMap((name) => ["", ".default.svc.cluster.local"].map((domain) => name + domain));
      hosts.push("node-0.nodeface-page.default.svc.cluster.local");
      // On a busy machine, the node's operations are known later than its status.
      const call = () => statusOf(service, "v1/rpc/eth_chainId", "10.1.2.3:8080");
      await until(async () => await call() !== 503);
      for (const host of hosts) {
        assert.is(await statusOf(service, "v1/rpc/eth_chainId", `${host}:8080`), 200, host);
      }
      node.close();
      node.closeAllConnections();
      await until(async () => await probe(readinessProbe) === 503);
      assert.is(await probe(livenessProbe), 200);
    } finally {
      await service.stop();
    }
  });

  kubernetes(`the ${name} has no rights that it does not need`, () => {
    assert.is(PODS[name]!.automountServiceAccountToken, false);
    const { securityContext } = container;
    const own = PODS[name]!.securityContext as object | undefined;
    const { fsGroup: _fsGroup, ...all } = { ...own, ...securityContext } as Record<string, unknown>;
    assert.equal(all, {
      runAsNonRoot: true,
      runAsUser: 65534,
      runAsGroup: 65534,
      seccompProfile: { type: "RuntimeDefault" },
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });
}

kubernetes("both ways have the same probes, port and resources", () => {
  const [deployment, sidecar] = Object.values(PODS).map(({ containers: [container] }) => {
    const { ports, startupProbe, livenessProbe, readinessProbe, resources } = container;
    return { ports, startupProbe, livenessProbe, readinessProbe, resources };
  });
  assert.equal(deployment, sidecar);
});

kubernetes("each port is the one on which the service listens", async () => {
  const [{ containers: [container] }] = Object.values(PODS) as [{ containers: [Container] }];
  const [{ name, containerPort }] = container.ports as [Container["ports"][0]];
  assert.is(config.listen, `0.0.0.0:${containerPort}`);
  const { stdout } = await run([...COMMANDS.Node, "--help"]);
  assert.match(stdout, new RegExp(`--port.*${containerPort}|${containerPort}.*--port`));
  for (const { spec } of SERVICES) {
    assert.equal(spec.ports, [{ name, port: containerPort, targetPort: name }]);
  }
  for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const) {
    assert.is(container[probe].httpGet.port, name);
  }
  const [ours, theirs] = documents("base/networkpolicy.yaml").map(({ spec }) => spec);
  assert.is(ours.ingress[0].ports[0].port, name);
  const nodePort = Number(new URL(config.node.url).port);
  assert.is(ours.egress[0].ports[0].port, nodePort);
  assert.is(theirs.ingress[0].ports[0].port, nodePort);
});

kubernetes("the metrics are those of the Service that has pods which are not ready, too", () => {
  const { matchLabels } = monitor.spec.selector;
  const chosen = SERVICES.filter(({ metadata: { labels = {} } }) =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value)
  );
  assert.equal(chosen.map(({ spec }) => spec.publishNotReadyAddresses), [true, true]);
});

kubernetes("the arguments name the file of the ConfigMap where it is mounted", () => {
  const { containers: [{ args, volumeMounts = [] }] } = PODS.deployment!;
  const mounted = volumeMounts.map(({ mountPath }) => `${mountPath}/nodeface.yaml`);
  assert.ok(mounted.includes(args.at(-1)!), args.join(" "));
});

kubernetes.run();
