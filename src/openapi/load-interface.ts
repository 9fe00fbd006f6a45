/**
 * Loads what a known kind of node offers to be called.
 *
 * @module
 */
import { INTERFACES } from "../generated/interfaces.js";
import { unpack } from "../http/build-time-content.ts";
import { parseJson } from "../json/lossless.ts";
import type { KindInterface } from "../kinds/interface.ts";

/** The known kinds that say what they offer, in alphabetical order. */
export const KINDS_WITH_INTERFACE: readonly string[] = Object.keys(INTERFACES);

/**
 * Loads what a known kind offers: read from its module each time, so that nothing of it stays.
 *
 * @param kind its name
 * @returns whole numbers above 2^53 in it are `bigint`s; an empty object for a kind that offers nothing
 */
export async function loadInterface(kind: string): Promise<KindInterface> {
  if (!Object.hasOwn(INTERFACES, kind)) return {};
  const { identity } = await unpack(await INTERFACES[kind]!());
  return parseJson(new TextDecoder().decode(identity)) as KindInterface;
}
