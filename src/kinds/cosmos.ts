// Read from https://docs.cosmos.network/cometbft/v0.38/api-reference/rpc/info/status
import type { Kind } from "./kind.ts";

/** CometBFT, formerly Tendermint, under any application; it writes numbers as text. */
export const cosmos: Kind = {
  title: "CometBFT, Tendermint (RPC)",
  url: "http://127.0.0.1:26657",
  recognise: {
    "status#/result/node_info/network": ".",
    "status#/result/sync_info/latest_block_height": "^[0-9]+$",
  },
  sources: {
    status: { get: "/status" },
    net: { get: "/net_info", optional: true },
    app: { get: "/abci_info", optional: true },
  },
  fields: {
    name: "status#/result/node_info/moniker",
    software: "app#/result/response/data",
    version: {
      from: ["app#/result/response/version", "status#/result/node_info/version"],
    },
    chain_id: "status#/result/node_info/network",
    node_id: "status#/result/node_info/id",
    height: "status#/result/sync_info/latest_block_height",
    synced: { from: "status#/result/sync_info/catching_up", as: "not" },
    peers: "net#/result/n_peers",
  },
};
