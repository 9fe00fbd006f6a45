import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { COMMANDS, run, type Running, start } from "../_server.ts";
import {
  assertQuick,
  call,
  type Daemon,
  describedBy,
  infoOf,
  startDaemon,
  until,
} from "./_daemon.ts";

const anvil = suite("anvil");

const PROGRAM = `${ROOT}tests/node_modules/.bin/anvil`;
let port: number;
let daemon: Daemon;
let service: Running;

const startAnvil = () => startDaemon([PROGRAM, "--port", String(port)], port);
const health = async () => (await fetch(new URL("v1/health", service.url))).status;

anvil.before(async () => {
  port = await freePort();
  daemon = await startAnvil();
  const file = join(await mkdtemp(join(tmpdir(), "nodeface-")), "nodeface.yaml");
  await writeFile(file, "info: { ttl: 200ms, stale: 10s }\n");
  service = await start([...COMMANDS.Node, daemon.url, "--config", file]);
});

anvil.after(async () => {
  await service?.stop();
  await daemon?.stop();
});

anvil("anvil is detected, and shown with the values that its own API reports", async () => {
  let { info } = await infoOf(service.url);
  await until(async () => (info = (await infoOf(service.url)).info).status === "ok");
  const client = await call(daemon.url, "web3_clientVersion");
  assert.is(`${info.software}/v${info.version}`, client);
  assert.is(info.chain_id, String(Number(await call(daemon.url, "eth_chainId"))));
  assert.is(info.height, Number(await call(daemon.url, "eth_blockNumber")));
  assert.is(info.synced, true);
  assert.is(info.status, "ok");
  assert.not("peers" in info, "net_peerCount fails on anvil");
  assert.is(info.api.software, "nodeface");
});

anvil("the methods of anvil are shown, and methods that sign are not read-only", async () => {
  const { paths } = await describedBy(service);
  const names = Object.keys(paths).filter((path) => /^\/v1\/rpc\/(eth|net|web3)_/.test(path));
  assert.ok(names.length >= 40, `${names.length} methods`);
  assert.is(paths["/v1/rpc/eth_chainId"].get["x-access"], "read");
  assert.is(paths["/v1/rpc/eth_sign"].get, undefined);
  assert.not.match(JSON.stringify(paths), new URL(daemon.url).host);
});

anvil("each new block appears in /v1/info, with a new ETag", async () => {
  const ask = async () => {
    const response = await fetch(new URL("v1/info", service.url));
    return { etag: response.headers.get("etag"), height: (await response.json()).height };
  };
  const validators = new Map<number, Set<string | null>>();
  const reached = (height: number) => async () => {
    const answer = await ask();
    validators.set(answer.height, (validators.get(answer.height) ?? new Set()).add(answer.etag));
    return answer.height === height;
  };
  const { height } = await ask();
  for (const blocks of [1, 2, 3]) {
    await call(daemon.url, "anvil_mine", ["0x1"]);
    await until(reached(height + blocks));
  }
  for (const [height, etags] of validators) assert.is(etags.size, 1, `height ${height}`);
  assert.is(new Set([...validators.values()].flatMap((etags) => [...etags])).size, validators.size);
});

anvil("if anvil is killed and restarted, the service notices it and always responds", async () => {
  const took: number[] = [];
  const statuses = new Set<string>();
  const seen = (status: string) => async () => {
    const answer = await infoOf(service.url);
    took.push(answer.took);
    statuses.add(answer.info.status);
    assert.is(answer.status, 200);
    assert.is("updated_at" in answer.info, answer.info.status === "stale");
    assert.is("height" in answer.info, answer.info.status !== "unreachable");
    return answer.info.status === status;
  };
  await until(async () => await health() === 200);
  // On a busy machine, the values may be old by the first request after the end.
  await until(seen("ok"));
  await daemon.stop("SIGKILL");
  await until(seen("stale"));
  assert.is(await health(), 503);
  await until(seen("unreachable"));
  assert.is(await health(), 503);
  daemon = await startAnvil();
  await until(seen("ok"));
  await until(async () => await health() === 200);
  assert.equal([...statuses].sort(), ["ok", "stale", "unreachable"]);
  assertQuick(took, 2000);
});

anvil("nodeface check reports anvil and exits with 0", async () => {
  const { code, stdout } = await run([...COMMANDS.Node, "check", daemon.url]);
  assert.is(code, 0);
  assert.match(stdout, /^SOURCE +ASKS +TOOK +GAVE$/m);
  assert.match(stdout, /^chain +eth_chainId +\d+ ms +"0x7a69"$/m);
  assert.match(stdout, /"chain_id": "31337"/);
});

anvil("a change of the status is logged once, not once per request", async () => {
  const { stderr } = await service.stop();
  const states = [...stderr.matchAll(/^.* is ((?:still )?\w+(?: again)?)\b.*$/gm)]
    .map(([, state = ""]) => state)
    .filter((state) => /^(still |stale|unreachable|degraded|ok)/.test(state));
  assert.ok(states.every((state, at) => state !== states[at - 1]), stderr);
  // On a busy machine, more changes may come before and between these.
  const expected = ["stale", "unreachable", "ok again"];
  const inOrder = states.reduce((found, state) => found + Number(state === expected[found]), 0);
  assert.is(inOrder, expected.length, stderr);
  assert.is(stderr.split("is of the kind ethereum").length, 2, stderr);
});

anvil.run();
