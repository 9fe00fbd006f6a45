/**
 * Third-party clients that use the service in place of a node. `node tests/gateway/setup.mjs`
 * installs the clients.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { objectOf } from "../../src/json/values.ts";
import { testWhere, without } from "../_needs.ts";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { run } from "../_server.ts";
import { PROGRAMS } from "../nodes/_start-chains.ts";
import { callsBy, resultOf } from "../nodes/_calls.ts";
import { startDaemon, until } from "../nodes/_daemon.ts";
import { besideNode, installed, startBeside } from "./_beside.ts";
import { bitcoinCore, ETHEREUM } from "./_clients.mjs";

const clients = suite("third-party clients that are unaware of Nodeface");

const LITECOIND = PROGRAMS.bitcoin!.path;

for (const [name, see] of Object.entries(ETHEREUM)) {
  testWhere(
    clients,
    without(installed(name.split(" ")[0]!)),
    `${name} reads a block number, the network, a balance and a block from anvil`,
    () =>
      besideNode(PROGRAMS.ethereum!.start(), "ethereum", async ({ url }, node) => {
        const ask = (method: string, ...params: unknown[]) =>
          resultOf<string>(node.call!, method, params);
        const address = String(node.known.address);
        assert.equal(await see(`${url}/v1/rpc`, address), {
          number: BigInt(await ask("eth_blockNumber")),
          chainId: BigInt(await ask("eth_chainId")),
          balance: BigInt(await ask("eth_getBalance", address, "latest")),
          hash: node.known.blockHash as string,
        });
      }),
  );
}

testWhere(
  clients,
  without(installed("bitcoin-core"), LITECOIND),
  "the npm package bitcoin-core reads blocks of litecoind, alone and in a batch, and gets errors",
  () =>
    besideNode(PROGRAMS.bitcoin!.start(), "bitcoin", async ({ url }, node) => {
      const client = await bitcoinCore(`${url}/v1/rpc`);
      const hash = await client.command("getblockhash", 1);
      assert.is(hash, await resultOf(node.call!, "getblockhash", [1]));
      assert.is(objectOf(await client.command("getblock", hash)).hash, hash);
      const [count, wrong, mined] = await client.command([
        { method: "getblockcount", parameters: [] },
        { method: "getblockhash", parameters: [1e6] },
        { method: "generatetoaddress", parameters: [1, node.known.address] },
      ]);
      assert.is(count, 103);
      assert.equal(codeOf(wrong), -8);
      assert.equal(codeOf(mined), -32601);
      const refused = await client.command("stop").then(() => undefined, (error) => error);
      assert.is(codeOf(refused), -32601);
      assert.is(await resultOf(node.call!, "getblockcount", []), 103);
    }),
);

/**
 * For each client library in the manual, the kind of the node and the method that returns the
 * node's height.
 */
const PROGRAMS_OF_PAGE: Readonly<Record<string, readonly [kind: string, method: string]>> = {
  ethers: ["ethereum", "eth_blockNumber"],
  viem: ["ethereum", "eth_blockNumber"],
  "bitcoin-core": ["bitcoin", "getblockcount"],
};

for (const [name, [kind, method]] of Object.entries(PROGRAMS_OF_PAGE)) {
  testWhere(
    clients,
    without(installed(name), PROGRAMS[kind]!.path),
    `the program with ${name} in docs/json-rpc.md works`,
    async () => {
      const page = await readFile(join(ROOT, "docs/json-rpc.md"), "utf8");
      const programs = [...page.matchAll(/^```js\n([^]*?)^```/gm)].map(([, program]) => program!);
      assert.is(programs.length, Object.keys(PROGRAMS_OF_PAGE).length);
      const program = programs.find((program) => program.includes(`from "${name}"`))!;
      await besideNode(PROGRAMS[kind]!.start(), kind, async ({ url }, node) => {
        // The program must be in the folder in which its packages are installed.
        const file = installed(`.${name}.mjs`);
        try {
          await writeFile(file, program.replaceAll("127.0.0.1:8080", new URL(url).host));
          const { code, stdout, stderr } = await run([process.execPath, file]);
          assert.is(code, 0, stderr);
          const height = Number(await resultOf(node.call!, method, []));
          assert.is(stdout.trim().replace(/n$/, ""), String(height));
        } finally {
          await rm(file, { force: true });
        }
      });
    },
  );
}

const codeOf = (error: unknown) => (error as { code?: number }).code;

testWhere(
  clients,
  without(LITECOIND),
  "after litecoind restarts, its new cookie is read, and no call is lost",
  async () => {
    const home = await mkdtemp(join(tmpdir(), "nodeface-litecoind-"));
    const port = await freePort();
    const file = join(home, ".litecoin/regtest/.cookie");
    const launch = async () => {
      const flags = ["-regtest", "-server", "-listen=0", `-rpcport=${port}`];
      const daemon = await startDaemon([LITECOIND, ...flags], port, { HOME: home });
      const send = async (path: string, init: RequestInit) => {
        const authorization = `Basic ${btoa(await readFile(file, "utf8"))}`;
        return await fetch(daemon.url + path, { ...init, headers: { authorization } });
      };
      await until(async () => "result" in await callsBy(send, "")("uptime"), 60_000);
      return daemon;
    };
    let daemon = await launch();
    const { url } = daemon;
    const beside = await startBeside({ url, auth: { basic_file: file } }, "bitcoin");
    const count = async () => (await beside.ask("/v1/rpc/getblockcount", { method: "GET" })).status;
    try {
      assert.is(await count(), 200);
      const first = await readFile(file, "utf8");
      await daemon.stop();
      assert.is(await count(), 502);
      daemon = await launch();
      assert.is.not(await readFile(file, "utf8"), first);
      assert.is(await count(), 200);
      // If the node refuses the service's secret, the client gets a 502 instead of the node's
      // response.
      await writeFile(file, "__cookie__:wrong");
      // The service reads the file at most once a second.
      await until(async () => await count() === 502);
    } finally {
      await beside.service.stop();
      await daemon.stop("SIGKILL");
    }
  },
);

clients.run();
