/**
 * What is known of a subject: the last good answer of each of its sources, and for how long.
 *
 * @module
 */
import type { Outcome } from "./query-sources.ts";
import type { SourceError } from "./sources/source-error.ts";
import type { Subject } from "./node-or-host.ts";
import type { Taken } from "./map-fields.ts";

/** What is known at a time. */
export interface Knowledge {
  /** The values of the keys. */
  values: Readonly<Record<string, unknown>>;
  /** Whether some values are old since a source stopped answering, or the node tells nothing. */
  trouble: "stale" | "unreachable" | undefined;
  /** When the oldest of old values was right, in milliseconds since 1970. */
  updatedAt: number | undefined;
  /** When the next of the old values is dropped, in milliseconds since 1970. */
  until: number;
}

/** Remembers what sources gave. */
export interface Memory {
  /** The sources whose answer is no longer good. */
  due(now: number): string[];
  /** Takes in what sources gave. */
  learn(outcomes: ReadonlyMap<string, Outcome>, now: number): void;
  know(now: number): Knowledge;
  /** Whether the node answered nothing when it was last asked. */
  isDown(): boolean;
}

interface Last {
  /** Nothing where the source has never given anything. */
  taken?: Taken;
  /** When it was right. */
  at: number;
  error?: SourceError | undefined;
}

/**
 * Makes a memory.
 *
 * @param ttl how long an answer is good for, in milliseconds
 * @param stale how long it is shown when no other comes, in milliseconds
 */
export function createMemory(subject: Subject, ttl: number, stale: number): Memory {
  const lasts = new Map<string, Last>();
  const ofNode = [...subject.sources].filter(([, source]) => source.isOfNode).map(([name]) => name);
  let values: Readonly<Record<string, unknown>> = {};

  return {
    due: (now) =>
      [...subject.sources].filter(([name, source]) => {
        const last = lasts.get(name);
        return !last?.taken || last.error || now - last.at >= (source.ttl ?? ttl);
      }).map(([name]) => name),

    learn(outcomes, now) {
      for (const [name, outcome] of outcomes) {
        if ("taken" in outcome) lasts.set(name, { taken: outcome.taken, at: now });
        else lasts.set(name, { at: 0, ...lasts.get(name), error: outcome.error });
      }
    },

    know(now) {
      const taken = new Map<string, Taken>();
      const old: number[] = [];
      for (const [name, last] of lasts) {
        if (!last.taken || (last.error && now - last.at >= stale)) continue;
        taken.set(name, last.taken);
        if (last.error) old.push(last.at);
      }
      const isSilent = ofNode.length > 0 && !ofNode.some((name) => taken.has(name));
      values = subject.read(taken, values, now);
      const oldest = Math.min(...old);
      return {
        values,
        trouble: isSilent ? "unreachable" : old.length > 0 ? "stale" : undefined,
        updatedAt: old.length > 0 ? oldest : undefined,
        until: oldest + stale,
      };
    },

    isDown: () => ofNode.length > 0 && ofNode.every((name) => lasts.get(name)?.error),
  };
}
