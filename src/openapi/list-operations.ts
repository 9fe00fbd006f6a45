/**
 * Lists the operations of an OpenAPI path item, `additionalOperations` of OpenAPI 3.2 included.
 *
 * @module
 */
import { isObject, type Json, objectOf, type Path } from "../json/values.ts";
import { METHODS } from "./structure.ts";

/** The form of all registered methods; it is safe in HTML and in a shell. */
const OTHER_METHOD = /^[A-Za-z][A-Za-z-]{0,40}$/;

/** An operation in its path item. */
export interface LocatedOperation {
  readonly method: string;
  readonly path: Path;
  readonly operation: Json;
}

/** Lists the operations of a path item, those of `additionalOperations` last. */
export function operationsOf(item: unknown): LocatedOperation[] {
  const members = objectOf(item);
  const further = "additionalOperations";
  const named = METHODS.map((name) => [name.toUpperCase(), members[name], [name]] as const);
  const others = Object.entries(objectOf(members[further]))
    .filter(([name]) => OTHER_METHOD.test(name))
    .map(([name, operation]) => [name, operation, [further, name]] as const);
  return [...named, ...others].flatMap(([method, operation, path]) =>
    isObject(operation) ? [{ method, path, operation }] : []
  );
}
