/**
 * Functions that want to know of each new value.
 *
 * @module
 */

export class Listeners<Args extends readonly unknown[]> {
  readonly #all: ((...args: Args) => void)[] = [];

  add(listener: (...args: Args) => void): void {
    this.#all.push(listener);
  }

  emit(...args: Args): void {
    for (const listener of this.#all) listener(...args);
  }
}
