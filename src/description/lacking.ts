/**
 * The methods that a node turned out not to have when clients called them. No request is made to find them.
 *
 * @module
 */
import { startOf } from "../untrusted-text.ts";

/** The time after which it is no longer known that a method is missing, in milliseconds. */
const FORGOTTEN_AFTER_MS = 24 * 3_600_000;

/** The longest text of a node that tells its version from others, in UTF-16 code units. */
const VERSION_LENGTH = 100;

/** What a node says of itself. */
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

  /** Remembers a method that the node says it does not have: while it starts, it may say so of all. */
  add(method: string, node: NodeVersion): void {
    if (node.status !== "ok") return;
    this.#follow(node);
    this.#seenAt.set(method, this.#now());
  }

  /** The names of those that are known to be missing in this version of the node. */
  names(node: NodeVersion): string[] {
    this.#follow(node);
    return [...this.#seenAt].filter(([, at]) => this.#now() - at < FORGOTTEN_AFTER_MS)
      .map(([method]) => method).sort();
  }

  /** Forgets all when the node is another one; one that does not respond has no version. */
  #follow({ software, version }: NodeVersion): void {
    if (software === undefined && version === undefined) return;
    const now = startOf(`${software} ${version}`, VERSION_LENGTH);
    if (now !== this.#version) this.#seenAt.clear();
    this.#version = now;
  }
}
