/**
 * What the description says of a host's operation.
 *
 * @module
 */
import type { DescribedOperation } from "../openapi/merge.ts";
import type { ComponentsObject, ParameterObject, ReferenceObject } from "./openapi-types.ts";
import type { Operation } from "./operation.ts";

const REFERENCE = "#/components/parameters/";

/** The names in a path that has been checked. */
export function namesOf(path: string): string[] {
  return [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name!);
}

/** A parameter, which may be a reference to a component; `undefined` if the host does not have it. */
export function findParameter(
  parameter: ParameterObject | ReferenceObject,
  components: ComponentsObject | undefined,
): ParameterObject | undefined {
  if (!("$ref" in parameter)) return parameter;
  const { $ref } = parameter;
  const name = $ref.startsWith(REFERENCE) ? $ref.slice(REFERENCE.length) : "";
  const found = components?.parameters?.[name];
  return found && !("$ref" in found) ? found : undefined;
}

/** An operation as plain data: what handles it is left out, and names of its path that it lacks are added. */
export function describeOperation(
  { method, path, operation }: Operation,
  components: ComponentsObject | undefined,
): DescribedOperation {
  const { parameters = [] } = operation;
  const known = parameters.map((parameter) => findParameter(parameter, components));
  // One that nobody has here may have any name.
  const missing = known.includes(undefined)
    ? []
    : namesOf(path).filter((name) =>
      !known.some((parameter) => parameter?.in === "path" && parameter.name === name)
    );
  if (missing.length === 0) return { method, path, operation: { ...operation } };
  const added = missing.map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  return { method, path, operation: { ...operation, parameters: [...parameters, ...added] } };
}
