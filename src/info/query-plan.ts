/**
 * What is asked and shown: the kind, with the operator's own words laid over it.
 *
 * @module
 */
import type { Field, FieldOptions, Kind, Reference, Source } from "../kinds/kind.ts";
import { parseReference } from "./source-reference.ts";
import type { InfoSettings } from "./settings.ts";

/** A source and the places in its answer that anything is taken from. */
export interface PlannedSource {
  source: Source;
  pointers: readonly string[];
}

/** What is asked and what is shown of it. */
export interface Plan {
  sources: ReadonlyMap<string, PlannedSource>;
  fields: Readonly<Record<string, FieldOptions>>;
  static: Readonly<Record<string, unknown>>;
}

/**
 * Lays the settings over a kind. A source that no field names is not asked.
 *
 * @param kind the node's, or nothing for a node that only the settings describe
 * @param settings the operator's
 */
export function makePlan(
  kind: Pick<Kind, "sources" | "fields" | "static"> | undefined,
  settings: InfoSettings,
): Plan {
  const sources = { ...kind?.sources, ...settings.sources };
  const fields: Record<string, FieldOptions> = {};
  const pointers = new Map<string, Set<string>>();
  const take = (reference: Reference) => {
    const [name, pointer] = parseReference(reference);
    if (!sources[name]) return;
    const known = pointers.get(name);
    if (known) known.add(pointer);
    else {
      pointers.set(name, new Set([pointer]));
      const link = linkOf(sources[name]);
      if (link) take(link);
    }
  };
  for (const [key, field] of Object.entries({ ...kind?.fields, ...settings.fields })) {
    if (settings.hide?.includes(key)) continue;
    fields[key] = optionsOf(field);
    for (const reference of referencesOf(field)) take(reference);
  }
  const planned = [...pointers].map(([name, set]) =>
    [name, { source: sources[name]!, pointers: [...set] }] as const
  );
  return {
    sources: new Map(planned),
    fields,
    static: { ...kind?.static, ...settings.static },
  };
}

/** The places a field names. */
export function referencesOf(field: Field): readonly Reference[] {
  const { from, unless } = optionsOf(field);
  const references = typeof from === "string" ? [from] : from;
  return unless ? [...references, unless] : references;
}

/** The place of the link that a source follows, if it follows one. */
export function linkOf(source: Source): Reference | undefined {
  return "get" in source && /^[\w-]+#/.test(source.get) ? source.get as Reference : undefined;
}

function optionsOf(field: Field): FieldOptions {
  return typeof field === "string" ? { from: field } : field;
}
