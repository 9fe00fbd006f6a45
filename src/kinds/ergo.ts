// Read from https://github.com/ergoplatform/ergo/blob/master/src/main/resources/api/openapi.yaml
import type { Kind } from "./kind.ts";

/** The Ergo reference node. */
export const ergo: Kind = {
  title: "Ergo (REST)",
  url: "http://127.0.0.1:9053",
  description: "/api-docs/swagger.conf",
  recognise: { "info#/appVersion": "^[0-9]", "info#/stateType": "^(utxo|digest)$" },
  static: { software: "ergo" },
  sources: {
    info: { get: "/info" },
  },
  fields: {
    name: "info#/name",
    version: "info#/appVersion",
    network: "info#/network",
    chain_id: "info#/genesisBlockId",
    node_type: "info#/stateType",
    height: "info#/fullHeight",
    peers: "info#/peersCount",
    started_at: { from: "info#/launchTime", as: "time" },
  },
};
