/**
 * Lists the operations of an OpenAPI path item, `additionalOperations` of OpenAPI 3.2 included.
 *
 * @module
 */
import { isObject, type Json, objectOf, type Path, setMember } from "../json/values.ts";
import { METHODS } from "./shape-tables.ts";

/** The form of all registered methods; it is safe in HTML and in a shell. */
const OTHER_METHOD = /^[A-Za-z][A-Za-z-]{0,40}$/;

const FURTHER = "additionalOperations";

/** An operation in its path item. */
export interface LocatedOperation {
  readonly method: string;
  readonly path: Path;
  readonly operation: Json;
}

/** Lists the operations of a path item, those of `additionalOperations` last. */
export function operationsOf(item: unknown): LocatedOperation[] {
  const members = objectOf(item);
  const named = METHODS.map((name) => [name.toUpperCase(), members[name], [name]] as const);
  const others = Object.entries(objectOf(members[FURTHER]))
    .filter(([name]) => OTHER_METHOD.test(name))
    .map(([name, operation]) => [name, operation, [FURTHER, name]] as const);
  return [...named, ...others].flatMap(([method, operation, path]) =>
    isObject(operation) ? [{ method, path, operation }] : []
  );
}

/** A path item with its operations changed; the same one where none is. */
export function mapOperations(
  item: Json,
  change: (located: LocatedOperation) => Json,
): Json {
  const mapped: Json = {};
  const others: Json = {};
  for (const located of operationsOf(item)) {
    const changed = change(located);
    if (changed === located.operation) continue;
    const [key, other] = located.path as [string, string?];
    if (other === undefined) mapped[key] = changed;
    else setMember(others, other, changed);
  }
  if (Object.keys(others).length > 0) mapped[FURTHER] = { ...objectOf(item[FURTHER]), ...others };
  return Object.keys(mapped).length > 0 ? { ...item, ...mapped } : item;
}
