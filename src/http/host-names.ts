/**
 * Tells what a host name says about where a host is.
 *
 * @module
 */

/** False for a path, of a file or below the node's address. */
export const isHttpUrl = (text: string): boolean => /^https?:/i.test(text);

/**
 * Matches 127.0.0.0/8 and `::1` (RFC 6890), `localhost` and its subdomains (RFC 6761, section 6.3).
 */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/;

/** @param hostname a host name in the form that `URL` produces */
export const isLoopback = (hostname: string): boolean => LOOPBACK.test(hostname);

/**
 * @param host where a server listens: without the brackets of an IPv6 address, perhaps with its
 * interface
 */
export function isLoopbackListener(host: string): boolean {
  const isIpv6 = host.includes(":") && !host.startsWith("[");
  const url = `http://${isIpv6 ? `[${host.replace(/%.*$/, "")}]` : host}`;
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/** `URL` normalizes every IPv4 address to four numbers. */
export const isIpLiteral = (host: string): boolean => /^(\d+\.){3}\d+$|^\[/.test(host);

/** Names without a dot, and the domains of RFC 6762, RFC 8375, RFC 6761 and ICANN's `.internal`. */
const PRIVATE_NAME = /^[^.]+$|\.(?:local|internal|home\.arpa|test)$/;

/** Tells whether no public name server gives a name, so that a hostile network can. */
export const isPrivateName = (hostname: string): boolean => PRIVATE_NAME.test(hostname);

/**
 * Unspecified and private addresses: 0.0.0.0, 10/8, 172.16/12, 192.168/16 (RFC 1918), 100.64/10
 * (RFC 6598), 169.254/16 (RFC 3927), fc00::/7 (RFC 4193) and fe80::/10 (RFC 4291).
 */
const PRIVATE_ADDRESS = new RegExp(
  "^(?:0\\.0\\.0\\.0|10\\..+|172\\.(?:1[6-9]|2\\d|3[01])\\..+|192\\.168\\..+|169\\.254\\..+" +
    "|100\\.(?:6[4-9]|[7-9]\\d|1[01]\\d|12[0-7])\\..+" +
    "|\\[::\\]|\\[f[cd][\\da-f]{2}:.+|\\[fe[89ab][\\da-f]:.+)$",
);

/**
 * Tells whether a host is this machine or one of its network: loopback, a private address, or a
 * name that no public name server gives.
 *
 * @param hostname a host name in the form that `URL` produces
 */
export function isNearby(hostname: string): boolean {
  const name = hostname.replace(/\.$/, "");
  if (isLoopback(name)) return true;
  return isIpLiteral(name) ? PRIVATE_ADDRESS.test(name) : isPrivateName(name);
}
