/**
 * The info object, and the representations of it and of the health, which are prepared again only when it changes.
 *
 * @module
 */
import type { NodeStatus, Status, StatusCode } from "./status.ts";
import { formatJson } from "../json/lossless.ts";
import { quote } from "../untrusted-text.ts";
import { isKnown, KNOWN_KEYS } from "./fields.ts";
import type { NodeExamples, Values } from "./source-cache.ts";
import { RESERVED_KEYS } from "./settings.ts";
import { represent, type Representation } from "../http/representation.ts";

/** One JSON object, open to any further key; a key whose value is not known is left out. */
export interface Info {
  /** The operator's name for this node. */
  name?: string | undefined;
  software?: string | undefined;
  version?: string | undefined;
  commit?: string | undefined;
  network?: string | undefined;
  /** Identifiers are strings, whatever the node writes. */
  chain_id?: string | undefined;
  node_type?: string | undefined;
  node_id?: string | undefined;
  /** The number of the latest block; a `bigint` above 2^53. */
  height?: number | bigint | undefined;
  /** The time of the latest block, RFC 3339. */
  head_at?: string | undefined;
  synced?: boolean | undefined;
  /** From 0 to 1. */
  sync_progress?: number | undefined;
  peers?: number | bigint | undefined;
  /** RFC 3339. */
  started_at?: string | undefined;
  status: Status;
  /** The reason of a status that is not `ok`. */
  status_code?: StatusCode | undefined;
  /** One sentence for people, beside `status_code`. */
  status_reason?: string | undefined;
  /** The time at which the oldest of stale values was right, RFC 3339. */
  updated_at?: string | undefined;
  /** The node as it was when it responded last; while it is `unreachable`. */
  last_seen?: LastSeen | undefined;
  /** The service itself, where it stands beside a node. */
  api?: Service | undefined;
  /** The rest of the interface: references relative to the URL of the info itself. */
  links: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

/** The node as it was when it responded last. */
export type LastSeen =
  & Pick<Info, "software" | "version" | "network" | "chain_id" | "height">
  /** RFC 3339. */
  & { readonly at: string };

/** The service itself. */
export interface Service {
  software: string;
  version: string;
  /** RFC 3339. */
  started_at: string;
}

interface Parts {
  readonly service: Service;
  readonly isBesideNode: boolean;
  /** The operator's own values are among them. */
  readonly values: Values;
  readonly status: NodeStatus;
  readonly updatedAt?: number | undefined;
  readonly lastSeen?: LastSeen | undefined;
  readonly hide?: readonly string[] | undefined;
}

const LINKS = {
  explorer: "spec",
  description_json: "../spec.json",
  description_yaml: "../spec.yaml",
  health: "health",
};

const KEYS_MAX = 64, SIZE_MAX = 60 * 1024;

/** Makes the info object, and says which keys were omitted, since there is too much of it. */
export function makeInfo(parts: Parts): { info: Info; omitted: ReadonlyMap<string, string> } {
  const { service, isBesideNode, values, status, updatedAt, lastSeen, hide = [] } = parts;
  const own = isBesideNode ? {} : { name: service.software, ...service };
  const known: Record<string, unknown> = { ...own, ...values };
  if (status.synced !== undefined) known.synced = status.synced;
  // A node with which something is wrong does not say that it is in sync.
  else if (status.status !== "ok" && status.status !== "stale") delete known.synced;
  const shown: Record<string, unknown> = {};
  const omitted = new Map<string, string>();
  let size = 0;
  for (const key of new Set([...Object.keys(KNOWN_KEYS), ...Object.keys(known)])) {
    if (!isKnown(known[key]) || hide.includes(key) || RESERVED_KEYS.includes(key)) continue;
    const length = formatJson(known[key], 2).length + key.length;
    const isTooMuch = size + length > SIZE_MAX;
    if (isTooMuch || Object.keys(shown).length === KEYS_MAX) {
      const most = isTooMuch ? "64 kB" : `${KEYS_MAX} keys`;
      omitted.set(quote(key.slice(0, 40)), `is omitted: the info has at most ${most}`);
      continue;
    }
    size += length;
    shown[key] = known[key];
  }
  const info: Info = {
    ...shown,
    status: status.status,
    ...status.code !== undefined && { status_code: status.code },
    ...status.reason !== undefined && { status_reason: status.reason },
    ...updatedAt !== undefined && { updated_at: new Date(updatedAt).toISOString() },
    ...lastSeen && { last_seen: lastSeen },
    ...isBesideNode && { api: service },
    links: LINKS,
  };
  return { info, omitted };
}

/** The info at a time: a new object, with new representations, only where anything changed. */
export interface Snapshot {
  readonly info: Info;
  /** Values of the node with which the page fills reads in. */
  readonly examples?: NodeExamples | undefined;
  readonly representation: Representation;
  readonly health: { readonly passing: Representation; readonly failing: Representation };
}

/** Makes snapshots of infos, the last one where nothing changed. `run` differs in each run of the service. */
export function createSnapshots(
  ttl: number,
  run: string,
): (info: Info, examples?: NodeExamples) => Promise<Snapshot> {
  // The info says when it was started, so a content is never that of another run. To count contents
  // is quicker than the first digest, for which some runtimes load all of their cryptography.
  let contents = 0;
  let last: { text: string; key: string; made: Promise<Snapshot> } | undefined;
  return (info, examples = {}) => {
    const text = formatJson(info, 2) + "\n";
    const key = formatJson(examples);
    if (last?.text === text && last.key === key) return last.made;
    const represented = last?.text === text
      ? last.made
      : makeSnapshot(info, text, `${run}-${(++contents).toString(36)}`, ttl);
    const made = represented.then((snapshot) => ({ ...snapshot, examples })).catch((error) => {
      last = undefined;
      throw error;
    });
    last = { text, key, made };
    return made;
  };
}

async function makeSnapshot(info: Info, text: string, tag: string, ttl: number): Promise<Snapshot> {
  const { status, status_code, status_reason } = info;
  const health = formatJson({ status, status_code, status_reason }) + "\n";
  const isWell = status === "ok" || status === "syncing";
  const type = "application/json";
  // The same on every runtime and in every process. To load cryptography for one word takes too long.
  const probed = { type, cache: "no-store", ...(status === "ok" && { tag: status }) };
  const [representation, passing, failing] = await Promise.all([
    represent(text, {
      tag,
      type,
      cache: isWell ? `public, max-age=${Math.floor(ttl / 1000)}` : "public, no-cache",
    }),
    represent(health, { ...probed, status: 200 }),
    represent(health, { ...probed, status: 503 }),
  ]);
  return { info, representation, health: { passing, failing } };
}
