/**
 * Loads what a known kind of node offers to be called: apart from `kind.ts`, which the thread of descriptions has as well.
 *
 * @module
 */
import { INTERFACES } from "../generated/interfaces.js";
import { unpack } from "../http/content-coding.ts";
import { parseJson } from "../json/lossless.ts";
import type { KindInterface } from "../kinds/interface.ts";

/** The known kinds that say what they offer, in alphabetical order. */
export const KINDS_WITH_INTERFACE: readonly string[] = Object.keys(INTERFACES);

/**
 * Loads what a known kind offers, as JSON: read from its module each time, so that nothing of it stays.
 *
 * @param kind its name
 * @returns an empty object for a kind that offers nothing
 */
export async function loadInterfaceJson(kind: string): Promise<Uint8Array<ArrayBuffer>> {
  if (!Object.hasOwn(INTERFACES, kind)) return new TextEncoder().encode("{}");
  return (await unpack(await INTERFACES[kind]!())).identity;
}

/**
 * Loads what a known kind offers.
 *
 * @param kind its name
 * @returns whole numbers above 2^53 in it are `bigint`s; an empty object for a kind that offers nothing
 */
export async function loadInterface(kind: string): Promise<KindInterface> {
  return parseJson(new TextDecoder().decode(await loadInterfaceJson(kind))) as KindInterface;
}
