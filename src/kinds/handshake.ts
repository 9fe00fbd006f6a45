// Read from https://hsd-dev.org/api-docs/#node
import type { Kind } from "./kind.ts";

/** hsd; its key is `user:password` with any user. */
export const handshake: Kind = {
  title: "Handshake (hsd, REST)",
  url: "http://127.0.0.1:12037",
  recognise: { "node#/pool/agent": "^/hsd:" },
  sources: {
    node: { get: "/" },
  },
  fields: {
    software: { from: "node#/pool/agent", as: { match: "^/([^:]+)" } },
    version: "node#/version",
    network: "node#/network",
    height: "node#/chain/height",
    peers: { from: ["node#/pool/inbound", "node#/pool/outbound"], as: "sum" },
    started_at: { from: "node#/time/uptime", as: "uptime" },
  },
};
