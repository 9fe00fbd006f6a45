/**
 * Adds what a host says of the whole description: title, tags, and what its operations refer to.
 *
 * @module
 */
import { type Json, listOf, objectOf } from "../json/values.ts";
import { mergeComponents } from "./merge-components.ts";
import type { DescribedOperation } from "./add-host-operations.ts";

/** What a host says of the whole, as JSON values. */
export interface DocumentOfHost {
  readonly info?: unknown;
  readonly tags?: unknown;
  readonly externalDocs?: unknown;
  readonly components?: unknown;
}

/** What a description and the operations of a host become. */
export interface Hosted {
  readonly document: Json;
  readonly operations: readonly DescribedOperation[];
}

/**
 * A description with what the host says of it. A component of the host gets another name where the
 * document has that name for something else; the host's operations refer to it by the new one.
 *
 * @param document is left as it is
 */
export function withDocumentOfHost(
  document: Json,
  operations: readonly DescribedOperation[],
  { info, tags, externalDocs, components }: DocumentOfHost,
): Hosted {
  const merged = mergeComponents(objectOf(document.components), objectOf(components));
  const ofHost = new Set(listOf(tags).map((tag) => objectOf(tag).name));
  const others = listOf(document.tags).filter((tag) => !ofHost.has(objectOf(tag).name));
  return {
    document: {
      ...document,
      ...info !== undefined && { info },
      ...externalDocs !== undefined && { externalDocs },
      ...tags !== undefined && { tags: [...listOf(tags), ...others] },
      ...components !== undefined && { components: merged.components },
    },
    operations: operations.map((operation) => merged.rename(operation)),
  };
}
