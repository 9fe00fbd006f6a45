/**
 * Work on large JSON values, in slices.
 *
 * @module
 */
import { pause } from "../slices.ts";
import { estimateSize, firstMembers, isObject, type Json, setMember } from "./values.ts";

/** Does the same as `mapMembers`, in slices. */
export async function mapMembersInSlices(
  object: Json,
  change: (member: unknown, key: string) => unknown,
): Promise<Json> {
  const keys = Object.keys(object);
  let changed: Json | undefined;
  for (const [i, key] of keys.entries()) {
    await pause();
    const member = object[key];
    const value = await change(member, key);
    if (!changed && value === member) continue;
    changed ??= firstMembers(object, keys.slice(0, i));
    if (value !== undefined) setMember(changed, key, value);
  }
  return changed ?? object;
}

/** Does the same as `estimateSize` for a whole document, in slices. */
export async function estimateSizeInSlices(document: Json): Promise<number> {
  const known = new Map<unknown, number>();
  let size = 1;
  for (const [name, section] of Object.entries(document)) {
    const members = isObject(section) ? section : { [name]: section };
    for (const key of Object.keys(members)) {
      await pause();
      size += key.length / 32 + estimateSize(members[key], known);
    }
  }
  return size;
}

/** Does the same as `mapMembersInSlices` for a list. */
export async function mapItemsInSlices(
  list: readonly unknown[],
  change: (item: unknown, at: number) => unknown,
): Promise<readonly unknown[]> {
  const changed: unknown[] = [];
  let isSame = true;
  for (const [at, item] of list.entries()) {
    await pause();
    const value = await change(item, at);
    isSame &&= value === item;
    if (value !== undefined) changed.push(value);
  }
  return isSame ? list : changed;
}
