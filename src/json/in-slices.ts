/**
 * Work on large JSON values, in slices.
 *
 * @module
 */
import { pause } from "../slices.ts";
import { estimateSize, firstMembers, isObject, type JsonObject, setMember } from "./values.ts";

/** Does the same as `mapMembers` in slices, also for the items of a list. */
export async function mapMembersInSlices<T extends object>(
  holder: T,
  changeMember: (member: unknown, key: string) => unknown,
): Promise<T> {
  const object = holder as JsonObject;
  const keys = Object.keys(object);
  let changed: JsonObject | undefined;
  for (const [i, key] of keys.entries()) {
    const pausing = pause();
    if (pausing) await pausing;
    const member = object[key];
    const change = changeMember(member, key);
    const value = change instanceof Promise ? await change : change;
    if (!changed && value === member) continue;
    changed ??= firstMembers(object, keys.slice(0, i));
    if (value !== undefined) setMember(changed, key, value);
  }
  if (!changed) return holder;
  return (Array.isArray(holder) ? Object.values(changed) : changed) as T;
}

const MEMBERS_PER_STEP = 1000;

/** Does the same as `{ ...object }`, in slices. */
export async function copyInSlices(object: JsonObject): Promise<JsonObject> {
  const copy: JsonObject = {};
  for (const [i, key] of Object.keys(object).entries()) {
    if (i % MEMBERS_PER_STEP === 0) await pause();
    setMember(copy, key, object[key]);
  }
  return copy;
}

/** Does the same as `estimateSize` for a whole document, in slices. */
export async function estimateSizeInSlices(document: JsonObject): Promise<number> {
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
