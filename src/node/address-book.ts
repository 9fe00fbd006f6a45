/**
 * Remembers where the connections to servers lead. If one is lost, or if a name leads elsewhere,
 * another node may be at the address.
 *
 * @module
 */

/** A connection is used for as long, then the host name is looked up again. In milliseconds. */
export const LIFETIME_MS = 60_000;

/** Where the connections to one server lead, whose name may have several addresses. */
export class ServerAddress {
  /** How often a connection was refused, closed or broken, or the name has led elsewhere. */
  losses = 0;
  /** How often the name has led elsewhere. */
  moves = 0;
  /** Where the last connection has led, if all of them lead to one address. */
  pinned: string | undefined;
  readonly #isPinned: boolean;
  /** Since when all connections lead to `pinned`; `-Infinity` after a failure. */
  #pinnedSince = -Infinity;
  /** When connections have last led to each address, if they may lead to different ones. */
  #lastUses: ReadonlyMap<string, number> = new Map();

  constructor(isPinned: boolean) {
    this.#isPinned = isPinned;
  }

  /** The address that a connection must lead to; `undefined` if the name is to be looked up. */
  get target(): string | undefined {
    return performance.now() - this.#pinnedSince < LIFETIME_MS ? this.pinned : undefined;
  }

  /** Called when the server has refused, closed or broken a connection. */
  lose(): void {
    this.losses++;
    this.#pinnedSince = -Infinity;
  }

  /**
   * Called when a connection cannot be opened.
   *
   * @param target where it should have led, if the name was not looked up
   */
  fail(target: string | undefined): void {
    if (target === undefined || target === this.pinned) this.#pinnedSince = -Infinity;
  }

  /** Called when a connection is open. @param address where it leads */
  use(address: string): void {
    const isElsewhere = this.#isPinned ? this.#pin(address) : this.#isNew(address);
    if (!isElsewhere) return;
    this.moves++;
    this.losses++;
  }

  #pin(address: string): boolean {
    const before = this.pinned;
    if (address !== before || this.target === undefined) this.#pinnedSince = performance.now();
    this.pinned = address;
    return before !== undefined && before !== address;
  }

  #isNew(address: string): boolean {
    const now = performance.now();
    const recent = [...this.#lastUses].filter(([, at]) => now - at < 2 * LIFETIME_MS);
    this.#lastUses = new Map([...recent, [address, now]]);
    return recent.length > 0 && !recent.some(([known]) => known === address);
  }
}

export class AddressBook {
  readonly #isPinned: boolean;
  readonly #servers = new Map<string, ServerAddress>();

  /** @param isPinned true if all connections to a server lead to one of its addresses */
  constructor(isPinned: boolean = false) {
    this.#isPinned = isPinned;
  }

  of({ origin }: URL): ServerAddress {
    const server = this.#servers.get(origin) ?? new ServerAddress(this.#isPinned);
    this.#servers.set(origin, server);
    return server;
  }
}
