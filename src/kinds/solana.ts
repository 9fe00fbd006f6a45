// Read from https://solana.com/docs/rpc/http/getversion and its neighbours
import type { Kind } from "./kind.ts";

/** Solana validators and RPC nodes; the genesis hash is what tells one cluster from another. */
export const solana: Kind = {
  title: "Solana (JSON-RPC)",
  url: "http://127.0.0.1:8899",
  recognise: { "version#/solana-core": "^[0-9]" },
  static: { software: "solana-core" },
  sources: {
    version: { jsonrpc: "getVersion" },
    genesis: { jsonrpc: "getGenesisHash", ttl: "1h", optional: true },
    height: { jsonrpc: "getBlockHeight", optional: true },
    health: { jsonrpc: "getHealth", optional: true },
  },
  fields: {
    version: "version#/solana-core",
    chain_id: "genesis#",
    height: "height#",
    health: "health#",
  },
};
