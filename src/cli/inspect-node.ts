/**
 * Asks the node once, as the service does.
 *
 * @module
 */
import { VERSION } from "../generated/build-info.js";
import { KINDS } from "../generated/kinds.js";
import { createInfoWithoutNode, isAlone } from "../info/info-without-node.ts";
import { createMonitor, type Inspection } from "../info/info-monitor.ts";
import type { Config } from "./configuration.ts";

/** What was found out; nothing but the info where there is nothing to ask. */
export interface Inspected {
  readonly inspection?: Inspection;
  readonly info: Inspection["info"];
}

/** Asks it. */
export async function inspectNode(
  { node, info, kinds: own }: Pick<Config, "node" | "info" | "kinds">,
): Promise<Inspected> {
  const service = { software: "nodeface", version: VERSION, started_at: new Date().toISOString() };
  if (isAlone(node, info)) return await createInfoWithoutNode(service, info).get();
  // What there is to say is said by the command.
  const quiet = { log: () => {}, onError: () => {} };
  const monitor = createMonitor({ service, node, info, kinds: { ...KINDS, ...own }, ...quiet });
  const inspection = await monitor.inspect();
  return { inspection, info: inspection.info };
}
