/** Starts hsd with a bought domain name and a pending transaction, to test its kind. */
import { ROOT } from "../_paths.ts";
import { freePort } from "../_port.ts";
import { callsTo, resultOf } from "./_calls.ts";
import { until } from "./_daemon.ts";
import type { AskedNode } from "./_interface.ts";
import { askInMemory, KEYS, startInMemory } from "./_start-bcoin.ts";

export const HSD = `${ROOT}tests/node_modules/hsd/bin/node`;

export async function startHsd(): Promise<AskedNode> {
  const [port, walletPort] = [await freePort(), await freePort()];
  const flags = ["--no-dns", `--wallet-http-port=${walletPort}`];
  const node = askInMemory(await startInMemory(HSD, port, flags));
  const { call } = node;
  const walletCall = callsTo(`http://127.0.0.1:${walletPort}`);
  const ask = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(call, method, params);
  const wallet = <T = string>(method: string, ...params: unknown[]) =>
    resultOf<T>(walletCall, method, params);
  try {
    const hasWallet = () => walletCall("getwalletinfo").then((got) => "result" in got, () => false);
    await until(hasWallet, 60_000);
    const address = await wallet("getnewaddress");
    const mine = async (blocks: number) => {
      await ask("generatetoaddress", blocks, address);
      const height = await ask<number>("getblockcount");
      const seen = () => wallet<{ height: number }>("getwalletinfo");
      await until(async () => (await seen()).height === height, 60_000);
    };
    /** Waits until the node knows the transaction, so that the next block contains it. */
    const send = async (method: string, ...params: unknown[]): Promise<string> => {
      const sent = await wallet<string | { hash: string }>(method, ...params);
      const txid = typeof sent === "string" ? sent : sent.hash;
      await until(async () => "result" in await call("getmempoolentry", [txid]), 60_000);
      return txid;
    };
    await mine(10);
    const name = await ask("grindname", 8);
    // Buys the name in an auction. On regtest, each phase of an auction lasts a fixed number of
    // blocks.
    await send("sendopen", name);
    await mine(7);
    await send("sendbid", name, 1, 2);
    await mine(6);
    await send("sendreveal", name);
    await mine(11);
    const resource = { records: [{ type: "NS", ns: "ns1.example." }] };
    await send("sendupdate", name, resource);
    // After 20 more blocks, hsd's tree of names contains the new name.
    await mine(20);
    const other = await wallet("getnewaddress");
    const txid = await send("sendtoaddress", other, 1);
    const blockhash = await ask("getblockhash", 1);
    const { tx: [coinbase] } = await ask<{ tx: [string] }>("getblock", blockhash);
    const { info } = await ask<{ info: Record<string, string> }>("getnameinfo", name);
    const { version } = await ask<{ version: string }>("getinfo");
    const hexstring = await ask("getrawtransaction", coinbase);
    const message = "hello";
    return {
      ...node,
      version,
      known: {
        blockhash,
        block: "1",
        height: 1,
        index: 0,
        hash: coinbase,
        txid,
        n: 0,
        address,
        name,
        message,
        signature: await wallet("signmessage", address, message),
        hexstring,
        nblocks: 6,
        nrequired: 1,
        keys: KEYS,
        resource,
        inputs: [{ txid: coinbase, vout: 0 }],
        outputs: { [address]: 1 },
        txids: [coinbase],
        proof: await ask("gettxoutproof", [coinbase], blockhash),
        script: "0014",
        data: info.data,
        "getnamebyhash.namehash": info.nameHash,
        "gettxout.txid": txid,
        "readCoin.hash": txid,
        "getrawtransaction.txid": coinbase,
        "getrawtransaction.verbose": true,
        "getblockbyheight.details": true,
        "verifymessagewithname.signature": await wallet("signmessagewithname", name, message),
        "verifyblock.blockhex": await ask("getblock", blockhash, false),
        "readCoinsOfAddresses.body": { addresses: [address] },
        "readTransactionsOfAddresses.body": { addresses: [other] },
        "readTransactionsOfAddress.address": other,
      },
    };
  } catch (error) {
    await node.stop();
    throw error;
  }
}
