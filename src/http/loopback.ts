/**
 * Recognizes loopback hosts.
 *
 * @module
 */

/** 127.0.0.0/8 and `::1` (RFC 6890); `localhost` and all names below it (RFC 6761, section 6.3). */
const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/;

/** Whether a host name, as `URL` writes it, is a loopback name or address. */
export function isLoopback(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
