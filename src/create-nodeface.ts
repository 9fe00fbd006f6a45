/**
 * Makes a service of the options of a host.
 *
 * @module
 */
import { createApp, type Nodeface } from "./app.ts";
import type { NodefaceOptions } from "./options.ts";
import { checkOptions } from "./options-schema.ts";

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
