/**
 * The lists of servers in a description: of the whole, of its paths and of their operations.
 *
 * @module
 */
import { isObject, type Json, objectOf, type Path, setMember } from "../json/values.ts";
import { operationsOf } from "./operations-of-path-item.ts";

/** A list of servers and where it stands: below the document, a path or an operation. */
export interface Servers {
  readonly path: Path;
  readonly servers: readonly Json[];
}

/** Lists the servers of a description, those of the whole first. */
export function* serversOf(document: Json): Generator<Servers> {
  const read = (path: Path, holder: Json): Servers[] =>
    Array.isArray(holder.servers)
      ? [{ path: [...path, "servers"], servers: holder.servers.filter(isObject) }]
      : [];
  yield* read([], document);
  for (const [path, items] of itemsOf(document)) {
    for (const [name, value] of Object.entries(items)) {
      const item = objectOf(value);
      yield* read([...path, name], item);
      for (const { path: place, operation } of operationsOf(item)) {
        yield* read([...path, name, ...place], operation);
      }
    }
  }
}

/**
 * A description with other servers; it is left as it is, and so is what holds none.
 *
 * @param change gives the servers in place of some; `undefined` takes the list away
 */
export function mapServers(
  document: Json,
  change: (servers: readonly Json[]) => readonly Json[] | undefined,
): Json {
  const inHolder = (holder: Json): Json => {
    if (!Array.isArray(holder.servers)) return holder;
    const { servers, ...others } = holder;
    const changed = change(servers.filter(isObject));
    if (changed === undefined) return others;
    const isSame = changed.length === servers.length && changed.every((it, i) => it === servers[i]);
    return isSame ? holder : { ...holder, servers: changed };
  };
  const inItem = (item: Json): Json => {
    const operations = new Set<unknown>(operationsOf(item).map(({ operation }) => operation));
    const inOperation = (member: unknown) =>
      operations.has(member) ? inHolder(member as Json) : member;
    const mapped = mapMembers(inHolder(item), inOperation);
    const { additionalOperations: others } = mapped;
    if (!isObject(others)) return mapped;
    const further = mapMembers(others, inOperation);
    return further === others ? mapped : { ...mapped, additionalOperations: further };
  };
  const inItems = (items: Json) =>
    mapMembers(items, (item) => isObject(item) ? inItem(item) : item);
  return itemsOf(document).reduce(
    (mapped, [path, items]) => withMember(mapped, path, inItems(items)),
    inHolder(document),
  );
}

/** The objects of path items in a description that call the node, each with its place. */
function itemsOf({ paths, components }: Json): [path: Path, items: Json][] {
  const { pathItems } = objectOf(components);
  return [
    ...isObject(paths) ? [[["paths"], paths] as [Path, Json]] : [],
    ...isObject(pathItems) ? [[["components", "pathItems"], pathItems] as [Path, Json]] : [],
  ];
}

/** A copy with another value at a path; the same object where it is there already. */
function withMember(object: Json, [key, ...rest]: Path, value: Json): Json {
  const present = object[key!];
  const changed = rest.length === 0 ? value : withMember(objectOf(present), rest, value);
  return changed === present ? object : { ...object, [key!]: changed };
}

/** An object whose members are changed; the same one where none is. */
function mapMembers(object: Json, change: (member: unknown) => unknown): Json {
  const changed: Json = {};
  let isSame = true;
  for (const [key, member] of Object.entries(object)) {
    const value = change(member);
    isSame &&= value === member;
    setMember(changed, key, value);
  }
  return isSame ? object : changed;
}
