/**
 * What is asked of a request before anything else reads it: that its address can be understood, and
 * that its host is one this service answers for.
 *
 * @module
 */
import { HOST_NAMES, readList } from "./allowed.ts";
import type { Answer } from "./answer.ts";
import { bounded } from "./memoize.ts";
import type { RequestHead } from "./head.ts";
import { problem } from "./problem-details.ts";

/** The host names answered besides loopback names and IP literals; `"*"` answers any. */
export type Hosts = readonly string[] | "*";

/** Lets a request through with its path, or refuses it. */
export type Guard = (head: RequestHead) => { pathname: string } | Answer;

/** What srvx puts in place of a `Host` that it cannot parse; `parseAuthority` has a say in it too. */
const UNPARSED = "_invalid_";

/** Longer targets are refused with 414; RFC 9110, section 4.1 asks for 8000 at least. */
const LONGEST_TARGET = 8192;

/**
 * Makes a guard.
 *
 * A page on any site can have its own name resolve to this machine and so ask this service as if it
 * were the page's own origin (DNS rebinding). Its requests carry that name in `Host`, and are refused
 * with 421 (RFC 9110, section 15.5.20). `Forwarded` and `X-Forwarded-*` are not read.
 *
 * @param hosts names in any letter case, without ports
 * @throws {TypeError} where one of them is no host name
 */
export function createGuard(hosts: Hosts): Guard {
  const names = new Set(hosts === "*" ? [] : readList("hosts", HOST_NAMES, hosts));
  const isServed = (host: string) =>
    hosts === "*" || isIpLiteral(host) || isLoopbackName(host) || names.has(host);
  const judge = bounded((authority) => {
    const host = parseAuthority(authority);
    return host === undefined ? null : { host, isServed: isServed(host) };
  });

  return ({ url, headers }) => {
    if (url.length > LONGEST_TARGET) {
      return problem(414, `A request target has at most ${LONGEST_TARGET} characters here`);
    }
    const target = parseTarget(url);
    const asked = judge(headers.get("host") ?? target?.host ?? "localhost");
    if (!target || !asked) {
      return problem(400, "The request target or the Host header cannot be understood");
    }
    // The host of the target is another one where the target is in absolute form.
    const { host = asked.host } = target;
    const isElsewhere = host !== asked.host && host !== UNPARSED;
    if (!asked.isServed || (isElsewhere && !isServed(host))) {
      return problem(
        421,
        'This service does not answer for that host name; the setting "hosts" names those it does',
      );
    }
    return target;
  };
}

/** A request's address, parsed. */
export interface Target {
  pathname: string;
  /** The host name in lower case, without a port; nothing where there is only a path. */
  host: string | undefined;
}

/**
 * Parses a request's `url`, which is a bare path where the server gives what was sent, or the request
 * has no `Host`, as HTTP/1.0 may; `null` where it is none.
 */
export const parseTarget: (url: string) => Target | null = bounded((url): Target | null => {
  const isPath = url.startsWith("/");
  const absolute = isPath ? `http://localhost${url}` : url;
  if (!URL.canParse(absolute)) return null;
  const { protocol, pathname, hostname } = new URL(absolute);
  if (!/^https?:$/.test(protocol)) return null;
  return { pathname, host: isPath ? undefined : hostname };
});

/** The host name of a `Host` header (RFC 9110, section 7.2); `undefined` where it is not one. */
function parseAuthority(authority: string): string | undefined {
  if (!/^[\w.~!$&'()*+,;=:[\]-]+$/.test(authority)) return undefined;
  if (!URL.canParse(`http://${authority}`)) return undefined;
  return new URL(`http://${authority}`).hostname;
}

/** What `URL` makes of every way to write an address: four numbers, or brackets. */
const isIpLiteral = (host: string): boolean => /^(\d+\.){3}\d+$|^\[/.test(host);

/** Names that always mean this machine (RFC 6761, section 6.3). */
const isLoopbackName = (host: string): boolean => /(^|\.)localhost$/.test(host);
