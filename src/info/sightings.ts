/**
 * Remembers what the node last said of itself, and notices when it is on another chain.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import { excerpt } from "../untrusted-text.ts";
import type { Info, LastSeen } from "./info.ts";
import type { Values } from "./source-cache.ts";

const CHAIN = ["chain_id", "network"] as const;
/** Several currencies have networks of the same names. */
const CHAIN_WITHOUT_ID = ["network", "software"] as const;
const SEEN = ["software", "version", "network", "chain_id", "height"] as const;
const TEXT_LENGTH = 100;

type ChainKey = "chain_id" | "network" | "software";

/** A value that tells the node's chain, and is another one than before. */
export interface ChainChange {
  readonly key: ChainKey;
  readonly value: string;
  readonly before: string;
}

export interface Sighting {
  /** The values from the node, including hidden values. */
  readonly reported: Values;
  /** True if the node has said something, and not only its kind. */
  readonly hasSaid: boolean;
  readonly info: Info;
  /** When the node responded, in milliseconds since 1970. */
  readonly date: number;
}

/** What is new of the node. */
export interface News {
  readonly changes: readonly ChainChange[];
  /** Missing if the node has not said what it is. */
  readonly seen: LastSeen | undefined;
}

export class Sightings {
  #last: LastSeen | undefined;
  #chain: Partial<Readonly<Record<ChainKey, string | undefined>>> = {};

  /** What the node last said of itself on the chain that it is on. */
  get last(): LastSeen | undefined {
    return this.#last;
  }

  note({ reported, hasSaid, info, date }: Sighting): News {
    const changes = this.#noteChain(reported);
    if (changes.length > 0) this.#last = undefined;
    const seen = hasSaid ? seenIn(info, date) : undefined;
    this.#last = seen ?? this.#last;
    return { changes, seen };
  }

  #noteChain(values: Values): ChainChange[] {
    const before = this.#chain;
    const isVague = (values.chain_id ?? before.chain_id) === undefined &&
      values.network !== undefined;
    const keys = isVague ? CHAIN_WITHOUT_ID : CHAIN;
    const told = keys.flatMap((key) => {
      const value = textOf(values[key]);
      return value === undefined ? [] : [{ key, value, before: before[key] }];
    });
    this.#chain = { ...before, ...Object.fromEntries(told.map(({ key, value }) => [key, value])) };
    return told.flatMap(({ before, ...now }) =>
      before === undefined || before === now.value ? [] : [{ ...now, before }]
    );
  }

  /** Returns the same sightings, but of no chain. What is learnt of the chain stays apart. */
  withoutChain(): Sightings {
    const sightings = new Sightings();
    sightings.#last = this.#last;
    return sightings;
  }
}

/** Returns what the node reports. Without a node, the info is that of the service. */
function seenIn(info: Info, date: number): LastSeen | undefined {
  const seen = SEEN.filter((key) => info[key] !== undefined).map((key) => {
    const value = info[key];
    return [key, typeof value === "string" ? excerpt(value, TEXT_LENGTH) : value];
  });
  if (seen.length === 0 || !info.api) return undefined;
  return { ...Object.fromEntries(seen), at: new Date(date).toISOString() };
}
