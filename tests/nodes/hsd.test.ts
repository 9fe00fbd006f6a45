import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { COMMANDS, type Running, start } from "../_server.ts";
import { call, type Daemon, describedBy, infoOf, startDaemon, until } from "./_daemon.ts";

const hsd = suite("hsd");

let daemon: Daemon;
let service: Running;

hsd.before(async () => {
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), "nodeface-hsd-"));
  const flags = ["--network=regtest", "--memory=true", "--no-dns", "--no-wallet", "--listen=false"];
  const preload = ["--require", `${ROOT}tests/nodes/_without-leveldb.cjs`];
  const program = [process.execPath, ...preload, `${ROOT}tests/node_modules/hsd/bin/node`];
  const env = { HOME: home, NODE_BACKEND: "js" };
  daemon = await startDaemon([...program, ...flags, `--http-port=${port}`], port, env);
  service = await start([...COMMANDS.Node, daemon.url]);
});

hsd.after(async () => {
  await service?.stop();
  await daemon?.stop("SIGKILL");
});

hsd("hsd is detected, and shown with the values that its own API reports", async () => {
  let { info } = await infoOf(service.url);
  await until(async () => (info = (await infoOf(service.url)).info).status === "ok");
  const net = await call(daemon.url, "getnetworkinfo");
  const chain = await call(daemon.url, "getblockchaininfo");
  assert.is(`/${info.software}:${info.version}/`, net.subversion);
  assert.is(info.network, chain.chain);
  assert.is(info.height, chain.blocks);
  assert.is(info.peers, net.connections);
  assert.ok(Date.now() - Date.parse(info.started_at) < 60_000);
  assert.is(info.progress, chain.verificationprogress);
  // The last block of the node's chain is years old, but nobody else makes blocks on regtest.
  assert.equal([info.status, info.synced], ["ok", true]);
});

hsd("the paths and methods of hsd are shown, with different servers", async () => {
  const { paths, servers } = await describedBy(service);
  assert.equal(servers, [{ url: "./v1/node" }]);
  const methods = Object.keys(paths).filter((path) => path.startsWith("/v1/rpc/"));
  assert.ok(methods.length >= 70, `${methods.length} methods`);
  for (const path of methods) assert.equal(paths[path].servers, [{ url: "." }]);
  for (const path of ["/", "/coin/address/{address}", "/block/{block}", "/mempool", "/reset"]) {
    assert.ok(paths[path], path);
  }
  assert.is(paths["/reset"].post["x-access"], "write");
});

hsd.run();
