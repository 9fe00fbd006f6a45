/**
 * Host names: those that this service serves, and those of this machine.
 *
 * @module
 */
import { memoize } from "../lazy.ts";
import { problem } from "./problem-details.ts";
import { isLoopback, type RequestTarget } from "./request.ts";

/** The host names served in addition to loopback names and IP literals; `"*"` for any. */
export type Hosts = readonly string[] | "*";

/** srvx 1.0 uses this host in the URL if it cannot parse `Host`; the guard reads the header itself. */
const UNPARSED = "_invalid_";

/** Longer targets are refused with 414; RFC 9110, section 4.1, recommends at least 8000. */
const TARGET_LENGTH_MAX = 8192;

/**
 * Creates a guard against malformed targets and DNS rebinding: a web page can make its own host name resolve to this
 * machine, and then read this service as its own origin. Such a request carries that name in `Host`, and gets 421 (RFC
 * 9110, section 15.5.20). `Forwarded` and `X-Forwarded-*` are ignored. The names in `hosts` have no ports.
 */
export function createHostGuard(
  hosts: Hosts,
): (request: Pick<Request, "headers">, target: RequestTarget | undefined) => Response | undefined {
  const names = new Set(hosts);
  const isServed = (host: string) =>
    hosts === "*" || isIpLiteral(host) || isLoopback(host) || names.has(host);
  const judge = memoize((authority) => {
    const host = parseAuthority(authority);
    return host === undefined ? null : { host, isServed: isServed(host) };
  });

  return ({ headers }, target) => {
    if (target && target.pathname.length + target.search.length > TARGET_LENGTH_MAX) {
      return problem(414, `The request target may have at most ${TARGET_LENGTH_MAX} characters`);
    }
    const asked = judge(headers.get("host") ?? target?.host ?? "localhost");
    if (!target || !asked) {
      return problem(400, "The request target or the Host header is malformed");
    }
    // A target in absolute form names its own host.
    const { host = asked.host } = target;
    const isElsewhere = host !== asked.host && host !== UNPARSED;
    if (asked.isServed && !(isElsewhere && !isServed(host))) return undefined;
    return problem(
      421,
      'This host name is not served; add it to the setting "hosts"',
    );
  };
}

/** The host name of a `Host` header (RFC 9110, section 7.2); `undefined` if it is malformed. */
function parseAuthority(authority: string): string | undefined {
  if (!/^[\w.~!$&'()*+,;=:[\]-]+$/.test(authority)) return undefined;
  if (!URL.canParse(`http://${authority}`)) return undefined;
  return new URL(`http://${authority}`).hostname;
}

/** Tells whether a host is an IP address; `URL` writes every IPv4 address as four numbers. */
const isIpLiteral = (host: string): boolean => /^(\d+\.){3}\d+$|^\[/.test(host);
