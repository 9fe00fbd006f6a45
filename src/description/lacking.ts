/**
 * The methods that a node turned out not to have when clients called them. No request is made to find them.
 *
 * @module
 */

/** The time after which it is no longer known that a method is missing, in milliseconds. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;

interface NodeVersion {
  readonly software?: unknown;
  readonly version?: unknown;
  readonly status?: unknown;
}

export class LackingMethods {
  #version = "";
  readonly #seenAt = new Map<string, number>();
  readonly #now: () => number;

  /** @param now milliseconds that only count up */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Remembers that a node reports a method as missing. While it starts, it may say so of all. */
  add(method: string, node: NodeVersion): void {
    if (node.status !== "ok") return;
    this.#forgetOthers(node);
    this.#seenAt.set(method, this.#now());
  }

  /** The methods that are known to be missing in this version of a node. */
  names(node: NodeVersion): string[] {
    this.#forgetOthers(node);
    return [...this.#seenAt].filter(([, at]) => this.#now() - at < FORGOTTEN_AFTER_MS)
      .map(([method]) => method).sort();
  }

  /** Forgets the methods of another version; a node that does not respond has none. */
  #forgetOthers({ software, version }: NodeVersion): void {
    if (software === undefined && version === undefined) return;
    const now = `${software} ${version}`;
    if (now !== this.#version) this.#seenAt.clear();
    this.#version = now;
  }
}
