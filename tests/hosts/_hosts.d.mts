import type { Nodeface } from "../../src/index.ts";

/** A server in which Nodeface is mounted. */
export interface Host {
  /** The packages that it needs. */
  readonly needs: readonly string[];
  /**
   * Starts the server with a service.
   *
   * @param at the path of the mount; `""` for the root
   */
  mount(nodeface: Nodeface, at: string): Promise<{ url: string; close(): void }>;
  /** Set if the host strips the mount path: `knows` if the original path remains available, else `silent`. */
  readonly takesOff?: "knows" | "silent";
  /** True if the host responds with its own page to paths that the service does not serve. */
  readonly goesOn?: boolean;
}

export const HOSTS: Readonly<Record<string, Host>>;
