/**
 * What is remembered of a node when the configuration is reloaded. Only its owner writes each part.
 *
 * @module
 */
import type { HistoryMemory } from "./history.ts";
import { Motion } from "./motion.ts";
import { LogMemory } from "./state-log.ts";

export class NodeMemory {
  readonly history: HistoryMemory = { samples: [] };
  readonly log: LogMemory = new LogMemory();
  #motion: { readonly kind: string; readonly motion: Motion } | undefined;

  /** Returns how a node of this kind has moved until now. */
  motionOf(kind: string): Motion {
    if (this.#motion?.kind !== kind) this.#motion = { kind, motion: new Motion() };
    return this.#motion.motion;
  }
}
