/**
 * The info object, and its snapshots with prepared representations of `/v1/info` and `/v1/health`.
 *
 * @module
 */
import { type NodeStatus, REMEDIES, type Status, type StatusCode } from "./status.ts";
import { formatJson } from "../json/lossless.ts";
import { createRunId } from "../run-id.ts";
import { quote } from "../untrusted-text.ts";
import { isKnown, KNOWN_KEYS } from "./fields.ts";
import type { NodeExamples, Values } from "./source-cache.ts";
import { RESERVED_KEYS } from "./settings.ts";
import { represent, type Representation } from "../http/representation.ts";

/**
 * The info object of a node, which may have further keys. Keys with an unknown value are omitted.
 * See [Monitoring](../docs/monitoring.md).
 */
export interface Info {
  /** The name that the operator gave this node. */
  name?: string | undefined;
  software?: string | undefined;
  version?: string | undefined;
  commit?: string | undefined;
  network?: string | undefined;
  /** The name of a well-known network, such as `Ethereum mainnet`. */
  network_name?: string | undefined;
  chain_id?: string | undefined;
  node_type?: string | undefined;
  node_id?: string | undefined;
  /** The number of the latest block; a `bigint` if the number is above 2^53. */
  height?: number | bigint | undefined;
  /** The time of the latest block, in RFC 3339 format. */
  head_at?: string | undefined;
  synced?: boolean | undefined;
  /** The progress of synchronization, from 0 to 1. */
  progress?: number | undefined;
  /** The speed of a node that syncs, from a minute after it began. */
  blocks_per_second?: number | undefined;
  /** The estimated time until a node that syncs is in sync. */
  seconds_left?: number | undefined;
  peers?: number | bigint | undefined;
  /** The time at which the node started, in RFC 3339 format. */
  started_at?: string | undefined;
  /** Missing if no node is configured. */
  status?: Status | undefined;
  status_code?: StatusCode | undefined;
  /** The reason for the status, as a human-readable clause. */
  status_reason?: string | undefined;
  /** The advice on `status_code`, for people. */
  status_remedy?: string | undefined;
  /**
   * The time at which the oldest stale value was last known to be valid, in RFC 3339 format; absent
   * if no value is stale.
   */
  updated_at?: string | undefined;
  /** The node's last known values, present only while the status is `unreachable`. */
  last_seen?: LastSeen | undefined;
  /** The program that serves `/v1/info`; present only if a node is configured. */
  api?: ServiceFacts | undefined;
  /** Links, relative to the URL of `/v1/info`. */
  links: Readonly<Record<string, string>>;
  [key: string]: unknown;
}

/** Values that the node reported before it stopped responding. */
export type LastSeen =
  & Pick<Info, "software" | "version" | "network" | "chain_id" | "height">
  /** The time of the last response, in RFC 3339 format. */
  & { readonly at: string };

/** The software, version and start time of the program that serves `/v1/info`. */
export interface ServiceFacts {
  software: string;
  version: string;
  /** The time at which the service started, in RFC 3339 format. */
  started_at: string;
}

const LINKS = {
  explorer: "spec",
  description_json: "../spec.json",
  description_yaml: "../spec.yaml",
  health: "health",
};

/** The node's values leave 4 KiB of the 64 KiB to the status and the links. */
const KEYS_MAX = 64, SIZE_MAX = 60 * 1024;

export function makeInfo({ service, hasNode, values, status, updatedAt, lastSeen, hide }: {
  readonly service: ServiceFacts;
  readonly hasNode: boolean;
  readonly values: Values;
  readonly status: NodeStatus;
  readonly updatedAt: number | undefined;
  readonly lastSeen: LastSeen | undefined;
  readonly hide: readonly string[];
}): { info: Info; omitted: ReadonlyMap<string, string> } {
  const own = hasNode ? {} : { name: service.software, ...service };
  const known: Record<string, unknown> = { ...own, ...values };
  if (status.synced !== undefined) known.synced = status.synced;
  // A node must not be reported as synced while its status reports a failure.
  else if (status.status !== "ok") delete known.synced;
  const shown: Record<string, unknown> = {};
  const omitted = new Map<string, string>();
  let size = 0;
  for (const key of new Set([...Object.keys(KNOWN_KEYS), ...Object.keys(known)])) {
    if (!isKnown(known[key]) || hide.includes(key) || RESERVED_KEYS.includes(key)) continue;
    const length = formatJson(known[key], 2).length + key.length;
    const isTooMuch = size + length > SIZE_MAX;
    if (isTooMuch || Object.keys(shown).length === KEYS_MAX) {
      const most = isTooMuch ? "64 kB" : `${KEYS_MAX} keys`;
      omitted.set(quote(key.slice(0, 40)), `is omitted, since /v1/info may have at most ${most}`);
      continue;
    }
    size += length;
    shown[key] = known[key];
  }
  const remedy = status.code === undefined ? undefined : REMEDIES[status.code];
  const info: Info = {
    ...shown,
    ...hasNode && { status: status.status },
    ...status.code !== undefined && { status_code: status.code },
    ...status.reason !== undefined && { status_reason: status.reason },
    ...remedy !== undefined && { status_remedy: remedy },
    ...updatedAt !== undefined && { updated_at: new Date(updatedAt).toISOString() },
    ...lastSeen && { last_seen: lastSeen },
    ...hasNode && { api: service },
    links: LINKS,
  };
  return { info, omitted };
}

/** What a node has told for its description. */
export interface NodeFacts {
  readonly examples: NodeExamples;
  /** What the node says, even if the operator hides it or has another label for it. */
  readonly software: string | undefined;
  readonly version: string | undefined;
}

export interface Snapshot extends NodeFacts {
  readonly info: Info;
  readonly representation: Representation;
  readonly health: { readonly passing: Representation; readonly failing: Representation };
}

/** Makes snapshots of one node, and keeps the last one for an info object with the same content. */
export class Snapshots {
  #runId: string | undefined;
  /**
   * ETags contain a counter instead of a digest, since some runtimes load a large library for the
   * first digest.
   */
  #contents = 0;
  #last: { text: string; key: string; made: Promise<Snapshot> } | undefined;

  of(info: Info, told: NodeFacts): Promise<Snapshot> {
    const text = formatJson(info, 2) + "\n";
    const key = formatJson(told);
    const last = this.#last;
    if (last?.text === text && last.key === key) return last.made;
    const represented = last?.text === text ? last.made : makeSnapshot(info, text, this.#nextTag());
    const made = represented.then((snapshot) => ({ ...snapshot, ...told }));
    const current = this.#last = { text, key, made };
    made.catch(() => {
      if (this.#last === current) this.#last = undefined;
    });
    return made;
  }

  #nextTag(): string {
    this.#runId ??= createRunId();
    return `${this.#runId}-${(++this.#contents).toString(36)}`;
  }
}

async function makeSnapshot(
  info: Info,
  text: string,
  tag: string,
): Promise<Omit<Snapshot, keyof NodeFacts>> {
  const { status = null, status_code, status_reason, status_remedy } = info;
  const health = formatJson({ status, status_code, status_reason, status_remedy }) + "\n";
  const type = "application/json";
  // A cache that repeated a response without asking would make its values older than twice `ttl`.
  const cache = "public, no-cache";
  const isWell = (status ?? "ok") === "ok";
  const probed = { tag: isWell ? status ?? "none" : tag, type, cache: "no-store" };
  const [representation, passing, failing] = await Promise.all([
    represent(text, { tag, type, cache }),
    represent(health, { ...probed, status: 200 }),
    represent(health, { ...probed, status: 503 }),
  ]);
  return { info, representation, health: { passing, failing } };
}
