/**
 * Tells how far the host name of a request can be trusted.
 *
 * @module
 */
import { isIpLiteral, isLoopback, isPrivateName } from "./host-names.ts";
import { hostOf, type HostRequest, type RequestTarget } from "./target.ts";

/**
 * The host names to serve in addition to loopback names and IP literals, without a dot at the end;
 * `"*"` for any. See [Configuration](../docs/configuration.md).
 */
export type Hosts = readonly string[] | "*";

/** The host name that srvx 1.0 writes into the URL if the `Host` header cannot be parsed. */
const UNPARSED = "_invalid_";

/**
 * How a host name may be used:
 *
 * - `served`: a loopback name, an IP literal, or a name in the setting `hosts`
 * - `private`: a name that no public name server gives, such as `nodeface` or `nas.local`. Any
 *   machine in the network can claim such a name, so a hostile page can have one
 * - `foreign`: any other name
 */
export type HostTrust = "served" | "private" | "foreign";

const STRICTEST_FIRST: readonly HostTrust[] = ["foreign", "private", "served"];

/**
 * Protects against DNS rebinding, in which a hostile web page makes its own host name resolve to
 * this machine, and can then read responses of this service. The host in an absolute target may
 * differ from the `Host` header; the stricter use counts.
 *
 * @param hosts the names of the service
 */
export function hostTrust(hosts: Hosts, request: HostRequest, target: RequestTarget): HostTrust {
  const host = hostOf(request, target);
  const { host: inTarget = host } = target;
  const names = inTarget === UNPARSED ? [host] : [host, inTarget];
  const trusts = names.map((name) => trustInName(hosts, name));
  return STRICTEST_FIRST.find((trust) => trusts.includes(trust))!;
}

function trustInName(hosts: Hosts, host: string): HostTrust {
  if (host === "") return "foreign";
  const name = host.replace(/\.$/, "");
  const isServed = hosts === "*" || isIpLiteral(name) || isLoopback(name) || hosts.includes(name);
  return isServed ? "served" : isPrivateName(name) ? "private" : "foreign";
}
