import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { formatJson } from "../../src/json/lossless.ts";
import type { JsonObject } from "../../src/json/values.ts";
import { playNode, REST } from "../_gateway.ts";
import { infoOf, until } from "../nodes/_daemon.ts";
import { play, RECORDINGS } from "../nodes/_recorded.ts";
import { serveFetch } from "../nodes/_played-server.ts";
import { readMetrics } from "../_metrics.ts";
import { COMMANDS, run, start } from "../_server.ts";
import { DELAYS_MS, hangUpAfter } from "./_hang-up.ts";

const command = suite("the command with a node");

const nodeface = (...args: string[]) => run([...COMMANDS.Node, ...args]);
const folder = await mkdtemp(join(tmpdir(), "nodeface-"));
command.after(() => rm(folder, { recursive: true }));

command(
  "check says why the node does not respond, and exits with 1",
  async () => {
    const { code, stdout } = await nodeface(
      "check",
      "http://127.0.0.1:9",
      "--kind",
      "etcd",
    );
    assert.is(code, 1);
    assert.match(stdout, /^version +GET \/version +\d+ ms +failed: /m);
    assert.match(stdout, '"status": "unreachable"');
  },
);

command(
  "check shows values from files and programs, and exits with 0 if there is no error",
  async () => {
    const file = join(folder, "build.json");
    await writeFile(file, '{ "version": "1.10" }');
    const config = join(folder, "check.yaml");
    await writeFile(
      config,
      JSON.stringify({
        info: {
          sources: {
            build: { file },
            run: { command: ["echo", "7"] },
          },
          fields: { version: "build#/version", height: "run#" },
        },
      }),
    );
    const { code, stdout } = await nodeface("check", "--config", config);
    assert.is(code, 0);
    assert.match(stdout, '"version": "1.10"');
    assert.match(stdout, '"height": 7');
  },
);

command("a reload that takes the node away is refused, and the metrics say so", async () => {
  const config = join(folder, "without-node.yaml");
  const content = JSON.stringify({
    node: { url: "http://127.0.0.1:9", kind: "none" },
    metrics: true,
  });
  await writeFile(config, content);
  const service = await start([...COMMANDS.Node, "--config", config]);
  const metric = async (name: string) => {
    const text = await (await fetch(new URL("v1/metrics", service.url))).text();
    return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
  };
  const read = await metric("nodeface_config_reload_success_timestamp_seconds");
  assert.ok(Math.abs(read - Date.now() / 1000) < 60);
  for (const broken of ["", "metrics: true\n", "node: [\n"]) {
    await writeFile(config, broken);
    const { length } = service.stderr();
    process.kill(service.pid, "SIGHUP");
    await until(() => Promise.resolve(service.stderr().slice(length).includes("stays as it was")));
    assert.is(await metric("nodeface_config_reload_success"), 0);
    assert.is(await metric("nodeface_config_reload_success_timestamp_seconds"), read);
    assert.is(await metric("nodeface_node_configured"), 1);
  }
  assert.match(service.stderr(), /no node is configured; name one/);
  const { code, stdout, stderr } = await nodeface("check", "--offline", "--config", config);
  assert.equal([code, stdout], [1, ""]);
  assert.match(stderr, "without-node.yaml");
  await writeFile(config, content);
  process.kill(service.pid, "SIGHUP");
  await until(() => Promise.resolve(service.stderr().includes("has been read again")));
  assert.is(await metric("nodeface_config_reload_success"), 1);
  assert.ok(await metric("nodeface_config_reload_success_timestamp_seconds") > read);
  const well = await nodeface("check", "--offline", "--config", config);
  assert.equal([well.code, well.stdout], [0, "The configuration has no errors\n"]);
  await writeFile(config, "");
  assert.is((await nodeface("check", "--offline", "--config", config)).code, 1);
  await service.stop();
});

command("a reload ends the right of a removed client before the description is read", async () => {
  const node = await playNode();
  let isHanging = false, isGivenUp = false;
  const descriptions = createServer((_, response) => {
    if (!isHanging) return response.end(formatJson(REST));
    response.once("close", () => isGivenUp = true);
  }).listen(0, "127.0.0.1");
  await once(descriptions, "listening");
  const { port } = descriptions.address() as AddressInfo;
  const [config, file] = [join(folder, "clients.yaml"), join(folder, "client.token")];
  const token = "a".repeat(32);
  await writeFile(file, token);
  const write = (clients: object[]) =>
    writeFile(
      config,
      JSON.stringify({
        node: { url: node.url, kind: "none" },
        description: `http://127.0.0.1:${port}/openapi.json`,
        forward: { clients },
      }),
    );
  await write([{ name: "app", token_file: file, allow: ["POST /send"] }]);
  const service = await start([...COMMANDS.Node, "--config", config]);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const send = async () =>
    (await fetch(`${service.url}v1/node/send`, { method: "POST", headers, body: "{}" })).status;
  await until(async () => await send() === 200);
  isHanging = true;
  await write([]);
  process.kill(service.pid, "SIGHUP");
  await until(async () => await send() === 401);
  assert.is(isGivenUp, false);
  descriptions.closeAllConnections();
  descriptions.close();
  await service.stop();
  await node.close();
});

command("another place of a value in the settings is no other chain", async () => {
  const config = join(folder, "networks.yaml");
  const node = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
  await once(node, "listening");
  const { port } = node.address() as AddressInfo;
  const write = (info: object) =>
    writeFile(
      config,
      JSON.stringify({
        node: { url: `http://127.0.0.1:${port}`, kind: "none" },
        info,
        metrics: true,
      }),
    );
  const read = (file: string) => ({
    sources: { place: { file } },
    fields: { network: "place#" },
  });
  for (const name of ["c", "d"]) await writeFile(join(folder, name), name);
  await write({ static: { network: "a" } });
  const service = await start([...COMMANDS.Node, "--config", config]);
  const get = async (path: string) => await (await fetch(new URL(path, service.url))).text();
  const isIn = (network: string) =>
    until(async () => (await get("v1/info")).includes(`"network": "${network}"`));
  await isIn("a");
  const others = { b: { static: { network: "b" } }, c: read("c"), d: read("d") };
  for (const [network, info] of Object.entries(others)) {
    await write(info);
    process.kill(service.pid, "SIGHUP");
    await isIn(network);
  }
  assert.match(await get("v1/metrics"), "nodeface_node_identity_changes_total 0");
  const { stderr } = await service.stop();
  assert.not.match(stderr, "another chain");
  node.close();
});

command(
  "SIGHUP reloads the configuration, but an invalid one does not replace the current one",
  async () => {
    const config = join(folder, "reload.yaml");
    const write = (name: string) => writeFile(config, `info: { static: { name: ${name} } }\n`);
    await write("first");
    const service = await start([...COMMANDS.Node, "--config", config]);
    const name = async () => (await infoOf(service.url)).info.name;
    assert.is(await name(), "first");
    const looser = `kinds:
  - name: loose
    extends: etcd
    loosen: [put]
    openapi:
      paths:
        /v3/kv/put:
          post: { operationId: put, summary: Put, responses: { 200: { description: Done } }, x-access: read }
`;
    await writeFile(config, `info: { static: { name: second } }\n${looser}`);
    process.kill(service.pid, "SIGHUP");
    await until(async () => await name() === "second");
    const warning = 'put is marked "read", but the known kind marks such calls as write';
    await until(() => Promise.resolve(service.stderr().includes(warning)));
    await writeFile(config, "info: { statics: {} }\n");
    process.kill(service.pid, "SIGHUP");
    await until(
      () => Promise.resolve(service.stderr().includes("stays as it was")),
    );
    assert.is(await name(), "second");
    const { code, stderr } = await service.stop();
    assert.is(code, 0);
    assert.match(stderr, "reload.yaml:1:9: info.statics is an unknown key");
  },
);

if (process.platform === "linux") {
  // `hang-up.slow.ts` tries all delays many times.
  for (const delay of DELAYS_MS.filter((_, at) => at % 2 === 0)) {
    command(`a SIGHUP ${delay} ms after it can be caught is not lost`, async () => {
      await hangUpAfter(delay, folder);
    });
  }
}

async function clientStatus(url: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await fetch(`${url}v1/clients/self`, { headers })).status;
}

command(
  "if the file of the description is invalid at SIGHUP, the previous one stays",
  async () => {
    const [spec, other] = ["spec.yaml", "other.yaml"].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    await writeFile(spec, 'openapi: 3.1.1\ninfo: { title: Good, version: "1" }\npaths: {}\n');
    await writeFile(other, "openapi: [\n");
    const config = join(folder, "described.yaml");
    const token = "0123456789abcdef".repeat(4);
    await writeFile(join(folder, "a.token"), token, { mode: 0o600 });
    const client = "forward: { clients: [{ name: a, token_file: a.token, allow: [reads] }] }\n";
    await writeFile(config, `description: spec.yaml\nnode: { url: "http://[::1]:1" }\n${client}`);
    const service = await start([...COMMANDS.Node, "--config", config]);
    const described = async () => await (await fetch(`${service.url}spec.json`)).text();
    const statusOfClient = () => clientStatus(service.url, token);
    assert.match(await described(), '"Good"');
    assert.is(await statusOfClient(), 200);
    await writeFile(spec, "openapi: [\n");
    await writeFile(config, 'description: spec.yaml\nnode: { url: "http://[::1]:1" }\n');
    process.kill(service.pid, "SIGHUP");
    await until(() => Promise.resolve(service.stderr().includes("has been read again")));
    assert.match(await described(), '"Good"');
    assert.match(service.stderr(), "spec.yaml:");
    assert.is.not(await statusOfClient(), 200);
    await writeFile(config, 'description: other.yaml\nnode: { url: "http://[::1]:1" }\n');
    process.kill(service.pid, "SIGHUP");
    await until(async () => !(await described()).includes('"Good"'));
    await service.stop();
  },
);

command(
  "while the node's description is invalid, each reload completes, and it is logged once",
  async () => {
    const GOOD = '{ "openapi": "3.1.1", "info": { "title": "Good", "version": "1" }, "paths": {} }';
    const TOKEN = "0123456789abcdef".repeat(4);
    let isBroken = false;
    const cut: string[] = [];
    const node = createServer((request, response) => {
      const { method, url } = request;
      if (url === "/spec.json") return response.end(isBroken ? "{ nonsense" : GOOD);
      // The service that is replaced does not wait for what it asked of the node.
      response.on("close", () => response.writableEnded || cut.push(`${method} ${url}`));
      if (!isBroken) response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(node, "listening");
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const config = join(folder, "broken.json");
    const about = { url, kind: "etcd", timeout: "10s" };
    const clientOf = async (name: string, token: string) => {
      await writeFile(join(folder, `${name}.token`), token, { mode: 0o600 });
      return { name, token_file: `${name}.token`, allow: ["reads"] };
    };
    const wallet = await clientOf("wallet", TOKEN);
    const other = await clientOf("other", TOKEN.toUpperCase());
    const write = (clients: readonly object[]) =>
      writeFile(
        config,
        JSON.stringify({ description: `${url}/spec.json`, node: about, forward: { clients } }),
      );
    await write([wallet, other]);
    const service = await start([...COMMANDS.Node, "--config", config]);
    const described = async () => await (await fetch(`${service.url}spec.json`)).text();
    const statusOfClient = () => clientStatus(service.url, TOKEN);
    assert.match(await described(), '"Good"');
    assert.is(await statusOfClient(), 200);
    isBroken = true;
    await write([other]);
    const count = (text: string) => service.stderr().split(text).length - 1;
    for (let tries = 1; tries <= 3; tries++) {
      process.kill(service.pid, "SIGHUP");
      await until(() => Promise.resolve(count("has been read again") === tries));
      assert.match(await described(), '"Good"');
      assert.is(await statusOfClient(), 401);
    }
    assert.is(count("spec.json:1:3"), 1, service.stderr());
    await until(() => Promise.resolve(cut.length >= 3));
    await service.stop();
    node.closeAllConnections();
    node.close();
  },
);

command("a removed client's calls end, even those that began two configurations ago", async () => {
  const held: string[] = [];
  const node = createServer((request, response) => {
    if (request.url!.includes("hold")) return held.push(request.url!);
    response.end("{}");
  }).listen(0, "127.0.0.1");
  await once(node, "listening");
  const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
  const token = "0123456789abcdef".repeat(4);
  await writeFile(join(folder, "held.token"), token, { mode: 0o600 });
  const config = join(folder, "held.json");
  const client = { name: "app", token_file: "held.token", allow: ["reads"] };
  const write = (name: string, clients: readonly object[]) =>
    writeFile(
      config,
      JSON.stringify({
        node: { url, kind: "etcd" },
        info: { static: { name } },
        forward: { open: [], clients },
      }),
    );
  await write("first", [client]);
  const service = await start([...COMMANDS.Node, "--config", config]);
  const headers = { authorization: `Bearer ${token}` };
  const call = fetch(`${service.url}v1/node/version?hold`, { headers });
  await until(() => Promise.resolve(held.length === 1));
  for (const [name, clients] of [["second", [client]], ["third", []]] as const) {
    await write(name, clients);
    process.kill(service.pid, "SIGHUP");
    await until(async () => (await infoOf(service.url)).info.name === name);
  }
  assert.is((await call).status, 401);
  await service.stop();
  node.closeAllConnections();
  node.close();
});

command(
  "while the node is away, a reload is accepted even if its kind was detected",
  async () => {
    const answer = play(RECORDINGS.get("etcd")!);
    const node = await serveFetch(answer);
    const config = join(folder, "away.yaml");
    const write = (name: string) =>
      writeFile(config, JSON.stringify({ node: { url: node.url }, info: { static: { name } } }));
    await write("first");
    const service = await start([...COMMANDS.Node, "--config", config]);
    const described = async () => await (await fetch(new URL("spec.json", service.url))).text();
    await until(async () => (await described()).includes("/v3/kv/range"));
    await node[Symbol.asyncDispose]();
    await write("second");
    process.kill(service.pid, "SIGHUP");
    await until(async () => (await infoOf(service.url)).info.name === "second");
    assert.not.match((await service.stop()).stderr, "stays as it was");
  },
);

command("a configuration that is missing at SIGHUP is not one without settings", async () => {
  const cwd = await mkdtemp(join(folder, "missing-"));
  const config = join(cwd, "nodeface.yaml");
  await writeFile(config, "info: { static: { name: mine } }\n");
  const [program, ...args] = COMMANDS.Node;
  const url = "http://127.0.0.1:9";
  const service = await start([program!, ...args, url, "--kind", "none"], {}, { cwd });
  await rm(config);
  process.kill(service.pid, "SIGHUP");
  await until(() => Promise.resolve(service.stderr().includes("nodeface.yaml: no such file")));
  assert.is((await infoOf(service.url)).info.name, "mine");
  await service.stop();
});

command(
  "after two SIGHUPs, the second configuration is used, even if the first takes longer to load",
  async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => release = resolve);
    const asked: string[] = [];
    const slow = createServer(async (request, response) => {
      asked.push(request.url!);
      await held;
      response.end(
        '{ "openapi": "3.1.1", "info": { "title": "Slow", "version": "1" }, "paths": {} }',
      );
    }).listen(0, "127.0.0.1");
    await once(slow, "listening");
    const { port } = slow.address() as AddressInfo;
    const config = join(folder, "twice.yaml");
    const write = (name: string, description: string) =>
      writeFile(
        config,
        `{ info: { static: { name: ${name} } }, description: ${description} }\n`,
      );
    await write("first", "none");
    const service = await start([...COMMANDS.Node, "--config", config]);
    await write("second", `http://127.0.0.1:${port}/spec.json`);
    process.kill(service.pid, "SIGHUP");
    await until(() => Promise.resolve(asked.length > 0));
    await write("third", "none");
    process.kill(service.pid, "SIGHUP");
    release();
    const read = () => service.stderr().match(/has been read again/g)?.length === 2;
    await until(() => Promise.resolve(read()));
    assert.is((await infoOf(service.url)).info.name, "third");
    await service.stop();
    slow.close();
  },
);

command(
  "SIGHUP keeps the history and the last known values if the node is still the same",
  async () => {
    const node = createServer((_, response) => response.end('{ "height": 7 }'))
      .listen(0, "127.0.0.1");
    await once(node, "listening");
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const config = join(folder, "kept.json");
    const write = (name: string, hide: readonly string[] = []) => {
      const asked = { sources: { a: { get: "/a" } }, fields: { height: "a#/height" } };
      const info = { stale: "0s", static: { name }, hide, ...asked };
      return writeFile(config, JSON.stringify({ node: { url, kind: "none" }, info }));
    };
    await write("first");
    const service = await start([...COMMANDS.Node, "--config", config]);
    const reload = async (name: string) => {
      process.kill(service.pid, "SIGHUP");
      await until(async () => (await infoOf(service.url)).info.name === name);
      return (await infoOf(service.url)).info;
    };
    const sampledAt = async () => {
      const { at } = await (await fetch(new URL("v1/history", service.url))).json() as JsonObject;
      return (at as string[])[0];
    };
    await until(async () => (await infoOf(service.url)).info.height === 7);
    const first = await sampledAt();
    node.closeAllConnections();
    node.close();
    await write("second");
    const { status, last_seen } = await reload("second");
    assert.equal([status, (last_seen as JsonObject).height], ["unreachable", 7]);
    assert.is(await sampledAt(), first);
    // The service forgets the last known value of a key that the new configuration hides.
    await write("third", ["height"]);
    assert.is((await reload("third")).last_seen, undefined);
    await service.stop();
  },
);

command(
  "--access-log writes each request to standard output, without the query string",
  async () => {
    const service = await start([...COMMANDS.Node, "--access-log", "json"]);
    await fetch(new URL("v1/health?token=hunter2", service.url));
    const { stdout } = await service.stop();
    const { method, path, status } = JSON.parse(stdout);
    assert.equal([method, path, status], ["GET", "/v1/health", 200]);
    assert.not.match(stdout, "hunter2");
  },
);

command(
  "counters keep their values in a reload, and count only requests from clients",
  async () => {
    const config = join(folder, "counted.yaml");
    const write = (name: string) =>
      writeFile(
        config,
        `{ metrics: true, node: { url: "http://127.0.0.1:9" }, info: { static: { name: ${name} } } }\n`,
      );
    await write("first");
    const service = await start([...COMMANDS.Node, "--config", config]);
    const counted = async (route: string) =>
      readMetrics(await (await fetch(`${service.url}v1/metrics`)).text())
        .get(`nodeface_requests_total{route="${route}",status="200"}`);
    assert.is(await counted("/v1/metrics"), undefined);
    assert.is(await counted("/v1/info"), undefined);
    await fetch(`${service.url}v1/ready`);
    const events = (await fetch(`${service.url}v1/events`)).body!.getReader();
    await events.read();
    await events.cancel();
    const sent = async () =>
      Number(
        readMetrics(await (await fetch(`${service.url}v1/metrics`)).text())
          .get("nodeface_events_sent_total"),
      );
    const sentBefore = await sent();
    assert.ok(sentBefore > 0);
    await write("second");
    process.kill(service.pid, "SIGHUP");
    await until(async () => (await infoOf(service.url)).info.name === "second");
    assert.is(await counted("/v1/ready"), "1");
    assert.is(await sent(), sentBefore);
    assert.is(await counted("/v1/metrics"), "5");
    await service.stop();
  },
);

command("calls run on in a reload, unless what everybody may call has changed", async () => {
  const node = await playNode();
  const config = join(folder, "calls.yaml");
  await writeFile(join(folder, "calls.json"), formatJson(REST));
  const write = (name: string, open: readonly string[]) =>
    writeFile(
      config,
      JSON.stringify({
        node: { url: node.url, kind: "none" },
        info: { static: { name } },
        description: "calls.json",
        metrics: true,
        forward: { open, concurrency: 1 },
      }),
    );
  await write("first", ["GET /open"]);
  const service = await start([...COMMANDS.Node, "--config", config]);
  const held: ServerResponse[] = [];
  node.answer = (_, response) => void held.push(response);
  const call = async () => (await fetch(`${service.url}open`)).status;
  const reload = async (name: string, open: readonly string[]) => {
    await write(name, open);
    const { length } = service.stderr();
    process.kill(service.pid, "SIGHUP");
    await until(() => Promise.resolve(service.stderr().slice(length).includes("has been read")));
  };
  const isWaiting = async () =>
    readMetrics(await (await fetch(`${service.url}v1/metrics`)).text())
      .get("nodeface_queue_length") === "1";
  const running = call();
  await until(() => Promise.resolve(held.length === 1));
  const waiting = call();
  await until(isWaiting);
  await reload("second", ["GET /open"]);
  held[0]!.end("{}");
  assert.is(await running, 200);
  await until(() => Promise.resolve(held.length === 2));
  const later = call();
  await until(() => Promise.resolve(held.length === 3));
  const refused = call();
  await until(isWaiting);
  await reload("third", ["GET /balance"]);
  assert.is(await refused, 503);
  for (const response of held) response.end("{}");
  assert.equal(await Promise.all([waiting, later]), [200, 200]);
  await service.stop();
  await node.close();
});

command(
  "a health check that waits for the node during a reload gets the node's status",
  async () => {
    const held: ServerResponse[] = [];
    let isHeld = true;
    const node = createServer((_, response) => {
      if (isHeld) held.push(response);
      else response.end("7");
    }).listen(0, "127.0.0.1");
    await once(node, "listening");
    const url = `http://127.0.0.1:${(node.address() as AddressInfo).port}`;
    const config = join(folder, "checked.json");
    const write = (open: readonly string[]) => {
      const info = { sources: { a: { get: "/a" } }, fields: { height: "a#" } };
      const about = { url, kind: "none", timeout: "10s" };
      return writeFile(config, JSON.stringify({ node: about, info, forward: { open } }));
    };
    await write(["reads"]);
    const service = await start([...COMMANDS.Node, "--config", config]);
    const check = fetch(`${service.url}v1/health`);
    await until(() => Promise.resolve(held.length > 0));
    isHeld = false;
    // Calls that the previous service has begun end with it, but checks do not.
    await write(["*"]);
    process.kill(service.pid, "SIGHUP");
    await until(() => Promise.resolve(service.stderr().includes("has been read again")));
    for (const response of held) response.end("7");
    assert.is((await check).status, 200);
    await service.stop();
    node.closeAllConnections();
    node.close();
  },
);

command.run();
