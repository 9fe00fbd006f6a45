/**
 * `GET /v1/info` of a service that has nothing to ask: what it says of itself.
 *
 * @module
 */
import { once } from "../once.ts";
import type { Service } from "./compose.ts";
import { createPublisher, type LiveInfo } from "./publish.ts";
import type { InfoSettings, NodeSettings } from "./settings.ts";
import type { OwnInfo } from "./subject.ts";

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
 * @throws {TypeError} where `ttl` cannot be understood
 */
export function createAlone(service: Service, settings: InfoSettings = {}): LiveInfo {
  const publish = createPublisher({ service, isBesideNode: false, settings });
  return { kind: "none", current: once(() => publish({ values: settings.static ?? {} })) };
}
