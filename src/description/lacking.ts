/**
 * Remembers the methods that the node reported as missing when clients called them.
 *
 * @module
 */

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

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Ignores a node that is not `ok`, since a starting node may lack all methods. */
  add(method: string, node: NodeVersion): void {
    if (node.status !== "ok") return;
    this.#forgetOthers(node);
    this.#seenAt.set(method, this.#now());
  }

  names(node: NodeVersion): string[] {
    this.#forgetOthers(node);
    return [...this.#seenAt].filter(([, at]) => this.#now() - at < FORGOTTEN_AFTER_MS)
      .map(([method]) => method).sort();
  }

  /** Ignores an unknown version, since the node may be unreachable. */
  #forgetOthers({ software, version }: NodeVersion): void {
    if (software === undefined && version === undefined) return;
    const now = `${software} ${version}`;
    if (now !== this.#version) this.#seenAt.clear();
    this.#version = now;
  }
}
