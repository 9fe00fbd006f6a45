/** Starts a real node of a kind, calls the kind's operations, and stops it. */
import type { KindInterface } from "../../src/kinds/interface.ts";
import { loadInterface } from "../../src/description/known-interface.ts";
import { askOperations } from "./_ask-operations.ts";
import { PROGRAMS } from "./_start-chains.ts";
import { type AskedNode, askMethods, type Outcome } from "./_interface.ts";

/** The results of a kind. */
export interface Asked {
  readonly parts: KindInterface;
  readonly outcomes: readonly Outcome[];
}

/**
 * Calls a node of a kind.
 *
 * @param also runs while the node does
 */
export async function askKind(
  kind: string,
  also: (node: AskedNode, parts: KindInterface) => Promise<void> = async () => {},
): Promise<Asked> {
  const parts = await loadInterface(kind);
  const node = await PROGRAMS[kind]!.start();
  try {
    const outcomes = [
      ...parts.openrpc ? await askMethods(parts.openrpc, node) : [],
      ...parts.openapi ? await askOperations(parts.openapi, node) : [],
    ];
    await also(node, parts);
    return { parts, outcomes };
  } finally {
    await node.stop();
  }
}
