/**
 * What is known of a node of one kind: its values, and the status that they give. Replaced as a
 * whole when the kind of the node changes.
 *
 * @module
 */
import { isObject, mapMembers, objectOf, textOf } from "../json/values.ts";
import { assessStatus, reasonBeforeBlocks } from "./assess-status.ts";
import {
  type Difference,
  type Evidence,
  hasHead,
  networkNameOf,
  reachedBy,
  targetHeightOf,
} from "./evidence.ts";
import { formOf, numberFrom } from "./fields.ts";
import type { Instant, Now } from "./clock.ts";
import type { Motion } from "./motion.ts";
import { HOST, type Plan, referencesOf, sourceNamesOf } from "./query-plan.ts";
import type { Times } from "./settings.ts";
import { readFields, type Responses, SourceCache, valueFrom, type Values } from "./source-cache.ts";
import type { QueryOutcome } from "./sources.ts";
import { type NodeStatus, withoutHidden } from "./status.ts";
import { SyncPace } from "./sync-pace.ts";

interface NodeStateOptions {
  readonly times: Times;
  readonly hide: readonly string[];
  /** The values that show that the node is the expected one. */
  readonly expect: Readonly<Record<string, string | number>>;
  /** What is remembered of this node. */
  readonly motion: Motion;
}

/** The state of a node, as its sources report it. */
export interface NodeReport {
  readonly evidence: Evidence;
  /** Without hidden values. */
  readonly status: NodeStatus;
  /** The values for `/v1/info`, with those that only the service can tell. */
  readonly infoValues: Values;
  readonly respondedAt: Instant;
  /** The time up to which the report may be repeated, in milliseconds. */
  readonly until: number;
}

export class NodeState {
  readonly plan: Plan;
  readonly cache: SourceCache;
  readonly outcomes: Map<string, QueryOutcome> = new Map();
  /** The time that a node which responds to each request in time may take, in milliseconds. */
  readonly timeout: number;
  readonly #options: NodeStateOptions;
  readonly #pace: SyncPace = new SyncPace();
  #values: Values = {};

  constructor(plan: Plan, options: NodeStateOptions) {
    this.plan = plan;
    this.cache = new SourceCache(plan);
    this.#options = options;
    const awaited = [...plan.sources.values()].filter(({ role }) => role !== "extra");
    const own = awaited.map(({ timeout }) => timeout);
    this.timeout = Math.max(options.times.timeout, ...own) * (plan.isChained ? 2 : 1);
  }

  /** The time from which the node's identity is asked for again; `-Infinity` if it is not known. */
  get identityDueAt(): number {
    const keys = Object.keys(this.#options.expect);
    const sources = this.plan.sources.has(HOST)
      ? [HOST]
      : keys.flatMap((key) => sourceNamesOf(this.plan.fields[key]));
    return Math.min(...sources.map((name) => this.cache.dueAt(name)));
  }

  /** @param since the time at which the sources were asked */
  update(outcomes: ReadonlyMap<string, QueryOutcome>, now: Now, since: number): void {
    for (const [name, outcome] of outcomes) this.outcomes.set(name, outcome);
    this.cache.update(outcomes, now, since);
    this.#advance(now);
  }

  /** @param since the time at which the sources were asked that have not responded */
  markLate(now: Now, since: number): void {
    this.cache.markLate(now, since);
    this.#advance(now);
  }

  /** Moves on everything that depends on earlier values. */
  #advance(now: Now): void {
    const before = this.#gather(now);
    const { values, responses } = before;
    const isAway = this.cache.isUnreachable;
    this.#values = values;
    const state = reasonBeforeBlocks(before) ?? this.#syncStateIn(responses);
    this.#options.motion.advance(values, state, now, isAway);
    const evidence = { ...before, stillness: this.#options.motion.at(now, isAway) };
    const { status } = assessStatus(evidence);
    if (status === "stale") return;
    // A hidden height could be computed from an estimate.
    const isHidden = this.#options.hide.includes("height");
    const goal = { height: reachedBy(evidence), target: targetHeightOf(evidence) };
    // The time of a header says nothing of the blocks.
    const hasNothing = goal.height === undefined && values.progress === undefined;
    const isPaced = status === "syncing" && !isHidden && !hasNothing && !hasHead(evidence);
    if (!isPaced) return this.#pace.clear();
    this.#pace.advance(values, goal, this.cache.respondedAt ?? now, now.monotonic - now.awake);
  }

  /** @param statusOfUnknown the status of a node whose kind is not known */
  report(now: Now, statusOfUnknown?: NodeStatus): NodeReport {
    const evidence = this.#gather(now);
    const status = statusOfUnknown ?? withoutHidden(assessStatus(evidence), this.#options.hide);
    const infoValues = this.#valuesFor(status, evidence);
    const { until } = evidence;
    return { evidence, status, infoValues, respondedAt: this.cache.respondedAt ?? now, until };
  }

  #gather(now: Now): Evidence {
    const { plan, cache } = this;
    const { times: { stale, stalledAfter }, expect } = this.#options;
    const cached = cache.responsesAt(now, stale);
    const { responses } = cached;
    const read = plan.sources.has(HOST)
      ? mapMembers(
        objectOf(responses.get(HOST)?.values.get("")),
        (value, key) => formOf(key, value),
      )
      : readFields(plan.fields, responses, this.#values, (name) => cache.isAwaited(name));
    const reported = { ...read, ...plan.staticOfKind };
    return {
      ...cached,
      plan,
      cache,
      hasSaid: Object.values(read).some((value) => value !== undefined),
      reported,
      values: withStatic(read, plan),
      differences: differencesFrom(expect, reported),
      date: now.date,
      stillness: this.#options.motion.at(now, cache.isUnreachable),
      stalledAfter,
    };
  }

  /** Returns what the node says about its synchronization, but nothing that moves by itself. */
  #syncStateIn(responses: Responses): unknown {
    const { fields: { synced }, health } = this.plan;
    const ignored = [health?.target ?? [], health?.sync_ignores ?? []].flat();
    return synced && referencesOf(synced).map((reference, at) => {
      const value = valueFrom(responses, reference);
      // The first number may be a time, as algod's `catchup-time`.
      const number = at === 0 ? numberFrom(value) : undefined;
      if (number !== undefined) return number > 0;
      if (!isObject(value)) return value;
      const isIgnored = (key: string) => ignored.includes(`${reference}/${key}`);
      return mapMembers(value, (member, key) => isIgnored(key) ? undefined : member);
    });
  }

  /** Returns the values for `/v1/info`, with those that only the service can tell. */
  #valuesFor({ status }: NodeStatus, evidence: Evidence): Values {
    const { hide } = this.#options;
    const isHidden = ["network", "chain_id", "software"].some((key) => hide.includes(key));
    const network_name = isHidden ? undefined : networkNameOf(evidence);
    const pace = status === "syncing" || status === "stale" ? this.#pace.last : {};
    const { values, plan } = evidence;
    return { ...values, ...plan.static, ...network_name && { network_name }, ...pace };
  }

  /** Returns the time of the slowest response, and remarks on sources for the log. */
  review(): { took: number | undefined; remarks: Map<string, string> } {
    const remarks = new Map<string, string>();
    let took: number | undefined;
    for (const [name, outcome] of this.outcomes) {
      const role = this.plan.sources.get(name)?.role;
      if (!("error" in outcome)) {
        const { omitted, absent } = outcome;
        if (absent?.isTooLarge) remarks.set(name, absent.message);
        if (role === "required") took = Math.max(took ?? 0, outcome.took);
        if (omitted.length > 0) remarks.set(name, `partly omitted: ${omitted.join(", ")}`);
      } else if (role === "extra") {
        const { message, hint } = outcome.error;
        remarks.set(name, hint === undefined ? message : `${message} (${hint})`);
      }
    }
    return { took, remarks };
  }
}

/**
 * Adds the values of `static` to those that the node says. The kind's are true of each such node.
 * What the operator writes is a label, by which no rule goes if the node says otherwise.
 */
function withStatic(read: Values, plan: Plan): Values {
  // The first `read` only puts the node's keys first.
  return { ...read, ...plan.static, ...read, ...plan.staticOfKind };
}

function differencesFrom(expect: NodeStateOptions["expect"], values: Values): Difference[] {
  return Object.entries(expect).flatMap(([key, value]) => {
    const [expected, actual] = [String(value), textOf(values[key])];
    return actual === expected ? [] : [{ key, expected, actual }];
  });
}
