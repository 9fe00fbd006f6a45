/**
 * The cache of a node's sources: the last good response of each, and the keys of the info that are read from it.
 *
 * @module
 */
import type { FieldOptions, Reference } from "../kinds/kind.ts";
import { parseReference, type Plan } from "./query-plan.ts";
import type { Outcome, Taken } from "./query-sources.ts";
import { SourceError } from "../node/failures.ts";
import { convert, isKnown, KNOWN_KEYS } from "./fields.ts";

/** A point in time. */
export interface Instant {
  /** Milliseconds that only count up, for all that is measured. */
  readonly monotonic: number;
  /** Milliseconds since 1970, for what is printed. */
  readonly date: number;
}

interface SourceState {
  readonly last?: { readonly taken: Taken; readonly learnt: Instant };
  /** The last time at which the response held: it was given then, or the node responded to other questions. */
  readonly held?: Instant;
  readonly error?: SourceError | undefined;
  readonly isAbsent?: boolean;
}

/** The states of the sources by their names. */
export type Knowledge = ReadonlyMap<string, SourceState>;

/** The responses of sources by their names; `date` is in milliseconds since 1970. */
export type Answers = ReadonlyMap<string, { readonly taken: Taken; readonly date: number }>;

/** The responses that may be shown at a time. */
export interface Shown {
  readonly answers: Answers;
  /** The time at which the oldest of those that no longer hold was right. */
  readonly oldest: Instant | undefined;
}

/** Tells whether the node did not respond when it was last asked. */
export function isSilent(plan: Plan, knowledge: Knowledge): boolean {
  const vital = namesOf(plan, "vital");
  return vital.length > 0 && vital.every((name) => {
    const error = knowledge.get(name)?.error;
    return error !== undefined && !error.isAnswer;
  });
}

/** Tells whether the node responded when it was last asked, but gave nothing of what it was asked for. */
export function gaveNothing(plan: Plan, knowledge: Knowledge): boolean {
  const vital = namesOf(plan, "vital").map((name) => knowledge.get(name));
  return !isSilent(plan, knowledge) && vital.some((state) => state?.error) &&
    vital.every((state) => state?.error || state?.isAbsent);
}

/** After such a pause, in milliseconds, another node may have come in the place of the one that was asked. */
const PAUSE = 10_000;

/** Names the sources to ask: those whose time is over; after a failure or a pause all. */
export function dueSources(plan: Plan, knowledge: Knowledge, now: Instant): string[] {
  const isUncertain = namesOf(plan, "vital").some((name) => {
    const { held, error } = knowledge.get(name) ?? {};
    return error || !held || now.monotonic - held.monotonic >= PAUSE;
  });
  return [...plan.sources].filter(([name, { ttl }]) => {
    const { last, error } = knowledge.get(name) ?? {};
    return isUncertain || !last || error || now.monotonic - last.learnt.monotonic >= ttl;
  }).map(([name]) => name);
}

export function learn(
  plan: Plan,
  knowledge: Knowledge,
  outcomes: ReadonlyMap<string, Outcome>,
  now: Instant,
): Knowledge {
  const next = new Map<string, SourceState>(knowledge);
  for (const [name, outcome] of outcomes) {
    if ("taken" in outcome) {
      const last = { taken: outcome.taken, learnt: now };
      next.set(name, { last, held: now, isAbsent: outcome.absent !== undefined });
    } else next.set(name, { ...knowledge.get(name), error: outcome.error });
  }
  const isOfNode = [...outcomes.keys()].some((name) => plan.sources.get(name)?.role === "vital");
  if (!isOfNode || isSilent(plan, next)) return next;
  // What was not asked again holds for as long as the node answers.
  for (const [name, state] of next) if (!state.error) next.set(name, { ...state, held: now });
  return next;
}

/** Changes the states to those of a node that has not responded in time. */
export function withoutAnswer(plan: Plan, knowledge: Knowledge): Knowledge {
  const error = new SourceError("timeout", "has not answered in time");
  const vital = namesOf(plan, "vital").map((name): [string, SourceState] => [
    name,
    { ...knowledge.get(name), error },
  ]);
  return new Map([...knowledge, ...vital]);
}

/** @param stale the time for which a response that no longer holds is shown, in milliseconds */
export function shownAt(plan: Plan, knowledge: Knowledge, now: Instant, stale: number): Shown {
  const isGone = isSilent(plan, knowledge);
  const answers = new Map<string, { taken: Taken; date: number }>();
  let oldest: Instant | undefined;
  for (const [name, { last, held, error, isAbsent }] of knowledge) {
    if (!last || !held || isAbsent) continue;
    const isOld = error !== undefined || (isGone && plan.sources.get(name)?.role !== "extra");
    if (isOld && now.monotonic - held.monotonic >= stale) continue;
    answers.set(name, { taken: last.taken, date: last.learnt.date });
    if (isOld && !(oldest && oldest.monotonic <= held.monotonic)) oldest = held;
  }
  return { answers, oldest };
}

/** Finds the value at a place; `undefined` where its source gave nothing. */
export function answerAt(answers: Answers, reference: Reference): unknown {
  const [source, pointer] = parseReference(reference);
  return answers.get(source)?.taken.get(pointer);
}

export function namesOf(plan: Plan, role: "vital" | "part" | "extra"): string[] {
  return [...plan.sources].filter(([, source]) => source.role === role).map(([name]) => name);
}

export type Values = Readonly<Record<string, unknown>>;

/** Reads the fields. A key whose value is not known is left out. */
export function readFields(
  fields: Readonly<Record<string, FieldOptions>>,
  answers: Answers,
  previous: Values,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [key, { from, as, unless }] of Object.entries(fields)) {
    if (unless && answerAt(answers, unless)) continue;
    const found = (typeof from === "string" ? [from] : from)
      .filter((reference) => isKnown(answerAt(answers, reference)));
    if (found.length === 0) continue;
    const learntAt = answers.get(parseReference(found[0]!)[0])!.date;
    const value = convert(found.map((reference) => answerAt(answers, reference)), as, {
      learntAt,
      previous: previous[key],
    });
    const formed = Object.hasOwn(KNOWN_KEYS, key) ? KNOWN_KEYS[key]!.form(value) : value;
    if (isKnown(formed)) values[key] = formed;
  }
  return values;
}
