/**
 * Which media types a call asks the node for: those of its operation alone, so that a node that would stream on demand
 * is asked for no stream.
 *
 * @module
 */

/** How many types of a client are read. */
const RANGES_MAX = 32;

/** A type or a range (RFC 9110, section 12.5.1), and its weight; what else stands with it is not read. */
const RANGE = /^([\w!#$%&'*+.^`|~-]+)\/([\w!#$%&'*+.^`|~-]+)$/, WEIGHT = /^q=([01](?:\.\d{0,3})?)$/;

/**
 * Writes `Accept` for the node.
 *
 * @param accept of the client; `null` where it says nothing
 * @param named the media types of the operation's responses, in lower case
 */
export function acceptFor(accept: string | null, named: readonly string[]): string {
  const wanted = new Map<string, string>();
  for (const range of (accept ?? ANY).toLowerCase().split(",", RANGES_MAX)) {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    const [, type = "", subtype = ""] = RANGE.exec(name) ?? [];
    const weight = parameters.map((one) => WEIGHT.exec(one)?.[1]).find(Boolean) ?? "1";
    if (Number(weight) === 0) continue;
    const fits = type === "*"
      ? [ANY]
      : named.filter((one) => one === name || (subtype === "*" && one.startsWith(`${type}/`)));
    for (const one of fits) if (!wanted.has(one)) wanted.set(one, weight);
  }
  const list = [...wanted].map(([name, weight]) => weight === "1" ? name : `${name};q=${weight}`);
  return list.join(", ") || ANY;
}

const ANY = "*/*";
