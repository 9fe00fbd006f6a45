/** Starts real nodes for the tests of kinds, and gives them some data. */
import { createHmac } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../_port.ts";
import { HSD, startHsd } from "./_start-hsd.ts";
import { BCOIN, startAskedBcoin } from "./_start-bcoin.ts";
import {
  ANVIL,
  askEthereum,
  GANACHE,
  HARDHAT,
  startAnvil,
  startGanache,
  startHardhat,
} from "./_start-ethereum.ts";
import { MONEROD, startMonerod } from "./_start-monerod.ts";
import { callsBy, requestsTo, resultOf } from "./_calls.ts";
import { ETCD, NATS, startEtcd, startNats, startSyncthing, SYNCTHING } from "./_start-services.ts";
import { startDaemon, until } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";

export interface Program {
  readonly path: string;
  start(): Promise<AskedNode>;
  /** Methods that the kind describes but this node does not have. */
  readonly lacks?: readonly string[];
}

export const PROGRAMS: Readonly<Record<string, Program>> = {
  bcoin: { path: BCOIN, start: startAskedBcoin },
  bitcoin: { path: "/usr/lib/litecoin/litecoind", start: () => startLitecoind() },
  ethereum: {
    path: ANVIL,
    start: () => askEthereum(startAnvil()),
    lacks: [
      "eth_baseFee",
      "eth_capabilities",
      // Anvil 1.7 has none of Ethereum's methods for lists of accesses to a block.
      "eth_getBlockAccessList",
      "net_peerCount",
      "txpool_contentFrom",
      "debug_getRawHeader",
      "debug_getRawBlock",
      "debug_getRawBlockAccessList",
      "debug_getRawReceipts",
    ],
  },
  handshake: { path: HSD, start: startHsd },
  monero: { path: MONEROD, start: () => startMonerod() },
  etcd: { path: ETCD, start: startEtcd },
  nats: { path: NATS, start: startNats },
  syncthing: { path: SYNCTHING, start: startSyncthing },
};

/** These nodes lack many methods that the kind describes. */
export const OTHERS: Readonly<Record<string, Program & { readonly kind: string }>> = {
  hardhat: { kind: "ethereum", path: HARDHAT, start: () => askEthereum(startHardhat()) },
  ganache: { kind: "ethereum", path: GANACHE, start: () => askEthereum(startGanache()) },
};

/**
 * @param login a user and password for `rpcauth`. Without a login, litecoind uses cookie
 * authentication
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

function rpcAuthOf(login: string): string {
  const [user, password = ""] = login.split(":");
  const salt = "00112233445566778899aabbccddeeff";
  return `${user}:${salt}$${createHmac("sha256", salt).update(password).digest("hex")}`;
}

function listedIn(help: string): string[] {
  const parts = help.split(/^== (?=.* ==$)/m).filter((part) => !part.startsWith("Wallet"));
  return parts.flatMap((part) => part.split("\n").slice(1))
    .filter((line) => line !== "").map((line) => line.split(" ")[0]!);
}
