// Read from https://docs.ipfs.tech/reference/kubo/rpc/#api-v0-version
import type { Kind } from "./kind.ts";

/** Kubo, the IPFS daemon; its RPC answers POST only. */
export const kubo: Kind = {
  title: "IPFS Kubo (RPC)",
  url: "http://127.0.0.1:5001",
  recognise: { "version#/Golang": "^go", "version#/Repo": "^[0-9]+$" },
  static: { software: "kubo" },
  sources: {
    version: { post: "/api/v0/version" },
    id: { post: "/api/v0/id", optional: true },
    swarm: { post: "/api/v0/swarm/peers", optional: true },
  },
  fields: {
    version: "version#/Version",
    commit: "version#/Commit",
    node_id: "id#/ID",
    peers: { from: "swarm#/Peers", as: "count" },
  },
};
