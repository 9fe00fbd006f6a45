/**
 * The operations of an OpenAPI path item: those of the methods that OpenAPI names, and since 3.2
 * those of any other method.
 *
 * @module
 */
import { isObject, type Json, objectOf, type Path } from "../json/values.ts";

/** The methods that are members of a path item (OpenAPI 3.2, section 4.9.1). */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** Other methods: every registered one has this form, and it is safe in HTML and in a shell. */
const OTHER_METHOD = /^[A-Za-z][A-Za-z-]{0,40}$/;

/** An operation in its path item. */
export interface LocatedOperation {
  /** The method as it is sent; those that OpenAPI names are in upper case. */
  readonly method: string;
  /** Leads from the path item to the operation. */
  readonly path: Path;
  readonly operation: Json;
}

/**
 * Lists the operations of a path item.
 *
 * @param item anything; what is no path item has no operations
 * @returns the methods that OpenAPI names first, then those of `additionalOperations`
 */
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
