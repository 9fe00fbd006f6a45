// Read from https://github.com/stacks-network/stacks-core/blob/master/docs/rpc-endpoints.md and
// the example beside it, docs/rpc/api/core-node/get-info.example.json
import type { Kind } from "./kind.ts";

/** stacks-node; its version is a line such as `blockstack-core 0.0.1 => 23.0.0.0 (…)`. */
export const stacks: Kind = {
  title: "Stacks (REST)",
  url: "http://127.0.0.1:20443",
  recognise: {
    "info#/server_version": "^(blockstack-core|stacks-node) ",
    "info#/stacks_tip": "^[0-9a-f]{64}$",
  },
  sources: {
    info: { get: "/v2/info" },
  },
  fields: {
    software: { from: "info#/server_version", as: { match: "^\\S+" } },
    version: { from: "info#/server_version", as: { match: "(?:=> |^\\S+ )([0-9.]+) \\(" } },
    chain_id: "info#/network_id",
    height: "info#/stacks_tip_height",
    burn_block_height: "info#/burn_block_height",
    synced: "info#/is_fully_synced",
  },
};
