/**
 * The cache of a node's sources: the last response of each source, and the values in these
 * responses.
 *
 * @module
 */
import type { FieldOptions, Reference } from "../kinds/kind.ts";
import type { Instant } from "./clock.ts";
import { parseReference, type Plan, type PlannedSource, sourceNamesOf } from "./query-plan.ts";
import type { PointerValues, QueryOutcome } from "./sources.ts";
import { textOf } from "../json/values.ts";
import { SourceError } from "../node/failures.ts";
import { isHttpUrl } from "../node/node.ts";
import { findFirst } from "../regular-expression.ts";
import { convert, formOf, isKnown, usesAll } from "./fields.ts";

/** What came of asking a source. The times are monotonic, in milliseconds. */
interface Attempt {
  /** The time of the outcome; for a late source, that of the outcome before, if there was one. */
  readonly askedAt: Instant | undefined;
  /** The time from which the source is asked again. */
  readonly dueAt: number;
  /** The time up to which the outcome may be repeated. */
  readonly until: number;
}

interface LastResponse extends Attempt {
  readonly values: PointerValues;
  readonly arrivedAt: Instant;
  /** True if the node has responded that it has no such source. */
  readonly isAbsent: boolean;
  /** The time of the node's latest response to any request, but not before this one arrived. */
  readonly validAt: Instant;
}

interface LastFailure extends Attempt {
  readonly error: SourceError;
}

/** At least one of both is there. */
interface SourceState {
  readonly lastResponse?: LastResponse | undefined;
  /** Missing if the source has responded since. */
  readonly failure?: LastFailure | undefined;
}

/** `paused`: it was not asked for a while. */
type Doubt = "none" | "paused" | "replaced";

/** `date` is the time at which a response arrived, in milliseconds since 1970. */
export type Responses = ReadonlyMap<
  string,
  { readonly values: PointerValues; readonly date: number }
>;

export interface CachedResponses {
  readonly responses: Responses;
  /**
   * The time at which the oldest stale response was last valid, or `undefined` if no response is
   * stale.
   */
  readonly oldest: Instant | undefined;
  /** True if a required source has not been asked for too long. */
  readonly isOld: boolean;
  /** The time up to which these responses may be repeated, in milliseconds. */
  readonly until: number;
}

/** Milliseconds until a failing node is queried again. */
export const RETRY_MS = 1000;
/** The shortest time in milliseconds after which a response is old, however small the `ttl`. */
const LEAST_AGE_MS = 1000;

/**
 * After this many milliseconds without a response, the node may have been replaced by another one,
 * so all sources of its kind are queried.
 */
const PAUSE_MS = 10_000;
/** The minimum time between two runs of a program while no client requests `/v1/info`. */
const WATCHED_PROGRAM_MS = 30_000;
/** The longest time after which a failed extra source is queried again. */
const RETRY_EXTRA_MS = 60_000;

export class SourceCache {
  readonly #plan: Plan;
  readonly #states = new Map<string, SourceState>();
  readonly required: readonly string[];

  constructor(plan: Plan) {
    this.#plan = plan;
    this.required = [...plan.sources].filter(([, { role }]) => role === "required")
      .map(([name]) => name);
  }

  #ofRequired(): (SourceState | undefined)[] {
    return this.required.map((name) => this.#states.get(name));
  }

  /** False if the source has never been asked. */
  hasOutcome(name: string): boolean {
    return this.#states.has(name);
  }

  /** The values of the last response, even if the source has failed since. */
  valuesOf(name: string): PointerValues | undefined {
    return this.#states.get(name)?.lastResponse?.values;
  }

  /** The error of the last attempt. */
  errorOf(name: string): SourceError | undefined {
    return this.#states.get(name)?.failure?.error;
  }

  /** The time from which a source is asked again, in milliseconds. */
  dueAt(name: string): number {
    return latestOf(this.#states.get(name))?.dueAt ?? -Infinity;
  }

  get isUnreachable(): boolean {
    const errors = this.required.map((name) => this.errorOf(name));
    return errors.length > 0 && errors.every((error) => error !== undefined && !error.isResponse);
  }

  /** Tells whether a source that is marked as `extra` has not responded yet, or has failed. */
  isAwaited(name: string): boolean {
    const source = this.#plan.sources.get(name)?.source;
    const isExtra = source !== undefined && "extra" in source && source.extra === true;
    const state = this.#states.get(name);
    return isExtra && (!state || (state.failure !== undefined && !state.lastResponse?.isAbsent));
  }

  get respondedAt(): Instant | undefined {
    return this.#ofRequired().flatMap((state) => state?.lastResponse?.validAt ?? [])
      .sort((a, b) => b.monotonic - a.monotonic)[0];
  }

  /** True if the node responds, but no required source has a value. */
  get gaveNothing(): boolean {
    const states = this.#ofRequired();
    return !this.isUnreachable && states.some((state) => state?.failure) &&
      states.every((state) => state?.failure || state?.lastResponse?.isAbsent);
  }

  /** Tells whether the node may not be the one that responded before. */
  #doubtAt(now: Instant, isBackground: boolean, mayBeReplaced: boolean): Doubt {
    const responses = this.#ofRequired()
      .map((state) => state?.failure ? undefined : state?.lastResponse);
    if (mayBeReplaced || responses.includes(undefined)) return "replaced";
    const isPaused = !isBackground &&
      responses.some((response) => now.monotonic - response!.validAt.monotonic >= PAUSE_MS);
    return isPaused ? "paused" : "none";
  }

  /** @param mayBeReplaced true if the node may have been replaced, so that all sources are due */
  dueSources(now: Instant, isBackground: boolean, mayBeReplaced: boolean): string[] {
    const doubt = this.#doubtAt(now, isBackground, mayBeReplaced);
    return [...this.#plan.sources].filter(([name, planned]) => {
      const askedAt = latestOf(this.#states.get(name))?.askedAt;
      if (!askedAt || !isExternal(planned)) {
        // A pause alone does not end the `ttl` of the operator's own sources.
        const isDoubted = doubt === "replaced" || (doubt === "paused" && planned.role !== "extra");
        return isDoubted || now.monotonic >= this.dueAt(name);
      }
      const wait = this.errorOf(name) ? Math.min(planned.ttl, RETRY_EXTRA_MS) : planned.ttl;
      const least = isBackground && "command" in planned.source ? WATCHED_PROGRAM_MS : 0;
      return now.monotonic - askedAt.monotonic >= Math.max(wait, least);
    }).map(([name]) => name);
  }

  /**
   * A value is current for twice its `ttl` since it was asked for; that of a slow node for at least
   * one `ttl` since it arrived.
   *
   * @param since the time at which the query began
   */
  update(outcomes: ReadonlyMap<string, QueryOutcome>, now: Instant, since: number): void {
    const states = this.#states;
    for (const [name, outcome] of outcomes) {
      if ("values" in outcome) {
        const { values, absent } = outcome;
        const planned = this.#plan.sources.get(name)!;
        // It may come late, and a program is run less often while nobody requests `/v1/info`.
        const least = planned.role === "extra" ? WATCHED_PROGRAM_MS : 0;
        const ttl = Math.max(planned.ttl, least);
        const until = Math.max(since + 2 * ttl, now.monotonic + ttl);
        const isAbsent = absent !== undefined;
        const times = { askedAt: now, validAt: now, dueAt: since + planned.ttl, until };
        states.set(name, { lastResponse: { values, isAbsent, arrivedAt: now, ...times } });
      } else {
        const { error } = outcome;
        const { role, ttl } = this.#plan.sources.get(name)!;
        const dueAt = role === "extra" ? since + Math.min(ttl, RETRY_EXTRA_MS) : -Infinity;
        const failure = { error, askedAt: now, dueAt, until: now.monotonic + RETRY_MS };
        states.set(name, { ...states.get(name), failure });
      }
    }
    const isNodeAsked = this.required.some((name) => outcomes.has(name));
    if (!isNodeAsked || this.isUnreachable) return;
    for (const [name, { lastResponse, failure }] of states) {
      const isOfNode = !isExternal(this.#plan.sources.get(name)!);
      if (!failure && isOfNode) {
        states.set(name, { lastResponse: { ...lastResponse!, validAt: now } });
      }
    }
  }

  /** @param since in milliseconds: a required source has failed that has no outcome since then */
  markLate({ monotonic }: Instant, since: number): void {
    const error = new SourceError("timeout", "has not responded in time");
    const until = monotonic + RETRY_MS;
    for (const name of this.required) {
      const state = this.#states.get(name);
      const askedAt = latestOf(state)?.askedAt;
      if (askedAt && askedAt.monotonic >= since) continue;
      this.#states.set(name, { ...state, failure: { error, askedAt, dueAt: -Infinity, until } });
    }
  }

  /** @param stale the maximum age of a failed source's last response, in milliseconds */
  responsesAt(now: Instant, stale: number): CachedResponses {
    const isGone = this.isUnreachable;
    const responses = new Map<string, { values: PointerValues; date: number }>();
    let oldest: Instant | undefined;
    const isOld = (state: SourceState) => {
      const arrivedAt = state.lastResponse?.arrivedAt.monotonic ?? -Infinity;
      return now.monotonic >= Math.max(latestOf(state)!.until, arrivedAt + LEAST_AGE_MS);
    };
    for (const [name, state] of this.#states) {
      const { lastResponse, failure } = state;
      if (!lastResponse || lastResponse.isAbsent) continue;
      const { values, arrivedAt, validAt } = lastResponse;
      const isOfNode = !isExternal(this.#plan.sources.get(name)!);
      const hasFailed = failure !== undefined || (isGone && isOfNode);
      if (hasFailed && now.monotonic - validAt.monotonic >= stale) continue;
      const isStale = hasFailed || isOld(state);
      responses.set(name, { values, date: arrivedAt.date });
      if (isStale && !(oldest && oldest.monotonic <= validAt.monotonic)) oldest = validAt;
    }
    const required = this.#ofRequired();
    const until = Math.min(...required.map((state) => latestOf(state)?.until ?? -Infinity));
    return { responses, oldest, isOld: required.some((state) => !state || isOld(state)), until };
  }
}

const latestOf = (state: SourceState | undefined): Attempt | undefined =>
  state?.failure ?? state?.lastResponse;

/** True for a program, a file and another server, to which a change of the node means nothing. */
function isExternal({ source, role }: PlannedSource): boolean {
  if (role !== "extra") return false;
  if ("command" in source || "file" in source) return true;
  const { get, post, path } = source as { get?: string; post?: string; path?: string };
  return isHttpUrl(get ?? post ?? path ?? "");
}

/** Returns the keys of the info whose values come only from sources beside the node. */
export const externalKeys = ({ sources, fields }: Plan): string[] =>
  Object.keys(fields).filter((key) =>
    sourceNamesOf(fields[key]).every((name) => {
      const planned = sources.get(name);
      if (!planned) return false;
      // Without a kind, a program or file decides the status, too.
      return "command" in planned.source || "file" in planned.source || isExternal(planned);
    })
  );

export function valueFrom(responses: Responses, reference: Reference): unknown {
  const [source, pointer] = parseReference(reference);
  return responses.get(source)?.values.get(pointer);
}

export type Values = Readonly<Record<string, unknown>>;
export type NodeExamples = Readonly<Record<Reference, string>>;

export function readExamples(
  patterns: Readonly<Record<Reference, string>>,
  responses: Responses,
): NodeExamples {
  return Object.fromEntries(
    Object.entries(patterns).flatMap(([place, pattern]) => {
      const value = textOf(valueFrom(responses, place as Reference));
      return value !== undefined && isExample(value, pattern) ? [[place, value]] : [];
    }),
  );
}

/** The page shows an example in a form, and in a command to copy. */
const isExample = (value: string, pattern: string): boolean =>
  value.length <= 128 && /^[!-~]+$/.test(value) && findFirst(value, pattern)?.whole === value;

/**
 * @param isAwaited tells whether a source may have the value later; then no further place of the
 * value counts, which would be another one
 */
export function readFields(
  fields: Readonly<Record<string, FieldOptions>>,
  responses: Responses,
  previous: Values,
  isAwaited: (source: string) => boolean = () => false,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, { from, as, unless }] of Object.entries(fields)) {
    if (unless && valueFrom(responses, unless)) continue;
    const places = [from].flat();
    const isThere = (reference: Reference) => isKnown(valueFrom(responses, reference));
    const first = places.find((reference) =>
      isThere(reference) || isAwaited(parseReference(reference)[0])
    );
    const found = first && isThere(first) ? places.filter(isThere) : [];
    if (found.length < (usesAll(as) ? places.length : 1)) continue;
    const { date } = responses.get(parseReference(found[0]!)[0])!;
    const context = { receivedAt: date, previous: previous[key] };
    const given = found.map((reference) => valueFrom(responses, reference));
    const value = formOf(key, convert(given, as, context));
    if (isKnown(value)) values[key] = value;
  }
  return values;
}
