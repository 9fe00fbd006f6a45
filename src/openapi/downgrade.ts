/**
 * Converts the schemas of OpenAPI 3.1 to those of OpenAPI 3.0, for what a host adds to the
 * description of a node.
 *
 * @module
 */
import { type JsonObject, listOf } from "../json/values.ts";
import { mapSchemas } from "./structure.ts";
import { membersIn, OPENAPI_3_0 } from "./tables.ts";

/** The members of a schema in OpenAPI 3.0 (section 4.7.24). */
const MEMBERS: ReadonlySet<string> = new Set(
  membersIn(OPENAPI_3_0.schema!).filter((name) => !/^(?:\$|definitions$)/.test(name)),
);

/** @param part a document of OpenAPI 3.1, or a part of one */
export const toOpenApi30 = <T extends JsonObject>(part: T): Promise<T> =>
  mapSchemas(part, { openapi: "3.1.1" }, downgradeSchema);

/** Converts a schema whose inner schemas have been converted. */
function downgradeSchema(schema: JsonObject): JsonObject {
  if (typeof schema.$ref === "string") return { $ref: schema.$ref };
  const known = Object.entries(schema)
    .filter(([name]) => MEMBERS.has(name) || name.startsWith("x-"));
  const { type, ...converted } = Object.fromEntries(known) as JsonObject;
  const types = [type ?? []].flat();
  const [only, another] = types.filter((name) => name !== "null");
  if (types.includes("null")) {
    converted.nullable = true;
    if (only === undefined) converted.enum = [null];
  }
  // OpenAPI 3.0 cannot list several types.
  if (only !== undefined && another === undefined) converted.type = only;
  if (converted.type === "array") converted.items ??= {};
  if (schema.const !== undefined) converted.enum = [schema.const];
  for (const [bound, exclusive] of BOUNDS) {
    const limit = converted[exclusive];
    if (typeof limit === "number") Object.assign(converted, { [bound]: limit, [exclusive]: true });
  }
  const [example] = listOf(schema.examples);
  if (example !== undefined) converted.example ??= example;
  return converted;
}

const BOUNDS = [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]] as const;
