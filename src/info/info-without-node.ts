/**
 * `GET /v1/info` of a service that has nothing to ask: what it says of itself.
 *
 * @module
 */
import { lazy } from "../lazy.ts";
import type { Service } from "./info-object.ts";
import { createPublisher, type LiveInfo } from "./snapshot.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import type { OwnInfo } from "./node-or-host.ts";

/** Whether there is nothing to ask: no node, no source of the operator's, no function of a host's. */
export function isAlone(
  node: NodeSettings = {},
  info: InfoSettings | OwnInfo | undefined,
): info is InfoSettings | undefined {
  const hasNode = !!node.url || (!!node.kind && node.kind !== "none");
  return !hasNode && typeof info !== "function" && Object.keys(info?.sources ?? {}).length === 0;
}

/**
 * Makes the info of a service alone.
 *
 * @throws {TypeError} where a time cannot be understood, be it one that nothing depends on here
 */
export function createAlone(
  service: Service,
  node: NodeSettings = {},
  settings: InfoSettings = {},
): LiveInfo {
  const { hide, static: values = {} } = settings;
  const { ttl } = timesOf(node, settings);
  const publish = createPublisher({
    service,
    isBesideNode: false,
    hide,
    ttl,
    now: Date.now,
    random: Math.random,
  });
  return { kind: "none", ...lazy(() => publish({ values })) };
}
