// Read from http://nodeinfo.diaspora.software/protocol.html and /schema.html
import type { Kind } from "./kind.ts";

/** Mastodon, Misskey, Pleroma, Lemmy and all else that publishes a NodeInfo document. */
export const activitypub: Kind = {
  title: "ActivityPub server (NodeInfo)",
  url: "http://127.0.0.1:3000",
  recognise: {
    "links#/links/0/rel": "^https?://nodeinfo\\.diaspora\\.software/ns/schema/[0-9.]+$",
  },
  sources: {
    links: { get: "/.well-known/nodeinfo", ttl: "1h" },
    nodeinfo: { get: "links#/links/0/href" },
  },
  fields: {
    name: "nodeinfo#/metadata/nodeName",
    software: "nodeinfo#/software/name",
    version: "nodeinfo#/software/version",
    protocols: "nodeinfo#/protocols",
    users: "nodeinfo#/usage/users/total",
    open_registrations: "nodeinfo#/openRegistrations",
  },
};
