/**
 * The plan of a query: the sources that are asked, by whom they are needed, and the places of what is taken from
 * their responses.
 *
 * @module
 */
import type { Field, FieldOptions, Kind, KindHealth, Reference, Source } from "../kinds/kind.ts";
import { isJudged } from "./fields.ts";
import { type InfoSettings, milliseconds } from "./settings.ts";

/** A function of a host's own that says what its node is: an object with any keys, of JSON values. */
export type HostInfo = () => object | Promise<object>;

/** A source as a plan has it. */
export interface PlannedSource {
  readonly source: Source | { readonly call: HostInfo };
  /** The places in its response that anything is taken from. */
  readonly pointers: readonly string[];
  /** The time for which its response is good, in milliseconds. */
  readonly ttl: number;
  readonly timeout: number;
  /**
   * The effect of its failure. The sources of the kind that go to the node are vital, those of them with a `ttl`
   * of their own a part, and all others extra.
   * - `vital`: it is asked at each query. Where none of these responds, the node does not.
   * - `part`: the node responds, and something is wrong.
   * - `extra`: nothing. It is the operator's own, or is no part of the node.
   */
  readonly role: "vital" | "part" | "extra";
}

export interface Plan {
  /** The kind's name, for sentences; `undefined` where only the settings say what is asked. */
  readonly kind: string | undefined;
  readonly sources: ReadonlyMap<string, PlannedSource>;
  readonly fields: Readonly<Record<string, FieldOptions>>;
  readonly static: Readonly<Record<string, unknown>>;
  readonly health: KindHealth | undefined;
  /** The keys of the info that say most over time; `undefined` where the kind names none. */
  readonly history?: readonly string[] | undefined;
  /** The places of values with which the page fills reads in, each with its pattern. */
  readonly examples: Readonly<Record<Reference, string>>;
}

/** The times of a source that has none of its own, in milliseconds. */
type Times = Pick<PlannedSource, "ttl" | "timeout">;

/**
 * Lays the settings over a kind. A source that nothing names is not asked.
 *
 * @param kind `undefined` for a node that only the settings describe
 */
export function makePlan(
  name: string | undefined,
  kind: Kind | undefined,
  settings: InfoSettings,
  times: Times,
): Plan {
  const sources: Record<string, Source> = { ...kind?.sources, ...settings.sources };
  const fields: Record<string, FieldOptions> = {};
  for (const [key, field] of Object.entries({ ...kind?.fields, ...settings.fields })) {
    // The status rests on some keys, even where they are hidden.
    if (!settings.hide?.includes(key) || isJudged(key)) fields[key] = optionsOf(field);
  }
  const pointers = new Map<string, Set<string>>();
  const take = (reference: Reference) => {
    const [source, pointer] = parseReference(reference);
    if (!sources[source]) return;
    const known = pointers.get(source);
    if (known) known.add(pointer);
    else {
      pointers.set(source, new Set([pointer]));
      const link = linkOf(sources[source]);
      if (link) take(link);
    }
  };
  for (const field of Object.values(fields)) referencesOf(field).forEach(take);
  if (kind) referencesOfHealth(kind.health).forEach(take);
  // Only what is asked anyway, of the kind itself, and of which nothing is hidden.
  const hidden = Object.entries({ ...kind?.fields, ...settings.fields })
    .filter(([key]) => settings.hide?.includes(key))
    .flatMap(([, field]) => referencesOf(field).map((reference) => parseReference(reference)[0]));
  const isShown = ([reference]: [string, string]) => {
    const [source] = parseReference(reference as Reference);
    return pointers.has(source) && !hidden.includes(source) && !settings.sources?.[source];
  };
  const examples = Object.entries(kind?.examples ?? {}).filter(isShown) as [Reference, string][];
  for (const [reference] of examples) take(reference);

  const names = [...pointers.keys()];
  const ofKind = names.filter((source) => kind && Object.hasOwn(kind.sources, source));
  const ofNode = (ofKind.length > 0 ? ofKind : names).filter((source) =>
    goesToNode(sources[source]!)
  );
  const judges = ofNode.length > 0 ? ofNode : names;
  const isSeldom = (source: string) => sources[source]!.ttl !== undefined;
  const hasVital = judges.some((source) => !isSeldom(source));
  const roleOf = (source: string): PlannedSource["role"] => {
    if (!judges.includes(source)) return "extra";
    return hasVital && isSeldom(source) ? "part" : "vital";
  };
  const planned = names.map((source): [string, PlannedSource] => {
    const { ttl, timeout } = sources[source]!;
    return [source, {
      source: sources[source]!,
      pointers: [...pointers.get(source)!],
      ttl: ttl === undefined ? times.ttl : milliseconds(ttl),
      timeout: timeout === undefined ? times.timeout : milliseconds(timeout),
      role: roleOf(source),
    }];
  });
  return {
    kind: kind && name,
    sources: new Map(planned),
    fields,
    static: { ...kind?.static, ...settings.static },
    health: kind?.health,
    history: kind?.history,
    examples: Object.fromEntries(examples),
  };
}

/** The name of the one source of {@linkcode planOfHost}. */
export const HOST = "host";

/** Makes the plan of a host that says all itself. */
export function planOfHost(call: HostInfo, { ttl, timeout }: Times): Plan {
  const source: PlannedSource = { source: { call }, pointers: [""], ttl, timeout, role: "vital" };
  const sources = new Map([[HOST, source]]);
  return { kind: undefined, sources, fields: {}, static: {}, health: undefined, examples: {} };
}

export function referencesOf(field: Field): readonly Reference[] {
  const { from, unless } = optionsOf(field);
  const references = typeof from === "string" ? [from] : from;
  return unless ? [...references, unless] : references;
}

function referencesOfHealth({ rules = [], target = [] }: KindHealth): readonly Reference[] {
  return [
    ...rules.flatMap(({ when, reason }) => [
      ...Object.keys(when) as Reference[],
      ...placeholdersOf(reason),
    ]),
    ...typeof target === "string" ? [target] : target,
  ];
}

function placeholdersOf(sentence: string): Reference[] {
  return [...sentence.matchAll(/\{([^{}]+)\}/g)].map(([, reference]) => reference as Reference);
}

/** Finds the place of the link that a source follows, if it follows one. */
export function linkOf(source: Source): Reference | undefined {
  return "get" in source && /^[\w-]+#/.test(source.get) ? source.get as Reference : undefined;
}

function goesToNode(source: Source): boolean {
  return "jsonrpc" in source || "get" in source || "post" in source;
}

function optionsOf(field: Field): FieldOptions {
  return typeof field === "string" ? { from: field } : field;
}

export const REFERENCE: RegExp = /^[\w-]+#(?:\/(?:[^~]|~[01])*)?$/;

/** Takes a reference apart: the source's name and the pointer. */
export function parseReference(reference: Reference): [source: string, pointer: string] {
  const hash = reference.indexOf("#");
  return [reference.slice(0, hash), reference.slice(hash + 1)];
}
