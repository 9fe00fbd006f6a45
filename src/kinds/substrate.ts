// Read from https://polkadot.js.org/docs/substrate/rpc/#system and, for the answers,
// https://www.dwellir.com/docs/polkadot/system_health
import type { Kind } from "./kind.ts";

/** Polkadot, Kusama, parachains and all else that is built with Substrate. */
export const substrate: Kind = {
  title: "Substrate, Polkadot (JSON-RPC)",
  url: "http://127.0.0.1:9944",
  recognise: { "health#/shouldHavePeers": "^(true|false)$" },
  sources: {
    health: { jsonrpc: "system_health" },
    chain: { jsonrpc: "system_chain" },
    name: { jsonrpc: "system_name", optional: true },
    version: { jsonrpc: "system_version", optional: true },
    header: { jsonrpc: "chain_getHeader", optional: true },
    genesis: { jsonrpc: "chain_getBlockHash", params: [0], ttl: "1h", optional: true },
  },
  fields: {
    software: "name#",
    version: "version#",
    network: "chain#",
    chain_id: "genesis#",
    height: { from: "header#/number", as: "hex" },
    synced: { from: "health#/isSyncing", as: "not" },
    peers: "health#/peers",
  },
};
