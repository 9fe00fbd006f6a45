/**
 * Chooses a content coding from `Accept-Encoding` (RFC 9110, section 12.5.3).
 *
 * @module
 */
import { CODINGS, type ContentCoding } from "./content-coding.ts";
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

/** What a coding weighs that a client does not mind but has not named: less than the least of 0.001. */
const UNNAMED = 0.0001;

/** The codings that a client accepts, the preferred ones first; of the same weight, the shortest first. */
const acceptedCodings = memoize((accept): readonly ContentCoding[] => {
  const weights = new Map<string, number>();
  for (const item of accept.toLowerCase().split(",")) {
    const [coding = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    weights.set(coding, weight === undefined ? 1 : Number(weight.slice("q=".length)));
  }
  const weightOf = (coding: ContentCoding) =>
    weights.get(coding) ?? weights.get("*") ?? (coding === "identity" ? UNNAMED : 0);
  return CODINGS.filter((coding) => weightOf(coding) > 0)
    .sort((a, b) => weightOf(b) - weightOf(a));
});
