/**
 * The cache of a node's sources: the last response of each source, and the values in these
 * responses.
 *
 * The times of a source, by the monotonic clock:
 *
 * | time        | meaning                                                                 |
 * | ----------- | ----------------------------------------------------------------------- |
 * | `outcomeAt` | when it last responded or failed; being late does not count             |
 * | `dueAt`     | from when it is asked again; see also `SourceCache.dueAt`               |
 * | `until`     | up to when the outcome may be repeated                                  |
 * | `arrivedAt` | when its last response arrived, even if it has failed since             |
 * | `validAt`   | when the node last responded to any request, but not before `arrivedAt` |
 *
 * @module
 */
import type { FieldOptions } from "../kinds/kind.ts";
import type { Reference } from "../kinds/parts.ts";
import type { Instant } from "./clock.ts";
import { parseReference, type Plan, type PlannedSource, sourceNamesOf } from "./query-plan.ts";
import type { PointerValues, QueryOutcome } from "./sources.ts";
import { textOf } from "../json/values.ts";
import { SourceError } from "../node/failures.ts";
import { isHttpUrl } from "../http/host-names.ts";
import { findFirst } from "../regular-expression.ts";
import { convert, formOf, isKnown, usesAll } from "./fields.ts";

/** In milliseconds. */
interface OutcomeTimes {
  readonly outcomeAt: number;
  readonly dueAt: number;
  readonly until: number;
}

interface LastResponse extends OutcomeTimes {
  readonly values: PointerValues;
  /** True if the node has responded that it has no such source. */
  readonly isAbsent: boolean;
  readonly arrivedAt: Instant;
  readonly validAt: Instant;
}

interface LastFailure extends OutcomeTimes {
  readonly error: SourceError;
}

/** At least one of both is there. */
interface SourceState {
  readonly lastResponse?: LastResponse | undefined;
  /** Missing if the source has responded since. */
  readonly failure?: LastFailure | undefined;
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

  /**
   * The time from which a source is asked again, in milliseconds.
   *
   * @param isBackground true if no client waits for the response
   */
  dueAt(name: string, isBackground: boolean = false): number {
    const latest = latestOf(this.#states.get(name));
    if (!latest) return -Infinity;
    const { source, role } = this.#plan.sources.get(name)!;
    const isWatchedProgram = isBackground && role === "extra" && "command" in source;
    const earliest = isWatchedProgram ? latest.outcomeAt + WATCHED_PROGRAM_MS : -Infinity;
    return Math.max(latest.dueAt, earliest);
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

  /** @param mayBeReplaced true if the node may have been replaced, so that all sources are due */
  dueSources({ monotonic }: Instant, isBackground: boolean, mayBeReplaced: boolean): string[] {
    const responses = this.#ofRequired()
      .map((state) => state?.failure ? undefined : state?.lastResponse);
    const isDoubtful = mayBeReplaced || responses.includes(undefined);
    const isAfterPause = !isBackground &&
      responses.some((last) => last && monotonic - last.validAt.monotonic >= PAUSE_MS);
    return [...this.#plan.sources].filter(([name, planned]) => {
      // A pause alone does not end the `ttl` of the operator's own sources.
      const mayHaveChanged = isDoubtful || (isAfterPause && planned.role !== "extra");
      const isDue = monotonic >= this.dueAt(name, isBackground);
      return isDue || (mayHaveChanged && !isExternal(planned));
    }).map(([name]) => name);
  }

  /** @param since the time at which the query began */
  update(outcomes: ReadonlyMap<string, QueryOutcome>, now: Instant, since: number): void {
    const states = this.#states;
    for (const [name, outcome] of outcomes) {
      const planned = this.#plan.sources.get(name)!;
      if ("values" in outcome) {
        const { values, absent } = outcome;
        const isAbsent = absent !== undefined;
        const times = timesOfResponse(planned, now.monotonic, since);
        states.set(name, {
          lastResponse: { values, isAbsent, arrivedAt: now, validAt: now, ...times },
        });
      } else {
        const times = timesOfFailure(planned, now.monotonic, since);
        states.set(name, { ...states.get(name), failure: { error: outcome.error, ...times } });
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
      const outcomeAt = latestOf(state)?.outcomeAt ?? -Infinity;
      if (outcomeAt >= since) continue;
      this.#states.set(name, { ...state, failure: { error, outcomeAt, dueAt: -Infinity, until } });
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

const latestOf = (state: SourceState | undefined): OutcomeTimes | undefined =>
  state?.failure ?? state?.lastResponse;

/** @param since the time at which the query began */
function timesOfResponse(planned: PlannedSource, outcomeAt: number, since: number): OutcomeTimes {
  const { ttl, role } = planned;
  // It may come late, and a program is run less often while nobody requests `/v1/info`.
  const validFor = role === "extra" ? Math.max(ttl, WATCHED_PROGRAM_MS) : ttl;
  return {
    outcomeAt,
    dueAt: beginOfTtl(planned, outcomeAt, since) + ttl,
    // It may be repeated for two `ttl`s, but that of a slow node for at least one.
    until: Math.max(since + 2 * validFor, outcomeAt + validFor),
  };
}

/** @param since the time at which the query began */
function timesOfFailure(planned: PlannedSource, outcomeAt: number, since: number): OutcomeTimes {
  const { ttl, role } = planned;
  const retryAt = beginOfTtl(planned, outcomeAt, since) + Math.min(ttl, RETRY_EXTRA_MS);
  return {
    outcomeAt,
    dueAt: role === "extra" ? retryAt : -Infinity,
    until: outcomeAt + RETRY_MS,
  };
}

/** A program may run for longer than its `ttl`. */
const beginOfTtl = (planned: PlannedSource, outcomeAt: number, since: number): number =>
  isExternal(planned) ? outcomeAt : since;

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
