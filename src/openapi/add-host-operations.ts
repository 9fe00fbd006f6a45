/**
 * Adds a host's own operations to the description.
 *
 * @module
 */

/** An OpenAPI document as JSON values. */
export type Document = Record<string, unknown> & { paths?: Record<string, PathItem> };

type PathItem = Record<string, unknown>;

/** What the description needs of an operation. */
export interface DescribedOperation {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** The path as OpenAPI writes it: `/v1/peers/{id}`. */
  path: string;
  /** The OpenAPI operation object, as JSON values. */
  operation: Readonly<Record<string, unknown>>;
}

/**
 * A document with further operations, before those it has.
 *
 * @param document is left as it is
 * @param operations the last one counts where two have the same method and path
 */
export function addOperations(
  document: Document,
  operations: readonly DescribedOperation[],
): Document {
  const added: Record<string, PathItem> = {};
  for (const { method, path, operation } of operations) {
    added[path] = { ...document.paths?.[path], ...added[path], [method.toLowerCase()]: operation };
  }
  return { ...document, paths: { ...added, ...without(document.paths ?? {}, added) } };
}

function without(paths: Record<string, PathItem>, added: Record<string, PathItem>) {
  return Object.fromEntries(Object.entries(paths).filter(([path]) => !(path in added)));
}
