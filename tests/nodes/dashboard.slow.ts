/**
 * Prometheus scrapes Nodefaces beside real nodes, as for the alerts. Each query of
 * `deploy/grafana.json` must find what is known of them, and nothing of what is not. With the
 * variable `DASHBOARD_PICTURE`, the panels are drawn into that file.
 */
import { once } from "node:events";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import WebSocket from "ws";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import type { Running } from "../_server.ts";
import { type Bench, bench } from "./_bench.ts";
import { call, until } from "./_daemon.ts";
import { type Line, type Panel, Prometheus, readDashboard } from "./_dashboard.ts";
import { drawDashboard } from "./_draw-dashboard.ts";
import { ETCD, startEtcdCluster } from "./_start-services.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const dashboard = suite("deploy/grafana.json");

const PROMETHEUS = "/usr/bin/prometheus";
const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
const LITECOIND = "/usr/lib/litecoin/litecoind";
const TOKEN = "Kq3vJ0mZ8xR5tY2wB7nC4dF6gH9sL1pA";

const LAG = "Lag behind the highest node of the same chain";

/** What the Nodefaces are beside, as they are called in the dashboard. */
const NAMES = ["anvil-1", "anvil-2", "litecoin", "etcd", "litecoin-denied", "alone", "gone"];

async function startPrometheus(bench: Bench, services: readonly Running[]): Promise<Prometheus> {
  const config = await bench.config("prometheus.yml", {
    global: { scrape_interval: "2s", scrape_timeout: "2s" },
    scrape_configs: [{
      job_name: "nodeface",
      metrics_path: "/v1/metrics",
      static_configs: services.map(({ url }, at) => ({
        targets: [new URL(url).host],
        labels: { instance: NAMES[at] },
      })),
    }],
  });
  const port = await freePort();
  const { url } = await bench.daemon([
    ...[PROMETHEUS, `--config.file=${config}`, `--storage.tsdb.path=${bench.home}/tsdb`],
    ...[`--web.listen-address=127.0.0.1:${port}`],
  ], port);
  return new Prometheus(url, NAMES);
}

/** Calls the node through the service until it is stopped. */
class Traffic {
  #isStopped = false;
  readonly #loops: Promise<void>[] = [];

  /** @param pause the time between two requests, in milliseconds */
  add(url: string, init: RequestInit, pause: number): void {
    const loop = async () => {
      while (!this.#isStopped) {
        await fetch(url, init).then((response) => response.arrayBuffer()).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    };
    this.#loops.push(loop());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#loops);
  }
}

testWhere(
  dashboard,
  without(PROMETHEUS, ANVIL, LITECOIND, ETCD),
  "each panel shows what is known of nodes that are well, fail, and are gone, and nothing else",
  bench("dashboard", async (bench) => {
    const picture = process.env.DASHBOARD_PICTURE;
    // The picture shows each state for a while.
    const rest = () => picture ? new Promise((resolve) => setTimeout(resolve, 20_000)) : undefined;
    const ports = [await freePort(), await freePort()];
    const anvil = (port: number, ...more: string[]) =>
      bench.daemon([ANVIL, "--port", `${port}`, "--silent", "--block-time", "1", ...more], port);
    const rpcPort = await freePort();
    const first = await anvil(ports[0]!);
    const [litecoin, [member, ...members]] = await Promise.all([
      bench.daemon([LITECOIND, "-regtest", "-server", "-listen=0", `-rpcport=${rpcPort}`], rpcPort),
      startEtcdCluster(bench),
    ]);
    const second = await anvil(ports[1]!);
    await writeFile(join(bench.home, "token"), TOKEN);
    await writeFile(join(bench.home, "wrong"), "somebody:wrong");
    const config = (name: string, value: object) =>
      bench.config(name, { metrics: true, ...value }).then((path) => ["--config", path]);
    const services = await Promise.all([
      config("anvil.yaml", {
        node: { url: first.url, kind: "ethereum" },
        forward: {
          open: ["reads"],
          clients: [{ name: "wallet", token_file: "token", allow: ["reads"] }],
          concurrency: 1,
        },
      }),
      [second.url, "--metrics", "--forward", "reads"],
      // Under the name `regtest`, the node would not be syncing.
      config("litecoin.yaml", {
        node: { url: litecoin.url },
        info: { fields: { network: "net#/subversion" } },
      }),
      [member!.url, "--metrics"],
      config("wrong.yaml", { node: { url: litecoin.url, auth: { basic_file: "wrong" } } }),
      ["--metrics"],
      ["--metrics"],
    ].map(async (args) => await bench.service(await args)));
    const [one, two, bitcoin, etcd, denied, alone, gone] = services as [Running, ...Running[]];

    const nameOf = (service: Running | undefined) => NAMES[services.indexOf(service!)]!;
    const { panels, annotations } = await readDashboard();
    const prometheus = await startPrometheus(bench, services);
    const named = (title: string) => panels.find((panel) => panel.title === title) as Panel;
    /** The panel's lines for a service now, with their last values. */
    const shown = async (title: string, service: Running | undefined) => {
      const lines = await prometheus.panel(named(title));
      return lines.filter(({ labels }) => labels.instance === nameOf(service));
    };
    const value = async (title: string, service: Running | undefined) =>
      (await shown(title, service))[0]?.points.at(-1)?.[1];
    const state = async (service: Running | undefined) => {
      const [mapping] = named("State").fieldConfig!.defaults.mappings!;
      return mapping!.options[`${await value("State", service)}`]?.text;
    };
    const reaches = (name: string, service: Running | undefined) =>
      until(async () => await state(service) === name).catch(async () =>
        assert.is(await state(service), name, nameOf(service))
      );

    const began = Date.now() / 1000;
    const traffic = new Traffic();
    const wallet = { headers: { authorization: `Bearer ${TOKEN}` } };
    const at = ({ url }: Running, path: string) => new URL(path, url).href;
    for (const pause of [30, 40, 50, 60]) {
      traffic.add(at(one, "v1/rpc/eth_blockNumber"), {}, pause);
      traffic.add(at(two!, "v1/rpc/eth_chainId"), {}, 2 * pause);
      traffic.add(at(one, "v1/rpc/eth_gasPrice"), wallet, pause);
    }
    traffic.add(at(one, "v1/rpc/eth_sendRawTransaction"), { method: "POST" }, 200);
    traffic.add(at(one, "v1/rpc/eth_strange"), {}, 500);
    for (const service of [one, two, etcd]) await reaches("ok", service);
    const client = new WebSocket(two!.url.replace("http:", "ws:"));
    await once(client, "open");
    client.send('{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}');
    client.on("error", () => {});
    await reaches("syncing", bitcoin);
    await reaches("degraded", denied);
    for (const service of [alone, gone]) await reaches("no node", service);
    await until(async () => (await value("Response time of calls", one))! > 0);

    // Of a node that denies access, not even the kind is known, so that there are no queries.
    const queries = panels.filter(({ title }) => title !== "Failed queries").flatMap((panel) =>
      (panel.targets ?? []).map((target) => ({ panel, target }))
    );
    for (const { panel, target } of queries) {
      let lines: Line[] = [];
      await until(async () => (lines = await prometheus.lines(target)).length > 0).catch(() =>
        assert.unreachable(`${panel.title} ${target.refId} is empty: ${target.expr}`)
      );
      for (const { points, name } of lines) {
        for (const [, value] of points) assert.ok(!Number.isNaN(value), `${panel.title}: ${name}`);
      }
    }
    await call(first.url, "anvil_mine", ["0x10"]);
    await until(async () => (await value(LAG, two))! > 0);
    await until(async () => await value(LAG, one) === 0);
    assert.is(await value("Height", bitcoin), 0, "a known 0");
    const unknown: Readonly<Record<string, readonly (Running | undefined)[]>> = {
      Height: [etcd, denied, alone, gone],
      "Age of the head": [etcd, denied, alone, gone],
      Peers: [etcd, denied, alone, gone],
      [LAG]: [bitcoin, etcd, denied, alone, gone],
      "Progress of nodes that are syncing": [one, two, etcd, denied, alone, gone],
      "Response time of calls": [bitcoin, etcd, denied, alone, gone],
      "Waits at slots": [alone, gone],
      "Failed queries": services,
    };
    const unknownIsAbsent = async (table: typeof unknown) => {
      for (const [title, services] of Object.entries(table)) {
        for (const service of services) {
          const lines = await shown(title, service);
          assert.equal(lines, [], `${title} of ${nameOf(service)}`);
        }
      }
    };
    await unknownIsAbsent(unknown);
    await rest();

    // The calls wait while the node hangs.
    first.signal("SIGSTOP");
    await until(async () => (await value("Waits at slots", one))! > 0);
    await reaches("stale", one);
    first.signal("SIGCONT");
    await reaches("ok", one);
    await rest();

    await second.stop("SIGKILL");
    for (const { stop } of members) await stop("SIGKILL");
    await gone!.stop();
    await reaches("stale", two);
    await reaches("degraded", etcd);
    await reaches("no Nodeface", gone);
    await unknownIsAbsent({
      Height: [two, gone],
      "Age of the head": [two, gone],
      Peers: [two, gone],
      // The other is the only one of its chain.
      [LAG]: [one, two, gone],
      Memory: [gone],
      Configuration: [gone],
      "Sockets and streams": [gone],
    });
    await until(async () => (await value("Failed queries", two))! > 0);
    await rest();
    await anvil(ports[1]!, "--chain-id", "5");
    await reaches("ok", two);
    await rest();
    await unknownIsAbsent({ [LAG]: [one, two] });
    for (const annotation of annotations.list) {
      if (!annotation.expr) continue;
      const times = () => prometheus.times(annotation, [began, Date.now() / 1000]);
      await until(async () => (await times()).length > 0).catch(() =>
        assert.unreachable(`${annotation.name} finds nothing`)
      );
    }
    await traffic.stop();
    client.terminate();
    if (picture) await drawDashboard(prometheus, picture, [began, Date.now() / 1000]);
  }),
);

dashboard.run();
