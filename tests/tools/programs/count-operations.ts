/** Counts the operations of a description. */

/** The methods that have fields in a path item, in OpenAPI 3.2. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** Counts the operations in the path items themselves; those behind a `$ref` are not counted. */
export function countOperations(
  { paths = {} }: { paths?: Record<string, Record<string, unknown>> },
): number {
  const counts = Object.values(paths).map((item) =>
    METHODS.filter((method) => item[method]).length +
    Object.keys(item.additionalOperations ?? {}).length
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
