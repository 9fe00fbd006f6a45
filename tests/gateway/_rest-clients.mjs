/**
 * Makes the calls of a third-party client for REST nodes one after the other, and prints their
 * results or errors as JSON. A process is one client, because some clients remember what a node of
 * the same network has told them.
 *
 * The arguments are the client's name, the address of the node or of the service without a trailing
 * slash, the token or nothing, and values that the node knows as JSON. The only configuration of
 * each client is the address, and the token where it is needed.
 */
import process from "node:process";

const ADDRESS = "0x1";
const NOBODY = `0x${"404".padStart(64, "0")}`;
const HASH = `0x${"ab".repeat(32)}`;

async function aptos(url) {
  const { Account, Aptos, AptosConfig, Ed25519PrivateKey, Network } = await import(
    "@aptos-labs/ts-sdk"
  );
  const config = new AptosConfig({ network: Network.CUSTOM, fullnode: `${url}/v1` });
  const client = new Aptos(config);
  const privateKey = new Ed25519PrivateKey(`0x${"07".repeat(32)}`);
  const account = Account.fromPrivateKey({ privateKey });
  const data = { function: "0x1::aptos_account::transfer", functionArguments: ["0x2", 1] };
  const options = { expireTimestamp: 2_000_000_000 };
  const build = () =>
    client.transaction.build.simple({ sender: account.accountAddress, data, options });
  const functionName = "0x1::coin::get";
  return {
    ledger: () => client.getLedgerInfo(),
    "chain id": () => client.getChainId(),
    "gas price": () => client.getGasPriceEstimation(),
    account: () => client.getAccountInfo({ accountAddress: "0x1" }),
    "an account that is not there": () => client.getAccountInfo({ accountAddress: NOBODY }),
    modules: () => client.getAccountModules({ accountAddress: "0x1" }),
    module: () => client.getAccountModule({ accountAddress: "0x1", moduleName: "coin" }),
    resources: () => client.getAccountResources({ accountAddress: "0x1" }),
    resource: () =>
      client.getAccountResource({ accountAddress: "0x1", resourceType: "0x1::account::Account" }),
    balance: () =>
      client.getBalance({ accountAddress: ADDRESS, asset: "0x1::aptos_coin::AptosCoin" }),
    "transactions of an account": () =>
      client.getAccountTransactions({ accountAddress: "0x1", options: { offset: 1, limit: 2 } }),
    "block by height": () => client.getBlockByHeight({ blockHeight: 7 }),
    "block by version": () => client.getBlockByVersion({ ledgerVersion: 7 }),
    transactions: () => client.getTransactions({ options: { limit: 1 } }),
    "transaction by hash": () => client.getTransactionByHash({ transactionHash: HASH }),
    "transaction by version": () => client.getTransactionByVersion({ ledgerVersion: 7 }),
    view: () => client.view({ payload: { function: functionName, functionArguments: [] } }),
    "view as JSON": () =>
      client.viewJson({
        payload: { function: functionName, typeArguments: [], functionArguments: [] },
      }),
    "table item": () =>
      client.getTableItem({
        handle: "0x2",
        data: { key_type: "u64", value_type: "u64", key: "1" },
      }),
    "building a transaction": async () => {
      const { rawTransaction } = await build();
      return [rawTransaction.chain_id.chainId, rawTransaction.sequence_number];
    },
    "simulating a transaction": async () =>
      client.transaction.simulate.simple({
        signerPublicKey: account.publicKey,
        transaction: await build(),
      }),
  };
}

async function algosdk(url, password) {
  const { default: algosdk } = await import("algosdk");
  const { protocol, hostname, port } = new URL(url);
  const token = password ? { Authorization: `Bearer ${password}` } : "";
  const client = new algosdk.Algodv2(token, `${protocol}//${hostname}`, port);
  const nobody = "A".repeat(52) + "Y5HFKQ";
  return {
    status: () => client.status().do(),
    health: () => client.healthCheck().do(),
    versions: () => client.versionsCheck().do(),
    genesis: () => client.genesis().do(),
    account: () => client.accountInformation(nobody).do(),
    "an application that is not there": () => client.getApplicationByID(404).do(),
    application: () => client.getApplicationByID(7).do(),
    asset: () => client.getAssetByID(7).do(),
    boxes: () => client.getApplicationBoxes(7).max(5).do(),
    box: () => client.getApplicationBoxByName(7, new Uint8Array([0, 1, 255])).do(),
    "block hash": () => client.getBlockHash(7).do(),
    supply: () => client.supply().do(),
    "parameters of a transaction": () => client.getTransactionParams().do(),
    "pending transactions in MessagePack": () => client.pendingTransactionsInformation().do(),
    "compiling a program": () => client.compile("#pragma version 10\nint 1").sourcemap(true).do(),
    "disassembling a program": () => client.disassemble(new Uint8Array([10, 129, 1])).do(),
    "sync round": () => client.getSyncRound().do(),
    "light block header": () => client.getLightBlockHeaderProof(7).do(),
    "a state proof that is not there": () => client.getStateProof(7).do(),
  };
}

const RAW = "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy";

async function kubo(url) {
  const { create, CID } = await import("kubo-rpc-client");
  const client = create({ url: `${url}/api/v0` });
  const cid = CID.parse(RAW);
  return {
    version: () => client.version(),
    commands: () => client.commands(),
    "repository version": () => client.repo.version(),
    cat: () => all(client.cat(cid)),
    "cat with options": () => all(client.cat(`/ipfs/${RAW}`, { offset: 1, length: 2 })),
    ls: () => all(client.ls(cid)),
    resolve: () => client.resolve(`/ipfs/${RAW}`),
    "block get": () => client.block.get(cid),
    "block stat": () => client.block.stat(cid),
    "dag get": () => client.dag.get(cid),
    "dag resolve": () => client.dag.resolve(cid),
    "an object that is not there": () => client.block.stat(CID.createV1(0x70, cid.multihash)),
  };
}

async function all(parts) {
  const list = [];
  for await (const part of parts) list.push(part);
  return list;
}

async function hsClient(url, password, known) {
  const { NodeClient } = (await import("hs-client")).default;
  const { hostname, port } = new URL(url);
  const headers = authorization(password);
  const client = new NodeClient({ host: hostname, port: Number(port), headers });
  const { address, txid } = known;
  return {
    // These change while the node runs.
    node: async () => {
      const { time: _time, memory: _memory, ...rest } = await client.getInfo();
      return rest;
    },
    block: () => client.getBlock(1),
    "block by hash": () => client.getBlock(known.blockhash),
    header: () => client.getBlockHeader(1),
    "a block that is not there": () => client.getBlock(999_999),
    mempool: () => client.getMempool(),
    fee: () => client.getSmartFee(6),
    transaction: () => client.getTX(known["getrawtransaction.txid"]),
    "transactions of an address": () => client.getTXByAddress(address),
    "transactions of addresses": () => client.getTXByAddresses([address]),
    coin: () => client.getCoin(txid, 0),
    "a coin that is not there": () => client.getCoin("00".repeat(32), 0),
    "coins of an address": () => client.getCoinsByAddress(address),
    "coins of addresses": () => client.getCoinsByAddresses([address]),
    "a method of JSON-RPC": () => client.execute("getblockcount", []),
    "a method with parameters": () => client.execute("getblock", [known.blockhash, true, false]),
    "a method that fails": () => client.execute("getblockhash", [999_999]),
  };
}

const authorization = (password) => password ? { authorization: `Bearer ${password}` } : {};

/** Requests that the manuals of etcd and NATS show, sent by `fetch`. */
const ask = (url, password) => async (path, body) => {
  const response = await fetch(url + path, {
    ...body !== undefined && { method: "POST", body: JSON.stringify(body) },
    headers: authorization(password),
  });
  const type = response.headers.get("content-type");
  return { status: response.status, type, content: await response.text() };
};

function etcd(url, password) {
  const send = ask(url, password);
  const key = btoa("greeting");
  return {
    version: () => send("/version"),
    health: () => send("/health"),
    // The index grows by itself.
    status: async () => {
      const { content, ...rest } = await send("/v3/maintenance/status", {});
      return { ...rest, content: content.replaceAll(/"(raft\w*Index)":"\d+"/g, '"$1":""') };
    },
    leases: () => send("/v3/lease/leases", {}),
    hash: () => send("/v3/maintenance/hash", {}),
    range: () => send("/v3/kv/range", { key }),
    "range of many": () => send("/v3/kv/range", { key: "AA==", range_end: "AA==", limit: "2" }),
    "range of a wrong kind": () => send("/v3/kv/range", { key: 7, nothing: null }),
    members: () => send("/v3/cluster/member/list", { linearizable: false }),
    "time to live": () => send("/v3/lease/timetolive", { ID: "1" }),
  };
}

/** What changes from one request to the next is left out. */
function nats(url, password) {
  const send = ask(url, password);
  const without = (...names) => async (path) => {
    const { content, ...rest } = await send(path);
    const value = JSON.parse(content);
    for (const name of ["now", ...names]) delete value[name];
    return { ...rest, value };
  };
  const steady = without();
  return {
    health: () => send("/healthz"),
    "health of JetStream": () => send("/healthz?js-enabled-only=true"),
    server: () => without("cpu", "mem", "uptime", "http_req_stats", "jetstream")("/varz"),
    "sorted connections": async () => {
      const { value, ...rest } = await steady("/connz?sort=start&limit=1&subs=1");
      return { ...rest, names: value.connections.map(({ cid }) => cid), total: value.total };
    },
    "subscription counts": () => steady("/subscriptionsz"),
    routes: () => steady("/routez"),
    accounts: async () => {
      const { value, ...rest } = await steady("/accountz");
      return { ...rest, value: { ...value, accounts: value.accounts.sort() } };
    },
    streams: () => without("memory", "storage", "api")("/jsz?consumers=true&config=1"),
    "a wrong parameter": () => send("/connz?limit=none"),
  };
}

const CLIENTS = {
  "@aptos-labs/ts-sdk": aptos,
  algosdk,
  "kubo-rpc-client": kubo,
  "hs-client": hsClient,
  etcd,
  nats,
};

const plain = (value) =>
  JSON.parse(JSON.stringify(value ?? null, (_, member) => {
    if (member instanceof Map) return [...member];
    // The time at which hsd was asked.
    if (member?.mtime !== undefined) return { ...member, mtime: 0 };
    return typeof member === "bigint" ? `${member}n` : member;
  }));

const [name, url, password, known] = process.argv.slice(2);
const outcomes = {};
for (const [what, call] of Object.entries(await CLIENTS[name](url, password, JSON.parse(known)))) {
  try {
    outcomes[what] = plain(await call());
  } catch ({ name, message, status }) {
    // Some messages name the address that was called.
    outcomes[what] = {
      error: { name, message: message.replaceAll(new URL(url).host, "HOST"), status },
    };
  }
}
// Some clients keep their connections.
process.stdout.write(JSON.stringify(outcomes), () => process.exit());
