/**
 * Counts the queries to the node, while clients send requests to three services of one node behind
 * nginx, as `deploy/balancer.nginx.conf` has it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { type Running, start } from "../_server.ts";
import { until } from "../nodes/_daemon.ts";
import { type PlayedServer, serveFetch } from "../nodes/_played-server.ts";
import { play, RECORDINGS } from "../nodes/_recorded.ts";
import { EXECUTABLE, NOWHERE } from "./_executable.ts";
import { makeFolder } from "./_folder.ts";

const replicas = suite("three services behind nginx");

const NGINX = "/usr/sbin/nginx";
const missing = without(NGINX);
const folder = makeFolder();

/**
 * At least `VISITORS` requests are sent, `AT_A_TIME` concurrently, for at least `WHILE`
 * milliseconds.
 */
const VISITORS = 1000, AT_A_TIME = 25, WHILE = 3000;

const JSON_TYPE = { "content-type": "application/json" };

let node: PlayedServer;
let services: Running[];
let nginx: ChildProcess;
let port: number;
let asked: number[];

replicas.before(async () => {
  if (missing) return;
  asked = [];
  const anvil = play(RECORDINGS.get("anvil")!);
  node = await serveFetch((input, init) => {
    if (/eth_getBlockByNumber/.test(String(init?.body))) asked.push(performance.now());
    return anvil(input, init);
  });
  const config = join(folder, "nodeface.json");
  const settings = { hosts: ["node.example"], forward: "reads", node: { url: node.url } };
  writeFileSync(config, JSON.stringify(settings));
  const starts = [1, 2, 3].map(() => start([EXECUTABLE, "--config", config], {}, NOWHERE));
  services = await Promise.all(starts);
  port = await freePort();
  const ports: Record<string, number> = { 8000: port, 8001: await freePort() };
  for (const [at, { url }] of services.entries()) ports[8081 + at] = Number(new URL(url).port);
  const here = readFileSync(`${ROOT}deploy/balancer.nginx.conf`, "utf8")
    .replaceAll(/(?<=127\.0\.0\.1:)\d+/g, (port) => `${ports[port] ?? port}`);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  const temporary = places.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ");
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; pid ${folder}/nginx.pid; error_log stderr; worker_processes 1;
    events {} http { access_log off; add_header X-Service $upstream_addr; ${temporary} ${here} }`,
  );
  nginx = spawn(NGINX, ["-p", folder, "-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  await until(async () => (await get("/v1/info").catch(() => undefined))?.status === 200);
  for (const { url } of services) {
    await until(async () => {
      const spec = await (await fetch(new URL("spec.json", url))).json();
      return Object.keys(spec.paths).length > 2;
    });
  }
});

replicas.after(async () => {
  nginx?.kill("SIGTERM");
  for (const service of services ?? []) await service.stop();
  await node?.stop();
});

const get = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);

testWhere(
  replicas,
  missing,
  "a thousand clients cause at most one query per second from each service",
  async () => {
    asked.length = 0;
    const begun = performance.now();
    const served = new Map<string, number>();
    let visits = 0;
    const visit = async () => {
      while (visits++ < VISITORS || performance.now() - begun < WHILE) {
        const response = await get("/v1/info");
        assert.is(response.status, 200);
        assert.is((await response.json()).chain_id, "31337");
        const service = response.headers.get("x-service")!;
        served.set(service, (served.get(service) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, visit));
    const seconds = (performance.now() - begun) / 1000;
    console.log(`${visits} visitors in ${seconds.toFixed(1)} s, ${asked.length} queries`);
    assert.is(served.size, 3, "one service received no request");
    for (const count of served.values()) assert.ok(count > VISITORS / 6);
    assert.ok(asked.length >= 3, "nobody asked");
    assert.ok(asked.length <= 3 * (Math.floor(seconds) + 1), `${asked.length} queries`);
  },
);

testWhere(replicas, missing, "all services serve the same description and files", async () => {
  const tagOf = async ({ url }: Running) =>
    (await fetch(new URL("spec.json", url))).headers.get("etag");
  // While a service does not know the node's version, it queries the node again at each request.
  await until(async () => new Set(await Promise.all(services.map(tagOf))).size === 1);
  for (let i = 0; i < 6; i++) {
    const etag = (await get("/spec.json")).headers.get("etag")!;
    // nginx sends this conditional request to a different service than the first request.
    assert.is((await get("/spec.json", { headers: { "if-none-match": etag } })).status, 304);
  }
  const html = await (await get("/v1/spec")).text();
  const [, asset = ""] = /src="\.\.(\/assets\/[^"]+)"/.exec(html)!;
  for (let i = 0; i < 3; i++) assert.is((await get(asset)).status, 200);
});

testWhere(
  replicas,
  missing,
  "each service forwards calls, and clients do not notice when one stops",
  async () => {
    const call = () =>
      get("/v1/rpc/eth_chainId", { method: "POST", body: "{}", headers: JSON_TYPE });
    for (let i = 0; i < 6; i++) {
      const response = await call();
      assert.equal([response.status, await response.text()], [200, '"0x7a69"']);
    }
    await services.pop()!.stop();
    for (let i = 0; i < 12; i++) assert.is((await get("/v1/info")).status, 200);
  },
);

replicas.run();
