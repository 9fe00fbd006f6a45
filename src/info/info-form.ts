/**
 * The form of the info object.
 *
 * @module
 */
import type { Status, StatusCode } from "./status.ts";

/** One JSON object, open to any further key; a key whose value is not known is left out. */
export interface Info {
  /** What the operator calls this node. */
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
  /** When the latest block was made, RFC 3339. */
  head_at?: string | undefined;
  synced?: boolean | undefined;
  /** From 0 to 1. */
  sync_progress?: number | undefined;
  peers?: number | bigint | undefined;
  /** RFC 3339. */
  started_at?: string | undefined;
  status: Status;
  /** Why the status is not `ok`. */
  status_code?: StatusCode | undefined;
  /** One sentence for people, beside `status_code`. */
  status_reason?: string | undefined;
  /** When the oldest of values that may be outdated was right, RFC 3339. */
  updated_at?: string | undefined;
  /** The service itself, where it stands beside a node. */
  api?: Service | undefined;
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
