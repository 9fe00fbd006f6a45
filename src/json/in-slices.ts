/**
 * Work on large JSON values, in slices.
 *
 * @module
 */
import { pause } from "../slices.ts";
import { type Json, setMember } from "./values.ts";

/** Like `mapMembers`, with a turn for other work between the members of a large object. */
export async function mapMembersInSlices(
  object: Json,
  change: (member: unknown, key: string) => unknown,
): Promise<Json> {
  const changed: Json = {};
  let isSame = true;
  for (const [key, member] of Object.entries(object)) {
    await pause();
    const value = await change(member, key);
    isSame &&= value === member;
    if (value !== undefined) setMember(changed, key, value);
  }
  return isSame ? object : changed;
}
