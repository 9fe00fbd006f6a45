/**
 * Clients with a name beside a real anvil and a real litecoind: third-party clients with a token
 * each, exact counts of 64 clients, and no token in anything that the service says. `node
 * tests/gateway/setup.mjs` installs the clients, and `npm run build:exe` builds the executable.
 * `RUNTIMES='Node|Deno'` selects by name.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { playNode, result, textOf, until } from "../_gateway.ts";
import { testWhere, without } from "../_needs.ts";
import { COMMANDS, run, start } from "../_server.ts";
import { resultOf } from "../nodes/_calls.ts";
import type { AskedNode } from "../nodes/_interface.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { EXECUTABLE, installed } from "./_beside.ts";
import { TOKENED } from "./_clients.mjs";

const named = suite("clients with a name beside a real node");

const LITECOIN_CLI = "/usr/bin/litecoin-cli";
const NAMES_MAX = 64, SINGLES = 200, BATCHES = 8, BATCH = 100;
/** The machine may be busy. */
const NOISE_MS = 300;
/** The refusal of a write, which the node may go on with. */
const ENDED =
  /^200 .*"code":-32050,"message":"The client's token is not valid any more; the call may/;
const CALLS = SINGLES + BATCHES * BATCH;

const tokenOf = (name: string): string =>
  Buffer.from(name.padEnd(32, "x")).toString("hex").slice(0, 64);

/** Runs `litecoin-cli` with the token of a client as its password. */
function litecoin(url: string, client: string, ...words: string[]) {
  const { hostname, port } = new URL(url);
  return run([
    LITECOIN_CLI,
    "-regtest",
    `-rpcconnect=${hostname}`,
    `-rpcport=${port}`,
    "-rpcuser=anybody",
    `-rpcpassword=${tokenOf(client)}`,
    ...words,
  ]);
}

interface ClientOf {
  readonly name: string;
  readonly allow: readonly string[];
}

async function beside(
  { url, auth }: Pick<AskedNode, "url" | "auth">,
  kind: string,
  command: readonly string[],
  clients: readonly ClientOf[],
) {
  const folder = await mkdtemp(join(tmpdir(), "nodeface-named-"));
  for (const { name } of clients) await writeFile(join(folder, name), tokenOf(name));
  const config = {
    node: { url, kind, ask_methods: false, ...auth && { auth } },
    forward: { clients: clients.map((client) => ({ ...client, token_file: client.name })) },
    metrics: true,
    log_calls: "all",
    access_log: "json",
  };
  const file = join(folder, "nodeface.json");
  await writeFile(file, JSON.stringify(config));
  const service = await start([...command, "--config", file]);
  // On a busy machine, a call gets 503 until the operations of the kind have been read.
  await until(async () =>
    (await (await fetch(`${service.url}spec.json`)).text()).includes('"x-access"')
  );
  return {
    url: service.url,
    folder,
    /** Reads a configuration again whose clients are these. */
    async reload(next: readonly ClientOf[]) {
      const clients = next.map((client) => ({ ...client, token_file: client.name }));
      await writeFile(file, JSON.stringify({ ...config, forward: { clients } }));
      process.kill(service.pid, "SIGHUP");
    },
    metrics: async () => await (await fetch(`${service.url}v1/metrics`)).text(),
    async stop() {
      const ended = await service.stop();
      await rm(folder, { recursive: true, force: true });
      return ended;
    },
  };
}

/** Returns the sum of calls by client. */
function countsIn(metrics: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (
    const [, name, count] of metrics.matchAll(
      /^nodeface_calls_total\{.*client="([^"]*)"\} (\d+)$/gm,
    )
  ) counts[name!] = (counts[name!] ?? 0) + Number(count);
  return counts;
}

const PATHS = [
  "v1/info",
  "v1/health",
  "v1/ready",
  "v1/history",
  "v1/metrics",
  "v1/spec",
  "v1/spec/simple",
  "v1/spec/reference",
  "spec.json",
  "spec.yaml",
  "v1/clients/self",
  "v1/nothing",
];

/** Asks for everything with the token of each client, and with one that is nobody's. */
async function everythingSaid(url: string, names: readonly string[]): Promise<string> {
  const texts: string[] = [];
  for (const token of [...names.map(tokenOf), tokenOf("nobody")]) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    for (const path of PATHS) texts.push(await (await fetch(url + path, { headers })).text());
    const bodies = ["{", '{"id":1,"jsonrpc":"2.0","method":"nothing"}', `[${"1,".repeat(9)}1]`];
    for (const body of bodies) {
      const init = { method: "POST", headers, body };
      for (const path of ["", "v1/rpc"]) {
        const response = await fetch(url + path, init);
        texts.push(JSON.stringify([...response.headers]), await response.text());
      }
    }
    const sent = await fetch(`${url}v1/rpc/eth_chainId?token=a`, { headers });
    texts.push(await sent.text());
  }
  const events = await fetch(`${url}v1/events`);
  const reader = events.body!.getReader();
  texts.push(new TextDecoder().decode((await reader.read()).value));
  await reader.cancel();
  return texts.join("\n");
}

function assertWithoutTokens(text: string, names: readonly string[]): void {
  for (const name of names) {
    const token = tokenOf(name);
    for (const form of [token, btoa(token), btoa(`any:${token}`), token.slice(0, 40)]) {
      assert.not(text.includes(form), `the token of ${name}`);
    }
  }
}

const SERVICES: ReadonlyMap<string, readonly string[]> = new Map([
  ...Object.entries(COMMANDS),
  ["the executable", [EXECUTABLE]],
]);
const { RUNTIMES = "" } = process.env;

for (const [runtime, command] of SERVICES) {
  if (!new RegExp(RUNTIMES).test(runtime)) continue;
  const missing = (...programs: string[]) =>
    without(...programs, ...command[0] === EXECUTABLE ? [EXECUTABLE] : []);
  testWhere(
    named,
    missing(...Object.keys(TOKENED).map(installed)),
    `${
      Object.keys(TOKENED).join(" and ")
    } read and send beside anvil, each with a token, on ${runtime}`,
    async () => {
      const names = Object.keys(TOKENED);
      const allow = ["reads", "eth_sendTransaction"];
      const node = await PROGRAMS.ethereum!.start();
      const service = await beside(node, "ethereum", command, [
        ...names.map((name) => ({ name, allow })),
        { name: "reader", allow: ["reads"] },
      ]);
      const address = String(node.known.address);
      const nonce = async () =>
        Number(await resultOf(node.call!, "eth_getTransactionCount", [address, "latest"]));
      try {
        for (const [name, use] of Object.entries(TOKENED)) {
          const before = await nonce();
          const { number, hash } = await use(service.url, tokenOf(name), address);
          // Anvil responds before it has mined the block.
          await until(async () => await nonce() > before);
          assert.is(number, BigInt(await resultOf<string>(node.call!, "eth_blockNumber", [])) - 1n);
          assert.match(hash, /^0x[0-9a-f]{64}$/);
          assert.is(await nonce(), before + 1);
          for (const wrong of [tokenOf("reader"), tokenOf("nobody")]) {
            const refused = await use(service.url, wrong, address).then(() => "", String);
            assert.not.equal(refused, "");
            assertWithoutTokens(refused, [...names, "reader"]);
          }
          assert.is(await nonce(), before + 1);
        }
        const said = await everythingSaid(service.url, names);
        const counts = countsIn(await service.metrics());
        const { stdout, stderr } = await service.stop();
        for (const name of names) {
          const lines = stderr.match(new RegExp(` 200 ${name} \\d+ ms`, "g")) ?? [];
          assert.is(lines.length, counts[name]);
        }
        assertWithoutTokens(said + stdout + stderr, [...names, "reader", "nobody"]);
      } finally {
        await service.stop();
        await node.stop?.();
      }
    },
  );
  testWhere(
    named,
    missing(LITECOIN_CLI, PROGRAMS.bitcoin!.path),
    `litecoin-cli reads and mines beside litecoind with a token as its password, on ${runtime}`,
    async () => {
      const node = await PROGRAMS.bitcoin!.start();
      const service = await beside(node, "bitcoin", command, [
        { name: "miner", allow: ["reads", "generatetoaddress"] },
        { name: "reader", allow: ["reads"] },
      ]);
      const cli = (client: string, ...words: string[]) => litecoin(service.url, client, ...words);
      const mine = ["generatetoaddress", "1", String(node.known.address)];
      try {
        const { stdout: count } = await cli("miner", "getblockcount");
        assert.is((await cli("reader", "getblockcount")).stdout, count);
        assert.is((await cli("miner", ...mine)).code, 0);
        const { stdout: more } = await cli("miner", "getblockcount");
        assert.is(Number(more), Number(count) + 1);
        const said: string[] = [];
        for (const name of ["reader", "nobody"]) {
          const { code, stderr } = await cli(name, ...mine);
          assert.is.not(code, 0);
          said.push(stderr);
        }
        assert.is((await cli("miner", "getblockcount")).stdout, more);
        assert.equal(countsIn(await service.metrics()), { miner: 4, reader: 1 });
        const { stdout, stderr } = await service.stop();
        assertWithoutTokens(said.join() + stdout + stderr, ["miner", "reader", "nobody"]);
      } finally {
        await service.stop();
        await node.stop?.();
      }
    },
  );
  testWhere(
    named,
    missing(LITECOIN_CLI, PROGRAMS.bitcoin!.path),
    `litecoin-cli reaches the wallets that its client may call, and no other one, on ${runtime}`,
    async () => {
      const node = await PROGRAMS.bitcoin!.start();
      for (const name of ["hot", "cold"]) await resultOf(node.call!, "createwallet", [name]);
      const methods = ["getwalletinfo", "getnewaddress"];
      const service = await beside(node, "bitcoin", command, [
        { name: "hot", allow: ["reads", ...methods.map((method) => `/wallet/hot ${method}`)] },
        { name: "elsewhere", allow: ["reads", ...methods] },
      ]);
      const cli = (client: string, wallet: string, ...words: string[]) =>
        litecoin(service.url, client, `-rpcwallet=${wallet}`, ...words);
      try {
        const { stdout, stderr } = await cli("hot", "hot", "getwalletinfo");
        assert.is(JSON.parse(stdout).walletname, "hot", stderr);
        assert.is((await cli("hot", "hot", "getnewaddress")).code, 0);
        assert.match((await cli("hot", "hot", "getblockcount")).stdout, /^\d+\s*$/);
        for (
          const [client, wallet] of [["hot", "cold"], ["elsewhere", "hot"], ["elsewhere", "cold"]]
        ) {
          const refused = await cli(client!, wallet!, "getwalletinfo");
          assert.is.not(refused.code, 0);
          assert.match(refused.stderr, `/wallet/${wallet} getwalletinfo`);
        }
      } finally {
        await service.stop();
        await node.stop?.();
      }
    },
  );
  testWhere(
    named,
    missing(),
    `a call that the node does not answer ends within a second after its right, on ${runtime}`,
    async () => {
      const node = await playNode();
      node.answer = (request, response) => {
        if (!textOf(request).includes("eth_sendRawTransaction")) result('"0x1"')(request, response);
      };
      const all = ["replaced", "removed", "reloaded"].map((name) => ({
        name,
        allow: ["reads", "eth_sendRawTransaction"],
      }));
      const service = await beside(node, "ethereum", command, all);
      const call = async (name: string, method: string, params: readonly string[] = []) => {
        const response = await fetch(`${service.url}v1/rpc`, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            authorization: `Bearer ${tokenOf(name)}`,
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        });
        const text = await response.text();
        return [`${response.status} ${text}`, performance.now()] as const;
      };
      try {
        for (const { name } of all) assert.match((await call(name, "eth_chainId"))[0], '"0x1"');
        const calls = all.map(({ name }) => call(name, "eth_sendRawTransaction", ["0x00"]));
        await until(() =>
          node.received.filter((request) => textOf(request).includes("eth_sendRawTransaction"))
            .length === 3
        );
        await writeFile(join(service.folder, "replaced"), tokenOf("new"));
        await rm(join(service.folder, "removed"));
        const changed = performance.now();
        for (const [answer, at] of await Promise.all(calls.slice(0, 2))) {
          console.log(`${runtime}: a call ended ${Math.round(at - changed)} ms later`);
          assert.match(answer, ENDED);
          assert.ok(at - changed < 1000 + NOISE_MS);
        }
        const reloaded = performance.now();
        await service.reload(all.filter(({ name }) => name === "replaced"));
        const [answer, at] = await calls[2]!;
        console.log(`${runtime}: a call ended ${Math.round(at - reloaded)} ms after a reload`);
        assert.match(answer, ENDED);
      } finally {
        await service.stop();
        await node.close();
      }
    },
  );
  testWhere(
    named,
    missing(PROGRAMS.ethereum!.path),
    `metrics and log count ${NAMES_MAX} clients with ${CALLS} calls each exactly, on ${runtime}`,
    async () => {
      const node = await PROGRAMS.ethereum!.start();
      const names = Array.from({ length: NAMES_MAX }, (_, at) => `client-${at}`);
      const clients = names.map((name) => ({ name, allow: ["reads"] }));
      const service = await beside(node, "ethereum", command, clients);
      const call = (id: number) => ({ jsonrpc: "2.0", id, method: "eth_chainId", params: [] });
      const batch = JSON.stringify(Array.from({ length: BATCH }, (_, id) => call(id)));
      const agent = new Agent({ keepAlive: true });
      const send = (name: string, body: string) =>
        new Promise<number>((resolve, reject) => {
          const headers = {
            "content-type": "application/json",
            authorization: `Bearer ${tokenOf(name)}`,
          };
          const init = { method: "POST", agent, headers };
          const message = request(`${service.url}v1/rpc`, init, (response) => {
            let text = "";
            response.setEncoding("utf8").on("data", (part: string) => text += part);
            response.on("end", () => resolve(text.split('"result":"0x7a69"').length - 1));
          });
          message.on("error", reject).end(body);
        });
      try {
        await Promise.all(names.map(async (name) => {
          for (let at = 0; at < SINGLES; at++) {
            assert.is(await send(name, JSON.stringify(call(at))), 1);
            if (at < BATCHES) assert.is(await send(name, batch), BATCH);
          }
        }));
        agent.destroy();
        const metrics = await service.metrics();
        assert.equal(countsIn(metrics), Object.fromEntries(names.map((name) => [name, CALLS])));
        const said = await everythingSaid(service.url, names.slice(0, 2));
        const { stdout, stderr } = await service.stop();
        // The log says how many lines it has lost while this busy process did not read.
        const lost = [...stderr.matchAll(/ (\d+) lines of this log were dropped/g)]
          .reduce((sum, [, count]) => sum + Number(count), 0);
        const logged = stderr.match(/ eth_chainId 200 client-\d+ [\d.]+ m?s/g)?.length ?? 0;
        assert.ok(logged + lost >= NAMES_MAX * CALLS, `${logged} lines, and ${lost} were lost`);
        for (const name of names) {
          const sum = `nodeface_call_duration_seconds_count{client="${name}"} ${CALLS}\n`;
          assert.ok(metrics.includes(sum), name);
          const calls = stderr.match(new RegExp(` eth_chainId 200 ${name} [\\d.]+ m?s`, "g")) ?? [];
          assert.ok(calls.length <= CALLS && calls.length >= CALLS - lost, name);
          const requests = stdout.match(new RegExp(`"/v1/rpc".*"client":"${name}"`, "g")) ?? [];
          assert.ok(requests.length >= SINGLES + BATCHES, `${name} ${requests.length}`);
        }
        assertWithoutTokens(said + metrics + stdout + stderr, names);
      } finally {
        await service.stop();
        await node.stop?.();
      }
    },
  );
}

named.run();
