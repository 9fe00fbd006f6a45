/**
 * The evidence for the status of a node, and what follows for its synchronization: the heights that
 * it is to reach, how far it is behind, and how long it may have no new block.
 *
 * @module
 */
import { textOf } from "../json/values.ts";
import type { KindHealth, NetworkRules } from "../kinds/kind.ts";
import type { Reference } from "../kinds/parts.ts";
import type { SourceError } from "../node/failures.ts";
import { findFirst } from "../regular-expression.ts";
import { type Duration, milliseconds } from "../units.ts";
import { numberFrom, numberInAnyNotation } from "./fields.ts";
import type { Stillness } from "./motion.ts";
import type { Plan } from "./query-plan.ts";
import {
  type CachedResponses,
  type Responses,
  type SourceCache,
  valueFrom,
  type Values,
} from "./source-cache.ts";

export interface Difference {
  readonly key: string;
  readonly expected: string;
  /** `undefined` if the node does not report the value. */
  readonly actual: string | undefined;
}

export interface Evidence extends CachedResponses {
  readonly plan: Plan;
  readonly cache: SourceCache;
  /** True if the node itself says something. */
  readonly hasSaid: boolean;
  /** What the node itself says, and what its kind says of it. */
  readonly reported: Values;
  /** The same with the operator's labels, for what the node does not say. */
  readonly values: Values;
  /** The expected values that the node does not have. */
  readonly differences: readonly Difference[];
  readonly stillness: Stillness;
  readonly date: number;
  readonly stalledAfter: number | undefined;
}

/** The default of `lag`: the number of blocks that a synced node may be behind its targets. */
export const LAG = 2;
/** The default of `sync_pause`: the time without progress after which a syncing node is stalled. */
export const SYNC_PAUSE: Duration = "1h";

/** Tells whether an error is one of a node of this kind that starts. */
export function isWarmingUpError(
  { number, text = "" }: Pick<SourceError, "number" | "text">,
  { warming_up, warming_up_text }: Partial<KindHealth> = {},
): boolean {
  if (number !== undefined && warming_up?.includes(number)) return true;
  return warming_up_text !== undefined && findFirst(text, warming_up_text) !== undefined;
}

export function isKnownToBeInSync(evidence: Evidence): boolean {
  const { plan: { health }, values } = evidence;
  const isCompared = wholeNumber(values.height) !== undefined && targetsOf(evidence).length > 0;
  return values.synced === true || isCompared || isPrivate(evidence) ||
    (health?.complete !== undefined && values.progress !== undefined);
}

/** True if the node has a block that is new, and none to come that it knows of. */
export function hasHead(evidence: Evidence): boolean {
  const { plan: { health }, values } = evidence;
  const targets = targetsOf(evidence).filter((target) => target > 0n);
  const isNew = headAgeOf(evidence) <= (stallLimitOf(evidence) ?? milliseconds(SYNC_PAUSE));
  return isNew && targets.length > 0 && wholeNumber(values.height) !== undefined &&
    blocksBehind(values.height, targets) <= (health?.lag ?? LAG);
}

/** Returns the height that the node is to reach, if it is known. */
export function targetHeightOf(evidence: Evidence): bigint | undefined {
  const { plan: { health }, responses } = evidence;
  const height = reachedBy(evidence) ?? 0n;
  const behind = health?.behind && wholeNumber(valueFrom(responses, health.behind));
  const targets = [
    ...targetsOf(evidence),
    ...behind === undefined ? [] : [height + behind],
  ];
  return targets.length > 0 ? height + blocksBehind(height, targets) : undefined;
}

/** Returns the highest block that the node has, even if it cannot show it yet. */
export function reachedBy({ plan: { health }, responses, values }: Evidence): bigint | undefined {
  const height = wholeNumber(values.height);
  const reached = health?.reached && numberAt(responses, health.reached);
  return reached === undefined || reached < (height ?? 0n) ? height : reached;
}

/** Returns the heights that the node is to reach. */
export function targetsOf({ plan: { health }, responses }: Evidence): bigint[] {
  return [health?.target ?? []].flat()
    .flatMap((reference) => numberAt(responses, reference) ?? []);
}

export function blocksBehind(height: unknown, targets: readonly bigint[]): bigint {
  const own = wholeNumber(height);
  const highest = targets.reduce((most, each) => each > most ? each : most, 0n);
  return own === undefined ? 0n : highest - own;
}

/** Returns the number at a place, in decimal or hexadecimal notation. */
function numberAt(responses: Responses, reference: Reference): bigint | undefined {
  return wholeNumber(numberInAnyNotation(valueFrom(responses, reference)));
}

function wholeNumber(value: unknown): bigint | undefined {
  const number = numberFrom(value);
  if (typeof number === "bigint") return number;
  return Number.isSafeInteger(number) ? BigInt(number!) : undefined;
}

/** Returns the age of the latest block in milliseconds, or `NaN` if the node does not report it. */
export const headAgeOf = ({ values: { head_at }, date }: Evidence): number =>
  date - Date.parse(String(head_at));

/** Returns the time without a new block after which the node is stalled, in milliseconds. */
export function stallLimitOf(evidence: Evidence): number | undefined {
  const { quiet } = networkRulesOf(evidence) ?? {};
  return evidence.stalledAfter ?? (quiet && milliseconds(quiet));
}

/** Returns the name of a well-known network. */
export const networkNameOf = (evidence: Pick<Evidence, "plan" | "values">): string | undefined =>
  networkRulesOf(evidence)?.name;

/** True if the node makes the blocks of its network itself, and has nobody to catch up with. */
export const isPrivate = (evidence: Evidence): boolean =>
  networkRulesOf(evidence)?.private === true;

export function networkRulesOf(
  { plan, values: { chain_id, software, network } }: Pick<Evidence, "plan" | "values">,
): NetworkRules | undefined {
  const networks = plan.health?.networks ?? {};
  const name = [`${software} *`, textOf(chain_id), `${software} ${network}`, textOf(network), "*"]
    .find((name) => name !== undefined && Object.hasOwn(networks, name));
  return name === undefined ? undefined : networks[name];
}
