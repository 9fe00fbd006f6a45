/**
 * The info object: what is known of the node and of the service beside it, flat and in one order.
 *
 * @module
 */
import { formatJson } from "../json/lossless.ts";
import { quote } from "../untrusted-text.ts";
import { isKnown } from "./conversions.ts";
import { KNOWN_KEYS } from "./known-keys.ts";
import type { Info, Service } from "./info-form.ts";
import type { Values } from "./map-fields.ts";
import { RESERVED_KEYS } from "./node-and-info-settings.ts";
import type { NodeStatus } from "./status.ts";

/** What an info object is made of. */
export interface Parts {
  readonly service: Service;
  /** Whether there is a node beside the service. */
  readonly isBesideNode: boolean;
  /** What is known of the node, the operator's own values among them. */
  readonly values: Values;
  readonly status: NodeStatus;
  /** When the oldest of values that may be outdated was right, in milliseconds since 1970. */
  readonly updatedAt?: number | undefined;
  /** Keys that are not shown. */
  readonly hide?: readonly string[] | undefined;
}

const LINKS = {
  explorer: "spec",
  description_json: "../spec.json",
  description_yaml: "../spec.yaml",
  health: "health",
};

/** How many keys are published, and how many UTF-16 code units their values take as JSON, all together. */
const KEYS_MAX = 64, SIZE_MAX = 60 * 1024;

/**
 * Makes the info object.
 *
 * @returns it, and what was left out since there is too much of it: keys with the reason
 */
export function makeInfo(parts: Parts): { info: Info; leftOut: ReadonlyMap<string, string> } {
  const { service, isBesideNode, values, status, updatedAt, hide = [] } = parts;
  const own = isBesideNode ? {} : { name: service.software, ...service };
  const known: Record<string, unknown> = { ...own, ...values };
  if (status.synced !== undefined) known.synced = status.synced;
  // A node with which something is wrong does not say that it is in sync.
  else if (status.status !== "ok" && status.status !== "stale") delete known.synced;
  const shown: Record<string, unknown> = {};
  const leftOut = new Map<string, string>();
  let size = 0;
  for (const key of new Set([...Object.keys(KNOWN_KEYS), ...Object.keys(known)])) {
    if (!isKnown(known[key]) || hide.includes(key) || RESERVED_KEYS.includes(key)) continue;
    const length = formatJson(known[key], 2).length + key.length;
    const isTooMuch = size + length > SIZE_MAX;
    if (isTooMuch || Object.keys(shown).length === KEYS_MAX) {
      const most = isTooMuch ? "64 kB" : `${KEYS_MAX} keys`;
      leftOut.set(quote(key.slice(0, 40)), `is left out: the info has at most ${most}`);
      continue;
    }
    size += length;
    shown[key] = known[key];
  }
  const info: Info = {
    ...shown,
    status: status.status,
    ...(status.code === undefined ? {} : { status_code: status.code }),
    ...(status.reason === undefined ? {} : { status_reason: status.reason }),
    ...(updatedAt === undefined ? {} : { updated_at: new Date(updatedAt).toISOString() }),
    ...(isBesideNode ? { api: service } : {}),
    links: LINKS,
  };
  return { info, leftOut };
}
