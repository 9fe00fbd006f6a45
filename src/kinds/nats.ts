// Read from https://docs.nats.io/running-a-nats-service/nats_admin/monitoring#general-information-varz
import type { Kind } from "./kind.ts";

/** nats-server, over its monitoring port (`-m`). */
export const nats: Kind = {
  title: "NATS server (monitoring)",
  url: "http://127.0.0.1:8222",
  recognise: { "varz#/server_id": "^N[A-Z2-7]{55}$" },
  static: { software: "nats-server" },
  sources: {
    varz: { get: "/varz" },
  },
  fields: {
    version: "varz#/version",
    commit: "varz#/git_commit",
    network: "varz#/cluster/name",
    node_id: "varz#/server_id",
    peers: "varz#/remotes",
    clients: "varz#/connections",
    started_at: { from: "varz#/start", as: "time" },
  },
};
