import type { Nodeface } from "../../src/index.ts";

/** A server that Nodeface is mounted in. */
export interface Host {
  /** The packages that it needs. */
  readonly needs: readonly string[];
  /**
   * Starts the server with a service.
   *
   * @param at the path of the mount; `""` for the root
   */
  mount(nodeface: Nodeface, at: string): Promise<{ url: string; close(): void }>;
  /** Whether the path of the mount is taken off before, and whether the host says what it was. */
  readonly takesOff?: "knows" | "silent";
  /** Whether what the service does not serve goes on to the host's own page. */
  readonly goesOn?: boolean;
}

export const HOSTS: Readonly<Record<string, Host>>;
