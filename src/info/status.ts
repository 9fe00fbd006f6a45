/**
 * The status of a node: one word for programs, a code with the reason, and a sentence for people.
 *
 * @module
 */
import type { HealthRule, KindHealth, KindStatusCode, Reference, Test } from "../kinds/kind.ts";
import { type FailureCode, SourceError } from "../node/failures.ts";
import { textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import { convert, isKnown, match, numberFrom } from "./fields.ts";
import { formatDuration, groupDigits, milliseconds } from "./settings.ts";
import {
  answerAt,
  type Answers,
  namesOf,
  type Shown,
  type SourceCache,
  type Values,
} from "./source-cache.ts";
import type { Plan } from "./query-plan.ts";

export const STATUSES = ["ok", "starting", "syncing", "degraded", "stale", "unreachable"] as const;

/** The status of a node in one word. */
export type Status = (typeof STATUSES)[number];

/** The reason of a status that is not `ok`. */
export type StatusCode = "starting" | KindStatusCode | FailureCode;

export interface NodeStatus {
  readonly status: Status;
  /** Left out where the status is `ok`. */
  readonly code?: StatusCode;
  /** One short clause for everybody: no secrets, no paths. */
  readonly reason?: string;
  /** Advice for the operator, for the log. */
  readonly hint?: string | undefined;
  /** The kind that its refusal shows, where it requires credentials. */
  readonly looksLike?: string | undefined;
  /** The keys of the info whose values the reason has; `any` where it has what a rule of the kind names. */
  readonly keys?: readonly string[] | "any" | undefined;
  /** Set where it follows from more than the node's own word. */
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

export const NOT_ASKED: NodeStatus = {
  status: "starting",
  code: "starting",
  reason: "has not responded yet",
};

/** Blocks that a node may be behind what its peers know of. */
const LAG = 2;

interface Seen {
  readonly plan: Plan;
  readonly cache: SourceCache;
  readonly shown: Shown;
  readonly values: Values;
  /** Milliseconds since 1970. */
  readonly date: number;
  /** The time since which the height is the same, in milliseconds since 1970. */
  readonly movedAt: number;
  /** The longest time without a block that the operator allows, in milliseconds. */
  readonly stalledAfter: number | undefined;
}

/** Decides the status: the first thing that is wrong counts. */
export function assessStatus(seen: Seen): NodeStatus {
  const { plan, cache, shown } = seen;
  const vital = namesOf(plan, "vital");
  if (vital.length === 0) return { status: "ok" };
  if (!vital.some((name) => cache.get(name))) return NOT_ASKED;
  if (cache.isUnreachable) {
    const error = worst(vital.map((name) => cache.get(name)!.error!));
    const isStale = vital.some((name) => shown.answers.has(name));
    if (!isStale) return statusOfSilence("unreachable", error);
    const { synced } = statusOfAnswers(seen);
    return { ...statusOfSilence("stale", error), ...synced !== undefined && { synced } };
  }
  return statusOfFailures(seen, vital) ?? statusOfAnswers(seen);
}

export function statusOfSilence(
  status: "stale" | "unreachable",
  { code, message: reason, hint }: SourceError,
): NodeStatus {
  return { status, code, reason, hint };
}

export function statusOfError(error: SourceError): NodeStatus {
  const { code, message: reason, hint, looksLike } = error;
  return {
    ...{ status: "degraded", code, reason, hint },
    ...looksLike && { looksLike },
    ...keysIn(error),
  };
}

const keysIn = ({ isQuoting }: SourceError): Pick<NodeStatus, "keys"> =>
  isQuoting ? { keys: "any" } : {};

function statusOfFailures(
  { plan, cache, values }: Seen,
  vital: readonly string[],
): NodeStatus | undefined {
  const failed = [...vital, ...namesOf(plan, "part")].flatMap((name) => {
    const error = cache.get(name)?.error;
    return error ? [{ name, error }] : [];
  });
  const isWarming = failed.some(({ error }) =>
    error.number !== undefined && plan.health?.warming_up?.includes(error.number)
  );
  if (isWarming) return { status: "starting", code: "warming_up", reason: "is warming up" };
  const errors = failed.map(({ error }) => error);
  const isNew = vital.every((name) => cache.get(name)?.last === undefined);
  const isOther = errors.every(({ isAbsent, isForeign }) => isAbsent || (isNew && isForeign));
  if (cache.gaveNothing) {
    return statusOfError(plan.kind && isOther ? wrongKind(plan.kind, errors[0]) : worst(errors));
  }
  if (failed.length > 0) {
    const error = worst(errors);
    const names = failed.filter((one) => one.error.message === error.message);
    return {
      status: "degraded",
      // Something did answer, so that the node is there.
      code: error.isAnswer ? error.code : "bad_answer",
      reason: `${error.message} (${names.map(({ name }) => name).join(", ")})`,
      hint: error.hint,
      ...keysIn(error),
    };
  }
  const hasValue = Object.keys(values).some((key) => !Object.hasOwn(plan.static, key));
  if (plan.kind && !hasValue) return statusOfError(wrongKind(plan.kind));
  return undefined;
}

function wrongKind(kind: string, error?: SourceError): SourceError {
  const number = error?.number === undefined ? "" : ` (${error.number})`;
  const seen = error && !error.isAbsent ? `it ${error.message}; ` : "";
  return new SourceError("wrong_kind", `responds, but not as ${kind} does${number}`, {
    hint: `${seen}node.kind says what is asked; without it the kind is found by asking`,
  });
}

function statusOfAnswers(seen: Seen): NodeStatus {
  const { plan, shown, values } = seen;
  const { health } = plan;
  const rule = health?.rules?.find(({ when }) => holds(when, shown.answers));
  if (rule) return statusOfRule(rule, shown.answers);
  const behind = health && blocksBehind(health, shown.answers, values);
  if (behind !== undefined) {
    const blocks = groupDigits(String(behind), ",");
    return { ...syncing(`is ${blocks} blocks behind its peers`), keys: ["height"] };
  }
  const { synced, sync_progress: progress } = values;
  if (synced === false) return syncing("is catching up with its network");
  if (typeof progress === "number" && health?.complete !== undefined) {
    if (progress < health.complete) {
      const reason = `is ${formatPercent(progress)} synced`;
      return { ...syncing(reason), keys: ["sync_progress"] };
    }
  }
  const isInSync = synced === true || health?.complete !== undefined && progress !== undefined ||
    health !== undefined && targetsOf(health, shown.answers).length > 0;
  return statusInNetwork(seen) ?? { status: "ok", ...isInSync && { synced: true } };
}

function statusInNetwork(
  { plan, values, date, movedAt, stalledAfter }: Seen,
): NodeStatus | undefined {
  const { chain_id, network, peers, height, head_at } = values;
  const networks = plan.health?.networks ?? {};
  const names = [textOf(chain_id), textOf(network), "*"].filter((name) => name !== undefined);
  const name = names.find((name) => Object.hasOwn(networks, name));
  const expected = name === undefined ? undefined : networks[name];
  if (numberFrom(peers) !== undefined && numberFrom(peers)! < (expected?.peers ?? 0)) {
    const reason = Number(peers) === 0 ? "has no peers" : `has ${peers} peers only`;
    return { status: STATUS_OF.no_peers, code: "no_peers", reason, keys: ["peers"] };
  }
  const quiet = stalledAfter ?? (expected?.quiet && milliseconds(expected.quiet));
  // Where the node tells no time of its head, its height has to move while it is watched.
  const hasMoved = head_at === undefined && stalledAfter !== undefined && height !== undefined;
  const age = date - (hasMoved ? movedAt : Date.parse(String(head_at)));
  if (quiet && age > quiet) {
    const reason = `no new block for ${formatDuration(age)}`;
    return { status: STATUS_OF.stalled, code: "stalled", reason, keys: ["head_at", "height"] };
  }
  return undefined;
}

function syncing(reason: string): NodeStatus {
  return { status: STATUS_OF.syncing, code: "syncing", reason, synced: false };
}

/** What is said in place of a reason that has a hidden value. */
const PLAIN_REASONS: Readonly<Partial<Record<StatusCode, string>>> = {
  bad_answer: "responds with something unexpected",
  warming_up: "is warming up",
  syncing: "is catching up with its network",
  no_leader: "has no leader",
  alarm: "reports an alarm",
  no_peers: "has too few peers",
  stalled: "has had no new block for too long",
};

export function withoutHidden(status: NodeStatus, hide: readonly string[] = []): NodeStatus {
  const { code, keys = [] } = status;
  const isHidden = keys === "any" ? hide.length > 0 : keys.some((key) => hide.includes(key));
  if (!isHidden || code === undefined) return status;
  return { ...status, reason: PLAIN_REASONS[code] ?? "is not as it should be" };
}

function statusOfRule({ code, reason }: HealthRule, answers: Answers): NodeStatus {
  const filled = reason.replaceAll(/\{([^{}]+)\}/g, (_, reference) => {
    const value = answerAt(answers, reference as Reference);
    return excerpt(textOf(value) ?? "?", 60);
  });
  const status = STATUS_OF[code];
  const synced = status === "syncing" && { synced: false };
  return { status, code, reason: filled, ...filled !== reason && { keys: "any" }, ...synced };
}

function holds(when: HealthRule["when"], answers: Answers): boolean {
  return Object.entries(when).every(([reference, test]) => {
    const source = reference.slice(0, reference.indexOf("#"));
    return answers.has(source) && passes(answerAt(answers, reference as Reference), test);
  });
}

function passes(value: unknown, test: Test): boolean {
  if (test === null) return !isKnown(value);
  if (typeof test === "string") return match(value, test) !== undefined;
  const number = numberFrom(value);
  if (number === undefined) return false;
  return "above" in test ? number > test.above : number < test.below;
}

/** Counts the blocks by which the node is behind; `undefined` where they are few, or not known. */
function blocksBehind(
  health: KindHealth,
  answers: Answers,
  { height }: Values,
): bigint | undefined {
  const targets = targetsOf(health, answers);
  const [own] = wholeNumber(height);
  if (own === undefined || targets.length === 0) return undefined;
  const behind = targets.reduce((most, each) => each > most ? each : most) - own;
  return behind > BigInt(health.lag ?? LAG) ? behind : undefined;
}

function targetsOf({ target = [] }: KindHealth, answers: Answers): bigint[] {
  const references = typeof target === "string" ? [target] : target;
  return references.flatMap((reference) => {
    const value = answerAt(answers, reference);
    const isHex = typeof value === "string" && value.startsWith("0x");
    return wholeNumber(isHex ? convert([value], "hex", { learntAt: 0 }) : value);
  });
}

function wholeNumber(value: unknown): bigint[] {
  const number = numberFrom(value);
  if (typeof number === "bigint") return [number];
  return Number.isSafeInteger(number) ? [BigInt(number!)] : [];
}

/** Chooses the failure that says most: what an operator can mend first, then what is said most often. */
export function worst(errors: readonly SourceError[]): SourceError {
  const urgent = URGENT.map((code) => errors.find((error) => error.code === code));
  const found = urgent.find((error) => error !== undefined);
  if (found) return found;
  const counts = new Map<string, number>();
  for (const { message } of errors) counts.set(message, (counts.get(message) ?? 0) + 1);
  return errors.toSorted((a, b) => counts.get(b.message)! - counts.get(a.message)!)[0]!;
}

const URGENT = ["unauthorized", "forbidden", "no_credentials"] as const;

function formatPercent(share: number): string {
  // Rounded down: what is not done is never 100 %.
  return `${Math.floor(share * 1000) / 10} %`;
}
