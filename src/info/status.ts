/**
 * How a node is: a status for programs, a code that says why, and a sentence for people.
 *
 * @module
 */
import type { KindStatusCode } from "../kinds/kind.ts";
import type { FailureCode } from "../node/failures.ts";

/** How a node is doing, in one word. */
export const STATUSES = ["ok", "starting", "syncing", "degraded", "stale", "unreachable"] as const;

/** How a node is doing, in one word. */
export type Status = (typeof STATUSES)[number];

/** Why the status is not `ok`. */
export type StatusCode = "starting" | KindStatusCode | FailureCode;

/** How a node is doing. */
export interface NodeStatus {
  readonly status: Status;
  /** Left out where the status is `ok`. */
  readonly code?: StatusCode;
  /** One short clause for everybody: no secrets, no paths. */
  readonly reason?: string;
  /** What an operator can do, for the log. */
  readonly hint?: string | undefined;
  /** The kind that its refusal shows, where it wants credentials. */
  readonly looksLike?: string | undefined;
  /** Whether it is in sync, where that follows from more than its own word. */
  readonly synced?: boolean;
}

/** The status of what a kind's rule, or the service by itself, finds in the answers. */
export const STATUS_OF: Readonly<Record<KindStatusCode, Status>> = {
  warming_up: "starting",
  syncing: "syncing",
  no_leader: "degraded",
  alarm: "degraded",
  no_peers: "degraded",
  stalled: "degraded",
};

/** A node that has not been asked, or has not answered yet. */
export const NOT_ASKED: NodeStatus = {
  status: "starting",
  code: "starting",
  reason: "has not answered yet",
};
