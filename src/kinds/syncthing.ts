// Read from https://docs.syncthing.net/dev/rest.html
import type { Kind } from "./kind.ts";

const KEY = { header: "X-API-Key", match: "<apikey>([^<]+)</apikey>" };

/** Syncthing tells nothing without its API key, which is in its configuration. */
export const syncthing: Kind = {
  title: "Syncthing (REST)",
  url: "http://127.0.0.1:8384",
  recognise: { "version#/longVersion": "^syncthing " },
  auth: {
    refusal: ["x-syncthing-version", "^v"],
    files: [
      { header_file: "~/.local/state/syncthing/config.xml", ...KEY },
      { header_file: "~/.config/syncthing/config.xml", ...KEY },
      { header_file: "~/Library/Application Support/Syncthing/config.xml", ...KEY },
    ],
  },
  static: { software: "syncthing" },
  sources: {
    version: { get: "/rest/system/version" },
    status: { get: "/rest/system/status" },
    connections: { get: "/rest/system/connections" },
  },
  fields: {
    version: { from: "version#/version", as: { match: "^v?(.+)" } },
    node_id: "status#/myID",
    peers: { from: "connections#/connections", as: { count: "/connected" } },
    started_at: { from: "status#/startTime", as: "time" },
  },
};
