/**
 * Limits how much larger a description becomes since operations repeat what their path items have.
 *
 * @module
 */
import { estimateSize } from "../json/values.ts";
import { LIMITS } from "./diagnostics.ts";

export class CopyBudget {
  #left: number = LIMITS.added;
  readonly #sizes = new Map<unknown, number>();

  /** Tells whether the value may be copied once more. */
  take(value: unknown): boolean {
    const size = estimateSize(value, this.#sizes);
    if (size > this.#left) return false;
    this.#left -= size;
    return true;
  }
}
