// Read from https://docs.getmonero.org/rpc-library/monerod-rpc/#get_info
import type { Kind } from "./kind.ts";

/** monerod; with `--restricted-rpc` it hides values behind "", 0 and 2^64-1. */
export const monero: Kind = {
  title: "Monero (monerod, JSON-RPC)",
  url: "http://127.0.0.1:18081",
  recognise: { "info#/nettype": "^(mainnet|testnet|stagenet|fakechain)$" },
  static: { software: "monerod" },
  sources: {
    info: { jsonrpc: "get_info", path: "/json_rpc" },
  },
  fields: {
    version: "info#/version",
    network: "info#/nettype",
    height: "info#/height",
    synced: "info#/synchronized",
    peers: {
      from: ["info#/incoming_connections_count", "info#/outgoing_connections_count"],
      as: "sum",
      unless: "info#/restricted",
    },
    started_at: { from: "info#/start_time", as: "time", unless: "info#/restricted" },
  },
};
