/**
 * Checks the options of a host.
 *
 * @module
 */
import { diagnosticsOfOperations } from "./host-operations/check-operations.ts";
import type { CheckedOptions, NodefaceOptions } from "./options.ts";
import { optionsSchema } from "./options-schema.ts";
import { clashesOfForward } from "./settings/forward.ts";
import { hasKind, unknownSources } from "./settings/info.ts";
import { type Diagnostic, formatDiagnostic, readValue } from "./settings/schema.ts";

/**
 * Checks all options.
 *
 * @throws {TypeError} with a line for everything that is wrong: where, what is there, what is right
 */
export function checkOptions(options: NodefaceOptions): CheckedOptions {
  const own = Object.keys(options?.kinds ?? {});
  const { value, diagnostics } = readValue(options, optionsSchema(own));
  const found = [...diagnostics];
  // A description with its servers becomes two options.
  const { description, ...others } = value ?? {};
  const isWithServers = typeof description === "object" && "from" in description;
  const checked = {
    ...others,
    description: isWithServers ? description.from : description,
    ...isWithServers && { servers: description.servers },
  };
  if (found.length === 0) found.push(...diagnosticsBetween(checked));
  if (found.length === 0) return checked;
  const lines = found.map(formatDiagnostic);
  throw new TypeError(lines.length === 1 ? lines[0] : ["wrong options:", ...lines].join("\n  "));
}

/** Finds what is wrong with options that are right one by one. */
function diagnosticsBetween(
  { node = {}, info, operations = [], document, forward, hosts }: CheckedOptions,
): Diagnostic[] {
  // To load the kinds for their sources would delay the start.
  const isWhole = typeof info === "object" && !hasKind(node);
  return [
    ...clashesOfForward(forward, hosts, node.url !== undefined),
    ...diagnosticsOfOperations(operations, document?.components),
    ...isWhole ? unknownSources(info, []) : [],
  ];
}
