/**
 * Adds what a host says of the whole description: title, tags, and what its operations refer to.
 *
 * @module
 */
import { isEqual, isObject, type Json, listOf, objectOf, setMember } from "../json/values.ts";
import type { DescribedOperation } from "./operations-of-host.ts";

/** What a host says of the whole, as JSON values. */
export interface DocumentOfHost {
  readonly info?: unknown;
  readonly tags?: unknown;
  readonly externalDocs?: unknown;
  readonly components?: unknown;
}

/** What a description and the operations of a host become. */
export interface Hosted {
  readonly document: Json;
  readonly operations: readonly DescribedOperation[];
}

/**
 * A description with what the host says of it. A component of the host gets another name where the
 * document has that name for something else; the host's operations refer to it by the new one.
 *
 * @param document is left as it is
 */
export function withDocumentOfHost(
  document: Json,
  operations: readonly DescribedOperation[],
  { info, tags, externalDocs, components }: DocumentOfHost,
): Hosted {
  const names = newNames(objectOf(components), objectOf(document.components));
  const rename = <T>(value: T): T => names.size === 0 ? value : renamed(value, names) as T;
  const ofHost = new Set(listOf(tags).map((tag) => objectOf(tag).name));
  const others = listOf(document.tags).filter((tag) => !ofHost.has(objectOf(tag).name));
  return {
    document: {
      ...document,
      ...info !== undefined && { info },
      ...externalDocs !== undefined && { externalDocs },
      ...tags !== undefined && { tags: [...listOf(tags), ...others] },
      ...components !== undefined && {
        components: withComponents(objectOf(document.components), rename(components), names),
      },
    },
    operations: operations.map((operation) => rename(operation)),
  };
}

function withComponents(theirs: Json, added: unknown, names: ReadonlyMap<string, string>): Json {
  const components = { ...theirs };
  for (const [section, members] of Object.entries(objectOf(added))) {
    if (!isObject(members)) {
      components[section] = members;
      continue;
    }
    const all = { ...objectOf(components[section]) };
    for (const [name, value] of Object.entries(members)) {
      setMember(
        all,
        names.get(`#/components/${section}/${name}`)?.split("/").at(-1) ?? name,
        value,
      );
    }
    components[section] = all;
  }
  return components;
}

/** A new reference for each to a component whose name stands for something else. */
function newNames(added: Json, theirs: Json): Map<string, string> {
  const names = new Map<string, string>();
  for (const [section, members] of Object.entries(added)) {
    const taken = objectOf(theirs[section]);
    for (const [name, value] of Object.entries(objectOf(members))) {
      if (!Object.hasOwn(taken, name) || isEqual(taken[name], value)) continue;
      let free = name;
      for (let i = 2; Object.hasOwn(taken, free) || free in objectOf(members); i++) {
        free = `${name}${i}`;
      }
      names.set(`#/components/${section}/${name}`, `#/components/${section}/${free}`);
    }
  }
  return names;
}

/** A copy whose references, and security requirements, have the new names. */
function renamed(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => renamed(item, names));
  if (!isObject(value)) return value;
  const copy: Json = {};
  for (const [key, member] of Object.entries(value)) {
    if (key === "$ref") copy[key] = names.get(String(member)) ?? member;
    else if (key === "security") copy[key] = listOf(member).map((one) => requirement(one, names));
    else setMember(copy, key, renamed(member, names));
  }
  return copy;
}

/** Security requirements name their schemes without a path. */
function requirement(value: unknown, names: ReadonlyMap<string, string>): Json {
  return Object.fromEntries(
    Object.entries(objectOf(value)).map(([name, scopes]) => [
      names.get(`#/components/securitySchemes/${name}`)?.split("/").at(-1) ?? name,
      scopes,
    ]),
  );
}
