/**
 * Makes a service of the options of a host. The schema of these is a module of its own: its types name valibot, which
 * those of the package must not.
 *
 * @module
 */
import { createApp, type Nodeface } from "./app.ts";
import { checkOptions } from "./options-schema.ts";
import type { NodefaceOptions } from "./options.ts";

/**
 * Makes a service. Reads nothing before the first request or `ready`.
 *
 * @throws {TypeError} with all errors in the options
 * @example
 * ```ts
 * import { createNodeface } from "nodeface";
 *
 * // Deno, Bun and workers serve an object that has `fetch`.
 * export default createNodeface();
 * ```
 */
export function createNodeface<const Paths extends readonly string[] = readonly string[]>(
  options: NodefaceOptions<Paths> = {},
): Nodeface {
  return createApp(checkOptions(options as NodefaceOptions));
}
