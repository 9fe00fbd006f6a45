/**
 * Checks the options of a host.
 *
 * @module
 */
import type { DescriptionPlace } from "./description/place.ts";
import { mistakesInOperations } from "./host-operations/check-operations.ts";
import type { CheckedOptions, NodefaceOptions } from "./options.ts";
import { OPTIONS, optionsWith } from "./options-schema.ts";
import { HAS_SOCKETS } from "./platform.ts";
import { describeMistake, type Mistake, readValue } from "./settings/check.ts";
import { mistakesWithForward } from "./settings/forward-schema.ts";
import { hasKind, unknownSources } from "./settings/unknown-sources.ts";

/**
 * Checks all options.
 *
 * @throws {TypeError} with a line for everything that is wrong: where, what is there, what is right
 */
export function checkOptions(options: NodefaceOptions): CheckedOptions {
  const own = Object.keys(options?.kinds ?? {});
  const { value, mistakes } = readValue(options, own.length > 0 ? optionsWith(own) : OPTIONS);
  const found = [...mistakes];
  if (found.length === 0) found.push(...mistakesBetween(value as CheckedOptions));
  if (found.length > 0) {
    const lines = found.map((mistake) => describeMistake(mistake));
    throw new TypeError(lines.length === 1 ? lines[0] : ["wrong options:", ...lines].join("\n  "));
  }
  return withPlace(value as Read);
}

type Read = Omit<CheckedOptions, "description"> & {
  readonly description?: DescriptionPlace | { from: DescriptionPlace; servers?: string };
};

/** Options with the place of the description, and what becomes of its servers beside it. */
function withPlace({ description, ...others }: Read): CheckedOptions {
  if (typeof description !== "object" || !("from" in description)) {
    return { ...others, description };
  }
  const { from, servers } = description;
  return { ...others, description: from, servers };
}

const FORWARD_IN_WORKER: Mistake = {
  path: ["forward"],
  message: 'must be "off" in a worker, where calls are not forwarded to the node',
  isKey: false,
};

/** What is wrong with options that are right one by one. */
function mistakesBetween(
  { node = {}, info, operations = [], document, forward, hosts }: CheckedOptions,
): Mistake[] {
  // To load the kinds for their sources would delay the start.
  const isWhole = typeof info === "object" && !hasKind(node);
  const isForwarding = forward !== undefined && forward !== "off";
  return [
    ...isForwarding && !HAS_SOCKETS ? [FORWARD_IN_WORKER] : [],
    ...mistakesWithForward(forward, hosts, node.url !== undefined),
    ...mistakesInOperations(operations, document?.components),
    ...isWhole ? unknownSources(info, []) : [],
  ];
}
