/** Counts the operations in a description. */

/** The HTTP methods that are fixed fields of the Path Item Object in OpenAPI 3.2. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/** Operations behind a `$ref` are not counted. */
export function countOperations(
  { paths = {} }: { paths?: Record<string, Record<string, unknown>> },
): number {
  const counts = Object.values(paths).map((item) =>
    METHODS.filter((method) => item[method]).length +
    Object.keys(item.additionalOperations ?? {}).length
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
