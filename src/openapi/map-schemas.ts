/**
 * Converts the schemas of a document to another version of JSON Schema.
 *
 * @module
 */
import { mapMembersInSlices } from "../json/in-slices.ts";
import { isObject, type Json } from "../json/values.ts";
import { type Shape, shapeOfMember, structureOf } from "./structure.ts";

/**
 * @param document a document, or a part of one
 * @param version an object with the version of the document, such as `{ swagger: "2.0" }`
 * @param change converts a schema whose inner schemas have been converted
 */
export async function mapSchemas<T>(
  document: T,
  version: Json,
  change: (schema: Json) => Json,
): Promise<T> {
  const structure = structureOf(version);
  const known = new Map<unknown, unknown>();
  const map = async (value: unknown, shape: Shape): Promise<unknown> => {
    if (typeof value !== "object" || value === null) return value;
    if (known.has(value)) return known.get(value);
    const mapMember = (member: unknown, key: string) => {
      const inner = shapeOfMember(structure, shape, key);
      return inner === undefined ? member : map(member, inner);
    };
    const members = await mapMembersInSlices(value, mapMember);
    const mapped = shape === "schema" && isObject(members) ? change(members) : members;
    known.set(value, mapped);
    return mapped;
  };
  return await map(document, "document") as T;
}
