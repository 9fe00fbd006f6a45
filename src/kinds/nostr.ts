// Read from https://github.com/nostr-protocol/nips/blob/master/11.md
import type { Kind } from "./kind.ts";

/** A Nostr relay, by its information document (NIP-11). */
export const nostr: Kind = {
  title: "Nostr relay (NIP-11)",
  url: "http://127.0.0.1:7777",
  recognise: { "relay#/supported_nips/0": "^[0-9]+$" },
  sources: {
    relay: { get: "/", accept: "application/nostr+json" },
  },
  fields: {
    name: "relay#/name",
    software: { from: "relay#/software", as: { match: "([^/]+?)(?:\\.git)?/?$" } },
    version: "relay#/version",
    supported_nips: "relay#/supported_nips",
  },
};
