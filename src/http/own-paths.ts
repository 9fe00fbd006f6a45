/**
 * The paths of this service, which the node's own paths never replace.
 *
 * @module
 */
import { decodePercent } from "../decode.ts";
import { memoize } from "../lazy.ts";
import { foldPath } from "./path-template.ts";

/** The path at which a client learns what its token opens. */
export const SELF_PATH = "/v1/clients/self";

const RESOURCE = "v1/(?:info|health|ready|events|history|metrics|clients/self)";

/** Matches the paths that the description shows; the others serve the page and the description. */
export const RESOURCE_PATH: RegExp = new RegExp(`^/${RESOURCE}$`);

/**
 * Includes paths that are switched off, so that a setting does not change who serves a path. `/`
 * and `/v1` are missing: the node may serve them to clients that do not ask for HTML.
 */
const OWN = new RegExp(
  String.raw`^/(?:(?:v1/)?spec\.(?:json|yaml)|favicon\.ico|\.well-known/api-catalog` +
    `|${RESOURCE}|(?:assets|v1/(?:spec|node|rpc))(?:/[^]*)?)$`,
);

/** Returns a path as a lenient proxy or server might read it. */
const readLeniently = memoize((path) => foldPath(decodePercent(path)));

/** Tells whether a path belongs to this service, in any spelling. */
export const isOwnPath = (path: string): boolean => OWN.test(readLeniently(path));

/** Whoever serves paths below this one can prove to own the domain (RFC 8615). */
export const isWellKnown = (path: string): boolean =>
  /^\/\.well-known(?:\/|$)/.test(readLeniently(path));
