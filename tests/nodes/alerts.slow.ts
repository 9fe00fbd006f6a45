/**
 * Prometheus scrapes Nodeface beside real nodes: anvil from npm, and Debian's litecoind and etcd.
 * Each alert in `deploy/alerts.yaml` must fire when its fault occurs, and not before. Run with `npm
 * run test:slow -- nodes`.
 */
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { parse } from "yaml";
import { readMetrics } from "../_metrics.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import type { Running } from "../_server.ts";
import { type Bench, bench, RUNTIME, RUNTIMES } from "./_bench.ts";
import { call, type Daemon, until } from "./_daemon.ts";
import { ETCD, NATS, startEtcdCluster } from "./_start-services.ts";

const alerts = suite("alerts");

const PROMETHEUS = "/usr/bin/prometheus";
const PROMTOOL = "/usr/bin/promtool";
const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const LITECOIND = "/usr/lib/litecoin/litecoind";

const RULES = `${ROOT}deploy/alerts.yaml`;

/** The maximum time until an alert fires or ends, in milliseconds. */
const PATIENCE = 60_000;

function promtool(args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, args, { input, encoding: "utf8" });
  assert.is(status, 0, stdout + stderr);
  return stdout + stderr;
}

testWhere(alerts, without(PROMTOOL), "promtool accepts the alert rules", () => {
  assert.match(promtool(["check", "rules", RULES]), /SUCCESS: \d+ rules found/);
  return Promise.resolve();
});

testWhere(
  alerts,
  without(PROMTOOL),
  "each alert fires on its cause, not before, and clears",
  bench("rules", async ({ home }) => {
    const { groups } = parse(await readFile(RULES, "utf8"));
    const tests = parse(await readFile(`${ROOT}tests/nodes/alert-rules.yaml`, "utf8"));
    // The texts are not tested, only what fires.
    for (const rule of groups[0].rules) delete rule.annotations;
    await writeFile(join(home, "alerts.yaml"), JSON.stringify({ groups }));
    await writeFile(join(home, "tests.yaml"), JSON.stringify(tests));
    const names = groups[0].rules.map(({ alert }: { alert: string }) => alert);
    // The name of a test begins with that of its alert.
    const tested = new Set(tests.tests.map(({ name }: { name: string }) => name.split(" ")[0]));
    assert.equal([...tested].sort(), names.sort());
    assert.match(promtool(["test", "rules", join(home, "tests.yaml")]), "SUCCESS");
  }),
);

testWhere(
  alerts,
  without(PROMTOOL),
  "promtool accepts the scrape configuration in docs/monitoring.md",
  async () => {
    const page = await readFile(`${ROOT}docs/monitoring.md`, "utf8");
    const [, yaml = ""] = /```yml\n(scrape_configs:[^]*?)```/.exec(page) ?? [];
    await bench("scrape", async ({ home }) => {
      await writeFile(join(home, "alerts.yaml"), await readFile(RULES));
      await writeFile(join(home, "prometheus.yml"), yaml);
      assert.match(promtool(["check", "config", join(home, "prometheus.yml")]), "SUCCESS");
    })();
  },
);

/** Starts a server that closes: it takes no more clients, but waits for the one that it has. */
async function startClosingNats(bench: Bench): Promise<Daemon> {
  const [port, clientPort] = [await freePort(), await freePort()];
  const config = join(bench.home, "nats.conf");
  await writeFile(
    config,
    `http: "127.0.0.1:${port}"\nlisten: "127.0.0.1:${clientPort}"\n` +
      "lame_duck_duration: 600s\nlame_duck_grace_period: 300s\n",
  );
  const nats = await bench.daemon([NATS, "-c", config], port);
  const client = connect(clientPort, "127.0.0.1");
  await new Promise((resolve) => client.once("data", resolve));
  client.on("error", () => {}).write('CONNECT {"verbose":false}\r\nPING\r\n');
  await new Promise((resolve) => client.once("data", resolve));
  client.unref();
  nats.signal("SIGUSR2");
  return nats;
}

async function startPrometheus(bench: Bench, services: readonly Running[]): Promise<string> {
  const rules = (await readFile(RULES, "utf8")).replaceAll(/for: \w+/g, "for: 2s")
    .replaceAll("[5m]", "[10s]");
  await writeFile(join(bench.home, "alerts.yaml"), rules);
  const config = await bench.config("prometheus.yml", {
    global: { scrape_interval: "2s", evaluation_interval: "1s" },
    rule_files: ["alerts.yaml"],
    scrape_configs: [{
      job_name: "nodeface",
      metrics_path: "/v1/metrics",
      static_configs: [{ targets: services.map(({ url }) => new URL(url).host) }],
    }],
  });
  const port = await freePort();
  const { url } = await bench.daemon([
    ...[PROMETHEUS, `--config.file=${config}`, `--storage.tsdb.path=${bench.home}/tsdb`],
    ...[`--web.listen-address=127.0.0.1:${port}`],
  ], port);
  return url;
}

testWhere(
  alerts,
  without(PROMETHEUS, PROMTOOL, ANVIL, LITECOIND, ETCD, NATS),
  "each alert fires when its fault occurs, and ends when the fault is gone",
  bench("alerts", async (bench) => {
    const [port, rpcPort] = [await freePort(), await freePort()];
    const anvil = (...more: string[]) =>
      bench.daemon([ANVIL, "--port", `${port}`, "--silent", ...more], port);
    // With `stalled_after`, the status of anvil is `ok` only if it has a recent block.
    const mine = () => call(`http://127.0.0.1:${port}`, "anvil_mine", ["0x1"]);
    const [chain, litecoin, etcd, nats] = await Promise.all([
      anvil("--chain-id", "10"),
      bench.daemon([LITECOIND, "-regtest", "-server", "-listen=0", `-rpcport=${rpcPort}`], rpcPort),
      startEtcdCluster(bench),
      startClosingNats(bench),
    ]);
    await mine();

    const secret = join(bench.home, "wrong");
    const node = { url: litecoin.url, auth: { basic_file: secret } };
    await writeFile(secret, "somebody:wrong");
    const config = { node, metrics: true };
    const limited = {
      ...{ node: { url: chain.url }, metrics: true, forward: "reads" },
      info: { stalled_after: "10m" },
    };
    const other = { node: { url: chain.url, expect: { chain_id: "1" } }, metrics: true };
    const services = await Promise.all([
      bench.service(["--config", await bench.config("anvil.yaml", limited)]),
      bench.service(["--config", await bench.config("litecoin.yaml", config)]),
      bench.service([etcd[0]!.url, "--metrics"]),
      bench.service([litecoin.url, "--metrics"]),
      bench.service([etcd[0]!.url, "--metrics", "--kind", "bitcoin"]),
      bench.service(["--metrics"]),
      bench.service(["--config", await bench.config("other.yaml", other)]),
      bench.service([nats.url, "--metrics"]),
    ]);
    const [besideAnvil, refused, besideEtcd, , wrongKind, alone, wrongNetwork, closing] = services;
    const metricsOf = async ({ url }: Running) =>
      await (await fetch(new URL("v1/metrics", url))).text();

    const url = await startPrometheus(bench, services);
    const firing = async (): Promise<string[]> => {
      const { data } = await (await fetch(`${url}/api/v1/alerts`)).json();
      return data.alerts.filter(({ state }: { state: string }) => state === "firing")
        .map(({ labels }: { labels: Record<string, string> }) =>
          `${labels.alertname} ${services.findIndex((one) => one.url.includes(labels.instance!))}`
        );
    };
    const fires = async (name: string, service: Running, isFiring = true) => {
      const line = `${name} ${services.indexOf(service)}`;
      await until(async () => (await firing()).includes(line) === isFiring, PATIENCE).catch(
        async () => assert.unreachable(`${line}: ${isFiring}, but ${await firing()}`),
      );
    };
    const values = async (query: string) => {
      const { data } = await (await fetch(`${url}/api/v1/query?query=${query}`)).json();
      return new Map<Running, string>(
        data.result.map((
          { metric, value }: { metric: { instance: string }; value: [number, string] },
        ) => [services.find((one) => one.url.includes(metric.instance)), value[1]]),
      );
    };

    await until(async () => (await fetch(`${url}/-/ready`)).ok, PATIENCE);
    await until(async () => [...(await values("up")).values()].join("") === "11111111", PATIENCE);
    await fires("NodeUnauthorized", refused!);
    await fires("NodeDegraded", wrongKind!);
    await fires("NodefaceWithoutNode", alone!);
    await fires("NodeOnWrongNetwork", wrongNetwork!);
    await fires("NodeNotReady", closing!);
    const only = "NodeDegraded 4,NodeNotReady 7,NodeOnWrongNetwork 6,NodeUnauthorized 1," +
      "NodefaceWithoutNode 5";
    await until(async () => (await firing()).sort().join() === only, PATIENCE);
    const known = async () => {
      const [up, heights] = [
        await values("nodeface_node_up"),
        await values("nodeface_node_height"),
      ];
      const all = [
        ...services.map((one) => up.get(one)),
        ...services.map((one) => heights.get(one)),
      ];
      return all.map((value) => value ?? "-").join("");
    };
    // If a response arrives late, `nodeface_node_up` is 0 for one scrape, so the test waits for the
    // expected values.
    const wanted = "11111-11" + "1--0--1-";
    await until(async () => await known() === wanted, PATIENCE).catch(async () =>
      assert.is(await known(), wanted)
    );
    for (const service of services) {
      const text = await metricsOf(service);
      assert.is(promtool(["check", "metrics"], text), "");
      readMetrics(text);
    }

    await Promise.all([etcd[1]!.stop("SIGKILL"), etcd[2]!.stop("SIGKILL")]);
    await chain.stop("SIGKILL");
    await fires("NodeDown", besideAnvil!);
    const visit = () => fetch(new URL("v1/rpc/eth_chainId", besideAnvil!.url));
    await until(async () => {
      assert.is((await visit()).status, 502);
      return (await firing()).includes("NodeCallsFailing 0");
    }, PATIENCE);
    await fires("NodeWithoutLeader", besideEtcd!);

    const before = Math.floor(Date.now() / 1000) - 7200;
    const stalled = await anvil("--chain-id", "10", "--timestamp", `${before}`);
    await mine();
    await fires("NodeStalled", besideAnvil!);
    await fires("NodeDown", besideAnvil!, false);

    await writeFile(join(bench.home, "other.yaml"), "");
    process.kill(wrongNetwork!.pid, "SIGHUP");
    await fires("NodefaceConfigRejected", wrongNetwork!);
    await stalled.stop("SIGKILL");
    await fires("NodeDown", besideAnvil!);
    const restarted = await anvil("--chain-id", "1");
    await fires("NodeIdentityChanged", besideAnvil!);
    await fires("NodeOnWrongNetwork", wrongNetwork!, false);
    await restarted.stop("SIGKILL");
    await fires("NodeDown", besideAnvil!);
    await anvil("--chain-id", "1");
    await fires("NodeFlapping", besideAnvil!);

    await alone!.stop();
    await fires("NodefaceDown", alone!);
    const { port: ownPort } = new URL(alone!.url);
    for (let restarts = 0; restarts < 3; restarts++) {
      const command = [...RUNTIMES[RUNTIME]!, "--metrics", "--port", ownPort];
      const again = await bench.daemon(command, Number(ownPort));
      await fires("NodefaceDown", alone!, false);
      await again.stop();
      await fires("NodefaceDown", alone!);
    }
    await fires("NodefaceRestarting", alone!);
    const names = (await readFile(RULES, "utf8")).match(/(?<=- alert: )\w+/g);
    assert.is(names?.length, 14, "this test covers every alert");
  }),
);

alerts.run();
