/**
 * Where a node's description is, and what came of reading it.
 *
 * @module
 */
import type { Finding } from "../openapi/diagnostics.ts";
import type { NodeOperation } from "../openapi/node-operations.ts";

/** Where a node's description is: a file's path or URL, or the text itself. */
export type DescriptionPlace =
  | string
  | URL
  | { readonly text: string; readonly name?: string | undefined };

/** What has become of a description that was read. */
export interface DescriptionReport {
  readonly findings: readonly Finding[];
  /** What is shown: the description, an older version of it, or this service's own alone. */
  readonly shown: "current" | "older" | "own";
  /** What is called at the node, where calls are forwarded and the description was read. */
  readonly operations?: readonly NodeOperation[] | undefined;
}
