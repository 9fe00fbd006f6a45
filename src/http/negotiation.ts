/**
 * Chooses a content coding from `Accept-Encoding` (RFC 9110, section 12.5.3).
 *
 * @module
 */
// The rest of the package is about other fields, and would be read at every start.
import preferredEncodings from "negotiator/lib/encoding.js";
import { bounded } from "./memoize.ts";
import {
  CODINGS,
  type ContentCoding,
  type Representation,
  type Variant,
} from "./representation.ts";

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
  for (const coding of acceptable(accept)) {
    const variant = variants[coding];
    if (variant) return variant;
  }
  return undefined;
}

/** The offered codings a client accepts, the one to be sent first. */
const acceptable = bounded((accept): readonly ContentCoding[] =>
  preferredEncodings(accept, CODINGS, CODINGS)
);
