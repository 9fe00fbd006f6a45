/**
 * The info object: what is known of the node and of the service beside it, flat and in one order.
 *
 * @module
 */

/** How the node is doing. */
export type Status = "ok" | "syncing" | "stale" | "unreachable";

/** One JSON object, open to any further key; a key whose value is not known is left out. */
export interface Info {
  /** What the operator calls this node. */
  name?: string;
  software?: string;
  version?: string;
  commit?: string;
  network?: string;
  /** Identifiers are strings, whatever the node writes. */
  chain_id?: string;
  node_type?: string;
  /** The number of the latest block; a `bigint` above 2^53. */
  height?: number | bigint;
  synced?: boolean;
  peers?: number | bigint;
  /** RFC 3339. */
  started_at?: string;
  status: Status;
  /** When the values were last known to be right, RFC 3339; only beside the status `stale`. */
  updated_at?: string;
  /** The service itself, where it stands beside a node. */
  api?: Service;
  /** Where the rest of the interface is: references relative to the URL of the info itself. */
  links: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

/** What the service says of itself. */
export interface Service {
  software: string;
  version: string;
  /** RFC 3339. */
  started_at: string;
}

/** What an info object is made of. */
export interface Parts {
  service: Service;
  /** Whether there is a node beside the service. */
  isBesideNode: boolean;
  /** What is known of the node; the operator's own values among them. */
  values: Readonly<Record<string, unknown>>;
  /** Whether last known values are shown since the node stopped answering, or none at all. */
  trouble?: "stale" | "unreachable" | undefined;
  /** When the oldest of stale values was right, in milliseconds since 1970. */
  updatedAt?: number | undefined;
  /** Keys that are not shown. */
  hide?: readonly string[] | undefined;
}

/** The keys that every kind of node may have, in the order in which they are shown. */
const ORDER = [
  "name",
  "software",
  "version",
  "commit",
  "network",
  "chain_id",
  "node_type",
  "node_id",
  "height",
  "synced",
  "peers",
  "started_at",
];

const LINKS = {
  explorer: "spec",
  description_json: "../spec.json",
  description_yaml: "../spec.yaml",
  health: "health",
};

/** Makes the info object. */
export function compose(parts: Parts): Info {
  const { service, isBesideNode, values, trouble, updatedAt, hide = [] } = parts;
  const own = isBesideNode ? {} : { name: service.software, ...service };
  const known: Record<string, unknown> = { ...own, ...values };
  const info: Record<string, unknown> = {};
  for (const key of new Set([...ORDER, ...Object.keys(known)])) {
    if (known[key] !== undefined && !hide.includes(key)) info[key] = known[key];
  }
  return {
    ...info,
    status: trouble ?? (known.synced === false ? "syncing" : "ok"),
    ...(trouble === "stale" && updatedAt ? { updated_at: new Date(updatedAt).toISOString() } : {}),
    ...(isBesideNode ? { api: service } : {}),
    links: LINKS,
  };
}
