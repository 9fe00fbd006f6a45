/**
 * The memory budget: the bytes of all calls that are in transit.
 *
 * @module
 */

const BYTES_MAX = 128 * 1024 * 1024;

/**
 * The number of bytes that are reserved for a response before its length is known. Contents of up
 * to this size may use the fraction `FRACTION_OF_SMALL`.
 */
export const SMALL_BYTES = 16_384;

/** Fractions of `BYTES_MAX`. The budget never limits the response to a write call. */
const FRACTIONS: Readonly<Record<"body" | "response" | "named client" | "write", number>> = {
  body: 0.25,
  response: 0.625,
  "named client": 1,
  write: Infinity,
};
const FRACTION_OF_SMALL = 0.75;

export class Budget {
  taken = 0;
  /** Drop the bytes whose time is over, but whose clients still read. The oldest first. */
  readonly overdue: Set<() => void> = new Set();
  #isClosed = false;

  /** Call this when the time of some bytes is over. */
  addOverdue(drop: () => void): void {
    if (this.#isClosed) drop();
    else this.overdue.add(drop);
  }

  /** No calls come any more that could take the memory, so it is freed when its time is over. */
  close(): void {
    this.#isClosed = true;
    for (const drop of [...this.overdue]) drop();
  }
}

/** The bytes of one call that count against the budget. */
export class ReservedBytes {
  purpose: keyof typeof FRACTIONS;
  readonly #budget: Budget;
  #taken = 0;
  /** The bytes of contents that are complete. */
  #kept = 0;
  #isOpen = true;
  #drop: (() => void) | undefined;
  constructor(budget: Budget, purpose: keyof typeof FRACTIONS) {
    this.#budget = budget;
    this.purpose = purpose;
  }

  /** The number of bytes that this purpose can ever have. */
  get most(): number {
    return BYTES_MAX * FRACTIONS[this.purpose];
  }

  /**
   * Sets the number of bytes, besides those that are kept. Returns false if an increase would
   * exceed the budget.
   */
  set(bytes: number): boolean {
    if (!this.#isOpen) return true;
    const taken = this.#kept + bytes;
    const more = taken - this.#taken;
    const fraction = Math.max(
      FRACTIONS[this.purpose],
      taken <= SMALL_BYTES ? FRACTION_OF_SMALL : 0,
    );
    const isFree = () => this.#budget.taken + more <= BYTES_MAX * fraction;
    if (more > 0 && !isFree()) {
      for (const drop of this.#budget.overdue) if (!isFree()) drop();
      // Among what was dropped may be the owner of these bytes.
      if (!this.#isOpen) return true;
      if (!isFree()) return false;
    }
    this.#budget.taken += more;
    this.#taken = taken;
    return true;
  }

  /** Keeps bytes until the end. They must have been set before. */
  keep(bytes: number): void {
    this.#kept += bytes;
    this.set(0);
  }

  /** Sets the number of bytes to at least `bytes`, those that are kept included. */
  setAtLeast(bytes: number): void {
    this.set(Math.max(0, bytes - this.#kept));
  }

  /** Lets others take the memory, by calling `drop`, until `withdraw` or `dispose` is called. */
  offer(drop: () => void): void {
    this.#drop = drop;
    this.#budget.addOverdue(drop);
  }

  withdraw(): void {
    if (this.#drop) this.#budget.overdue.delete(this.#drop);
    this.#drop = undefined;
  }

  dispose(): void {
    this.withdraw();
    this.#kept = 0;
    this.set(0);
    this.#isOpen = false;
  }
}
