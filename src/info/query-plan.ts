/**
 * The plan of a query: the sources to query, the effect of each failure, and the JSON Pointers to
 * read.
 *
 * @module
 */
import type { Field, FieldOptions, Kind, KindHealth, Source } from "../kinds/kind.ts";
import type { Reference } from "../kinds/parts.ts";
import { NEEDED_KEYS } from "./fields.ts";
import { filled, objectOf } from "../json/values.ts";
import type { InfoSettings, NodeSettings } from "../setting-types.ts";
import { milliseconds } from "../units.ts";

/**
 * A function of the host application that returns info about the node: an object with any keys and
 * JSON values.
 *
 * @example
 * ```ts
 * const info: HostInfo = () => ({ name: "example", height: 7, synced: true });
 * ```
 */
export type HostInfo = () => object | Promise<object>;

export interface PlannedSource {
  readonly source: Source | { readonly call: HostInfo } | typeof REACH_SOURCE;
  readonly pointers: readonly string[];
  /** The time for which the source's response is valid, in milliseconds. */
  readonly ttl: number;
  readonly timeout: number;
  readonly role: Role;
  /** True if it tells whether the node is the expected one. */
  readonly isOfIdentity?: boolean;
}

/** The effect of a source's failure on the status: see `roleOf`. */
export type Role = "required" | "degrading" | "extra";

export interface Plan {
  readonly kind: string | undefined;
  readonly sources: ReadonlyMap<string, PlannedSource>;
  readonly fields: Readonly<Record<string, FieldOptions>>;
  readonly static: Readonly<Record<string, unknown>>;
  /** The values of `static` that the kind itself has, not the operator's. */
  readonly staticOfKind?: Readonly<Record<string, unknown>> | undefined;
  readonly health: KindHealth | undefined;
  /** True if a source waits for a value of another. */
  readonly isChained?: boolean;
  readonly history?: readonly string[] | undefined;
  /**
   * Maps the place of each example value to a pattern for the value. The page prefills forms with
   * these values.
   */
  readonly examples: Readonly<Record<Reference, string>>;
}

export function isWithoutNode({ node = {}, info }: {
  readonly node?: Pick<NodeSettings, "url" | "kind"> | undefined;
  readonly info?: InfoSettings | HostInfo | undefined;
}): boolean {
  const hasNode = !!node.url || (!!node.kind && node.kind !== "none");
  return !hasNode && typeof info !== "function" && Object.keys(info?.sources ?? {}).length === 0;
}

/** A host program that reports the info itself has no settings for it. */
export const settingsOf = (info: InfoSettings | HostInfo): InfoSettings =>
  typeof info === "function" ? {} : info;

type SourceTimes = Pick<PlannedSource, "ttl" | "timeout">;

/**
 * The plan omits sources whose values are not used.
 *
 * @param expect the keys of the node's identity, whose sources are asked with every query
 */
export function makePlan(
  name: string | undefined,
  kind: Kind | undefined,
  info: InfoSettings,
  times: SourceTimes,
  expect: readonly string[] = [],
): Plan {
  const sources: Sources = { ...kind?.sources, ...info.sources };
  const fields = fieldsFor(kind, info, expect);
  const references = Object.values(fields).flatMap(referencesOf);
  if (kind) references.push(...referencesOfHealth(kind.health));
  const examples = examplesFor(kind, info, pointersOf(sources, references));
  const pointers = pointersOf(sources, [...references, ...Object.keys(examples) as Reference[]]);
  const names = [...pointers.keys()];
  const identity = expect.flatMap((key) => sourceNamesOf(fields[key]));
  const isRare = (name: string) => sources[name]!.ttl !== undefined && !identity.includes(name);
  const rare = names.filter(isRare);
  const deciding = decidingSourcesIn(names, kind, sources);
  const planned = names.map((name): [string, PlannedSource] => {
    const source = sources[name]!;
    return [name, {
      source,
      pointers: [...pointers.get(name)!],
      ttl: Math.max(times.ttl, rare.includes(name) ? milliseconds(source.ttl!) : 0),
      timeout: source.timeout === undefined ? times.timeout : milliseconds(source.timeout),
      role: roleOf(name, deciding, rare, identity),
      isOfIdentity: identity.includes(name),
    }];
  });
  return {
    kind: kind && name,
    sources: new Map(planned),
    fields,
    static: { ...kind?.static, ...info.static },
    staticOfKind: kind?.static,
    health: kind?.health,
    isChained: names.some((name) => linksOf(sources[name]!).length > 0),
    history: kind?.history,
    examples,
  };
}

type Sources = Readonly<Record<string, Source>>;

/** Returns the fields that are shown or needed. */
function fieldsFor(
  kind: Kind | undefined,
  { fields, hide = [] }: InfoSettings,
  expect: readonly string[],
): Record<string, FieldOptions> {
  const isNeeded = (key: string) => NEEDED_KEYS.includes(key) || expect.includes(key);
  return Object.fromEntries(
    Object.entries({ ...kind?.fields, ...fields })
      .filter(([key]) => !hide.includes(key) || isNeeded(key))
      .map(([key, field]) => [key, optionsOf(field)]),
  );
}

/** Returns the pointers into each source that references need, themselves or by a link. */
function pointersOf(sources: Sources, references: readonly Reference[]): Map<string, Set<string>> {
  const pointers = new Map<string, Set<string>>();
  const add = (reference: Reference) => {
    const [name, pointer] = parseReference(reference);
    const source = sources[name];
    if (!source) return;
    const known = pointers.get(name);
    if (known) return void known.add(pointer);
    pointers.set(name, new Set([pointer]));
    linksOf(source).forEach(add);
  };
  references.forEach(add);
  return pointers;
}

/**
 * Returns the examples from sources that the kind defines, that are queried anyway, and that
 * provide no hidden field.
 */
function examplesFor(
  kind: Kind | undefined,
  { sources = {}, fields, hide = [] }: InfoSettings,
  queried: ReadonlyMap<string, unknown>,
): Plan["examples"] {
  const hidden = Object.entries({ ...kind?.fields, ...fields })
    .flatMap(([key, field]) => hide.includes(key) ? sourceNamesOf(field) : []);
  return Object.fromEntries(
    Object.entries(kind?.examples ?? {}).filter(([reference]) => {
      const [name] = parseReference(reference as Reference);
      return queried.has(name) && !hidden.includes(name) && !sources[name];
    }),
  );
}

/**
 * Returns the sources that decide the status. Of those that are not marked as `extra`, these are
 * the kind's (or all, if the kind has none) over HTTP or JSON-RPC; all if there are none.
 */
function decidingSourcesIn(names: readonly string[], kind: Kind | undefined, sources: Sources) {
  const named = filled(names.filter((name) => !sources[name]!.extra)) ?? names;
  const ofKind = filled(named.filter((name) => kind && Object.hasOwn(kind.sources, name)));
  const ofNode = (ofKind ?? named).filter((name) =>
    ["jsonrpc", "get", "post"].some((key) => key in sources[name]!)
  );
  return filled(ofNode) ?? named;
}

/**
 * - `required`: A deciding source that is not `degrading`, or one of the node's identity. If all
 *   required sources fail to respond, the node is unreachable. If only some fail, the node's status
 *   is `degraded`.
 * - `degrading`: A deciding source that is rare, while another one is not. If such a source fails,
 *   the node's status is `degraded`.
 * - `extra`: Any other source. Its failure does not affect the status.
 *
 * @param deciding the sources that decide the status
 * @param rare the sources that have a `ttl` of their own
 */
function roleOf(
  name: string,
  deciding: readonly string[],
  rare: readonly string[],
  identity: readonly string[],
): Role {
  if (identity.includes(name)) return "required";
  if (!deciding.includes(name)) return "extra";
  const areAllRare = deciding.every((judge) => rare.includes(judge));
  return rare.includes(name) && !areAllRare ? "degrading" : "required";
}

/** The name of the only source of a node of which nothing else is known. */
export const REACH = "reach";
/** Asks the node whether it responds at all. */
const REACH_SOURCE = { reach: true } as const;

/** Plans to ask a node that has no other source. */
export function withReach(plan: Plan, times: SourceTimes): Plan {
  const source = { source: REACH_SOURCE, pointers: [], ...times, role: "required" } as const;
  return plan.sources.size > 0 ? plan : { ...plan, sources: new Map([[REACH, source]]) };
}

export const HOST = "host";

export function planOfHost(call: HostInfo, { ttl, timeout }: SourceTimes): Plan {
  const sources = new Map<string, PlannedSource>([
    [HOST, { source: { call }, pointers: [""], ttl, timeout, role: "required" }],
  ]);
  return { kind: undefined, sources, fields: {}, static: {}, health: undefined, examples: {} };
}

export function referencesOf(field: Field): readonly Reference[] {
  const { from, unless } = optionsOf(field);
  return [from, unless ?? []].flat();
}

export function sourceNamesOf(field: Field | undefined): string[] {
  return field === undefined
    ? []
    : referencesOf(field).map((reference) => parseReference(reference)[0]);
}

function referencesOfHealth(
  { rules = [], target = [], behind, reached }: KindHealth,
): readonly Reference[] {
  return [
    ...rules.flatMap(({ when, reason }) => [
      ...Object.keys(when) as Reference[],
      ...[...reason.matchAll(/\{([^{}]+)\}/g)].map(([, reference]) => reference as Reference),
    ]),
    ...[target, behind ?? [], reached ?? []].flat(),
  ];
}

export function linkOf(source: Source): Reference | undefined {
  return "get" in source && /^[\w-]+#/.test(source.get) ? source.get as Reference : undefined;
}

export function linksOf(source: Source): Reference[] {
  const link = linkOf(source);
  if (link) return [link];
  const params = "jsonrpc" in source && Array.isArray(source.params) ? source.params : [];
  return params.flatMap((param) => placeOfParam(param) ?? []);
}

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
