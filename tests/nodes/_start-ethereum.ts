/** Starts Ethereum nodes from npm: anvil, hardhat and ganache. */
import { existsSync } from "node:fs";
import process from "node:process";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { callsTo, isKnown, requestsTo, resultOf } from "./_calls.ts";
import { type Daemon, startDaemon } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";

const INSTALLED = `${ROOT}tests/nodes/node_modules/`;

export const ANVIL = `${ROOT}tests/node_modules/.bin/anvil`;
export const HARDHAT = `${INSTALLED}hardhat/dist/src/cli.js`;
export const GANACHE = `${INSTALLED}ganache/dist/node/cli.js`;

/** hardhat's configuration must be next to the installed packages. */
const HARDHAT_CONFIG = `${ROOT}tests/nodes/hardhat.config.js`;

/** hardhat requires Node 22. */
const NODE_22 = `${ROOT}tests/node_modules/node22/bin/node`;

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

export async function startGanache(chainId = 1337, port?: number): Promise<Daemon> {
  const at = port ?? await freePort();
  const flags = ["--port", String(at), "--chain.chainId", String(chainId)];
  return await startDaemon([process.execPath, GANACHE, ...flags], at);
}

export async function startAnvil(): Promise<Daemon> {
  const port = await freePort();
  return await startDaemon([ANVIL, "--port", String(port)], port);
}

export async function askEthereum(starting: Promise<Daemon>): Promise<AskedNode> {
  const daemon = await starting;
  const call = callsTo(daemon.url);
  const ask = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(call, method, params);
  try {
    const [address, to] = await ask<[string, string]>("eth_accounts");
    const transaction = { from: address, to, value: "0x1" };
    const transactionHash = await ask("eth_sendTransaction", transaction);
    // The constructor of this contract emits a log entry without topics and data (`LOG0`).
    await ask("eth_sendTransaction", {
      from: address,
      data: "0x60006000a000",
      gas: "0x20000",
    });
    for (let block = 0; block < 3; block++) await ask("evm_mine");
    const { blockHash } = await ask<{ blockHash: string }>(
      "eth_getTransactionReceipt",
      transactionHash,
    );
    const filter = { fromBlock: "0x0" };
    const version = await ask("web3_clientVersion");
    return {
      url: daemon.url,
      send: requestsTo(daemon.url),
      version: /\/v?([\d.]+)/.exec(version)![1]!,
      call,
      known: {
        address,
        transaction,
        transactionHash,
        blockHash,
        filter,
        filterId: await ask("eth_newFilter", filter),
        block: "0x1",
        // anvil 1.7.1 requires a block parameter, while other nodes use the newest block by
        // default.
        ...Object.fromEntries(
          ["Balance", "TransactionCount", "Code", "StorageAt", "Proof"].map((what) => [
            `eth_get${what}.block`,
            "latest",
          ]),
        ),
        hydrated: false,
        index: "0x0",
        slot: "0x0",
        storageKeys: [`0x${"0".repeat(64)}`],
        data: "0x68656c6c6f",
        blockCount: "0x2",
        newestBlock: "latest",
        payload: { blockStateCalls: [{ calls: [transaction] }] },
      },
      async has(method) {
        // A method that sends a transaction fails if it is called without parameters.
        return await isKnown(call, method);
      },
      stop: () => daemon.stop("SIGKILL"),
    };
  } catch (error) {
    await daemon.stop("SIGKILL");
    throw error;
  }
}
