/**
 * The rules by which the status of a node is assessed, in order.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import type { HealthRule } from "../kinds/kind.ts";
import type { Reference, Test } from "../kinds/parts.ts";
import { failureOfStatus, mainFailure, SourceError } from "../node/failures.ts";
import { formatDuration, groupDigits, milliseconds } from "../units.ts";
import { excerpt } from "../untrusted-text.ts";
import {
  blocksBehind,
  type Evidence,
  hasHead,
  headAgeOf,
  isKnownToBeInSync,
  isPrivate,
  isWarmingUpError,
  LAG,
  networkRulesOf,
  reachedBy,
  stallLimitOf,
  SYNC_PAUSE,
  targetsOf,
} from "./evidence.ts";
import { isKnown, isUnlike, match, numberFrom } from "./fields.ts";
import { isCatchingUp } from "./motion.ts";
import { parseReference, REACH } from "./query-plan.ts";
import { type Responses, valueFrom } from "./source-cache.ts";
import {
  type NodeStatus,
  NOT_ASKED,
  OUTDATED,
  REMEDIES,
  STATUS_OF,
  type StatusCode,
  statusOfError,
} from "./status.ts";

/** Returns the status if the rule applies. */
type Rule = (evidence: Evidence) => NodeStatus | undefined;

/** The rules that tell whether the node is in sync. */
const RULES_OF_SYNC: readonly Rule[] = [
  ifFaultyByKind,
  ifWithoutPeers,
  ifSyncingInVain,
  ifSyncing,
  ifStalled,
];

/** The first rule that applies decides. */
const RULES: readonly Rule[] = [
  ifNotAsked,
  ifUnreachable,
  ifWarmingUp,
  ifNothingWorks,
  ifOnWrongNetwork,
  ifSourcesFail,
  (evidence) => evidence.isOld ? withLastSync(OUTDATED, evidence) : undefined,
  ifOfOtherKind,
  ...RULES_OF_SYNC,
];

function firstOf(rules: readonly Rule[], evidence: Evidence): NodeStatus | undefined {
  for (const rule of rules) {
    const status = rule(evidence);
    if (status) return status;
  }
  return undefined;
}

export function assessStatus(evidence: Evidence): NodeStatus {
  if (evidence.cache.required.length === 0) return { status: "ok" };
  const status = firstOf(RULES, evidence);
  if (status) return status;
  if (evidence.plan.sources.has(REACH)) {
    return { status: "ok", reason: "responds to HTTP; its state is not known" };
  }
  return { status: "ok", ...isKnownToBeInSync(evidence) && { synced: true } };
}

function ifNotAsked({ cache }: Evidence): NodeStatus | undefined {
  return cache.required.some((name) => cache.hasOutcome(name)) ? undefined : NOT_ASKED;
}

/** For a while, the status is `stale`, and the last values are shown. */
function ifUnreachable(evidence: Evidence): NodeStatus | undefined {
  const { cache, responses } = evidence;
  const { required } = cache;
  if (!cache.isUnreachable) return undefined;
  const error = mainFailure(required.map((name) => cache.errorOf(name)!));
  const isStale = required.some((name) => responses.has(name));
  if (!isStale) return statusOfError(error, "unreachable");
  return withLastSync(statusOfError(error, "stale"), evidence);
}

/** Adds to the status of old values whether the node was in sync, if this is known. */
function withLastSync(status: NodeStatus, evidence: Evidence): NodeStatus {
  const judged = firstOf(RULES_OF_SYNC, evidence);
  const synced = judged ? judged.synced : isKnownToBeInSync(evidence) || undefined;
  return { ...status, ...synced !== undefined && { synced } };
}

function ifWarmingUp(evidence: Evidence): NodeStatus | undefined {
  const { plan: { health } } = evidence;
  const isWarming = failuresIn(evidence).some(({ error }) => isWarmingUpError(error, health));
  return isWarming
    ? { status: "starting", code: "warming_up", reason: "is warming up" }
    : undefined;
}

interface SourceFailure {
  readonly name: string;
  readonly error: SourceError;
}

function failuresIn({ plan, cache }: Evidence): SourceFailure[] {
  return [...plan.sources].flatMap(([name, { role }]) => {
    const error = role === "extra" ? undefined : cache.errorOf(name);
    return error ? [{ name, error }] : [];
  });
}

function ifNothingWorks(evidence: Evidence): NodeStatus | undefined {
  const { plan, cache } = evidence;
  if (!cache.gaveNothing) return undefined;
  const errors = failuresIn(evidence).map(({ error }) => withoutGateway(error));
  const isNew = cache.required.every((name) => cache.valuesOf(name) === undefined);
  const isOther = errors.every(({ isAbsent, isOtherKind }) => isAbsent || (isNew && isOtherKind));
  if (plan.kind && isOther) return statusOfError(wrongKind(plan.kind, errors[0]));
  const error = mainFailure(errors);
  return { ...statusOfError(error), code: codeOfReachable(error) };
}

/** If other sources have responded, so has the node, and no gateway in its place. */
const withoutGateway = (error: SourceError): SourceError =>
  error.code === "bad_gateway" ? failureOfStatus(error.number!) : error;

/** If other sources have responded, the node is reachable. */
const codeOfReachable = (error: SourceError): StatusCode =>
  error.isResponse ? error.code : "bad_answer";

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

function ifSourcesFail(evidence: Evidence): NodeStatus | undefined {
  const failures = failuresIn(evidence)
    .map(({ name, error }) => ({ name, error: withoutGateway(error) }));
  if (failures.length === 0) return undefined;
  const error = mainFailure(failures.map(({ error }) => error));
  const names = failures.filter((one) => one.error.message === error.message)
    .map(({ name }) => name);
  return {
    ...statusOfError(error),
    code: codeOfReachable(error),
    reason: `${error.message} (${names.join(", ")})`,
  };
}

function ifOfOtherKind({ plan, values }: Evidence): NodeStatus | undefined {
  if (Object.keys(plan.fields).length === 0) return undefined;
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

function ifFaultyByKind(evidence: Evidence): NodeStatus | undefined {
  const status = statusByKind(evidence);
  return status?.code === "syncing" ? undefined : status;
}

/**
 * Returns the status by the first of the kind's rules that applies. A node that makes the blocks of
 * its network itself does not sync.
 */
function statusByKind(evidence: Evidence): NodeStatus | undefined {
  const { plan, responses } = evidence;
  const rule = plan.health?.rules?.find(({ when, code }) =>
    holds(when, responses) && !(code === "syncing" && isPrivate(evidence))
  );
  return rule && statusOfRule(rule, responses);
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

function ifWithoutPeers(evidence: Evidence): NodeStatus | undefined {
  const peers = numberFrom(evidence.values.peers);
  if (peers === undefined || peers >= (networkRulesOf(evidence)?.peers ?? 0)) return undefined;
  const reason = Number(peers) === 0 ? "has no peers" : `has too few peers (${peers})`;
  return { status: STATUS_OF.no_peers, code: "no_peers", reason, keys: ["peers"] };
}

/** The time without progress after which a node without any block is stalled, in milliseconds. */
const FIRST_LIMIT_MS = 86_400_000;

/**
 * Returns what the kind's rule says of a node that syncs before it has a block or a progress, if
 * values of the node are in it: these may move.
 */
export function reasonBeforeBlocks(evidence: Evidence): string | undefined {
  const { values: { height, progress } } = evidence;
  if (height !== undefined || progress !== undefined) return undefined;
  const { code, keys, reason } = statusByKind(evidence) ?? {};
  return code === "syncing" && keys === "any" ? reason : undefined;
}

/**
 * Returns the time without progress after which a node that syncs is stalled, in milliseconds. Some
 * stages of a sync take far longer than a block, such as the download of a snapshot.
 */
function syncLimitOf(evidence: Evidence): number {
  const { values: { height, progress }, plan: { health }, stalledAfter } = evidence;
  const isFirst = height === undefined ? progress === undefined : Number(height) === 0;
  const pause = milliseconds(health?.sync_pause ?? SYNC_PAUSE);
  const longest = isFirst ? Math.max(pause, FIRST_LIMIT_MS) : pause;
  return stalledAfter ?? Math.max(stallLimitOf(evidence) ?? 0, longest);
}

/** The node says that it syncs, but nothing moves. */
function ifSyncingInVain(evidence: Evidence): NodeStatus | undefined {
  const { values: { height, progress }, stillness: { sinceProgress } } = evidence;
  const hasNothing = height === undefined && progress === undefined;
  if (hasNothing && reasonBeforeBlocks(evidence) === undefined) return undefined;
  if (!(sinceProgress > syncLimitOf(evidence)) || !ifSyncing(evidence)) return undefined;
  const reason = `is syncing without progress for ${formatDuration(sinceProgress)}`;
  return { ...syncing(reason), status: STATUS_OF.stalled, code: "stalled", keys: ["height"] };
}

function ifSyncing(evidence: Evidence): NodeStatus | undefined {
  const { plan: { health }, values } = evidence;
  const byKind = statusByKind(evidence);
  if (byKind?.code === "syncing") return byKind;
  const behind = blocksBehind(reachedBy(evidence), targetsOf(evidence));
  if (behind > (health?.lag ?? LAG)) {
    const blocks = groupDigits(String(behind), ",");
    return { ...syncing(`is ${blocks} blocks behind its peers`), keys: ["height"] };
  }
  const { synced, progress } = values;
  if (isPrivate(evidence)) return undefined;
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
  const [limit, age] = [stallLimitOf(evidence), headAgeOf(evidence)];
  if (!limit || !(age > limit) || !isCatchingUp(evidence.stillness, limit)) return undefined;
  const reason = `is catching up; its latest block is ${formatDuration(age)} old`;
  return { ...syncing(reason), keys: ["head_at", "height"] };
}

function syncing(reason: string): NodeStatus {
  return { status: STATUS_OF.syncing, code: "syncing", reason, synced: false };
}

function ifStalled(evidence: Evidence): NodeStatus | undefined {
  const { values: { height }, stillness: { sinceMoved, hasMoved } } = evidence;
  const limit = stallLimitOf(evidence);
  const headAge = headAgeOf(evidence);
  // A block whose time lies in the future, or is not known, may be old all the same.
  const age = Math.max(Number.isNaN(headAge) ? 0 : headAge, height === undefined ? 0 : sinceMoved);
  if (!limit || !(age > limit)) return undefined;
  const reason = hasMoved && sinceMoved < age / 2
    ? `its latest block is ${formatDuration(age)} old, although new ones arrive`
    : `no new block for ${formatDuration(age)}`;
  return { status: STATUS_OF.stalled, code: "stalled", reason, keys: ["head_at", "height"] };
}
