/** Simulated JSON-RPC nodes, with the responses that clients need. */
import { json, type PlayedNode, playNode, textOf } from "../_gateway.ts";

type Answer = { readonly result: unknown } | { readonly error: unknown };
type Method = (params: unknown) => Answer;

const HASH = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";

const result = (value: unknown): Method => () => ({ result: value });
const error = (value: unknown): Method => () => ({ error: value });

const solana: Readonly<Record<string, Method>> = {
  getSlot: result(435_000_000),
  getBalance: result({ context: { slot: 435_000_000, apiVersion: "2.2.1" }, value: 1 }),
  getGenesisHash: result(HASH),
  getBlock: error({ code: -32009, message: "Slot 5 was skipped" }),
  getVersion: result({ "solana-core": "2.2.1", "feature-set": 1 }),
  getHealth: result("ok"),
};

const NOT_THERE = {
  name: "HANDLER_ERROR",
  cause: { info: { requested_account_id: "none.near", block_height: 1 }, name: "UNKNOWN_ACCOUNT" },
  code: -32000,
  message: "Server error",
  data: "account none.near does not exist while viewing",
};

const near: Readonly<Record<string, Method>> = {
  block: result({
    author: "a.near",
    header: { height: 1, hash: HASH, timestamp_nanosec: "1", chunks_included: 1 },
    chunks: [],
  }),
  gas_price: result({ gas_price: "100000000" }),
  query: (params) => {
    const { account_id: account } = params as Record<string, unknown>;
    return account === "none.near" ? { error: NOT_THERE } : {
      result: {
        amount: "1000",
        locked: "0",
        code_hash: "11111111111111111111111111111111",
        storage_usage: 182,
        storage_paid_at: 0,
        block_height: 1,
        block_hash: HASH,
      },
    };
  },
};

const ID = "AB".repeat(20);

const cosmos: Readonly<Record<string, Method>> = {
  status: result({
    node_info: {
      id: ID.toLowerCase(),
      listen_addr: "tcp://0.0.0.0:26656",
      network: "chain-1",
      version: "0.38.12",
      channels: "40",
      moniker: "node",
      other: { tx_index: "on", rpc_address: "tcp://0.0.0.0:26657" },
      protocol_version: { p2p: "8", block: "11", app: "0" },
    },
    sync_info: {
      latest_block_hash: ID,
      latest_app_hash: ID,
      latest_block_height: "9",
      latest_block_time: "2026-11-26T10:00:00.123456789Z",
      catching_up: false,
    },
    validator_info: {
      address: ID,
      pub_key: { type: "tendermint/PubKeyEd25519", value: "A".repeat(43) + "=" },
      voting_power: "10",
    },
  }),
  abci_info: result({
    response: { data: "app", version: "1", last_block_height: "9", last_block_app_hash: "AQ==" },
  }),
  block: error({
    code: -32603,
    message: "Internal error",
    data: "height 1000000000 must be less than or equal to the current blockchain height 9",
  }),
};

const substrate: Readonly<Record<string, Method>> = {
  system_chain: result("Development"),
  chain_getHeader: result({ number: "0x9", parentHash: `0x${"00".repeat(32)}` }),
  chain_getBlock: error({ code: -32602, message: "Invalid params", data: "expected a number" }),
};

const ethereum: Readonly<Record<string, Method>> = {
  eth_chainId: result("0x7a69"),
  eth_blockNumber: result("0x1"),
  eth_getBalance: result("0x5"),
  web3_clientVersion: result("played/1.0"),
};

const NODES: Readonly<Record<string, Readonly<Record<string, Method>>>> = {
  solana,
  near,
  cosmos,
  substrate,
  ethereum,
};

export async function playRpc(kind: string): Promise<PlayedNode> {
  const methods = NODES[kind]!;
  const node = await playNode();
  const answer = ({ id, method, params }: Record<string, unknown>) => ({
    jsonrpc: "2.0",
    id,
    ...(methods[String(method)] ?? error({ code: -32601, message: "Method not found" }))(params),
  });
  node.answer = (request, response) => {
    // CometBFT is queried by paths.
    if (request.method === "GET") {
      const method = methods[request.url.slice(1).replace(/\?.*/, "")];
      return json(
        method ? answer({ id: -1, method: request.url.slice(1) }) : {},
        method ? 200 : 404,
      )(
        request,
        response,
      );
    }
    const content = JSON.parse(textOf(request));
    const answers = Array.isArray(content) ? content.map(answer) : answer(content);
    return json(answers)(request, response);
  };
  return node;
}

/**
 * An Ethereum node that fails with an HTTP status at the first call with an address such as
 * `0x0…429`. An address that begins with `0x1` gets a JSON-RPC error with this status.
 */
export async function playFailing(): Promise<PlayedNode> {
  const node = await playRpc("ethereum");
  const { answer } = node;
  const failed = new Set<string>();
  node.answer = (request, response) => {
    const text = textOf(request);
    const [address, form, status] = /0x([01])0{36}(\d{3})/.exec(text) ?? [];
    if (!address || failed.has(address)) return answer(request, response);
    failed.add(address);
    const { id } = [JSON.parse(text)].flat()[0];
    const busy = { jsonrpc: "2.0", id, error: { code: -32005, message: "too many requests" } };
    response.writeHead(Number(status), { "retry-after": "1" });
    response.end(form === "1" ? JSON.stringify(busy) : "Try again");
  };
  return node;
}
