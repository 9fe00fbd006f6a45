/**
 * What the info is about: sources to ask, and the values that their answers give. A node is asked
 * by a plan; a host that embeds the service may tell all by a function of its own.
 *
 * @module
 */
import { type Ask, isOfNode, type Outcome } from "./query-sources.ts";
import type { Plan, PlannedSource } from "./query-plan.ts";
import { withTimeout } from "../with-timeout.ts";
import { milliseconds } from "./settings.ts";
import { SourceError } from "./sources/source-error.ts";
import { readFields, type Taken } from "./map-fields.ts";

/** One of the sources, as far as the memory of it goes. */
export interface Asked {
  /** How long its answer is good for in milliseconds; nothing for the time of all others. */
  ttl: number | undefined;
  /** Whether its silence means that the node is down. */
  isOfNode: boolean;
}

/** What the info is about. */
export interface Subject {
  sources: ReadonlyMap<string, Asked>;
  /** Asks some of the sources, by name. */
  ask(names: readonly string[]): Promise<ReadonlyMap<string, Outcome>>;
  /** The values of the keys, from what was taken of each source. */
  read(
    taken: ReadonlyMap<string, Taken>,
    previous: Readonly<Record<string, unknown>>,
    now: number,
  ): Record<string, unknown>;
}

/** A function of a host's own that says what its node is; any key, any JSON value. */
export type OwnInfo = () =>
  | Readonly<Record<string, unknown>>
  | Promise<Readonly<Record<string, unknown>>>;

/** A node that is asked by a plan. */
export function subjectOfPlan(plan: Plan, ask: Ask): Subject {
  const isNodeAsked = [...plan.sources.values()].some(({ source }) => isOfNode(source));
  const asked = ({ source }: PlannedSource): Asked => ({
    ttl: source.ttl && milliseconds(source.ttl),
    // Where only files and programs tell of the node, these are all there is of it.
    isOfNode: !isNodeAsked || isOfNode(source),
  });
  return {
    sources: new Map([...plan.sources].map(([name, planned]) => [name, asked(planned)])),
    ask: (names) => ask(new Map(names.map((name) => [name, plan.sources.get(name)!]))),
    read: (taken, previous, now) => ({
      ...readFields(plan.fields, taken, previous, now),
      ...plan.static,
    }),
  };
}

const HOST = "host";

/** A node that its host tells about. */
export function subjectOfHost(own: OwnInfo, timeout: number): Subject {
  const outcome = async (): Promise<Outcome> => {
    const started = performance.now();
    try {
      const values = await withTimeout(Promise.resolve(own()), timeout, () => {
        throw new Error(`takes longer than ${timeout} ms`);
      });
      return { taken: new Map([["", values]]), took: performance.now() - started };
    } catch (error) {
      const { message } = error as Error;
      return { error: new SourceError(message), took: performance.now() - started };
    }
  };
  return {
    sources: new Map([[HOST, { ttl: undefined, isOfNode: true }]]),
    ask: async () => new Map([[HOST, await outcome()]]),
    read: (taken) => ({ ...taken.get(HOST)?.get("") as Record<string, unknown> }),
  };
}
