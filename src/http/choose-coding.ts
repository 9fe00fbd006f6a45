/**
 * Chooses a content coding from `Accept-Encoding` (RFC 9110, section 12.5.3).
 *
 * @module
 */
import Negotiator from "negotiator";
import { CODINGS, type ContentCoding } from "./encode-content.ts";
import { memoize } from "./memoize.ts";
import type { Representation, Variant } from "./representation.ts";

/**
 * Chooses the variant of a representation that the client prefers.
 *
 * @param accept the value of `Accept-Encoding`; `null` chooses `identity`
 * @returns `undefined` if the client accepts no variant (406)
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

const acceptedCodings = memoize((accept): readonly ContentCoding[] =>
  new Negotiator({ headers: { "accept-encoding": accept } })
    .encodings(CODINGS, { preferred: CODINGS })
);
