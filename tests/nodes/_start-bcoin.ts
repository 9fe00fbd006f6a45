/** Starts bcoin from npm (tests/nodes/package-lock.json). */
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { askBy, type Call, callsTo, isKnown, requestsTo, resultOf } from "./_calls.ts";
import { type Daemon, startDaemon, until } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";

export const BCOIN = `${ROOT}tests/nodes/node_modules/bcoin/bin/node`;

export async function startInMemory(
  program: string,
  port: number,
  flags: readonly string[],
): Promise<Daemon> {
  const home = await mkdtemp(join(tmpdir(), "nodeface-bcoin-"));
  const command = [process.execPath, "--require", `${ROOT}tests/nodes/_without-leveldb.cjs`];
  const common = [
    ...["--network=regtest", "--memory=true", "--listen=false", "--index-tx", "--index-address"],
    `--http-port=${port}`,
  ];
  const env = { HOME: home, NODE_BACKEND: "js" };
  return await startDaemon([...command, program, ...common, ...flags], port, env);
}

export function askInMemory(
  daemon: Daemon,
): Omit<AskedNode, "version" | "known"> & { readonly call: Call } {
  const [call, send] = [callsTo(daemon.url), requestsTo(daemon.url)];
  return {
    url: daemon.url,
    send,
    call,
    request: askBy(send),
    async has(method: string) {
      // `help getworklp` does not return a help text, but waits for new work.
      if (method === "getworklp") return true;
      return await isKnown(call, "help", [method]);
    },
    stop: () => daemon.stop("SIGKILL"),
  };
}

export async function startBcoin(key?: string, port?: number): Promise<Daemon> {
  const flags = ["--no-wallet", ...key === undefined ? [] : [`--api-key=${key}`]];
  return await startInMemory(BCOIN, port ?? await freePort(), flags);
}

/** The generator point of the curve is a valid public key. */
export const KEYS = ["0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"];

export async function startAskedBcoin(): Promise<AskedNode> {
  const node = askInMemory(await startBcoin());
  const { call } = node;
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
      ...node,
      version: version.replace(/^v/, ""),
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
    };
  } catch (error) {
    await node.stop();
    throw error;
  }
}
