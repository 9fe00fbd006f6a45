/**
 * The status of a node: a word and a code for programs, and a sentence for people.
 *
 * @module
 */
import type { KindStatusCode } from "../kinds/parts.ts";
import type { FailureCode, SourceError } from "../node/failures.ts";

export const STATUSES = ["ok", "starting", "syncing", "degraded", "stale", "unreachable"] as const;

/** The status of a node: see [Monitoring](../docs/monitoring.md). */
export type Status = (typeof STATUSES)[number];

/** The reason for a status other than `ok`: see [Monitoring](../docs/monitoring.md). */
export type StatusCode = "starting" | "outdated" | "wrong_network" | KindStatusCode | FailureCode;

export interface NodeStatus {
  readonly status: Status;
  readonly code?: StatusCode;
  /** A short clause that anyone may read: it contains no secrets or paths. */
  readonly reason?: string;
  /** Only the log and `check` show this advice. */
  readonly hint?: string | undefined;
  /** The kind of the node, if a refusal (401 or 403) reveals the kind. */
  readonly looksLike?: string | undefined;
  /**
   * The keys of `/v1/info` whose values appear in the reason; `"any"` if the reason quotes a
   * response, which may contain any key.
   */
  readonly keys?: readonly string[] | "any" | undefined;
  /** Replaces the value of `synced` that the node reports. */
  readonly synced?: boolean;
}

export const STATUS_OF: Readonly<Record<KindStatusCode, Status>> = {
  warming_up: "starting",
  syncing: "syncing",
  no_leader: "degraded",
  alarm: "degraded",
  no_peers: "degraded",
  stalled: "degraded",
};

export const KIND_STATUS_CODES: readonly KindStatusCode[] = Object.keys(
  STATUS_OF,
) as KindStatusCode[];

/** Advice that the page shows to all users. `docs/troubleshooting.md` has more advice. */
export const REMEDIES: Readonly<Record<string, string>> = {
  warming_up: "wait; the node's log shows its progress",
  outdated: "wait a second; the node is being queried",
  no_leader: "start cluster members until more than half are running",
  alarm: "see the node's documentation",
  no_peers: "check the node's firewall, listening port and peer list",
  stalled: "compare the height with a public source; check the node's disk, clock, peers and any " +
    "consensus client",
  connection_refused: "start the node, or correct its address (node.url)",
  timeout: "raise node.timeout (at most 10 s); a firewall may drop packets",
  dns: "correct the name in node.url",
  tls: "renew the node's certificate, or set node.tls.ca_file",
  not_tls: "use http:// in node.url",
  reset: "look at the node's log: it may have crashed",
  bad_gateway: "start the node; the log of the proxy in front of it may say more",
  unauthorized: "set node.auth; the service's log has the line to add",
  forbidden: "set node.auth, allow this service's IP in the node, or use its own name in node.url",
  no_credentials: "the service's log says why the secret of node.auth cannot be read",
  wrong_network:
    "point node.url at the expected node, or correct node.expect: no call is passed on",
  unknown_kind: "check port and path in node.url, or set node.kind; if no kind fits, set it to " +
    '"none", and describe the node in info',
  wrong_kind: "find out which program listens there; correct or remove node.kind, if set",
  bad_answer: "see the service's log; nodeface check names the source that failed",
} satisfies Partial<Record<StatusCode, string>>;

/** The result is for the log and `check` only, since hints may name settings and paths. */
export function clausesOf({ code, reason, hint }: NodeStatus): readonly string[] {
  const isOfKind = code !== undefined && Object.hasOwn(STATUS_OF, code);
  return [reason ?? code, hint ?? (isOfKind ? REMEDIES[code] : undefined)]
    .filter((clause) => clause !== undefined);
}

export const OUTDATED: NodeStatus = {
  status: "stale",
  code: "outdated",
  reason: "has not been queried recently",
};

export const NOT_ASKED: NodeStatus = {
  status: "starting",
  code: "starting",
  reason: "has not responded yet",
};

export function statusOfError(error: SourceError, status: Status = "degraded"): NodeStatus {
  const { code, message: reason, hint, looksLike, isQuoting } = error;
  return {
    status,
    code,
    reason,
    hint,
    ...looksLike && { looksLike },
    ...isQuoting && { keys: "any" },
  };
}

const PLAIN_REASONS: Readonly<Partial<Record<StatusCode, string>>> = {
  bad_answer: "responds with something unexpected",
  warming_up: "is warming up",
  syncing: "is catching up with its network",
  no_leader: "has no leader",
  alarm: "reports an alarm",
  no_peers: "has too few peers",
  stalled: "has had no new block for too long",
  wrong_network: "is on another network than expected",
};

export function withoutHidden(status: NodeStatus, hide: readonly string[] = []): NodeStatus {
  const { code, keys = [] } = status;
  const isHidden = keys === "any" ? hide.length > 0 : keys.some((key) => hide.includes(key));
  if (!isHidden || code === undefined) return status;
  return { ...status, reason: PLAIN_REASONS[code] ?? "is not healthy" };
}
