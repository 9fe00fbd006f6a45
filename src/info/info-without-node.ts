/**
 * `GET /v1/info` of a service that has nothing to ask: what it says of itself.
 *
 * @module
 */
import { lazy } from "../lazy.ts";
import type { Service } from "./info-form.ts";
import { makeInfo } from "./make-info.ts";
import type { Monitor } from "./info-monitor.ts";
import type { HostInfo } from "./query-plan.ts";
import { DEFAULTS, type InfoSettings, type NodeSettings } from "./node-and-info-settings.ts";
import { milliseconds } from "./parse-duration.ts";
import { createSnapshots } from "./info-snapshots.ts";

/** Whether there is nothing to ask: no node, no source of the operator's, no function of a host's. */
export function isAlone(
  node: NodeSettings = {},
  info: InfoSettings | HostInfo | undefined,
): info is InfoSettings | undefined {
  const hasNode = !!node.url || (!!node.kind && node.kind !== "none");
  return !hasNode && typeof info !== "function" && Object.keys(info?.sources ?? {}).length === 0;
}

/** Makes the info of a service alone. */
export function createInfoWithoutNode(service: Service, settings: InfoSettings = {}): Monitor {
  const { hide, static: values = {}, ttl = DEFAULTS.ttl } = settings;
  const status = { status: "ok" } as const;
  const { info } = makeInfo({ service, isBesideNode: false, values, status, hide });
  const toSnapshot = createSnapshots(milliseconds(ttl), Date.now().toString(36));
  return {
    kind: "none",
    get: lazy(() => toSnapshot(info)).get,
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
