// Read from https://ethereum.github.io/beacon-APIs/#/Node
import type { Kind } from "./kind.ts";

/** Consensus clients: lighthouse, prysm, teku, nimbus, lodestar; they write numbers as text. */
export const beacon: Kind = {
  title: "Ethereum consensus client (Beacon API)",
  url: "http://127.0.0.1:5052",
  recognise: { "syncing#/data/sync_distance": "^[0-9]+$" },
  sources: {
    version: { get: "/eth/v1/node/version" },
    syncing: { get: "/eth/v1/node/syncing" },
    peers: { get: "/eth/v1/node/peer_count" },
    deposit: { get: "/eth/v1/config/deposit_contract", ttl: "1h", optional: true },
  },
  fields: {
    software: { from: "version#/data/version", as: { match: "^[^/]+" } },
    version: { from: "version#/data/version", as: { match: "/v?([^/ ]+)" } },
    chain_id: "deposit#/data/chain_id",
    height: "syncing#/data/head_slot",
    synced: { from: "syncing#/data/is_syncing", as: "not" },
    peers: "peers#/data/connected",
  },
};
