/**
 * What is remembered of a node when the configuration is reloaded. Only its owner writes each part.
 *
 * @module
 */
import type { HistoryMemory } from "./history.ts";
import { Motion } from "./motion.ts";
import { Sightings } from "./sightings.ts";
import { LogMemory } from "./state-log.ts";

export class NodeMemory {
  readonly history: HistoryMemory;
  readonly log: LogMemory;
  readonly sightings: Sightings;
  /** The kind that was detected last. */
  kind: string | undefined;
  #motion: { readonly kind: string; readonly motion: Motion } | undefined;

  constructor(
    history: HistoryMemory = { samples: [] },
    log: LogMemory = new LogMemory(),
    sightings: Sightings = new Sightings(),
  ) {
    this.history = history;
    this.log = log;
    this.sightings = sightings;
  }

  /** Returns the same memory, but of no chain. What is learnt from now on stays apart. */
  withoutChain(): NodeMemory {
    const log = Object.assign(new LogMemory(), this.log);
    const memory = new NodeMemory(this.history, log, this.sightings.withoutChain());
    memory.kind = this.kind;
    memory.#motion = this.#motion;
    return memory;
  }

  /** Returns how a node of this kind has moved until now. */
  motionOf(kind: string): Motion {
    if (this.#motion?.kind !== kind) this.#motion = { kind, motion: new Motion() };
    return this.#motion.motion;
  }
}
