// Read from https://developer.algorand.org/docs/rest-apis/algod
import type { Kind } from "./kind.ts";

/** The node of Algorand; its status needs the token in `algod.token`, as `X-Algo-API-Token`. */
export const algorand: Kind = {
  title: "Algorand algod (REST)",
  url: "http://127.0.0.1:8080",
  description: "/swagger.json",
  recognise: {
    "versions#/genesis_id": "^\\S+$",
    "versions#/genesis_hash_b64": "^[\\w+/]{43}=$",
  },
  static: { software: "algod" },
  sources: {
    versions: { get: "/versions" },
    status: { get: "/v2/status" },
  },
  fields: {
    version: {
      from: ["versions#/build/major", "versions#/build/minor", "versions#/build/build_number"],
      as: { join: "." },
    },
    commit: "versions#/build/commit_hash",
    network: "versions#/genesis_id",
    chain_id: "versions#/genesis_hash_b64",
    height: "status#/last-round",
    synced: { from: "status#/catchup-time", as: "not" },
  },
};
