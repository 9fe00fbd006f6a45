// Read from https://ethereum.org/en/developers/docs/apis/json-rpc/
import type { Kind } from "./kind.ts";

/** Execution clients: geth, nethermind, besu, erigon, reth, anvil, ganache. */
export const ethereum: Kind = {
  title: "Ethereum execution client (JSON-RPC)",
  url: "http://127.0.0.1:8545",
  recognise: { "chain#": "^0x[0-9a-f]+$" },
  sources: {
    client: { jsonrpc: "web3_clientVersion" },
    chain: { jsonrpc: "eth_chainId" },
    block: { jsonrpc: "eth_blockNumber" },
    syncing: { jsonrpc: "eth_syncing" },
    peers: { jsonrpc: "net_peerCount", optional: true },
  },
  fields: {
    software: { from: "client#", as: { match: "^[^/]+" } },
    version: { from: "client#", as: { match: "/v?([0-9][^/]*)" } },
    chain_id: { from: "chain#", as: "hex" },
    height: { from: "block#", as: "hex" },
    synced: { from: "syncing#", as: "not" },
    peers: { from: "peers#", as: "hex" },
  },
};
