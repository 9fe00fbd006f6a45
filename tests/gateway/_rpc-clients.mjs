/**
 * Makes the calls of a third-party JSON-RPC client one after the other, and prints their results or
 * errors as JSON.
 *
 * The arguments are the client's name, the address of the node or of the service without a trailing
 * slash, `user:password` or nothing, and values that the node knows as JSON. The only configuration
 * of each client is the address, and the login where the client cannot do without.
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const NOBODY = "0x000000000000000000000000000000000000dEaD";

const addressOf = (number) => `0x${String(number).padStart(40, "0")}`;

/** The code of a contract whose constructor reverts with 32 bytes. */
const REVERTS = `0x7f08c379a0${"00".repeat(28)}60005260206000fd`;

async function ethers(url, _, { address, blockHash, transactionHash, transaction }) {
  const { JsonRpcProvider } = await import("ethers");
  const provider = new JsonRpcProvider(url);
  const single = new JsonRpcProvider(url, undefined, { batchMaxCount: 1 });
  return {
    "four reads at once": () =>
      Promise.all([
        provider.getBlockNumber(),
        provider.getNetwork().then(({ chainId }) => chainId),
        provider.getBalance(address),
        provider.getBlock(1).then(({ hash }) => hash),
      ]),
    "block by hash": () => provider.getBlock(blockHash).then(({ number }) => number),
    code: () => provider.getCode(address),
    receipt: () => provider.getTransactionReceipt(transactionHash).then(({ index }) => index),
    transaction: () => provider.getTransaction(transactionHash).then(({ value }) => value),
    logs: () => provider.getLogs({ fromBlock: 0 }),
    fees: () => provider.getFeeData(),
    "gas of a transaction": () => provider.estimateGas(transaction),
    call: () => provider.call(transaction),
    "a call that reverts fails": () => provider.call({ data: REVERTS }),
    "a block that nobody has": () => provider.getBlock(1e9),
    "150 reads at once": () =>
      Promise.all(Array.from({ length: 150 }, () => provider.getBalance(NOBODY))),
    "1000 single reads at once": () =>
      Promise.all(Array.from({ length: 1000 }, (_, at) => single.getBalance(addressOf(at)))),
    "wrong parameters fail": () => provider.send("eth_getBalance", ["0x12"]),
    "REFUSED eth_accounts": () => provider.send("eth_accounts", []),
    "REFUSED nobody_knows": () => provider.send("nobody_knows", []),
  };
}

async function ethers5(url, _, { address, blockHash, transactionHash }) {
  const { providers } = await import("ethers5");
  const network = { chainId: 31337, name: "unknown" };
  const provider = new providers.StaticJsonRpcProvider(url, network);
  const batches = new providers.JsonRpcBatchProvider(url, network);
  return {
    number: () => provider.getBlockNumber(),
    balance: () => provider.getBalance(address).then(String),
    block: () => provider.getBlock(blockHash).then(({ number }) => number),
    receipt: () => provider.getTransactionReceipt(transactionHash).then(({ status }) => status),
    logs: () => provider.getLogs({ fromBlock: 0 }),
    "150 reads in a batch": () =>
      Promise.all(Array.from({ length: 150 }, () => batches.send("eth_blockNumber", []))),
    // The message shows the body, whose members may have another order.
    "wrong parameters fail": () =>
      provider.send("eth_getBalance", ["0x12"]).catch(({ error }) => Promise.reject(error)),
    "REFUSED eth_accounts": () => provider.send("eth_accounts", []),
    "REFUSED in a batch": () => batches.send("eth_accounts", []),
  };
}

const callsOfViem = (client, { address, transactionHash }) => ({
  "four reads at once": () =>
    Promise.all([
      client.getBlockNumber(),
      client.getChainId(),
      client.getBalance({ address }),
      client.getBlock({ blockNumber: 1n }).then(({ hash }) => hash),
    ]),
  "wrong parameters fail": () => client.request({ method: "eth_getBalance", params: ["0x12"] }),
  "1000 reads": () =>
    Promise.all(
      Array.from({ length: 1000 }, (_, at) => client.getBalance({ address: addressOf(at) })),
    ).then((balances) => balances.length),
  logs: () => client.getLogs({ fromBlock: 0n }),
  receipt: () => client.getTransactionReceipt({ hash: transactionHash }),
  fees: () => client.estimateFeesPerGas(),
  "fee history": () => client.getFeeHistory({ blockCount: 2, rewardPercentiles: [50] }),
  proof: () => client.getProof({ address, storageKeys: [] }),
  "a call that reverts fails": () => client.call({ data: REVERTS }),
  "a block that nobody has fails": () => client.getBlock({ blockNumber: 10n ** 9n }),
  "REFUSED eth_accounts": () => client.request({ method: "eth_accounts" }),
});

async function viem(url, _, known) {
  const { createPublicClient, http } = await import("viem");
  return callsOfViem(createPublicClient({ transport: http(url) }), known);
}

async function viemInBatches(url, _, known) {
  const { createPublicClient, http } = await import("viem");
  const batch = { batchSize: 1000 };
  return callsOfViem(createPublicClient({ transport: http(url, { batch }) }), known);
}

async function wagmi(url, _, { address }) {
  const { createConfig, getBalance, getBlock, getBlockNumber, getChainId, http } = await import(
    "@wagmi/core"
  );
  const { foundry } = await import("viem/chains");
  const config = createConfig({ chains: [foundry], transports: { [foundry.id]: http(url) } });
  return {
    number: () => getBlockNumber(config),
    "chain id": () => getChainId(config),
    balance: () => getBalance(config, { address }).then(({ value }) => value),
    block: () => getBlock(config, { blockNumber: 1n }).then(({ hash }) => hash),
    "REFUSED eth_accounts": () => config.getClient().request({ method: "eth_accounts" }),
  };
}

async function ox(url, _, { address }) {
  const { RpcTransport } = await import("ox");
  const transport = RpcTransport.fromHttp(url);
  return {
    number: () => transport.request({ method: "eth_blockNumber" }),
    balance: () => transport.request({ method: "eth_getBalance", params: [address, "latest"] }),
    "wrong parameters fail": () =>
      transport.request({ method: "eth_getBalance", params: ["0x12"] }),
    "REFUSED eth_accounts": () => transport.request({ method: "eth_accounts" }),
  };
}

async function web3(url, _, { address, blockHash, transactionHash, transaction }) {
  const { Web3 } = await import("web3");
  const client = new Web3(url);
  return {
    number: () => client.eth.getBlockNumber(),
    "chain id": () => client.eth.getChainId(),
    balance: () => client.eth.getBalance(address),
    block: () => client.eth.getBlock(blockHash).then(({ number }) => number),
    receipt: () => client.eth.getTransactionReceipt(transactionHash),
    logs: () => client.eth.getPastLogs({ fromBlock: "earliest" }),
    "gas of a transaction": () => client.eth.estimateGas(transaction),
    "gas price": () => client.eth.getGasPrice(),
    "a batch": async () => {
      const batch = new client.BatchRequest();
      const call = (method, ...params) => batch.add({ jsonrpc: "2.0", method, params });
      const results = [call("eth_chainId"), call("eth_getBalance", address, "latest")];
      await batch.execute();
      return Promise.all(results);
    },
    "1000 reads at once": () =>
      Promise.all(Array.from({ length: 1000 }, (_, at) => client.eth.getBalance(addressOf(at)))),
    "a call that reverts fails": () => client.eth.call({ data: REVERTS }),
    "wrong parameters fail": () =>
      client.requestManager.send({ method: "eth_getBalance", params: ["0x12"] }),
    "REFUSED eth_accounts": () => client.eth.getAccounts(),
  };
}

async function hardhat(url, _, { address }) {
  const installed = "../nodes/node_modules/hardhat/dist/src/hre.js";
  const { createHardhatRuntimeEnvironment } = await import(installed);
  const networks = { beside: { type: "http", chainType: "l1", url } };
  const environment = await createHardhatRuntimeEnvironment({ networks });
  const { provider } = await environment.network.connect("beside");
  const ask = (method, ...params) => provider.request({ method, params });
  return {
    number: () => ask("eth_blockNumber"),
    "chain id": () => ask("eth_chainId"),
    balance: () => ask("eth_getBalance", address, "latest"),
    block: () => ask("eth_getBlockByNumber", "0x1", true),
    logs: () => ask("eth_getLogs", { fromBlock: "0x0" }),
    "100 reads at once": () =>
      Promise.all(Array.from({ length: 100 }, () => ask("eth_getBalance", NOBODY, "latest"))),
    "wrong parameters fail": () => ask("eth_getBalance", "0x12"),
    "a call that reverts fails": () => ask("eth_call", { from: address, data: REVERTS }, "latest"),
    "REFUSED eth_accounts": () => ask("eth_accounts"),
    // hardhat asks for the accounts first.
    "REFUSED call without a sender": () => ask("eth_call", { data: REVERTS }, "latest"),
    "REFUSED nobody_knows": () => ask("nobody_knows"),
  };
}

function programWith(file, flags) {
  return (...words) =>
    new Promise((resolve, reject) => {
      execFile(file, [...flags, ...words], { env: { HOME: "/nowhere" } }, (error, out, said) => {
        if (error) reject(new Error(said.replace(/^\s*\n/gm, "")));
        else resolve(out);
      });
    });
}

function cast(url, _, { address, blockHash, transactionHash }) {
  const file = fileURLToPath(
    new URL("node_modules/@foundry-rs/cast-linux-amd64/bin/cast", import.meta.url),
  );
  const run = programWith(file, []);
  const at = ["--rpc-url", url];
  return {
    number: () => run("block-number", ...at),
    "chain id": () => run("chain-id", ...at),
    balance: () => run("balance", address, ...at),
    "balance at a hash": () => run("balance", address, "--block", blockHash, ...at),
    block: () => run("block", "1", ...at),
    nonce: () => run("nonce", address, ...at),
    transaction: () => run("tx", transactionHash, ...at),
    receipt: () => run("receipt", transactionHash, ...at),
    logs: () => run("logs", "--from-block", "0", ...at),
    "client version": () => run("client", ...at),
    "gas price": () => run("gas-price", ...at),
    "wrong parameters fail": () => run("rpc", "eth_getBalance", "0x12", ...at),
    "REFUSED eth_accounts": () => run("rpc", "eth_accounts", ...at),
  };
}

async function bitcoinCore(host, login, { blockhash, address }) {
  const { default: Client } = await import("bitcoin-core");
  const [username, password] = login.split(":");
  const client = new Client({ host, username, password });
  return {
    count: () => client.command("getblockcount"),
    block: () => client.command("getblock", blockhash),
    "a batch": () =>
      client.command([
        { method: "getblockcount", parameters: [] },
        { method: "getblockhash", parameters: [1] },
      ]),
    "150 calls in a batch": () =>
      client.command(Array(150).fill({ method: "getblockhash", parameters: [1] })),
    "a hidden flag": () => client.command("getblock", blockhash, true),
    chain: () => client.command("getblockchaininfo").then(({ chain }) => chain),
    "REFUSED getnetworkinfo": () => client.command("getnetworkinfo"),
    "a wrong call in a batch": () =>
      client.command([
        { method: "getblockhash", parameters: [1e6] },
        { method: "getblockhash", parameters: [1] },
      ]),
    // litecoind itself refuses some of so many calls.
    "THROUGH 1000 reads at once": () =>
      Promise.all(Array.from({ length: 1000 }, () => client.command("getblockhash", 1)))
        .then((hashes) => hashes.every((hash) => hash === blockhash)),
    "a wrong height fails": () => client.command("getblockhash", 1e6),
    "REFUSED generatetoaddress": () => client.command("generatetoaddress", 1, address),
  };
}

async function rpcBitcoin(url, login, { blockhash, txid, address }) {
  const { RPCClient } = await import("rpc-bitcoin");
  const [user, pass] = login.split(":");
  const { protocol, hostname, port } = new URL(url);
  const client = new RPCClient({ url: `${protocol}//${hostname}`, port: Number(port), user, pass });
  return {
    count: () => client.getblockcount(),
    block: () => client.getblock({ blockhash, verbosity: 1 }),
    transaction: () => client.getrawtransaction({ txid, verbose: true }),
    "a wrong height fails": () => client.getblockhash({ height: 1e6 }),
    "REFUSED generatetoaddress": () => client.generatetoaddress({ nblocks: 1, address }),
  };
}

async function bitcoindRpc(url, login, { blockhash, address }) {
  const { default: Client } = await import("bitcoind-rpc");
  const [user, pass] = login.split(":");
  const { hostname: host, port } = new URL(url);
  const client = new Client({ protocol: "http", host, port, user, pass });
  const call = (name, ...params) =>
    new Promise((resolve, reject) => {
      client[name](
        ...params,
        (error, response) => error ? reject(error) : resolve(response.result),
      );
    });
  return {
    count: () => call("getBlockCount"),
    block: () => call("getBlock", blockhash),
    "mempool, verbose": () => call("getRawMemPool", true),
    "a batch": () =>
      new Promise((resolve, reject) => {
        const add = () => [client.getBlockCount(), client.getBlockHash(1)];
        client.batch(add, (error, all) =>
          error ? reject(error) : resolve(all.map(({ result }) => result)));
      }),
    "a wrong height fails": () => call("getBlockHash", 1e6),
    "REFUSED validateAddress of a wallet": () => call("sendToAddress", address, 1),
  };
}

function litecoinCli(url, login, { blockhash, address }) {
  const { hostname, port } = new URL(url);
  const [user, password] = login.split(":");
  const run = programWith("/usr/bin/litecoin-cli", [
    "-regtest",
    `-rpcconnect=${hostname}`,
    `-rpcport=${port}`,
    `-rpcuser=${user}`,
    `-rpcpassword=${password}`,
  ]);
  return {
    count: () => run("getblockcount"),
    block: () => run("getblock", blockhash),
    // These begin with `getnetworkinfo`, which reveals the node's addresses.
    "REFUSED -getinfo": () => run("-getinfo"),
    "REFUSED -netinfo": () => run("-netinfo"),
    "decoded header": () => run("getblockheader", blockhash, "true"),
    "block with a flag": () => run("getblock", blockhash, "false"),
    help: () => run("help", "getblockhash"),
    "block, named": () => run("-named", "getblock", `blockhash=${blockhash}`),
    "a wrong height fails": () => run("getblockhash", "1000000"),
    "REFUSED generatetoaddress": () => run("generatetoaddress", "1", address),
  };
}

async function solanaKit(url) {
  const { address, createSolanaRpc } = await import("@solana/kit");
  const rpc = createSolanaRpc(url);
  const own = address("11111111111111111111111111111111");
  return {
    slot: () => rpc.getSlot().send(),
    version: () => rpc.getVersion().send(),
    health: () => rpc.getHealth().send(),
    balance: () => rpc.getBalance(own).send(),
    "genesis hash": () => rpc.getGenesisHash().send(),
    "a block that is not there fails": () => rpc.getBlock(5n).send(),
    "REFUSED sendTransaction": () => rpc.sendTransaction("AQ==", { encoding: "base64" }).send(),
  };
}

async function solanaWeb3(url) {
  const { Connection, PublicKey } = await import("@solana/web3.js");
  const connection = new Connection(url);
  return {
    slot: () => connection.getSlot(),
    balance: () => connection.getBalance(new PublicKey("11111111111111111111111111111111")),
    "genesis hash": () => connection.getGenesisHash(),
    "a block that is not there fails": () => connection.getBlockSignatures(5),
    "REFUSED sendTransaction": () => connection.sendRawTransaction(new Uint8Array([1])),
  };
}

async function near(url) {
  const { JsonRpcProvider } = await import("near-api-js");
  const provider = new JsonRpcProvider({ url });
  return {
    block: () => provider.viewBlock({ finality: "final" }),
    "gas price": () => provider.viewGasPrice(),
    account: () => provider.viewAccount({ accountId: "a.near" }),
    "an account that is not there fails": () => provider.viewAccount({ accountId: "none.near" }),
    "REFUSED send_tx": () => provider.sendJsonRpc("send_tx", { signed_tx_base64: "AQ==" }),
  };
}

async function cosmos(url) {
  const { connectComet } = await import("@cosmjs/tendermint-rpc");
  const client = await connectComet(url);
  return {
    status: () => client.status().then(({ nodeInfo }) => nodeInfo.network),
    "abci info": () => client.abciInfo(),
    "a block that is not there fails": () => client.block(1e9),
    "REFUSED broadcastTxSync": () => client.broadcastTxSync({ tx: new Uint8Array([1]) }),
  };
}

async function polkadot(url) {
  const { HttpProvider } = await import("@polkadot/rpc-provider");
  const provider = new HttpProvider(url);
  return {
    chain: () => provider.send("system_chain", []),
    header: () => provider.send("chain_getHeader", []),
    "a wrong parameter fails": () => provider.send("chain_getBlock", ["x"]),
    "REFUSED author_submitExtrinsic": () => provider.send("author_submitExtrinsic", ["0x00"]),
  };
}

async function hsClient(url, _, { blockhash, txid }) {
  const { default: { NodeClient } } = await import("hs-client");
  const { hostname: host, port } = new URL(url);
  const client = new NodeClient({ host, port: Number(port) });
  return {
    count: () => client.execute("getblockcount", []),
    hash: () => client.execute("getblockhash", [0]),
    block: () => client.execute("getblock", [blockhash, true, false]),
    "block by REST": () => client.getBlock(1).then(({ hash }) => hash),
    "transaction by REST": () => client.getTX(txid).then(({ hash, height }) => [hash, height]),
    "a wrong height fails": () => client.execute("getblockhash", [1e6]),
    "REFUSED stop": () => client.execute("stop", []),
  };
}

const CLIENTS = {
  ethers,
  ethers5,
  viem,
  "viem with batches": viemInBatches,
  "@wagmi/core": wagmi,
  ox,
  hardhat,
  web3,
  "@foundry-rs/cast": cast,
  "bitcoin-core": bitcoinCore,
  "rpc-bitcoin": rpcBitcoin,
  "bitcoind-rpc": bitcoindRpc,
  "litecoin-cli": litecoinCli,
  "@solana/kit": solanaKit,
  "@solana/web3.js": solanaWeb3,
  "near-api-js": near,
  "@cosmjs/tendermint-rpc": cosmos,
  "@polkadot/rpc-provider": polkadot,
  "hs-client": hsClient,
};

/** The node fails once for each of these accounts. The outcome is that of the second attempt. */
const FAILING = [429, 503, 500].flatMap((status) =>
  ["0", "1"].map((form) => `0x${form}${String(status).padStart(39, "0")}`)
);

const failing = (ask) =>
  Object.fromEntries(FAILING.map((address) => [address, () => ask(address).then(String)]));

const RETRIES = {
  async ethers(url) {
    const { JsonRpcProvider } = await import("ethers");
    const provider = new JsonRpcProvider(url);
    return failing((address) => provider.getBalance(address));
  },
  async ethers5(url) {
    const { providers } = await import("ethers5");
    const network = { chainId: 31337, name: "unknown" };
    const provider = new providers.StaticJsonRpcProvider(url, network);
    return failing((address) => provider.getBalance(address));
  },
  async viem(url) {
    const { createPublicClient, http } = await import("viem");
    const client = createPublicClient({ transport: http(url) });
    return failing((address) => client.getBalance({ address }));
  },
};

/** Longer than a client tries: viem gives up after four times 10 s. */
const TIMEOUT_MS = 60_000;

const [name, url, login, known] = process.argv.slice(2);
const outcomes = {};
const { isFailing, ...values } = JSON.parse(known);
const callsFor = (isFailing ? RETRIES : CLIENTS)[name];
for (const [what, call] of Object.entries(await callsFor(url, login, values))) {
  const late = new Promise((_, reject) => {
    setTimeout(() => reject(new Error("no response in time")), TIMEOUT_MS).unref();
  });
  try {
    outcomes[what] = await Promise.race([call(), late]);
  } catch (error) {
    outcomes[what] = { error: textOf(error).replaceAll(url, "URL") };
  }
}
console.log(`\n${JSON.stringify(outcomes, plain)}`);
process.exit(0);

/** All that a developer sees of an error. */
function textOf(error) {
  const { name, message, code, data, cause } = error;
  const inner = error.error?.message ?? error.info?.error?.message ?? error.innerError?.message;
  const shown = [name, message, inner, code, typeof data === "string" ? data : undefined];
  const text = shown.filter((one) => one !== undefined).join("; ");
  // Clients number their calls, and some show the body of a request with its number.
  const ids = text.replaceAll(/\\?"id\\?": ?\\?"?[\w-]+\\?"?/g, '"id":0');
  return cause instanceof Error ? `${ids}: ${textOf(cause)}` : ids;
}

function plain(_, value) {
  if (typeof value === "bigint") return `${value}n`;
  return value instanceof Uint8Array ? [...value] : value;
}
