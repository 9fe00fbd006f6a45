// Read from https://docs.near.org/api/rpc/network
import type { Kind } from "./kind.ts";

/** nearcore. */
export const near: Kind = {
  title: "NEAR (JSON-RPC)",
  url: "http://127.0.0.1:3030",
  recognise: { "status#/version/rustc_version": "." },
  static: { software: "nearcore" },
  sources: {
    status: { jsonrpc: "status" },
    net: { jsonrpc: "network_info", optional: true },
  },
  fields: {
    version: "status#/version/version",
    chain_id: "status#/chain_id",
    height: "status#/sync_info/latest_block_height",
    synced: { from: "status#/sync_info/syncing", as: "not" },
    peers: "net#/num_active_peers",
    started_at: { from: "status#/uptime_sec", as: "uptime" },
  },
};
