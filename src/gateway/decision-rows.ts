/**
 * The table of what may be called, as `check` prints it.
 *
 * @module
 */
import type { NodeOperation } from "../openapi/callable-operations.ts";
import { decide } from "./decide-operations.ts";
import type { ForwardSettings } from "./forward-settings.ts";

/** A row of the table of decisions: the operation, its mark, what becomes of a call, and why. */
export function decisionRows(
  operations: readonly NodeOperation[],
  forward: ForwardSettings,
): [operation: string, mark: string, call: string, why: string][] {
  const words = { open: "allowed", token: "needs the token", refused: "refused" } as const;
  return decide(operations, forward).map(({ operation, decision }) => [
    operation.name,
    operation.access ?? "-",
    words[decision.right],
    decision.reason,
  ]);
}
