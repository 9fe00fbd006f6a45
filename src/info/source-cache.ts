/**
 * The cache of a node's sources: the last good response of each, and the keys of the info that are read from it.
 *
 * @module
 */
import type { FieldOptions, Reference } from "../kinds/kind.ts";
import { parseReference, type Plan } from "./query-plan.ts";
import type { Outcome, Taken } from "./query-sources.ts";
import { textOf } from "../json/values.ts";
import { SourceError } from "../node/failures.ts";
import { isNodeValue } from "../untrusted-text.ts";
import { convert, formOf, isKnown } from "./fields.ts";

export interface Instant {
  /** Milliseconds that only count up, for all that is measured. */
  readonly monotonic: number;
  /** Milliseconds since 1970, for what is printed. */
  readonly date: number;
}

interface SourceState {
  readonly last?: { readonly taken: Taken; readonly learnt: Instant };
  /** The last time at which the response held: it was given then, or the node responded to other requests. */
  readonly held?: Instant;
  /** The last time at which it was asked, whatever came of it. */
  readonly asked?: Instant;
  readonly error?: SourceError | undefined;
  readonly isAbsent?: boolean;
}

/** The responses of sources by their names; `date` is in milliseconds since 1970. */
export type Answers = ReadonlyMap<string, { readonly taken: Taken; readonly date: number }>;

export interface Shown {
  readonly answers: Answers;
  /** The time at which the oldest of those that no longer hold was right. */
  readonly oldest: Instant | undefined;
}

/** After such a pause, in milliseconds, another node may have come in the place of the one that was asked. */
const PAUSE = 10_000;

/** The shortest time between two runs of a program that nobody asked for, in milliseconds. */
const WATCHED_PROGRAM_MS = 30_000;

export class SourceCache {
  readonly #plan: Plan;
  readonly #states = new Map<string, SourceState>();

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  get(name: string): SourceState | undefined {
    return this.#states.get(name);
  }

  get isUnreachable(): boolean {
    const vital = namesOf(this.#plan, "vital").map((name) => this.get(name)?.error);
    return vital.length > 0 && vital.every((error) => error !== undefined && !error.isAnswer);
  }

  get respondedAt(): Instant | undefined {
    return namesOf(this.#plan, "vital").map((name) => this.get(name)?.held)
      .filter((held) => held !== undefined).sort((a, b) => b.monotonic - a.monotonic)[0];
  }

  /** True if the node responded when it was last asked, but gave nothing of what it was asked for. */
  get gaveNothing(): boolean {
    const vital = namesOf(this.#plan, "vital").map((name) => this.get(name));
    return !this.isUnreachable && vital.some((state) => state?.error) &&
      vital.every((state) => state?.error || state?.isAbsent);
  }

  /** Names the sources whose time is over; after a failure or a pause all. Where nobody has asked, programs are run seldom. */
  dueSources(now: Instant, isWatch: boolean): string[] {
    const isUncertain = namesOf(this.#plan, "vital").some((name) => {
      const { held, error } = this.get(name) ?? {};
      return error || !held || (!isWatch && now.monotonic - held.monotonic >= PAUSE);
    });
    return [...this.#plan.sources].filter(([name, { source, ttl }]) => {
      const { last, error, asked } = this.get(name) ?? {};
      if (isWatch && "command" in source && asked) {
        return now.monotonic - asked.monotonic >= Math.max(ttl, WATCHED_PROGRAM_MS);
      }
      return isUncertain || !last || error || now.monotonic - last.learnt.monotonic >= ttl;
    }).map(([name]) => name);
  }

  update(outcomes: ReadonlyMap<string, Outcome>, now: Instant): void {
    const states = this.#states;
    for (const [name, outcome] of outcomes) {
      if ("taken" in outcome) {
        const last = { taken: outcome.taken, learnt: now };
        states.set(name, { last, held: now, asked: now, isAbsent: outcome.absent !== undefined });
      } else states.set(name, { ...states.get(name), asked: now, error: outcome.error });
    }
    const { sources } = this.#plan;
    const isOfNode = [...outcomes.keys()].some((name) => sources.get(name)?.role === "vital");
    if (!isOfNode || this.isUnreachable) return;
    // What was not asked again holds for as long as the node responds.
    for (const [name, state] of states) if (!state.error) states.set(name, { ...state, held: now });
  }

  /** Treats a node that has not responded in time as one that does not respond. */
  markUnreachable(): void {
    const error = new SourceError("timeout", "has not responded in time");
    for (const name of namesOf(this.#plan, "vital")) {
      this.#states.set(name, { ...this.get(name), error });
    }
  }

  /** @param stale the time for which a response that no longer holds is shown, in milliseconds */
  shownAt(now: Instant, stale: number): Shown {
    const isGone = this.isUnreachable;
    const answers = new Map<string, { taken: Taken; date: number }>();
    let oldest: Instant | undefined;
    for (const [name, { last, held, error, isAbsent }] of this.#states) {
      if (!last || !held || isAbsent) continue;
      const isExtra = this.#plan.sources.get(name)?.role === "extra";
      const isStale = error !== undefined || (isGone && !isExtra);
      if (isStale && now.monotonic - held.monotonic >= stale) continue;
      answers.set(name, { taken: last.taken, date: last.learnt.date });
      if (isStale && !(oldest && oldest.monotonic <= held.monotonic)) oldest = held;
    }
    return { answers, oldest };
  }
}

export function answerAt(answers: Answers, reference: Reference): unknown {
  const [source, pointer] = parseReference(reference);
  return answers.get(source)?.taken.get(pointer);
}

export function namesOf(plan: Plan, role: "vital" | "part" | "extra"): string[] {
  return [...plan.sources].filter(([, source]) => source.role === role).map(([name]) => name);
}

export type Values = Readonly<Record<string, unknown>>;

/** Values of the node by their places: with them the page fills reads in. */
export type NodeExamples = Readonly<Record<Reference, string>>;

/** Reads short texts of printable ASCII that fit their patterns. */
export function readExamples(
  patterns: Readonly<Record<Reference, string>>,
  answers: Answers,
): NodeExamples {
  return Object.fromEntries(
    Object.entries(patterns).flatMap(([place, pattern]) => {
      const value = textOf(answerAt(answers, place as Reference));
      return isNodeValue(value, pattern) ? [[place, value]] : [];
    }),
  );
}

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
    const formed = formOf(key, value);
    if (isKnown(formed)) values[key] = formed;
  }
  return values;
}
