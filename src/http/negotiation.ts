/**
 * Chooses a content coding from `Accept-Encoding` (RFC 9110, section 12.5.3).
 *
 * @module
 */
import Negotiator from "negotiator";
import { CODINGS, type ContentCoding } from "./content-coding.ts";
import { memoize } from "./memoize.ts";
import type { Representation, Variant } from "./representation.ts";

/**
 * The best variant of a representation for a client.
 *
 * @param representation what there is
 * @param accept the value of `Accept-Encoding`, or `null` where the request has none: any coding
 * may then be sent, and `identity` is
 * @returns the variant, or `undefined` where the client accepts none that is offered (406)
 */
export function chooseVariant(
  representation: Representation,
  accept: string | null,
): Variant | undefined {
  const { variants } = representation;
  if (accept === null) return variants.identity;
  for (const coding of acceptedCodings(accept)) {
    const variant = variants[coding];
    if (variant) return variant;
  }
  return undefined;
}

/** The offered codings that a client accepts, the one to be sent first. */
const acceptedCodings = memoize((accept): readonly ContentCoding[] =>
  new Negotiator({ headers: { "accept-encoding": accept } })
    .encodings(CODINGS, { preferred: CODINGS })
);
