/**
 * Refuses requests for host names that the service does not serve.
 *
 * @module
 */
import { isProgram } from "./browsers.ts";
import { type Hosts, hostTrust } from "./host-trust.ts";
import { problemResponse } from "./problem.ts";
import { useJsonType } from "./response.ts";
import type { Route, RoutedRequest } from "./routes.ts";

const HOST_NOT_SERVED = 'This host name is not served; add it to the setting "hosts"';

export class HostGuard {
  readonly #hosts: Hosts;
  readonly #isInNetwork: boolean;

  /** @param isInNetwork true if programs on other machines may use a private name */
  constructor(hosts: Hosts, isInNetwork: boolean) {
    this.#hosts = hosts;
    this.#isInNetwork = isInNetwork;
  }

  /** Tells whether the host name cannot be that of a hostile page. */
  isServed({ request, target }: RoutedRequest): boolean {
    return hostTrust(this.#hosts, request, target) === "served";
  }

  refuse({ request, target }: RoutedRequest): Response | undefined {
    const trust = hostTrust(this.#hosts, request, target);
    const mayBeProgram = trust === "private" && this.#isInNetwork;
    const isServed = trust === "served" || (mayBeProgram && isProgram(request.headers));
    if (isServed) return undefined;
    const refusal = problemResponse(421, HOST_NOT_SERVED);
    useJsonType(refusal, request.headers.get("accept") ?? "");
    return refusal;
  }

  /** Returns a route that refuses requests for a host name that is not served. */
  guard<R extends Route>(route: R): R {
    return { ...route, handle: (routed) => this.refuse(routed) ?? route.handle(routed) };
  }
}
