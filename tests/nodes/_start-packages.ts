/** Nodes from npm (tests/nodes/package-lock.json): hardhat and ganache for Ethereum, and bcoin. */
import { existsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { callsTo, isKnown, requestsTo, resultOf } from "./_calls.ts";
import { type Daemon, startDaemon, until } from "./_daemon.ts";
import type { AskedNode, RestAnswer } from "./_interface.ts";

const INSTALLED = `${ROOT}tests/nodes/node_modules/`;

export const HARDHAT = `${INSTALLED}hardhat/dist/src/cli.js`;
export const GANACHE = `${INSTALLED}ganache/dist/node/cli.js`;
export const BCOIN = `${INSTALLED}bcoin/bin/node`;

/** It must be next to the installed packages. */
const HARDHAT_CONFIG = `${ROOT}tests/nodes/hardhat.config.js`;

/** hardhat requires Node 22. */
const NODE_22 = `${ROOT}tests/node_modules/node22/bin/node`;

/** Starts hardhat with a chain id on a port. */
export async function startHardhat(chainId = 31337, port?: number): Promise<Daemon> {
  const at = port ?? await freePort();
  const node = existsSync(NODE_22) ? NODE_22 : process.execPath;
  const flags = [
    "node",
    "--hostname",
    "127.0.0.1",
    "--config",
    HARDHAT_CONFIG,
    "--port",
    String(at),
    "--chain-id",
    String(chainId),
  ];
  return await startDaemon([node, HARDHAT, ...flags], at);
}

/** Starts ganache with a chain id on a port. */
export async function startGanache(chainId = 1337, port?: number): Promise<Daemon> {
  const at = port ?? await freePort();
  const flags = ["--port", String(at), "--chain.chainId", String(chainId)];
  return await startDaemon([process.execPath, GANACHE, ...flags], at);
}

/** Starts bcoin on regtest, with its data in memory. */
export async function startBcoin(key?: string, port?: number): Promise<Daemon> {
  const at = port ?? await freePort();
  const home = await mkdtemp(join(tmpdir(), "nodeface-bcoin-"));
  const program = [process.execPath, "--require", `${ROOT}tests/nodes/_without-leveldb.cjs`, BCOIN];
  const flags = [
    ...["--network=regtest", "--memory=true", "--listen=false", "--no-wallet"],
    ...["--index-tx", "--index-address", `--http-port=${at}`],
    ...key === undefined ? [] : [`--api-key=${key}`],
  ];
  return await startDaemon([...program, ...flags], at, { HOME: home, NODE_BACKEND: "js" });
}

/** The generator point of the curve. */
const KEYS = ["0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"];

/** A bcoin on which its kind is tested. */
export async function startAskedBcoin(): Promise<AskedNode> {
  const daemon = await startBcoin();
  const call = callsTo(daemon.url);
  const ask = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(call, method, params);
  try {
    await until(async () => "result" in await call("getblockcount"), 60_000);
    const { address } = await ask<{ address: string }>("createmultisig", 1, KEYS);
    await ask("generatetoaddress", 103, address);
    const blockhash = await ask("getblockhash", 1);
    const { tx: [coinbase] } = await ask<{ tx: [string] }>("getblock", blockhash);
    const { version } = await ask<{ version: string }>("getinfo");
    const outputs = { [address]: 1 };
    const inputs = [{ txid: coinbase, vout: 0 }];
    return {
      url: daemon.url,
      send: requestsTo(daemon.url),
      version: version.replace(/^v/, ""),
      call,
      async request(method, { path, headers, body }): Promise<RestAnswer> {
        const content = body === undefined ? {} : { body };
        const response = await fetch(daemon.url + path, { method, headers, ...content });
        const type = response.headers.get("content-type") ?? "";
        return { status: response.status, type, text: await response.text() };
      },
      known: {
        blockhash,
        block: "1",
        height: 1,
        index: 0,
        hash: coinbase,
        txid: coinbase,
        n: 0,
        address,
        message: "hello",
        signature: btoa("x".repeat(65)),
        hexstring: await ask("createrawtransaction", inputs, outputs),
        nblocks: 6,
        nrequired: 1,
        keys: KEYS,
        inputs,
        outputs,
        txids: [coinbase],
        proof: await ask("gettxoutproof", [coinbase], blockhash),
        script: "0014",
        "getrawtransaction.verbose": true,
        "verifyblock.blockhex": await ask("getblock", blockhash, false),
        "readCoinsOfAddresses.body": { addresses: [address] },
        "readTransactionsOfAddresses.body": { addresses: [address] },
      },
      async has(method) {
        // The one method that ignores the flag for help, and waits.
        if (method === "getworklp") return true;
        return await isKnown(call, "help", [method]);
      },
      stop: () => daemon.stop("SIGKILL"),
    };
  } catch (error) {
    await daemon.stop("SIGKILL");
    throw error;
  }
}
