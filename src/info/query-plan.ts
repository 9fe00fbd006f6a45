/**
 * The plan of a query: the sources that are asked, by whom they are needed, and the places of what is taken from
 * their responses.
 *
 * @module
 */
import type { Field, FieldOptions, Kind, KindHealth, Reference, Source } from "../kinds/kind.ts";
import { STATUS_KEYS } from "./fields.ts";
import { objectOf } from "../json/values.ts";
import { type InfoSettings, milliseconds, type NodeSettings } from "./settings.ts";

/** A function of a host's own that says what its node is: an object with any keys, of JSON values. */
export type HostInfo = () => object | Promise<object>;

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

/** Tells whether there is nothing to ask: no node, no source of the operator's, no function of a host's. */
export function isAlone(
  node: NodeSettings = {},
  info: InfoSettings | HostInfo | undefined,
): info is InfoSettings | undefined {
  const hasNode = !!node.url || (!!node.kind && node.kind !== "none");
  return !hasNode && typeof info !== "function" && Object.keys(info?.sources ?? {}).length === 0;
}

type Times = Pick<PlannedSource, "ttl" | "timeout">;

/** Lays the settings over a kind, if there is one. A source that nothing names is not asked. */
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
    if (!settings.hide?.includes(key) || STATUS_KEYS.includes(key)) fields[key] = optionsOf(field);
  }
  const pointers = new Map<string, Set<string>>();
  const take = (reference: Reference) => {
    const [source, pointer] = parseReference(reference);
    if (!sources[source]) return;
    const known = pointers.get(source);
    if (known) known.add(pointer);
    else {
      pointers.set(source, new Set([pointer]));
      linksOf(sources[source]).forEach(take);
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
    ["jsonrpc", "get", "post"].some((key) => key in sources[source]!)
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

export const HOST = "host";

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
      ...[...reason.matchAll(/\{([^{}]+)\}/g)].map(([, reference]) => reference as Reference),
    ]),
    ...typeof target === "string" ? [target] : target,
  ];
}

export function linkOf(source: Source): Reference | undefined {
  return "get" in source && /^[\w-]+#/.test(source.get) ? source.get as Reference : undefined;
}

/** Finds the places that a source takes something of: a link, or parameters. */
export function linksOf(source: Source): Reference[] {
  const link = linkOf(source);
  if (link) return [link];
  const params = "jsonrpc" in source && Array.isArray(source.params) ? source.params : [];
  return params.flatMap((param) => placeOfParam(param) ?? []);
}

/** The place that a parameter stands for: `{ from: reference }`. */
export function placeOfParam(param: unknown): Reference | undefined {
  const { from, ...others } = objectOf(param);
  const isPlace = typeof from === "string" && REFERENCE.test(from);
  return isPlace && Object.keys(others).length === 0 ? from as Reference : undefined;
}

function optionsOf(field: Field): FieldOptions {
  return typeof field === "string" ? { from: field } : field;
}

export const REFERENCE: RegExp = /^[\w-]+#(?:\/(?:[^~]|~[01])*)?$/;

export function parseReference(reference: Reference): [source: string, pointer: string] {
  const hash = reference.indexOf("#");
  return [reference.slice(0, hash), reference.slice(hash + 1)];
}
