/**
 * `GET /v1/metrics`: written for each who asks, since each answer is counted.
 *
 * @module
 */
import type { Gateway } from "../gateway/gateway.ts";
import { VERSION } from "../generated/build-info.js";
import { represent, type Representation } from "../http/representation.ts";
import { isAlone } from "../info/info-monitor.ts";
import type { Snapshot } from "../info/info.ts";
import type { Resource } from "../lazy.ts";
import { expose, MEDIA_TYPE } from "../metrics/exposition.ts";
import type { Meters } from "../metrics/meters.ts";
import { nodeSamples, serviceSamples } from "../metrics/samples.ts";
import type { ResolvedOptions } from "../options.ts";
import type { Live } from "./live.ts";

export interface MetricsSources {
  readonly meters: Meters;
  /** The last info. To read it has the node asked, as `/v1/info` does. */
  readonly snapshot: Resource<Snapshot>;
  readonly gateway: Gateway | undefined;
  readonly live: Pick<Live, "listeners" | "sent">;
  /** When the description was read, in milliseconds that only count up. */
  readonly describedAt: () => number | undefined;
}

export function createMetrics(
  { node, info }: ResolvedOptions,
  { meters, snapshot, gateway, live, describedAt }: MetricsSources,
): Resource<Representation> {
  const run = Date.now().toString(36);
  let texts = 0;
  return {
    async get() {
      const shown = isAlone(node, info) ? undefined : (await snapshot.get()).info;
      const readAt = describedAt();
      const moment = {
        version: VERSION,
        waiting: gateway?.waiting,
        ...{ listeners: live.listeners, eventsSent: live.sent },
        descriptionAge: readAt === undefined ? undefined : (performance.now() - readAt) / 1000,
      };
      const samples = {
        ...shown && nodeSamples(shown, Date.now()),
        ...serviceSamples(meters, moment),
      };
      // It is never asked for twice: to encode it would cost more than it saves.
      return await represent(expose(samples), {
        ...{ type: MEDIA_TYPE, cache: "no-store", encoded: {} },
        tag: `${run}-${(++texts).toString(36)}`,
      });
    },
  };
}
