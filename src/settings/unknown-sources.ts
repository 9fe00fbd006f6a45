/**
 * Finds fields of the info that name a source which is not there.
 *
 * @module
 */
import { referencesOf } from "../info/query-plan.ts";
import type { InfoSettings, NodeSettings } from "../info/node-and-info-settings.ts";
import { parseReference } from "../info/source-reference.ts";
import type { Kind } from "../kinds/kind.ts";
import type { Mistake } from "./check.ts";
import { didYouMean, nearest } from "../nearest.ts";
import { show } from "./show.ts";

/** Whether a node has a kind, named or found by asking, which brings sources of its own. */
export function hasKind({ kind, url }: NodeSettings): boolean {
  return kind === undefined ? url !== undefined : kind !== "none";
}

/**
 * The fields that name a source which neither the info nor the kind has.
 *
 * @param kinds the kinds that the node may be; none for a node that only the info describes
 */
export function* unknownSources(info: InfoSettings, kinds: readonly Kind[]): Generator<Mistake> {
  const own = Object.keys(info.sources ?? {});
  const names = [...own, ...kinds.flatMap(({ sources }) => Object.keys(sources))];
  // The sources of all kinds are too many to be named.
  const named = kinds.length > 1 ? own : names;
  for (const [key, field] of Object.entries(info.fields ?? {})) {
    for (const reference of referencesOf(field)) {
      const [source] = parseReference(reference);
      if (names.includes(source)) continue;
      const meant = nearest(source, names);
      const right = meant || named.length === 0
        ? didYouMean(meant)
        : `; there are ${named.join(", ")}`;
      const message = `names the source ${show(source)}, which is not there${right}`;
      yield { path: ["info", "fields", key], message, isKey: false };
    }
  }
}
