/** Starts and fills the real nodes with a chain on which kinds are tested. */
import { createHmac } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { HSD, startHsd } from "./_start-hsd.ts";
import { BCOIN, startAskedBcoin } from "./_start-packages.ts";
import { MONEROD, startMonerod } from "./_start-monerod.ts";
import { callsBy, callsTo, isKnown, requestsTo, resultOf } from "./_calls.ts";
import { ETCD, NATS, startEtcd, startNats, startSyncthing, SYNCTHING } from "./_start-services.ts";
import { startDaemon, until } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";

/** A running program. */
export interface Program {
  /** Its URL. */
  readonly path: string;
  start(): Promise<AskedNode>;
  /** Methods that other nodes of the kind have and this one lacks. */
  readonly lacks?: readonly string[];
}

/** The nodes by their kinds. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  bcoin: { path: BCOIN, start: startAskedBcoin },
  bitcoin: { path: "/usr/lib/litecoin/litecoind", start: () => startLitecoind() },
  ethereum: {
    path: `${ROOT}tests/node_modules/.bin/anvil`,
    start: startAnvil,
    lacks: [
      "net_peerCount",
      "txpool_contentFrom",
      "debug_getRawHeader",
      "debug_getRawBlock",
      "debug_getRawReceipts",
    ],
  },
  handshake: { path: HSD, start: startHsd },
  monero: { path: MONEROD, start: () => startMonerod() },
  etcd: { path: ETCD, start: startEtcd },
  nats: { path: NATS, start: startNats },
  syncthing: { path: SYNCTHING, start: startSyncthing },
};

/**
 * Starts a litecoind with a wallet.
 *
 * @param login a user and a password, as in its `rpcauth`; without it the cookie is the secret
 */
export async function startLitecoind(login?: string): Promise<AskedNode> {
  const home = await mkdtemp(join(tmpdir(), "nodeface-litecoind-"));
  const port = await freePort();
  const flags = [
    "-regtest",
    "-server",
    "-listen=0",
    "-txindex",
    "-blockfilterindex",
  ];
  const cookieFile = join(home, ".litecoin/regtest/.cookie");
  const loginFile = join(home, "login");
  if (login !== undefined) {
    await writeFile(loginFile, login);
    flags.push(`-rpcauth=${rpcAuthOf(login)}`);
  }
  const program = [PROGRAMS.bitcoin!.path, ...flags, `-rpcport=${port}`];
  const daemon = await startDaemon(program, port, { HOME: home });
  const send = requestsTo(daemon.url, async () => {
    const secret = login ?? await readFile(cookieFile, "utf8");
    return { authorization: `Basic ${btoa(secret)}` };
  });
  const call = callsBy(send, "");
  const ask = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(call, method, params);
  try {
    await until(async () => "result" in await call("uptime"), 60_000);
    await ask("createwallet", "wallet");
    const address = await ask("getnewaddress", "mine", "legacy");
    await ask("generatetoaddress", 103, address);
    const blockhash = await ask("getblockhash", 1);
    const { tx: [coinbase] } = await ask<{ tx: [string] }>("getblock", blockhash);
    // The second address is a new one, which the wallet knows as unused.
    const other = await ask("getnewaddress");
    const txid = await ask("sendtoaddress", other, 1);
    const hexstring = await ask(
      "createrawtransaction",
      [{ txid: coinbase, vout: 0 }],
      [{ [other]: 1 }],
    );
    const psbt = await ask("converttopsbt", hexstring);
    const { desc, pubkey } = await ask<Record<string, string>>("getaddressinfo", address);
    const others = await ask("createpsbt", [{ txid, vout: 0 }], [{
      [address]: 0.5,
    }]);
    const { subversion } = await ask<{ subversion: string }>("getnetworkinfo");
    return {
      url: daemon.url,
      auth: { basic_file: login === undefined ? cookieFile : loginFile },
      send,
      version: /:([\d.]+)/.exec(subversion)![1]!,
      call,
      known: {
        blockhash,
        txid,
        hexstring,
        psbt,
        address,
        n: 0,
        height: 1,
        hash_or_height: 1,
        txids: [coinbase],
        proof: await ask("gettxoutproof", [coinbase], blockhash),
        inputs: [{ txid: coinbase, vout: 0 }],
        outputs: [{ [other]: 1 }],
        rawtxs: [hexstring],
        descriptor: desc,
        nrequired: 1,
        keys: [pubkey],
        conf_target: 6,
        label: "mine",
        message: "hello",
        signature: await ask("signmessage", address, "hello"),
        "combinepsbt.txs": [psbt, psbt],
        "joinpsbts.txs": [psbt, others],
        "combinerawtransaction.txs": [hexstring, hexstring],
      },
      has: async (method) => !(await ask("help", method)).startsWith("help: unknown command"),
      listed: listedIn(await ask("help")),
      stop: () => daemon.stop("SIGKILL"),
    };
  } catch (error) {
    await daemon.stop("SIGKILL");
    throw error;
  }
}

/** A user and a password in the form of the setting: with a salt and a digest. */
function rpcAuthOf(login: string): string {
  const [user, password = ""] = login.split(":");
  const salt = "00112233445566778899aabbccddeeff";
  return `${user}:${salt}$${createHmac("sha256", salt).update(password).digest("hex")}`;
}

/** The method names in a help text with section headings, except those of the wallet. */
function listedIn(help: string): string[] {
  const parts = help.split(/^== (?=.* ==$)/m).filter((part) => !part.startsWith("Wallet"));
  return parts.flatMap((part) => part.split("\n").slice(1))
    .filter((line) => line !== "").map((line) => line.split(" ")[0]!);
}

async function startAnvil(): Promise<AskedNode> {
  const port = await freePort();
  const daemon = await startDaemon([
    PROGRAMS.ethereum!.path,
    "--port",
    String(port),
  ], port);
  const call = callsTo(daemon.url);
  const ask = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(call, method, params);
  try {
    const [address, to] = await ask<[string, string]>("eth_accounts");
    const transaction = { from: address, to, value: "0x1" };
    const transactionHash = await ask("eth_sendTransaction", transaction);
    // A contract whose code is an empty LOG0, executed when it is created.
    await ask("eth_sendTransaction", {
      from: address,
      data: "0x60006000a000",
      gas: "0x20000",
    });
    await ask("anvil_mine", "0x3");
    const { blockHash } = await ask<{ blockHash: string }>(
      "eth_getTransactionReceipt",
      transactionHash,
    );
    const filter = { fromBlock: "0x0" };
    const version = await ask("web3_clientVersion");
    return {
      url: daemon.url,
      send: requestsTo(daemon.url),
      version: /v([\d.]+)/.exec(version)![1]!,
      call,
      known: {
        address,
        transaction,
        transactionHash,
        blockHash,
        filter,
        filterId: await ask("eth_newFilter", filter),
        block: "0x1",
        // anvil 1.7.1 requires a parameter for which other nodes default to the newest block.
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
        // Without parameters, none of its methods has an effect.
        return await isKnown(call, method);
      },
      stop: () => daemon.stop("SIGKILL"),
    };
  } catch (error) {
    await daemon.stop("SIGKILL");
    throw error;
  }
}
