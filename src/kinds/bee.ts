// Read from https://docs.ethswarm.org/docs/bee/working-with-bee/bee-api/
import type { Kind } from "./kind.ts";

/** Bee, the node of Swarm. */
export const bee: Kind = {
  title: "Swarm Bee (REST)",
  url: "http://127.0.0.1:1633",
  recognise: { "health#/status": "^ok$", "health#/apiVersion": "^[0-9]" },
  static: { software: "bee" },
  sources: {
    health: { get: "/health" },
    node: { get: "/node", optional: true },
    peers: { get: "/peers", optional: true },
  },
  fields: {
    version: { from: "health#/version", as: { match: "^[^-]+" } },
    commit: { from: "health#/version", as: { match: "-([0-9a-f]+)$" } },
    node_type: "node#/beeMode",
    peers: { from: "peers#/peers", as: "count" },
  },
};
