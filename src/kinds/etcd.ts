// Read from https://etcd.io/docs/v3.5/dev-guide/api_grpc_gateway/ and
// https://etcd.io/docs/v3.5/dev-guide/api_reference_v3/ (Maintenance, Cluster)
import type { Kind } from "./kind.ts";

/** etcd, over its gRPC gateway; it writes numbers of 64 bits as text. */
export const etcd: Kind = {
  title: "etcd (gRPC gateway)",
  url: "http://127.0.0.1:2379",
  recognise: { "version#/etcdserver": "^[0-9]" },
  static: { software: "etcd" },
  sources: {
    version: { get: "/version" },
    status: { post: "/v3/maintenance/status", json: {} },
    members: { post: "/v3/cluster/member/list", json: {} },
  },
  fields: {
    version: "version#/etcdserver",
    network: "status#/header/cluster_id",
    node_id: "status#/header/member_id",
    revision: "status#/header/revision",
    members: { from: "members#/members", as: "count" },
  },
};
