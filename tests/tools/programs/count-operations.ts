/** Counts the operations in a description. */

/** The HTTP methods for which a path item of OpenAPI 3.2 has a field. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** Counts the operations in the path items themselves, but not those behind a `$ref`. */
export function countOperations(
  { paths = {} }: { paths?: Record<string, Record<string, unknown>> },
): number {
  const counts = Object.values(paths).map((item) =>
    METHODS.filter((method) => item[method]).length +
    Object.keys(item.additionalOperations ?? {}).length
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
