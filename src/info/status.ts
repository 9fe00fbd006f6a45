/**
 * The status of a node: a word and a code for programs, and a sentence for people.
 *
 * @module
 */
import type {
  HealthRule,
  KindHealth,
  KindStatusCode,
  NetworkRules,
  Reference,
  Test,
} from "../kinds/kind.ts";
import { type FailureCode, SourceError } from "../node/failures.ts";
import { textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { isChasing, type Stillness } from "./motion.ts";
import { convert, isKnown, isUnlike, match, numberFrom } from "./fields.ts";
import { formatDuration, groupDigits, milliseconds } from "../units.ts";
import {
  type CachedResponses,
  type Responses,
  type SourceCache,
  valueFrom,
  type Values,
} from "./source-cache.ts";
import { parseReference, type Plan, REACH } from "./query-plan.ts";

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
  forbidden: "set node.auth, or allow this service's IP in the node",
  no_credentials: "the service's log says why the secret of node.auth cannot be read",
  wrong_network:
    "point node.url at the expected node, or correct node.expect: no call is passed on",
  unknown_kind: "check port and path in node.url, or set node.kind; if no kind fits, set it to " +
    '"none", and describe the node in info',
  wrong_kind: "find out which program listens there; correct or remove node.kind, if set",
  bad_answer: "the service's log names the source that failed",
} satisfies Partial<Record<StatusCode, string>>;

/** The result is for the log and `check` only, since hints may name settings and paths. */
export function clausesOf({ code, reason, hint }: NodeStatus): readonly string[] {
  const isOfKind = code !== undefined && Object.hasOwn(STATUS_OF, code);
  return [reason ?? code, hint ?? (isOfKind ? REMEDIES[code] : undefined)]
    .filter((clause) => clause !== undefined);
}

const OUTDATED: NodeStatus = {
  status: "stale",
  code: "outdated",
  reason: "has not been queried recently",
};

export const NOT_ASKED: NodeStatus = {
  status: "starting",
  code: "starting",
  reason: "has not responded yet",
};

export const LAG = 2;
/** The time without progress after which a syncing node of an unknown network is stalled. */
const QUIET = 3_600_000;

export interface Difference {
  readonly key: string;
  readonly expected: string;
  /** `undefined` if the node does not report the value. */
  readonly actual: string | undefined;
}

export interface Evidence extends CachedResponses, Stillness {
  readonly plan: Plan;
  readonly cache: SourceCache;
  readonly values: Values;
  /** The expected values that the node does not have. */
  readonly differences: readonly Difference[];
  readonly date: number;
  readonly stalledAfter: number | undefined;
}

/** Returns the status if the rule applies. */
type Rule = (evidence: Evidence) => NodeStatus | undefined;

/** The first rule that applies decides. */
const RULES: readonly Rule[] = [
  ifNotAsked,
  ifUnreachable,
  ifWarmingUp,
  ifNothingWorks,
  ifOnWrongNetwork,
  ifSourcesFail,
  ({ isOld }) => isOld ? OUTDATED : undefined,
  ifOfOtherKind,
  ifFaultyByKind,
  ifWithoutPeers,
  ifSyncingInVain,
  ifSyncing,
  ifStalled,
];

export function assessStatus(evidence: Evidence): NodeStatus {
  if (evidence.cache.required.length === 0) return { status: "ok" };
  for (const rule of RULES) {
    const status = rule(evidence);
    if (status) return status;
  }
  if (evidence.plan.sources.has(REACH)) {
    return { status: "ok", reason: "responds to HTTP; its state is not known" };
  }
  return { status: "ok", ...isKnownToBeInSync(evidence) && { synced: true } };
}

function ifNotAsked({ cache }: Evidence): NodeStatus | undefined {
  return cache.required.some((name) => cache.get(name)) ? undefined : NOT_ASKED;
}

/** For a while, the status is `stale`, and the last values are shown. */
function ifUnreachable(evidence: Evidence): NodeStatus | undefined {
  const { cache, responses } = evidence;
  const { required } = cache;
  if (!cache.isUnreachable) return undefined;
  const error = worst(required.map((name) => cache.get(name)!.error!));
  const isStale = required.some((name) => responses.get(name)?.values.size);
  if (!isStale) return statusOfError(error, "unreachable");
  const { synced } = ifSyncing(evidence) ?? { synced: isKnownToBeInSync(evidence) || undefined };
  return { ...statusOfError(error, "stale"), ...synced !== undefined && { synced } };
}

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

interface SourceFailure {
  readonly name: string;
  readonly error: SourceError;
}

function failuresIn({ plan, cache }: Evidence): SourceFailure[] {
  const names = [...plan.sources.keys()]
    .filter((name) => plan.sources.get(name)!.role !== "optional");
  return names.flatMap((name) => {
    const error = cache.get(name)?.error;
    return error ? [{ name, error }] : [];
  });
}

function ifWarmingUp(evidence: Evidence): NodeStatus | undefined {
  const isWarming = failuresIn(evidence).some(({ error: { number } }) =>
    number !== undefined && evidence.plan.health?.warming_up?.includes(number)
  );
  return isWarming
    ? { status: "starting", code: "warming_up", reason: "is warming up" }
    : undefined;
}

function ifNothingWorks(evidence: Evidence): NodeStatus | undefined {
  const { plan, cache } = evidence;
  if (!cache.gaveNothing) return undefined;
  const errors = failuresIn(evidence).map(({ error }) => error);
  const isNew = cache.required.every((name) => cache.get(name)?.last === undefined);
  const isOther = errors.every(({ isAbsent, isOtherKind }) => isAbsent || (isNew && isOtherKind));
  return statusOfError(plan.kind && isOther ? wrongKind(plan.kind, errors[0]) : worst(errors));
}

function ifSourcesFail(evidence: Evidence): NodeStatus | undefined {
  const failures = failuresIn(evidence);
  if (failures.length === 0) return undefined;
  const error = worst(failures.map(({ error }) => error));
  const names = failures.filter((one) => one.error.message === error.message)
    .map(({ name }) => name);
  return {
    ...statusOfError(error),
    // Other sources have responded, so the node is reachable.
    code: error.isResponse ? error.code : "bad_answer",
    reason: `${error.message} (${names.join(", ")})`,
  };
}

/** A value may be missing because its source has failed. */
function ifOnWrongNetwork(evidence: Evidence): NodeStatus | undefined {
  const hasFailed = failuresIn(evidence).length > 0;
  const found = evidence.differences.filter(({ actual }) => actual !== undefined || !hasFailed);
  if (found.length === 0) return undefined;
  const reason = found.map(({ key, expected, actual = "unknown" }) =>
    `${key} is ${excerpt(actual, 60)}, but ${excerpt(expected, 60)} is expected`
  ).join("; ");
  const keys = found.map(({ key }) => key);
  const hint = REMEDIES.wrong_network;
  return { status: "degraded", code: "wrong_network", reason, hint, keys };
}

function ifOfOtherKind({ plan, values }: Evidence): NodeStatus | undefined {
  const hasValue = Object.keys(values).some((key) => !Object.hasOwn(plan.static, key));
  return plan.kind && !hasValue ? statusOfError(wrongKind(plan.kind)) : undefined;
}

function wrongKind(kind: string, error?: SourceError): SourceError {
  const number = error?.number === undefined ? "" : ` (${error.number})`;
  const cause = error && !error.isAbsent ? `the node ${error.message}; ` : "";
  return new SourceError("wrong_kind", `responds, but not as ${kind} does${number}`, {
    hint: `${cause}${REMEDIES.wrong_kind}`,
  });
}

/** Returns the status by the first of the kind's rules that applies. */
function statusByKind({ plan, responses }: Evidence): NodeStatus | undefined {
  const rule = plan.health?.rules?.find(({ when }) => holds(when, responses));
  return rule && statusOfRule(rule, responses);
}

function ifFaultyByKind(evidence: Evidence): NodeStatus | undefined {
  const status = statusByKind(evidence);
  return status?.code === "syncing" ? undefined : status;
}

/** The node says that it syncs, but nothing moves. */
function ifSyncingInVain(evidence: Evidence): NodeStatus | undefined {
  const { values: { height, progress }, sinceProgress } = evidence;
  if (height === undefined && progress === undefined) return undefined;
  // Some stages of a sync take far longer than a block.
  const limit = evidence.stalledAfter ?? Math.max(quietOf(evidence) ?? 0, QUIET);
  if (!(sinceProgress > limit) || !ifSyncing(evidence)) return undefined;
  const reason = `is syncing without progress for ${formatDuration(sinceProgress)}`;
  return { ...syncing(reason), status: STATUS_OF.stalled, code: "stalled", keys: ["height"] };
}

function ifSyncing(evidence: Evidence): NodeStatus | undefined {
  const { plan: { health }, responses, values } = evidence;
  const byKind = statusByKind(evidence);
  if (byKind?.code === "syncing") return byKind;
  const behind = blocksBehind(values.height, targetsOf(health, responses));
  if (behind > (health?.lag ?? LAG)) {
    const blocks = groupDigits(String(behind), ",");
    return { ...syncing(`is ${blocks} blocks behind its peers`), keys: ["height"] };
  }
  const { synced, progress } = values;
  if (synced === false) {
    return syncing(
      hasHead(evidence)
        ? "has the latest blocks, but has not finished; it may be indexing them"
        : "is catching up with its network",
    );
  }
  const complete = health?.complete;
  if (complete === undefined || typeof progress !== "number" || progress >= complete) {
    return ifCatchingUp(evidence);
  }
  // The percentage is rounded down, so that only a complete chain shows 100 %.
  const percent = Math.floor(progress * 1000) / 10;
  return { ...syncing(`is ${percent} % synced`), keys: ["progress"] };
}

/** Nodes that have fallen behind often say that they are in sync while they catch up. */
function ifCatchingUp(evidence: Evidence): NodeStatus | undefined {
  const [quiet, age] = [quietOf(evidence), headAgeOf(evidence)];
  if (!quiet || !(age > quiet) || !isChasing(evidence, quiet)) return undefined;
  const reason = `is catching up; its latest block is ${formatDuration(age)} old`;
  return { ...syncing(reason), keys: ["head_at", "height"] };
}

function isKnownToBeInSync({ plan: { health }, responses, values }: Evidence): boolean {
  return values.synced === true || targetsOf(health, responses).length > 0 ||
    (health?.complete !== undefined && values.progress !== undefined);
}

function expectedIn(
  { plan, values: { chain_id, software, network } }: Pick<Evidence, "plan" | "values">,
): NetworkRules | undefined {
  const networks = plan.health?.networks ?? {};
  const name = [textOf(chain_id), `${software} ${network}`, textOf(network), "*"]
    .find((name) => name !== undefined && Object.hasOwn(networks, name));
  return name === undefined ? undefined : networks[name];
}

function ifWithoutPeers(evidence: Evidence): NodeStatus | undefined {
  const peers = numberFrom(evidence.values.peers);
  if (peers === undefined || peers >= (expectedIn(evidence)?.peers ?? 0)) return undefined;
  const reason = Number(peers) === 0 ? "has no peers" : `has too few peers (${peers})`;
  return { status: STATUS_OF.no_peers, code: "no_peers", reason, keys: ["peers"] };
}

function ifStalled(evidence: Evidence): NodeStatus | undefined {
  const { values: { height }, sinceMoved, hasMoved } = evidence;
  const quiet = quietOf(evidence);
  const headAge = headAgeOf(evidence);
  // A block whose time lies in the future, or is not known, may be old all the same.
  const age = Math.max(Number.isNaN(headAge) ? 0 : headAge, height === undefined ? 0 : sinceMoved);
  if (!quiet || !(age > quiet)) return undefined;
  const reason = hasMoved && sinceMoved < age / 2
    ? `its latest block is ${formatDuration(age)} old, although new ones arrive`
    : `no new block for ${formatDuration(age)}`;
  return { status: STATUS_OF.stalled, code: "stalled", reason, keys: ["head_at", "height"] };
}

/** Returns the age of the latest block in milliseconds, or `NaN` if the node does not report it. */
const headAgeOf = ({ values: { head_at }, date }: Evidence): number =>
  date - Date.parse(String(head_at));

/** Returns the name of a well-known network. */
export const networkNameOf = (evidence: Pick<Evidence, "plan" | "values">): string | undefined =>
  expectedIn(evidence)?.name;

/** Returns the time without a new block after which the node is stalled, in milliseconds. */
function quietOf(evidence: Evidence): number | undefined {
  const { quiet } = expectedIn(evidence) ?? {};
  return evidence.stalledAfter ?? (quiet && milliseconds(quiet));
}

function syncing(reason: string): NodeStatus {
  return { status: STATUS_OF.syncing, code: "syncing", reason, synced: false };
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

function statusOfRule({ code, reason }: HealthRule, responses: Responses): NodeStatus {
  const filled = reason.replaceAll(/\{([^{}]+)\}/g, (_, reference) => {
    const value = valueFrom(responses, reference as Reference);
    return excerpt(textOf(value) ?? "?", 60);
  });
  const status = STATUS_OF[code];
  const synced = status === "syncing" && { synced: false };
  return { status, code, reason: filled, ...filled !== reason && { keys: "any" }, ...synced };
}

function holds(when: HealthRule["when"], responses: Responses): boolean {
  return Object.entries(when).every(([reference, test]) => {
    const [source] = parseReference(reference as Reference);
    return responses.has(source) && passes(valueFrom(responses, reference as Reference), test);
  });
}

function passes(value: unknown, test: Test): boolean {
  if (test === null) return !isKnown(value);
  if (typeof test === "string") return match(value, test) !== undefined;
  if ("not" in test) return isUnlike(value, test.not);
  const number = numberFrom(value);
  if (number === undefined) return false;
  return "above" in test ? number > test.above : number < test.below;
}

function blocksBehind(height: unknown, targets: readonly bigint[]): bigint {
  const own = wholeNumber(height);
  const highest = targets.reduce((most, each) => each > most ? each : most, 0n);
  return own === undefined ? 0n : highest - own;
}

/** Returns the heights that the node is to reach. */
function targetsOf(
  { target = [] }: Partial<KindHealth> = {},
  responses: Responses,
): bigint[] {
  return [target].flat().flatMap((reference) => numberAt(responses, reference) ?? []);
}

/** Returns the number at a place, in decimal or hexadecimal notation. */
function numberAt(responses: Responses, reference: Reference): bigint | undefined {
  const value = valueFrom(responses, reference);
  const isHex = typeof value === "string" && value.startsWith("0x");
  return wholeNumber(isHex ? convert([value], "hex", { learntAt: 0 }) : value);
}

/** Returns the highest block that the node has, even if it cannot show it yet. */
export function reachedBy({ plan: { health }, responses, values }: Evidence): bigint | undefined {
  const height = wholeNumber(values.height);
  const reached = health?.reached && numberAt(responses, health.reached);
  return reached === undefined || reached < (height ?? 0n) ? height : reached;
}

/** True if the node has a block that is new, and none to come that it knows of. */
export function hasHead(evidence: Evidence): boolean {
  const { plan: { health }, responses, values } = evidence;
  const targets = targetsOf(health, responses).filter((target) => target > 0n);
  const isNew = headAgeOf(evidence) <= (quietOf(evidence) ?? QUIET);
  return isNew && targets.length > 0 && wholeNumber(values.height) !== undefined &&
    blocksBehind(values.height, targets) <= (health?.lag ?? LAG);
}

/** Returns the height that the node is to reach, if it is known. */
export function targetOf(evidence: Evidence): bigint | undefined {
  const { plan: { health }, responses } = evidence;
  const height = reachedBy(evidence) ?? 0n;
  const behind = health?.behind && wholeNumber(valueFrom(responses, health.behind));
  const targets = [
    ...targetsOf(health, responses),
    ...behind === undefined ? [] : [height + behind],
  ];
  return targets.length > 0 ? height + blocksBehind(height, targets) : undefined;
}

function wholeNumber(value: unknown): bigint | undefined {
  const number = numberFrom(value);
  if (typeof number === "bigint") return number;
  return Number.isSafeInteger(number) ? BigInt(number!) : undefined;
}

/** Returns a failure that the operator can fix, or else the most frequent failure. */
export function worst(errors: readonly SourceError[]): SourceError {
  const urgent = URGENT.map((code) => errors.find((error) => error.code === code));
  const found = urgent.find((error) => error !== undefined);
  if (found) return found;
  const count = ({ message }: SourceError) =>
    errors.filter((error) => error.message === message).length;
  return errors.toSorted((a, b) => count(b) - count(a))[0]!;
}

const URGENT = ["unauthorized", "forbidden", "no_credentials"] as const;
