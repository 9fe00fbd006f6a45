/**
 * Puts further components into a document. One whose name stands for something else there gets another, and what
 * refers to it refers to that.
 *
 * @module
 */
import { isEqual, isObject, type Json, listOf, objectOf, setMember } from "../json/values.ts";

/** The components of two documents together. */
export interface MergedComponents {
  readonly components: Json;
  /** A copy of something that refers to the added ones, with their new names. */
  readonly rename: <T>(value: T) => T;
}

/**
 * Puts components beside others.
 *
 * @param theirs by section and name, as OpenAPI has them; left as they are
 * @param added what is put beside them
 * @param wanted the name that one of these is to have, if it is free
 */
export function mergeComponents(
  theirs: Json,
  added: Json,
  wanted: (name: string) => string = (name) => name,
): MergedComponents {
  const names = newNames(added, theirs, wanted);
  const rename = <T>(value: T): T => names.size === 0 ? value : renamed(value, names) as T;
  const components = { ...theirs };
  for (const [section, members] of Object.entries(added)) {
    if (!isObject(members)) {
      components[section] = members;
      continue;
    }
    const all = { ...objectOf(components[section]) };
    for (const [name, value] of Object.entries(members)) {
      const to = names.get(referenceTo(section, name));
      setMember(all, to === undefined ? name : nameIn(to), rename(value));
    }
    setMember(components, section, all);
  }
  return { components, rename };
}

/** A new reference for each to a component that gets another name. */
function newNames(added: Json, theirs: Json, wanted: (name: string) => string) {
  const names = new Map<string, string>();
  for (const [section, members] of Object.entries(added)) {
    const [others, own] = [objectOf(theirs[section]), objectOf(members)];
    const taken = new Set([...Object.keys(others), ...Object.keys(own)]);
    for (const [name, value] of Object.entries(own)) {
      const first = wanted(name);
      const isFree = first === name
        ? !Object.hasOwn(others, name) || isEqual(others[name], value)
        : !taken.has(first);
      if (isFree && first === name) continue;
      let free = first;
      for (let i = 2; taken.has(free); i++) free = `${first}${i}`;
      taken.add(free);
      names.set(referenceTo(section, name), referenceTo(section, free));
    }
  }
  return names;
}

const referenceTo = (section: string, name: string) => `#/components/${section}/${name}`;
const nameIn = (reference: string) => reference.slice(reference.lastIndexOf("/") + 1);

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
    Object.entries(objectOf(value)).map(([name, scopes]) => {
      const to = names.get(referenceTo("securitySchemes", name));
      return [to === undefined ? name : nameIn(to), scopes];
    }),
  );
}
