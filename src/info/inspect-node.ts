/**
 * Asks a node once, for those who want to see each step: `nodeface check`.
 *
 * @module
 */
import type { Kind, Source } from "../kinds/kind.ts";
import { isAlone } from "./info-without-node.ts";
import { createAsk, type Outcome } from "./query-sources.ts";
import { createAuth } from "./sources/credentials.ts";
import { compose, type Info, type Service } from "./info-object.ts";
import { createMemory } from "./source-cache.ts";
import { makePlan } from "./query-plan.ts";
import { recognise, type Recognition } from "./detect-kind.ts";
import { type InfoSettings, type NodeSettings, timesOf } from "./settings.ts";
import { subjectOfPlan } from "./node-or-host.ts";

/** What was seen. */
export interface Inspection {
  /** What kind of node it is and why; nothing where there is no node, or its kind was given. */
  recognition: Recognition | undefined;
  /** Each source, in the order of the plan. */
  steps: readonly { name: string; source: Source; outcome: Outcome }[];
  info: Info;
}

/**
 * Asks every source once.
 *
 * @throws {TypeError} where a setting cannot be understood
 */
export async function inspect(
  service: Service,
  node: NodeSettings,
  settings: InfoSettings,
  kinds: Readonly<Record<string, Kind>>,
): Promise<Inspection> {
  const { url } = node;
  const recognition = url && !node.kind
    ? await recognise(url, kinds, node.auth, globalThis.fetch)
    : undefined;
  const known = node.kind ?? recognition?.kind;
  const kind = kinds[known ?? ""];
  const plan = makePlan(kind, settings);
  const ask = createAsk({
    url,
    auth: url ? createAuth(url, node.auth, kind?.auth) : undefined,
    fetch: globalThis.fetch,
    timeout: timesOf(node, settings).timeout,
  });
  const outcomes = await ask(plan.sources);
  const memory = createMemory(subjectOfPlan(plan, ask), Infinity, Infinity);
  memory.learn(outcomes, Date.now());
  const { values, trouble } = memory.know(Date.now());
  return {
    recognition,
    steps: [...plan.sources].map(([name, { source }]) => ({
      name,
      source,
      outcome: outcomes.get(name)!,
    })),
    info: compose({
      service,
      isBesideNode: !isAlone(node, settings),
      values,
      trouble: url && !known && plan.sources.size === 0 ? "unreachable" : trouble,
      hide: settings.hide,
    }),
  };
}
