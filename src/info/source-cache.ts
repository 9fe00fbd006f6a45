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
import { findFirst } from "../regular-expression.ts";
import { convert, formOf, isKnown, usesAll } from "./fields.ts";

/**
 * A source that has responded has all times, and those of its last response. If it fails then,
 * `error`, `askedAt` and `until` are of the failure. One that has never responded has no others.
 */
interface SourceState {
  readonly last?: { readonly values: PointerValues } & Instant;
  /** The time of the node's latest response to any request, but not before `last` arrived. */
  readonly validAt?: Instant;
  readonly askedAt?: Instant;
  /**
   * The time from which the source is asked again, in milliseconds; missing after a failure, except
   * that of an extra source.
   */
  readonly dueAt?: number | undefined;
  /** The time up to which the outcome may be repeated, in milliseconds. */
  readonly until?: number;
  readonly error?: SourceError | undefined;
  readonly isAbsent?: boolean;
}

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
    return this.required.map((name) => this.get(name));
  }

  get(name: string): SourceState | undefined {
    return this.#states.get(name);
  }

  get isUnreachable(): boolean {
    const errors = this.#ofRequired().map((state) => state?.error);
    return errors.length > 0 && errors.every((error) => error !== undefined && !error.isResponse);
  }

  /** Tells whether a source that is marked as `extra` has not responded yet, or has failed. */
  isAwaited(name: string): boolean {
    const source = this.#plan.sources.get(name)?.source;
    const isExtra = source !== undefined && "extra" in source && source.extra === true;
    const state = this.get(name);
    return isExtra && (!state || (state.error !== undefined && !state.isAbsent));
  }

  get respondedAt(): Instant | undefined {
    return this.#ofRequired().flatMap((state) => state?.validAt ?? [])
      .sort((a, b) => b.monotonic - a.monotonic)[0];
  }

  /** True if the node responds, but no required source has a value. */
  get gaveNothing(): boolean {
    const states = this.#ofRequired();
    return !this.isUnreachable && states.some((state) => state?.error) &&
      states.every((state) => state?.error || state?.isAbsent);
  }

  /** @param mayBeReplaced true if the node may have been replaced, so that all sources are due */
  dueSources(now: Instant, isBackground: boolean, mayBeReplaced: boolean): string[] {
    const required = this.#ofRequired();
    const mayBeOther = mayBeReplaced || required.some((state) => !state?.validAt || state.error);
    const isUncertain = mayBeOther ||
      (!isBackground &&
        required.some((state) => now.monotonic - state!.validAt!.monotonic >= PAUSE_MS));
    return [...this.#plan.sources].filter(([name, planned]) => {
      const { askedAt, dueAt = -Infinity, error } = this.get(name) ?? {};
      if (!askedAt || !isExternal(planned)) {
        // A pause alone does not end the `ttl` of the operator's own sources.
        const isDoubted = planned.role === "extra" ? mayBeOther : isUncertain;
        return isDoubted || now.monotonic >= dueAt;
      }
      const wait = error ? Math.min(planned.ttl, RETRY_EXTRA_MS) : planned.ttl;
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
        const last = { values: outcome.values, ...now };
        const planned = this.#plan.sources.get(name)!;
        // It may come late, and a program is run less often while nobody requests `/v1/info`.
        const least = planned.role === "extra" ? WATCHED_PROGRAM_MS : 0;
        const ttl = Math.max(planned.ttl, least);
        const until = Math.max(since + 2 * ttl, now.monotonic + ttl);
        const isAbsent = outcome.absent !== undefined;
        const dueAt = since + planned.ttl;
        states.set(name, { last, validAt: now, askedAt: now, dueAt, until, isAbsent });
      } else {
        const until = now.monotonic + RETRY_MS;
        const { error } = outcome;
        const { role, ttl } = this.#plan.sources.get(name)!;
        const dueAt = role === "extra" ? since + Math.min(ttl, RETRY_EXTRA_MS) : undefined;
        states.set(name, { ...states.get(name), askedAt: now, until, error, dueAt });
      }
    }
    const isNodeAsked = this.required.some((name) => outcomes.has(name));
    if (!isNodeAsked || this.isUnreachable) return;
    for (const [name, state] of states) {
      const isOfNode = !isExternal(this.#plan.sources.get(name)!);
      if (!state.error && isOfNode) states.set(name, { ...state, validAt: now });
    }
  }

  /** @param since in milliseconds: a required source has failed that has no outcome since then */
  markLate({ monotonic }: Instant, since: number): void {
    const error = new SourceError("timeout", "has not responded in time");
    const until = monotonic + RETRY_MS;
    for (const name of this.required) {
      const state = this.get(name);
      const hasOutcome = state?.askedAt && state.askedAt.monotonic >= since;
      if (!hasOutcome) this.#states.set(name, { ...state, until, error, dueAt: undefined });
    }
  }

  /** @param stale the maximum age of a failed source's last response, in milliseconds */
  responsesAt(now: Instant, stale: number): CachedResponses {
    const isGone = this.isUnreachable;
    const responses = new Map<string, { values: PointerValues; date: number }>();
    let oldest: Instant | undefined;
    const isOld = ({ last, until = -Infinity }: SourceState) =>
      now.monotonic >= Math.max(until, (last?.monotonic ?? -Infinity) + LEAST_AGE_MS);
    for (const [name, state] of this.#states) {
      const { last, validAt, error, isAbsent } = state;
      if (!last || !validAt || isAbsent) continue;
      const isOfNode = !isExternal(this.#plan.sources.get(name)!);
      const hasFailed = error !== undefined || (isGone && isOfNode);
      if (hasFailed && now.monotonic - validAt.monotonic >= stale) continue;
      const isStale = hasFailed || isOld(state);
      responses.set(name, last);
      if (isStale && !(oldest && oldest.monotonic <= validAt.monotonic)) oldest = validAt;
    }
    const required = this.#ofRequired();
    const until = Math.min(...required.map((state) => state?.until ?? -Infinity));
    return { responses, oldest, isOld: required.some((state) => !state || isOld(state)), until };
  }
}

/** True for a program, a file and another server, to which a change of the node means nothing. */
function isExternal({ source, role }: PlannedSource): boolean {
  if (role !== "extra") return false;
  if ("command" in source || "file" in source) return true;
  const { get, post, path } = source as { get?: string; post?: string; path?: string };
  return /^https?:/i.test(get ?? post ?? path ?? "");
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
