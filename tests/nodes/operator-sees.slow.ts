/**
 * Tests the status that an operator sees for real nodes: anvil and hsd from npm, and Debian's etcd,
 * litecoind, monerod, nats-server and syncthing. Run with `npm run test:slow -- nodes`. A node that
 * is not installed is skipped.
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import type { Running } from "../_server.ts";
import { bench } from "./_bench.ts";
import { call, until } from "./_daemon.ts";
import { see, type Seen } from "./_see.ts";
import { ETCD, startEtcdCluster } from "./_start-services.ts";

const sees = suite("the status of a real node, as its operator sees it");

/**
 * The maximum time until the service shows a new status, in milliseconds. This time includes the
 * longest interval between two queries.
 */
const PATIENCE = 45_000;

async function reaches(service: Running, status: string, code?: string): Promise<Seen> {
  const over = (request: Request) => fetch(new URL(new URL(request.url).pathname, service.url));
  let last: Seen | undefined;
  await until(async () => {
    last = await see({ fetch: over });
    return last.status === status && last.code === code;
  }, PATIENCE).catch(() =>
    assert.unreachable(`not ${status} ${code}, but ${JSON.stringify(last)}`)
  );
  return last!;
}

const infoOf = async (service: Running) =>
  await (await fetch(new URL("v1/info", service.url))).json();

testWhere(
  sees,
  without(ETCD),
  "etcd: a single remaining member of three has no leader",
  bench("etcd", async (bench) => {
    const daemons = await startEtcdCluster(bench);
    const service = await bench.service([daemons[0]!.url]);
    assert.is((await reaches(service, "ok")).header, "Online");
    await daemons[1]!.stop("SIGKILL");
    await daemons[2]!.stop("SIGKILL");
    const { reason, health } = await reaches(service, "degraded", "no_leader");
    assert.equal([reason, health], ["etcd has no leader", 503]);
  }),
);

sees(
  "hsd without peers has no peers, although it has a chain to sync",
  bench("hsd", async (bench) => {
    const port = await freePort();
    const flags = ["--network=main", "--memory=true", "--no-dns", "--no-wallet", "--listen=false"];
    const daemon = await bench.daemon([
      ...[process.execPath, "--require", `${ROOT}tests/nodes/_without-leveldb.cjs`],
      ...[`${ROOT}tests/node_modules/hsd/bin/node`, ...flags],
      ...["--max-outbound=1", "--only=127.0.0.1:1", `--http-port=${port}`],
    ], port);
    const service = await bench.service([daemon.url]);
    const { reason, health } = await reaches(service, "degraded", "no_peers");
    assert.equal([reason, health], ["has no peers", 503]);
  }),
);

const LITECOIND = "/usr/lib/litecoin/litecoind";
const litecoind = (port: number, ...more: string[]) => [
  LITECOIND,
  ...["-regtest", "-server", "-listen=0", `-rpcport=${port}`, ...more],
];

testWhere(
  sees,
  without(LITECOIND),
  "litecoind: its cookie is found, missing, or rewritten",
  bench("litecoind", async (bench) => {
    const port = await freePort();
    const daemon = await bench.daemon(litecoind(port), port);
    const found = await bench.service([daemon.url]);
    await reaches(found, "ok");
    const elsewhere = await mkdtemp(join(tmpdir(), "nodeface-empty-"));
    const without = await bench.service([daemon.url], elsewhere);
    const { reason, health } = await reaches(without, "degraded", "unauthorized");
    assert.match(String(reason), /requires credentials \(401\).*bitcoin/);
    assert.is(health, 503);

    await daemon.stop("SIGTERM");
    await reaches(found, "stale", "connection_refused");
    await reaches(without, "unreachable", "connection_refused");
    await bench.daemon(litecoind(port), port);
    await reaches(found, "ok");
  }),
);

testWhere(
  sees,
  without(LITECOIND),
  "litecoind: the password is right, wrong, or in a missing file",
  bench("litecoind-password", async (bench) => {
    const port = await freePort();
    const daemon = await bench.daemon(litecoind(port, "-rpcuser=op", "-rpcpassword=right"), port);
    await writeFile(join(bench.home, "right"), "op:right\n");
    await writeFile(join(bench.home, "wrong"), "op:wrong\n");
    const serviceWith = async (file: string) => {
      const node = { url: daemon.url, auth: { basic_file: file } };
      return await bench.service(["--config", await bench.config(`${file}.yaml`, { node })]);
    };
    await reaches(await serviceWith("right"), "ok");
    const wrong = await reaches(await serviceWith("wrong"), "degraded", "unauthorized");
    assert.match(String(wrong.reason), /rejects the credentials/);
    const none = await serviceWith("none");
    const { reason } = await reaches(none, "degraded", "no_credentials");
    assert.not.match(String(reason), bench.home);
    await writeFile(join(bench.home, "none"), "op:right\n");
    await reaches(none, "ok");
  }),
);

const MONEROD = "/usr/bin/monerod";
testWhere(
  sees,
  without(MONEROD),
  "monerod with HTTP Digest: the login is right, wrong, or missing",
  bench("monerod", async (bench) => {
    const [port, p2p] = [await freePort(), await freePort()];
    const daemon = await bench.daemon([
      ...[MONEROD, "--regtest", "--offline", "--non-interactive", "--no-zmq"],
      ...["--data-dir", bench.home, "--rpc-bind-port", String(port)],
      ...["--p2p-bind-ip", "127.0.0.1", "--p2p-bind-port", String(p2p)],
      ...["--rpc-login", "op:right", "--fixed-difficulty", "1"],
    ], port);
    const serviceWith = async (secret: string) => {
      await writeFile(join(bench.home, `${secret}.txt`), `op:${secret}\n`);
      const node = { url: daemon.url, auth: { digest_file: `${secret}.txt` } };
      return await bench.service(["--config", await bench.config(`${secret}.yaml`, { node })]);
    };
    const right = await serviceWith("right");
    await until(async () => (await infoOf(right)).software === "monerod", PATIENCE);
    assert.is((await infoOf(right)).height, 0);
    await reaches(await serviceWith("wrong"), "degraded", "unauthorized");
    const none = await bench.service([daemon.url]);
    const { reason } = await reaches(none, "degraded", "unauthorized");
    assert.match(String(reason), /monero/);
  }),
);

const SYNCTHING = "/usr/bin/syncthing";
testWhere(
  sees,
  without(SYNCTHING),
  "syncthing with its key in another folder requires credentials, and is named",
  bench("syncthing", async (bench) => {
    const port = await freePort();
    const daemon = await bench.daemon(
      [
        SYNCTHING,
        "--no-browser",
        `--gui-address=127.0.0.1:${port}`,
        "--home",
        join(bench.home, "x"),
      ],
      port,
    );
    const service = await bench.service([daemon.url]);
    await until(async () => (await infoOf(service)).status === "degraded", PATIENCE);
    const { status_code, status_reason } = await infoOf(service);
    assert.match(status_code, /^(unauthorized|forbidden)$/);
    assert.match(status_reason, /syncthing/);
    const key = /<apikey>(.+)<\/apikey>/.exec(
      await readFile(join(bench.home, "x/config.xml"), "utf8"),
    )![1]!;
    await writeFile(join(bench.home, "key"), key);
    const auth = { header_file: "key", header: "X-API-Key" };
    const node = { url: daemon.url, auth };
    const keyed = await bench.service(["--config", await bench.config("c.yaml", { node })]);
    await reaches(keyed, "ok");
  }),
);

const NATS = "/usr/sbin/nats-server";
testWhere(
  sees,
  without(NATS),
  "nats-server: up, killed, up again",
  bench("nats", async (bench) => {
    const [port, other] = [await freePort(), await freePort()];
    const command = [NATS, "-a", "127.0.0.1", "-p", String(other), "-m", String(port)];
    const daemon = await bench.daemon(command, port);
    const keeps = await bench.service([daemon.url]);
    const node = { url: daemon.url };
    const config = await bench.config("c.yaml", { node, info: { stale: "1s" } });
    const drops = await bench.service(["--config", config]);
    for (const service of [keeps, drops]) {
      assert.is((await reaches(service, "ok")).header, "Online");
    }
    const before = await infoOf(keeps);
    await daemon.stop("SIGKILL");
    await reaches(keeps, "stale", "connection_refused");
    assert.is((await infoOf(keeps)).node_id, before.node_id);
    await reaches(drops, "unreachable", "connection_refused");
    assert.is((await infoOf(drops)).node_id, undefined);
    await bench.daemon(command, port);
    for (const service of [keeps, drops]) {
      await reaches(service, "ok");
      assert.is.not((await infoOf(service)).node_id, before.node_id);
    }
  }),
);

const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
testWhere(
  sees,
  without(ANVIL),
  "anvil is paused, continued, and then replaced by another chain",
  bench("anvil", async (bench) => {
    const port = await freePort();
    const command = (
      chain: string,
    ) => [ANVIL, "--port", String(port), "--chain-id", chain, "--silent"];
    const daemon = await bench.daemon(command("31337"), port);
    const service = await bench.service([daemon.url]);
    await reaches(service, "ok");
    daemon.signal("SIGSTOP");
    const { reason } = await reaches(service, "stale", "timeout");
    assert.match(String(reason), /within 2/);
    daemon.signal("SIGCONT");
    await reaches(service, "ok");
    await call(daemon.url, "anvil_mine", ["0x5"]);
    await until(async () => (await infoOf(service)).height === 5, PATIENCE);
    await daemon.stop("SIGKILL");
    await reaches(service, "stale", "connection_refused");
    await bench.daemon(command("7"), port);
    await until(async () => (await infoOf(service)).chain_id === "7", PATIENCE);
    const { height, status } = await infoOf(service);
    assert.equal([height, status], [0, "ok"]);
  }),
);

const FAKETIME = "/usr/bin/faketime";
testWhere(
  sees,
  without(LITECOIND, FAKETIME),
  "after litecoind is restarted with another clock, the info object still changes",
  bench("faketime", async (bench) => {
    const port = await freePort();
    const first = await bench.daemon([FAKETIME, "-f", "+3h", ...litecoind(port)], port);
    const service = await bench.service([first.url]);
    await reaches(service, "ok");
    await first.stop("SIGTERM");
    await reaches(service, "stale", "connection_refused");
    // litecoind runs for a while after faketime has exited, and removes its pid file last.
    const pid = join(bench.home, ".litecoin/regtest/bitcoind.pid");
    await until(() => Promise.resolve(!existsSync(pid)), PATIENCE);
    await bench.daemon(litecoind(port), port);
    await reaches(service, "ok");
    const { started_at } = await infoOf(service);
    assert.ok(Math.abs(Date.now() - Date.parse(started_at)) < 120_000);
  }),
);

sees.run();
