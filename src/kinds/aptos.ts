// Read from https://aptos.dev/rest-api/operations/get_ledger_info
import type { Kind } from "./kind.ts";

/** Aptos and its forks; it writes numbers of 64 bits as text. */
export const aptos: Kind = {
  title: "Aptos, Movement (REST)",
  url: "http://127.0.0.1:8080",
  description: "/v1/spec.json",
  recognise: {
    "ledger#/ledger_version": "^[0-9]+$",
    "ledger#/node_role": "^(validator|full_node)$",
  },
  sources: {
    ledger: { get: "/v1" },
  },
  fields: {
    commit: "ledger#/git_hash",
    chain_id: "ledger#/chain_id",
    node_type: "ledger#/node_role",
    height: "ledger#/block_height",
    epoch: "ledger#/epoch",
  },
};
